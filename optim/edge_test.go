// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package optim_test

import (
	"context"
	"math"
	"strings"
	"testing"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/optim"
)

var methods = []optim.Method{optim.LM, optim.TRF, optim.Dogbox}

// line is a + b x with the data given.
func line(t testing.TB, x, y []float64) *optim.Problem {
	t.Helper()
	p := inputs("a", "b")
	prob, err := optim.FromModel(ad.Add(p[0], ad.Mul(p[1], ad.Const(x))), p, optim.Observed{Y: y})
	if err != nil {
		t.Fatal(err)
	}
	prob.Start = []float64{0.5, 0.5}
	return prob
}

// Nothing to fit is a result, not an error: the cost at the point, with no errors.
func TestNoFreeParameters(t *testing.T) {
	ctx := context.Background()
	all := optim.Settings{Fixed: map[string]float64{"a": 1, "b": 2}}
	for _, s := range []optim.Settings{all, {Fixed: all.Fixed, Method: optim.TRF}, {Fixed: all.Fixed, Loss: optim.Cauchy}, {Fixed: all.Fixed, Method: optim.Dogbox, RelativeSigma: true}} {
		r, err := optim.LeastSquares(ctx, line(t, []float64{0, 1, 2}, []float64{1, 3, 6}), s)
		if err != nil || !r.Status.Converged() || r.X[0] != 1 || r.X[1] != 2 || r.NFree != 0 || r.DoF() != 3 || r.SD()[0] != 0 {
			t.Fatalf("%v: %v %+v", s.Method, err, r)
		}
		if s.Loss == "" && r.Cost != 0.5 {
			t.Errorf("cost %g", r.Cost)
		}
	}
	none := &optim.Problem{M: 2, Residual: func(r, _ []float64) error { r[0], r[1] = 3, 4; return nil }}
	r, err := optim.LeastSquares(ctx, none, optim.Settings{})
	if err != nil || r.Cost != 12.5 || len(r.X) != 0 || !r.Health().OK() && r.Health().String() == "" {
		t.Errorf("no parameters: %v %+v", err, r)
	}
	graph, err := optim.FromGraph(ad.Const([]float64{3, 4}), nil)
	if err != nil {
		t.Fatal(err)
	}
	if r, err = optim.LeastSquares(ctx, graph, optim.Settings{}); err != nil || r.Cost != 12.5 {
		t.Errorf("a graph without parameters: %v %+v", err, r)
	}
	tied := optim.Settings{Fixed: map[string]float64{"a": 1}, Tied: map[string]*ad.Node{"b": ad.Scale(2, ad.Input("a"))}}
	if r, err = optim.LeastSquares(ctx, line(t, []float64{0, 1, 2}, []float64{1, 3, 6}), tied); err != nil || r.X[1] != 2 || r.Cost != 0.5 {
		t.Errorf("fixed and tied: %v %+v", err, r)
	}
}

// NaN at the start names the residual; NaN on the way is turned away from.
func TestNotFiniteResiduals(t *testing.T) {
	for _, m := range methods {
		p := &optim.Problem{M: 2, N: 1, Start: []float64{3}, Residual: func(r, p []float64) error {
			r[0], r[1] = math.Sqrt(p[0]-1)-0.2, 0.1*p[0] // NaN below 1
			return nil
		}}
		r, err := optim.LeastSquares(context.Background(), p, optim.Settings{Method: m})
		if err != nil || !r.Status.Converged() || r.X[0] < 1 || !finiteAll(r.Residuals) {
			t.Errorf("%s: %v %v", m, err, r)
		}
		p.Start = []float64{0}
		if _, err := optim.LeastSquares(context.Background(), p, optim.Settings{Method: m}); err == nil || !strings.Contains(err.Error(), "residual 0 is NaN at the start [0]") {
			t.Errorf("%s: %v", m, err)
		}
		bad := &optim.Problem{M: 1, N: 1, Start: []float64{0}, Residual: func(r, p []float64) error { r[0] = 1; return nil },
			Jacobian: func(j, _ []float64) error { j[0] = math.Inf(1); return nil }}
		if _, err := optim.LeastSquares(context.Background(), bad, optim.Settings{Method: m}); err == nil || !strings.Contains(err.Error(), "derivative with respect to p0 is not finite") {
			t.Errorf("%s: %v", m, err)
		}
	}
}

