// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package dist_test

import (
	"strings"
	"testing"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/infer/dist"
)

// part is an exponential distribution, changed by a fault.
func part(fault func(d *dist.Dist)) dist.Dist {
	b := ad.Const([]float64{1, 2}, 2, 1)
	d := dist.Dist{Name: "part", Params: []*ad.Node{b}, Support: dist.Positive,
		LogProbOf: func(x *ad.Node) *ad.Node { return ad.Sub(ad.Log(b), ad.Mul(b, x)) }}
	fault(&d)
	return d
}

// Parts of a distribution that do not fit are errors that name it.
func TestPartsThatDoNotFit(t *testing.T) {
	x := ad.Input("x", 3)
	for want, fault := range map[string]func(d *dist.Dist){
		"LogProbOf of part returned nil": func(d *dist.Dist) { d.LogProbOf = func(*ad.Node) *ad.Node { return nil } },
		"LogProbOf of part returned the shape [] for values of shape [3]: want the shape [2 3]": func(d *dist.Dist) {
			of := d.LogProbOf
			d.LogProbOf = func(x *ad.Node) *ad.Node { return ad.Sum(of(x)) }
		},
		"LogProbOf of part returned the shape [2 1]": func(d *dist.Dist) {
			of := d.LogProbOf
			d.LogProbOf = func(x *ad.Node) *ad.Node { return ad.Reshape(ad.SumAxes(of(x), -1), 2, 1) }
		},
		"LogProbOf of part returned the shape [4]":          func(d *dist.Dist) { d.LogProbOf = func(*ad.Node) *ad.Node { return ad.Const([]float64{1, 2, 3, 4}) } },
		"part has Event 9, but its value has the shape [3]": func(d *dist.Dist) { d.Event = 9 },
		"part has Event -1":                                 func(d *dist.Dist) { d.Event = -1 },
		"returned the shape [2 3] for values of shape [3]":  func(d *dist.Dist) { d.Event = 1 },
		"InsideOf of part returned":                         func(d *dist.Dist) { d.InsideOf = func(*ad.Node) *ad.Node { return nil } },
		"ParamEvent [1 1] for 1 parameters":                 func(d *dist.Dist) { d.ParamEvent = []int{1, 1} },
	} {
		d := part(fault)
		for _, lp := range []*ad.Node{d.LogProb(x), d.LogProbInside(x)} {
			if strings.HasPrefix(want, "InsideOf") && lp.Err() == nil {
				continue // LogProbInside does not ask
			}
			if err := lp.Err(); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("want %q: %v", want, err)
			}
		}
	}
}

// A log density may lack the axes of what it does not depend on.
func TestDensityLacksAxes(t *testing.T) {
	for name, of := range map[string]func(x *ad.Node) *ad.Node{
		"neither":   func(*ad.Node) *ad.Node { return ad.Scalar(1) },
		"the value": func(x *ad.Node) *ad.Node { return ad.Neg(x) },
	} {
		lp := part(func(d *dist.Dist) { d.LogProbOf = of }).LogProb(ad.Input("x", 3))
		if lp.Err() != nil || len(lp.Shape()) != 2 || lp.Shape()[0] != 2 || lp.Shape()[1] != 3 {
			t.Errorf("%s: %v, %v", name, lp.Shape(), lp.Err())
		}
	}
}

// Transforms without a part, or whose part returns nothing, are errors that name it.
func TestPartsOfTransforms(t *testing.T) {
	d := part(func(d *dist.Dist) { d.TransformOf = func() dist.Transform { return dist.Transform{} } })
	_, logJ := d.Transform().Apply(ad.Input("x", 3), 3)
	if err := logJ.Err(); err == nil || !strings.Contains(err.Error(), "TransformOf of part returned has no Constrain") {
		t.Error(err)
	}
	whole := dist.IdentityTransform()
	for want, fault := range map[string]func(tr *dist.Transform){
		`the transform "identity" has no Constrain`:          func(tr *dist.Transform) { tr.Constrain = nil },
		`Constrain of the transform "identity" returned nil`: func(tr *dist.Transform) { tr.Constrain = func(x *ad.Node) (y, logJ *ad.Node) { return x, nil } },
		`the transform "identity" has no Inverse`:            func(tr *dist.Transform) { tr.Inverse = nil },
		`Inverse of the transform "identity" returned 0 numbers`: func(tr *dist.Transform) {
			tr.Inverse = func([]float64, ...float64) ([]float64, error) { return nil, nil }
		},
		`the transform "identity" has no Free`: func(tr *dist.Transform) { tr.Event, tr.Free = 1, nil },
	} {
		tr := whole
		fault(&tr)
		_, logJ := tr.Apply(ad.Input("x", 3), 3)
		_, err := tr.Unconstrain([]float64{1, 2, 3}, []int{3}, 0)
		if (err == nil || !strings.Contains(err.Error(), want)) && (logJ.Err() == nil || !strings.Contains(logJ.Err().Error(), want)) {
			t.Errorf("want %q: %v; %v", want, err, logJ.Err())
		}
	}
}
