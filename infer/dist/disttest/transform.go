// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package disttest

import (
	"math"
	"strings"
	"testing"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/autodiff/gradtest"
	"github.com/euryale-dev/euryale/infer/dist"
	"github.com/euryale-dev/euryale/internal/errtext"
)

// Transform checks a transform of numbers (Event 0) at unconstrained numbers x: its log Jacobian is the sum of the
// logarithms of the derivatives of y by x, both have gradients, and Inverse gives x back. Bounds must be constants.
func Transform(t *testing.T, tr dist.Transform, x ...float64) {
	t.Helper()
	var lacks []string
	for _, part := range []struct {
		name    string
		missing bool
	}{{"Constrain", tr.Constrain == nil}, {"Free", tr.Free == nil}, {"Inverse", tr.Inverse == nil}} {
		if part.missing {
			lacks = append(lacks, part.name)
		}
	}
	switch {
	case len(lacks) > 0:
		t.Fatalf("disttest: the transform %q is incomplete: set %s", tr.Name, strings.Join(lacks, ", "))
	case tr.Event != 0:
		t.Fatalf("disttest: the transform %q has Event %d: want 0, a transform of numbers", tr.Name, tr.Event)
	case len(x) == 0:
		t.Fatalf("disttest: the transform %q was given no unconstrained numbers to check it at: pass at least one", tr.Name)
	}
	if n := tr.Free(len(x)); n != len(x) {
		t.Errorf("%s: Free(%d) is %d: want the same number, since Event is 0", tr.Name, len(x), n)
	}
	in := ad.Input("x", len(x))
	y, logJ := tr.Constrain(in)
	switch {
	case y == nil || logJ == nil:
		t.Fatalf("disttest: transform %q: Constrain returned nil: want y and its log Jacobian", tr.Name)
	case y.Err() == nil && !y.Shape().Equal(in.Shape()) || logJ.Err() == nil && len(logJ.Shape()) != 0:
		t.Fatalf("disttest: transform %q: Constrain of the shape %v returned y of the shape %v and a log Jacobian of the shape %v: want the same shape, and a scalar summed over all numbers", tr.Name, in.Shape(), y.Shape(), logJ.Shape())
	}
	p, err := ad.Compile([]*ad.Node{y, logJ, ad.Jacobian(y, in)}, ad.Settings{Inputs: []*ad.Node{in}})
	if err != nil {
		t.Fatalf("%s: %v", tr.Name, err)
	}
	s := p.NewState()
	copy(s.Input(0), x)
	if err := s.Run(); err != nil {
		t.Fatalf("%s: %v", tr.Name, err)
	}
	want, n := 0.0, len(x)
	for i := range n {
		want += math.Log(math.Abs(s.Output(2)[i*n+i]))
	}
	if got := s.Output(1)[0]; !(math.Abs(got-want) <= 1e-10*(1+math.Abs(want))) {
		t.Errorf("%s: log Jacobian %.15g, by derivatives %.15g", tr.Name, got, want)
	}
	back, err := unconstrained(tr, s.Output(0))
	if err != nil {
		t.Fatalf("%s: %v", tr.Name, errtext.Without("dist: ", err))
	}
	for i, v := range back {
		if !(math.Abs(v-x[i]) <= 1e-8*(1+math.Abs(x[i]))) {
			t.Errorf("%s: Inverse of y(%g) is %g", tr.Name, x[i], v)
		}
	}
	gradtest.Check(t, tr.Name, ad.Add(ad.Sum(ad.Mul(y, y)), logJ), []*ad.Node{in}, [][]float64{x}, true)
}

// unconstrained calls Inverse for each of y, with the values of constant bounds.
func unconstrained(tr dist.Transform, y []float64) ([]float64, error) {
	bounds := make([][]float64, len(tr.Bounds))
	for i, b := range tr.Bounds {
		v, err := ad.Numbers(b)
		if err != nil {
			return nil, err
		}
		bounds[i] = v[0]
	}
	return tr.Unconstrain(y, []int{len(y)}, 0, bounds...)
}

// transforms checks the transform of a distribution that has its own: as Transform does, and that its values are those of
// the support.
func transforms(t *testing.T, l dist.Family) {
	t.Helper()
	if l.New(l.At[0]...).TransformOf == nil {
		return
	}
	f := Evaluator(t, l, logProb)
	x := []float64{-3, -1.2, -0.1, 0.6, 2.5}
	for _, p := range l.At {
		d := l.New(p...)
		tr := d.Transform()
		Transform(t, tr, x...)
		params := make([][]float64, len(p))
		for i, v := range p {
			params[i] = []float64{v}
		}
		for _, x := range x {
			y := constrained(t, tr, x)
			if k, err := d.Outside([]float64{y}, []int{1}, params); err != nil {
				t.Error(err)
			} else if k >= 0 {
				lo, hi, _ := dist.Range(d)
				t.Errorf("%s%v: the transform %q maps %g to %g, which is outside the support from %g to %g", l.Name, p, tr.Name, x, y, lo, hi)
			}
		}
		for _, y := range points(d, p, func(x float64) float64 { return f(x, p)[0] }) {
			x, err := unconstrained(tr, []float64{y})
			if err != nil {
				t.Errorf("%s%v: %g has a density, but no unconstrained number is mapped to it: %v", l.Name, p, y, errtext.Without("dist: ", err))
			} else if back := constrained(t, tr, x[0]); !Near(back, y, 1e-8) {
				t.Errorf("%s%v: %g has a density, but Inverse of the transform %q maps it to %g, and Constrain maps that to %g", l.Name, p, y, tr.Name, x[0], back)
			}
		}
	}
}

// constrained returns y of one unconstrained number.
func constrained(t *testing.T, tr dist.Transform, x float64) float64 {
	t.Helper()
	y, _ := tr.Apply(ad.Const([]float64{x}), 1)
	v, err := ad.Numbers(y)
	if err != nil {
		t.Fatalf("%s: %v", tr.Name, err)
	}
	return v[0][0]
}