func finiteAll(x []float64) bool {
	for _, v := range x {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return false
		}
	}
	return true
}

// Fewer data than parameters: a solution, of all those there are, and no errors.
func TestFewerResidualsThanParameters(t *testing.T) {
	for _, m := range methods {
		p := inputs("a", "b", "c")
		prob, err := optim.FromGraph(ad.Stack(0, ad.Sub(ad.Exp(ad.AddN(p...)), ad.Scalar(2)), ad.Sub(ad.Mul(p[0], p[1]), ad.Scalar(0.1))), p)
		if err != nil {
			t.Fatal(err)
		}
		prob.Start = []float64{0.5, 0.4, 0.3}
		r, err := optim.LeastSquares(context.Background(), prob, optim.Settings{Method: m, RelativeSigma: true})
		if err != nil || !r.Status.Converged() || r.Cost > 1e-20 || r.Rank != 2 || len(r.Undetermined) != 1 || !math.IsInf(r.SD()[0], 1) || len(r.Warnings) < 2 {
			t.Errorf("%s: %v %v", m, err, r)
		}
	}
}

// A parameter that nothing depends on stays where it is and has no error.
func TestConstantParameter(t *testing.T) {
	for _, m := range methods {
		p := inputs("a", "idle", "b")
		x := ad.Const([]float64{0, 1, 2, 3})
		prob, err := optim.FromModel(ad.Add(p[0], ad.Exp(ad.Mul(p[2], x))), p, optim.Observed{Y: []float64{2, 2.6, 3.7, 5.4}})
		if err != nil {
			t.Fatal(err)
		}
		prob.Start = []float64{0, 7, 0.1}
		r, err := optim.LeastSquares(context.Background(), prob, optim.Settings{Method: m})
		if err != nil || !r.Status.Converged() || r.X[1] != 7 || !math.IsInf(r.SD()[1], 1) || math.IsInf(r.SD()[0], 1) || len(r.Undetermined) != 1 || r.Undetermined[0] != "idle" {
			t.Errorf("%s: %v %v", m, err, r)
		}
	}
}

// Units of parameters from 1e-12 to 1e12 make no difference but rounding.
func TestScalesOfParameters(t *testing.T) {
	x := logspace(-2, 0.7, 30)
	for _, m := range methods {
		for _, bounded := range []bool{false, true} {
			if bounded && m == optim.LM {
				continue
			}
			for _, unit := range [][3]float64{{1, 1, 1}, {1e-12, 1e12, 1e6}, {1e12, 1e-12, 1e-9}, {1e6, 1e12, 1e-12}} {
				p := inputs("b", "c", "t")
				e := ad.Exp(ad.Scale(-2, ad.Div(ad.Const(x), ad.Scale(1/unit[2], p[2]))))
				y := make([]float64, len(x))
				for i, v := range x {
					y[i] = 1 + 0.3*math.Exp(-2*v/0.6) + 1e-3*math.Sin(float64(i*i))
				}
				prob, err := optim.FromModel(ad.Add(ad.Scale(1/unit[0], p[0]), ad.Mul(ad.Scale(1/unit[1], p[1]), e)), p, optim.Observed{Y: y})
				if err != nil {
					t.Fatal(err)
				}
				prob.Start = []float64{0.9 * unit[0], 0.2 * unit[1], 1.1 * unit[2]}
				if bounded {
					prob.Lower, prob.Upper = []float64{0, 0, 0}, []float64{2 * unit[0], unit[1], 5 * unit[2]}
				}
				r, err := optim.LeastSquares(context.Background(), prob, optim.Settings{Method: m})
				if err != nil || !r.Status.Converged() {
					t.Fatalf("%s %v: %v %v", m, unit, err, r)
				}
				for k, want := range []float64{1.0000239, 0.2999663, 0.5999587} {
					if got := r.X[k] / unit[k]; math.Abs(got-want) > 3e-3 {
						t.Errorf("%s bounded %t %v: parameter %d is %g units", m, bounded, unit, k, got)
					}
					if sd := r.SD()[k] / unit[k]; !(sd > 0.1 && sd < 10) {
						t.Errorf("%s bounded %t %v: sd %d is %g units", m, bounded, unit, k, sd)
					}
				}
			}
		}
	}
}

