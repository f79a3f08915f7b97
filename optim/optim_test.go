// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package optim_test

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/optim"
)

// rosenbrock has its minimum 0 at (1, 1).
func rosenbrock() *optim.Problem {
	return &optim.Problem{M: 2, N: 2, Start: []float64{-1.2, 1}, Residual: func(r, p []float64) error {
		r[0], r[1] = 10*(p[1]-p[0]*p[0]), 1-p[0]
		return nil
	}}
}

func TestGoFunctionsByDifferences(t *testing.T) {
	for _, m := range []optim.Method{optim.LM, optim.TRF} {
		r, err := optim.LeastSquares(context.Background(), rosenbrock(), optim.Settings{Method: m})
		if err != nil || distance(r.X, []float64{1, 1}) > 1e-8 {
			t.Errorf("%s: %v %v", m, err, r)
		}
	}
	p := rosenbrock()
	p.Upper = []float64{0.5, math.Inf(1)}
	p.Start = []float64{-1, 0}
	r, err := optim.LeastSquares(context.Background(), p, optim.Settings{})
	if err != nil || distance(r.X, []float64{0.5, 0.25}) > 1e-7 || r.Active[0] != 1 || r.Active[1] != 0 {
		t.Errorf("bounded: %v %+v", err, r)
	}
}

func TestStatuses(t *testing.T) {
	r, err := optim.LeastSquares(context.Background(), rosenbrock(), optim.Settings{MaxEvaluations: 3})
	if err != nil || r.Status != optim.MaxEvaluations || r.Status.Converged() {
		t.Errorf("%v %v", err, r.Status)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	r, err = optim.LeastSquares(ctx, rosenbrock(), optim.Settings{})
	if !errors.Is(err, context.Canceled) || r.Status != optim.Interrupted || r.X[0] != -1.2 {
		t.Errorf("cancelled: %v %+v", err, r)
	}
}

func TestBadProblemsNameTheFault(t *testing.T) {
	nan := rosenbrock()
	nan.Residual = func(r, _ []float64) error { r[0], r[1] = 1, math.NaN(); return nil }
	outside := rosenbrock()
	outside.Lower = []float64{0, 0}
	crossed := rosenbrock()
	crossed.Lower, crossed.Upper = []float64{1, 1}, []float64{1, 2}
	for want, c := range map[string]struct {
		p *optim.Problem
		s optim.Settings
	}{
		"residual 1 is NaN at the start": {nan, optim.Settings{}},
		"outside its bounds":             {outside, optim.Settings{}},
		"want lower < upper":             {crossed, optim.Settings{}},
		`loss "hubert"`:                  {rosenbrock(), optim.Settings{Loss: "hubert"}},
		`method "dogleg"`:                {rosenbrock(), optim.Settings{Method: "dogleg"}},
		"fixed parameters [z]":           {rosenbrock(), optim.Settings{Fixed: map[string]float64{"z": 1}}},
	} {
		if _, err := optim.LeastSquares(context.Background(), c.p, c.s); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

func TestFixedParameters(t *testing.T) {
	r, err := optim.LeastSquares(context.Background(), rosenbrock(), optim.Settings{Fixed: map[string]float64{"p0": 0.5}})
	if err != nil || r.X[0] != 0.5 || math.Abs(r.X[1]-0.25) > 1e-9 || r.SD()[0] != 0 || r.NFree != 1 {
		t.Errorf("%v %+v", err, r)
	}
}

func TestScalesFarApart(t *testing.T) {
	x := []float64{1, 2, 3, 4, 5, 6}
	y := make([]float64, len(x))
	for i, v := range x {
		y[i] = 3e-9*v + 2e7*math.Exp(-v)
	}
	a, b := ad.Input("a"), ad.Input("b")
	p, err := optim.FromGraph(ad.Sub(ad.Add(ad.Mul(a, ad.Const(x)), ad.Mul(b, ad.Exp(ad.Neg(ad.Const(x))))), ad.Const(y)), []*ad.Node{a, b})
	if err != nil {
		t.Fatal(err)
	}
	p.Start = []float64{1e-9, 1}
	r, err := optim.LeastSquares(context.Background(), p, optim.Settings{})
	if err != nil || math.Abs(r.X[1]/2e7-1) > 1e-12 {
		t.Errorf("%v %v", err, r)
	}
}

func BenchmarkSingleExponential60(b *testing.B) {
	x, y, s := make([]float64, 60), make([]float64, 60), make([]float64, 60)
	for i := range x {
		x[i] = 1e-3 * math.Pow(10, float64(i)/15)
		s[i] = 1e-3
		y[i] = 1 + 0.25*math.Exp(-2*x[i]/0.8) + s[i]*math.Sin(float64(7*i*i))
	}
	for _, c := range []struct {
		name    string
		bounded bool
	}{{"lm", false}, {"trf", true}} {
		b.Run(c.name, func(b *testing.B) {
			p := problem(b, "b + c*exp(-2 x/t)", x, y, s, []float64{1, 0.3, 1})
			if c.bounded {
				p.Lower, p.Upper = []float64{0, 0, 1e-6}, []float64{2, 1, 1e6}
			}
			b.ReportAllocs()
			for b.Loop() {
				if _, err := optim.LeastSquares(context.Background(), p, optim.Settings{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// Neither convergence nor its absence may depend on the unit of the data.
func TestUnitsOfDataDoNotMatter(t *testing.T) {
	x := []float64{77.6, 114.9, 141.1, 190.8, 239.9, 289, 332.8, 378.4, 434.8, 477.3, 536.8, 593.1, 689.1, 760} // NIST Misra1a
	y := []float64{10.07, 14.73, 17.94, 23.93, 29.61, 35.18, 40.02, 44.82, 50.76, 55.05, 61.01, 66.4, 75.47, 81.78}
	for _, unit := range []float64{1e-15, 1e-12, 1e-9, 1, 1e9, 1e12} {
		scaled := make([]float64, len(y))
		for i, v := range y {
			scaled[i] = v * unit
		}
		a, b := ad.Input("a"), ad.Input("b")
		p, err := optim.FromGraph(ad.Sub(ad.Mul(a, ad.Sub(ad.Scalar(1), ad.Exp(ad.Neg(ad.Mul(b, ad.Const(x)))))), ad.Const(scaled)), []*ad.Node{a, b})
		if err != nil {
			t.Fatal(err)
		}
		p.Start = []float64{500 * unit, 1e-4}
		r, err := optim.LeastSquares(context.Background(), p, optim.Settings{})
		if err != nil || !r.Status.Converged() || math.Abs(r.X[0]/(238.94212918*unit)-1) > 1e-9 {
			t.Errorf("unit %g: %v %v", unit, err, r)
		}
	}
}
