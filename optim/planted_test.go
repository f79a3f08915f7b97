// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package optim_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/optim"
)

// A batch says whether its loss forgave outliers, and whether errors were scaled.
func TestBatchSaysWhatWasAsked(t *testing.T) {
	x := logspace(-2, 1, 20)
	for _, c := range []struct {
		s                optim.BatchSettings
		robust, relative bool
	}{
		{optim.BatchSettings{}, false, false},
		{optim.BatchSettings{Loss: optim.SoftL1}, true, false},
		{optim.BatchSettings{RelativeSigma: true}, false, true},
	} {
		r, err := decays(t, x).Fit(context.Background(), decayRows(x, 2, 0.01), c.s)
		if err != nil || r.Robust() != c.robust || r.Relative() != c.relative {
			t.Errorf("%+v: robust %t, relative %t, %v", c.s, r.Robust(), r.Relative(), err)
		}
	}
}

// An error of a product with the Jacobian ends the fit and is returned, also where some
// parameters are tied.
func TestErrorsOfProductsAreReturned(t *testing.T) {
	broken := errors.New("the detector is off")
	p := &optim.Problem{N: 2, M: 3, Names: []string{"a", "b"}, Start: []float64{1, 1},
		Residual: func(out, p []float64) error {
			out[0], out[1], out[2] = p[0]-2, p[1]-3, p[0]*p[1]-6
			return nil
		},
		JVP: func(out, p, v []float64) error {
			out[0], out[1], out[2] = v[0], v[1], p[1]*v[0]+p[0]*v[1]
			return nil
		},
		VJP: func(out, p, u []float64) error { return broken }}
	tied := map[string]*ad.Node{"b": ad.Scale(1.5, ad.Input("a"))}
	if _, err := optim.LeastSquares(context.Background(), p, optim.Settings{Tied: tied}); !errors.Is(err, broken) {
		t.Errorf("%v", err)
	}
}

// With a parameter fixed the Jacobian of the result has all columns: those of the problem at
// the minimum, and 0 for the fixed one. A fit that is determined has nothing to warn of.
func TestJacobianWithFixedParameters(t *testing.T) {
	p := twoDecays(t)
	r, err := optim.LeastSquares(context.Background(), p, optim.Settings{Fixed: map[string]float64{"c1": 2}, RelativeSigma: true})
	if err != nil {
		t.Fatal(err)
	}
	want := make([]float64, p.M*p.N)
	if err := p.Jacobian(want, r.X); err != nil {
		t.Fatal(err)
	}
	clear(want[p.M : 2*p.M])
	if d := distance(r.Jacobian, want); d > 1e-12 {
		t.Errorf("the Jacobian is off by %.1e", d)
	}
	if len(r.Warnings) > 0 || len(r.Undetermined) > 0 {
		t.Errorf("warnings %q, undetermined %q", r.Warnings, r.Undetermined)
	}
}

// The size of a fixed parameter shapes nothing; those of the others stay with them.
func TestSizesWithFixedParameters(t *testing.T) {
	fit := func(fixed float64) *optim.Result {
		s := optim.Settings{Fixed: map[string]float64{"b": 0.5}, XScale: []float64{fixed, 1, 2, 3, 4}}
		r, err := optim.LeastSquares(context.Background(), twoDecays(t), s)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	if a, b := fit(1e-4), fit(1e4); !slices.Equal(a.X, b.X) || a.NFev != b.NFev {
		t.Errorf("%v after %d evaluations, %v after %d", a.X, a.NFev, b.X, b.NFev)
	}
}

// A direction that the data say nothing of is one in parameters, also where their columns
// are short and of different lengths.
func TestUndeterminedDirectionOfShortColumns(t *testing.T) {
	for _, m := range methods {
		p := inputs("a", "b")
		sum := ad.Add(p[0], ad.Scale(4, p[1]))
		prob, err := optim.FromModel(ad.Mul(sum, ad.Const([]float64{0.01, 0.02, 0.03})), p, optim.Observed{Y: []float64{1, 2, 3}})
		if err != nil {
			t.Fatal(err)
		}
		prob.Start = []float64{1, 1}
		r, err := optim.LeastSquares(context.Background(), prob, optim.Settings{Method: m})
		if err != nil || len(r.NullVectors) != 1 || distance(r.NullVectors[0], []float64{1, -0.25}) > 1e-12 || r.Undetermined[0] != "a - 0.25 b" {
			t.Errorf("%s: %v, %v %q", m, err, r.NullVectors, r.Undetermined)
		}
	}
}