// An optimum of exactly 0 has the same covariance as any other (SciPy's issue
// 21995: steps relative to the parameter lose it).
func TestOptimumAtZero(t *testing.T) {
	x := []float64{-2, -1, 0, 1, 2}
	for _, m := range methods {
		for _, shift := range []float64{0, 1, 1e-8} {
			for _, differences := range []bool{false, true} {
				y := make([]float64, len(x))
				for i, v := range x {
					y[i] = shift + shift*v + []float64{1, -2, 0, 2, -1}[i] // no mean, no slope
				}
				p := line(t, x, y)
				if differences {
					p.Jacobian, p.JVP, p.VJP = nil, nil, nil
				}
				r, err := optim.LeastSquares(context.Background(), p, optim.Settings{Method: m, RelativeSigma: true})
				if err != nil {
					t.Fatal(err)
				}
				// Residuals 1, -2, 0, 2, -1: variance 10/3, over 5 and over 10.
				if d := max(math.Abs(r.Cov[0]-2./3), math.Abs(r.Cov[3]-1./3), math.Abs(r.Cov[1])); d > 1e-6 || math.Abs(r.X[0]-shift) > 1e-8 || math.Abs(r.X[1]-shift) > 1e-8 {
					t.Errorf("%s at %g differences %t: %v, covariance %v", m, shift, differences, r.X, r.Cov)
				}
			}
		}
	}
}

// A bound that the data press against, from a start inside, on it and far away.
func TestActiveBound(t *testing.T) {
	x, y := []float64{0, 1, 2, 3, 4}, []float64{1, 2.1, 2.9, 4.2, 4.9}
	for _, m := range []optim.Method{optim.TRF, optim.Dogbox} {
		for _, start := range [][]float64{{0.5, 0.5}, {0.5, 0.8}, {-50, -100}, {0, 0.8}} {
			p := line(t, x, y)
			p.Start, p.Lower, p.Upper = start, []float64{-100, -200}, []float64{100, 0.8}
			r, err := optim.LeastSquares(context.Background(), p, optim.Settings{Method: m})
			if err != nil || !r.Status.Converged() {
				t.Fatal(m, start, err, r)
			}
			// With the slope at 0.8 the mean of y - 0.8 x is left.
			if r.X[1] != 0.8 || math.Abs(r.X[0]-(3.02-1.6)) > 1e-9 || r.Active[1] != 1 || r.Active[0] != 0 || r.FreeSD()[1] != 0 || math.Abs(r.FreeSD()[0]-math.Sqrt(0.2)) > 1e-9 || !(r.SD()[0] > r.FreeSD()[0]) || len(r.Warnings) != 0 { // 0.57 standard deviations are no reason to warn
				t.Errorf("%s from %v (%.17g): %v active %v, free sd %v", m, start, r.X, r, r.Active, r.FreeSD())
			}
		}
	}
}

