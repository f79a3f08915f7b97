// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package optim_test

import (
	"context"
	"math"
	"reflect"
	"slices"
	"testing"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/optim"
)

// Problems keep memory between fits: results of earlier fits stay as they were, new data are seen by all programs, and the same
// data give the same bits again. Clones have data of their own.
func TestFitsOfOneProblemAfterEachOther(t *testing.T) {
	const n = 30
	x, y, tau, a := ad.Input("x", n), ad.Input("y", n), ad.Input("tau"), ad.Input("a")
	times, of := make([]float64, n), func(tau float64) []float64 {
		out := make([]float64, n)
		for i := range out {
			out[i] = 2*math.Exp(-float64(i)/10/tau) + 0.01*math.Sin(float64(7*i))
		}
		return out
	}
	for i := range times {
		times[i] = float64(i) / 10
	}
	p, err := optim.FromGraph(ad.Sub(ad.Mul(a, ad.Exp(ad.Neg(ad.Div(x, tau)))), y), []*ad.Node{tau, a}, optim.Data{Node: x, Values: times}, optim.Data{Node: y, Values: of(1)})
	if err != nil {
		t.Fatal(err)
	}
	p.Start, p.Lower, p.Upper = []float64{0.5, 1}, []float64{0.01, 0}, []float64{100, 10}
	clone := p.Clone()
	fit := func(p *optim.Problem, tau float64) *optim.Result {
		t.Helper()
		if err := p.SetData(times, of(tau)); err != nil {
			t.Fatal(err)
		}
		r, err := optim.LeastSquares(context.Background(), p, optim.Settings{Method: optim.TRF})
		if err != nil || !r.Status.Converged() || math.Abs(r.X[0]-tau) > 0.1*tau {
			t.Fatalf("tau = %g: %v %v", tau, r, err)
		}
		return r
	}
	first := fit(p, 1)
	kept := *first
	for _, v := range []*[]float64{&kept.X, &kept.Residuals, &kept.Jacobian, &kept.Grad, &kept.Cov} {
		*v = slices.Clone(*v)
	}
	fit(p, 3)
	fit(clone, 0.7)
	for what, r := range map[string]*optim.Result{"the first result": first, "the fit repeated": fit(p, 1), "the fit of a clone": fit(clone, 1)} {
		if !reflect.DeepEqual(r.X, kept.X) || !reflect.DeepEqual(r.Residuals, kept.Residuals) || !reflect.DeepEqual(r.Jacobian, kept.Jacobian) ||
			!reflect.DeepEqual(r.Grad, kept.Grad) || !reflect.DeepEqual(r.Cov, kept.Cov) {
			t.Errorf("%s is %v, want %v", what, r, &kept)
		}
	}
}