// Two parameters with one column: their sum is known, their difference not.
func TestDuplicatedColumns(t *testing.T) {
	for _, m := range methods {
		for _, solver := range []optim.Solver{optim.Exact, optim.LSMR} {
			if solver == optim.LSMR && m != optim.TRF {
				continue
			}
			p := inputs("a", "b", "c")
			x := ad.Const([]float64{0, 1, 2, 3, 4})
			prob, err := optim.FromModel(ad.Add(p[2], ad.Mul(ad.Add(p[0], p[1]), x)), p, optim.Observed{Y: []float64{1, 3.1, 4.9, 7.2, 8.9}})
			if err != nil {
				t.Fatal(err)
			}
			prob.Start = []float64{5, -1, 0}
			r, err := optim.LeastSquares(context.Background(), prob, optim.Settings{Method: m, Solver: solver})
			if err != nil || !r.Status.Converged() || math.Abs(r.X[0]+r.X[1]-1.99) > 1e-6 || math.Abs(r.X[0]) > 100 {
				t.Fatalf("%s %s: %v %v", m, solver, err, r)
			}
			if solver == optim.LSMR {
				v, err := r.Variances("a", "c")
				if err != nil || !math.IsInf(v[0], 1) || math.Abs(v[1]-0.6) > 1e-6 {
					t.Errorf("variances %v %v", v, err)
				}
				continue
			}
			if r.Rank != 2 || r.Undetermined[0] != "a - b" || !math.IsInf(r.SD()[0], 1) || !math.IsInf(r.SD()[1], 1) || math.Abs(r.Cov[8]-0.6) > 1e-9 || r.DoF() != 3 {
				t.Errorf("%s: rank %d, undetermined %v, covariance %v", m, r.Rank, r.Undetermined, r.Cov)
			}
		}
	}
}

func TestDuplicatedNames(t *testing.T) {
	p := inputs("a", "a")
	prob, err := optim.FromGraph(ad.Stack(0, p[0], p[1]), p)
	if err != nil {
		t.Fatal(err)
	}
	prob.Start = []float64{1, 2}
	if r, err := optim.LeastSquares(context.Background(), prob, optim.Settings{}); err != nil || r.Cost > 1e-20 {
		t.Errorf("%v %v", err, r)
	}
	if _, err := optim.LeastSquares(context.Background(), prob, optim.Settings{Fixed: map[string]float64{"a": 1}}); err == nil || !strings.Contains(err.Error(), "both called a") {
		t.Error(err)
	}
}

// One residual, one parameter; a start that is the solution; a start that is 0;
// perfect data.
func TestSmallestProblems(t *testing.T) {
	for _, m := range methods {
		for _, start := range []float64{0, 1, -3} {
			p := &optim.Problem{M: 1, N: 1, Start: []float64{start}, Residual: func(r, p []float64) error { r[0] = p[0]*p[0]*p[0] - 1; return nil }}
			r, err := optim.LeastSquares(context.Background(), p, optim.Settings{Method: m})
			if err != nil {
				t.Fatal(err)
			}
			// At 0 the derivative vanishes: nothing says which way to go.
			if start != 0 && math.Abs(r.X[0]-1) > 1e-9 || !r.Status.Converged() || !finiteAll(r.Grad) {
				t.Errorf("%s from %g: %v", m, start, r)
			}
		}
	}
}

// Given sizes of the parameters shape the region as well as columns do, on all
// methods; a longer first step reaches farther.
func TestShapeOfTheRegion(t *testing.T) {
	for _, m := range methods {
		p := twoDecays(t)
		want, err := optim.LeastSquares(context.Background(), p, optim.Settings{Method: m})
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range []optim.Settings{{XScale: []float64{1, 2, 0.5, 1, 2}}, {XScale: []float64{10, 10, 10, 10, 10}, FirstStep: 0.1}, {FirstStep: 3}} {
			s.Method = m
			r, err := optim.LeastSquares(context.Background(), p, s)
			if err != nil || distance(r.X, want.X) > 1e-7 || distance(r.SD(), want.SD()) > 1e-6 {
				t.Errorf("%s %v: %v %v, want %v", m, s.XScale, err, r, want)
			}
		}
		for want, s := range map[string]optim.Settings{"XScale has 1 value": {XScale: []float64{1}}, "XScale[1] is 0": {XScale: []float64{1, 0, 1, 1, 1}}, "the first step is -1": {FirstStep: -1}, "the scale of the loss is -2": {LossScale: -2}, "no solver": {Solver: "qr"}} {
			if _, err := optim.LeastSquares(context.Background(), p, s); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%v, want %q", err, want)
			}
		}
	}
}
