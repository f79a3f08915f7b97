// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package optim_test

import (
	"context"
	"fmt"
	"math"
	"testing"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/internal/golden"
	"github.com/euryale-dev/euryale/internal/tier"
	"github.com/euryale-dev/euryale/optim"
)

type lossFile struct {
	Losses struct {
		Rows map[string][][]float64 `json:"rows"`
	} `json:"loss_functions"`
	Fits []struct {
		Name, Model string
		X, Y        []float64
		Sigma       []float64
		P0          []float64
		Bounds      [][]float64
		FScale      float64 `json:"f_scale"`
		Results     map[string]struct {
			X      []float64
			Cost   float64
			Active []float64   `json:"active_mask"`
			Cov    [][]float64 `json:"cov_unscaled_JtJ_inv"`
			Scaled [][]float64 `json:"cov_scaled_by_reduced_chi2"`
			CovC   float64     `json:"cov_c_scaled"`
			SV     []float64   `json:"singular_values"`
			APlusB float64     `json:"a_plus_b"`
			Rank   int
		}
	}
	Semantics struct {
		Model           string
		X, Y, Sigma, P0 []float64
		Cases           map[string]struct {
			Popt []float64
			Pcov [][]float64
		}
	} `json:"curve_fit_semantics"`
}

func TestLossTable(t *testing.T) {
	var f lossFile
	golden.JSON(t, &f, "inference", "optim", "least_squares_and_bounds.json")
	for name, rows := range f.Losses.Rows {
		for _, r := range rows {
			r0, r1, r2 := optim.Loss(name).Rho(r[0])
			for i, got := range []float64{r0, r1, r2} {
				if math.Abs(got-r[i+1]) > 1e-14*max(math.Abs(r[i+1]), 1e-300) {
					t.Errorf("%s(%g): value %d is %.17g, want %.17g", name, r[0], i, got, r[i+1])
				}
			}
		}
	}
}

// models are the formulas of the golden file.
var models = map[string]func(p []*ad.Node, x *ad.Node) *ad.Node{
	"b + c*exp(-2 x/t)": func(p []*ad.Node, x *ad.Node) *ad.Node {
		return ad.Add(p[0], ad.Mul(p[1], ad.Exp(ad.Scale(-2, ad.Div(x, p[2])))))
	},
	"b + c*exp(-(2 x/t)^g)": func(p []*ad.Node, x *ad.Node) *ad.Node {
		return ad.Add(p[0], ad.Mul(p[1], ad.Exp(ad.Neg(ad.Pow(ad.Scale(2, ad.Div(x, p[2])), p[3])))))
	},
	"a*exp(-((x-mu)/s)^2/2)+m0+m1*x": func(p []*ad.Node, x *ad.Node) *ad.Node {
		return ad.AddN(ad.Mul(p[0], ad.Exp(ad.Scale(-0.5, ad.Square(ad.Div(ad.Sub(x, p[1]), p[2]))))), p[3], ad.Mul(p[4], x))
	},
	"b+c1*exp(-2x/t1)+c2*exp(-2x/t2)": func(p []*ad.Node, x *ad.Node) *ad.Node {
		e := func(c, t *ad.Node) *ad.Node { return ad.Mul(c, ad.Exp(ad.Scale(-2, ad.Div(x, t)))) }
		return ad.AddN(p[0], e(p[1], p[2]), e(p[3], p[4]))
	},
	"(a+b)*x+c": func(p []*ad.Node, x *ad.Node) *ad.Node { return ad.Add(ad.Mul(ad.Add(p[0], p[1]), x), p[2]) },
	"a*exp(-b x)+c": func(p []*ad.Node, x *ad.Node) *ad.Node {
		return ad.Add(ad.Mul(p[0], ad.Exp(ad.Neg(ad.Mul(p[1], x)))), p[2])
	},
}

func problem(t testing.TB, model string, x, y, sigma, start []float64) *optim.Problem {
	t.Helper()
	p := make([]*ad.Node, len(start))
	for i := range p {
		p[i] = ad.Input(string(rune('a' + i)))
	}
	r := ad.Sub(models[model](p, ad.Const(x)), ad.Const(y))
	if sigma != nil {
		r = ad.Div(r, ad.Const(sigma))
	}
	prob, err := optim.FromGraph(r, p)
	if err != nil {
		t.Fatal(err)
	}
	prob.Start = start
	return prob
}

// distance is the largest relative difference.
func distance(got, want []float64) (worst float64) {
	for i, w := range want {
		worst = max(worst, math.Abs(got[i]-w)/max(math.Abs(w), 1e-12))
	}
	return worst
}

func TestFitsWithLossesAndBounds(t *testing.T) {
	var f lossFile
	golden.JSON(t, &f, "inference", "optim", "least_squares_and_bounds.json")
	worst := 0.0
	for _, g := range f.Fits {
		if g.Results["linear"].Rank > 0 { // deficient: see TestRankDeficientFit
			continue
		}
		if models[g.Model] == nil {
			t.Logf("%s is not compared: this test has no formula %q", g.Name, g.Model)
			continue
		}
		for loss, want := range g.Results {
			for _, method := range []optim.Method{optim.LM, optim.TRF, optim.Dogbox} {
				if method == optim.LM && g.Bounds != nil {
					continue
				}
				p := problem(t, g.Model, g.X, g.Y, g.Sigma, g.P0)
				if g.Bounds != nil {
					p.Lower, p.Upper = g.Bounds[0], g.Bounds[1]
				}
				r, err := optim.LeastSquares(context.Background(), p, optim.Settings{Method: method, Loss: optim.Loss(loss), LossScale: g.FScale})
				if err != nil {
					t.Fatal(err)
				}
				d := distance(r.X, want.X)
				worst = max(worst, d)
				if !r.Status.Converged() || d > 1e-7 || math.Abs(r.Cost-want.Cost) > 1e-10*want.Cost {
					t.Errorf("%s %s %s: %v x %v (want %v), cost %.12g (want %.12g)", g.Name, loss, method, r.Status.Message(), r.X, want.X, r.Cost, want.Cost)
				}
				if e := covarianceDistance(r.Cov, want.Cov, 1/r.Scale); e > 1e-5 {
					t.Errorf("%s %s %s: covariance off by %.1e: %v, want %v", g.Name, loss, method, e, r.Cov, want.Cov)
				}
				if e := covarianceDistance(r.Cov, want.Scaled, r.ReducedChiSquared()/r.Scale); e > 1e-5 {
					t.Errorf("%s %s %s: scaled covariance off by %.1e", g.Name, loss, method, e)
				}
				for i, a := range want.Active {
					if int(a) != r.Active[i] {
						t.Errorf("%s %s: active %v, want %v", g.Name, loss, r.Active, want.Active)
						break
					}
				}
			}
		}
	}
	t.Logf("largest relative deviation of a parameter %.1e", worst)
}

// covarianceDistance is the largest difference of scale times got from want, in
// products of standard deviations.
func covarianceDistance(got []float64, want [][]float64, scale float64) (worst float64) {
	n := len(want)
	for i, row := range want {
		for j, w := range row {
			worst = max(worst, math.Abs(scale*got[i*n+j]-w)/math.Sqrt(want[i][i]*want[j][j]))
		}
	}
	return worst
}

func TestRankDeficientFit(t *testing.T) {
	var f lossFile
	golden.JSON(t, &f, "inference", "optim", "least_squares_and_bounds.json")
	for _, g := range f.Fits {
		want := g.Results["linear"]
		if want.Rank == 0 || g.Model != "(a+b)*x+c" {
			continue
		}
		for _, method := range []optim.Method{optim.LM, optim.TRF, optim.Dogbox} {
			r, err := optim.LeastSquares(context.Background(), problem(t, g.Model, g.X, g.Y, g.Sigma, g.P0), optim.Settings{Method: method})
			if err != nil {
				t.Fatal(err)
			}
			if math.Abs(r.Cost-want.Cost) > 1e-9*want.Cost || math.Abs(r.X[0]+r.X[1]-want.APlusB) > 1e-8 || r.Rank != want.Rank {
				t.Errorf("%s: cost %g (want %g), a+b %g (want %g), rank %d", method, r.Cost, want.Cost, r.X[0]+r.X[1], want.APlusB, r.Rank)
			}
			sd := r.SD()
			if v := r.Cov[8] * r.ReducedChiSquared(); math.Abs(v-want.CovC) > 1e-6*want.CovC {
				t.Errorf("%s: variance of c %g, want %g", method, v, want.CovC)
			}
			if !math.IsInf(sd[0], 1) || !math.IsInf(sd[1], 1) || !(sd[2] < 1) || len(r.Undetermined) != 1 || len(r.Warnings) == 0 {
				t.Errorf("%s: sd %v, undetermined %v: want a and b undetermined, c not", method, sd, r.Undetermined)
			}
		}
	}
}

func TestCovarianceSemantics(t *testing.T) {
	var f lossFile
	golden.JSON(t, &f, "inference", "optim", "least_squares_and_bounds.json")
	s := f.Semantics
	// The names say how sigma is given: they are the format.
	settings := map[string]struct {
		sigma    []float64
		relative bool
	}{"no_sigma": {nil, true}, "sigma_relative": {s.Sigma, true}, "sigma_absolute": {s.Sigma, false}, "no_sigma_absolute_true": {nil, false}}
	for name, want := range s.Cases {
		c, known := settings[name]
		if !known || models[s.Model] == nil {
			t.Logf("%s of %s is not compared: this test does not know it", name, s.Model)
			continue
		}
		r, err := optim.LeastSquares(context.Background(), problem(t, s.Model, s.X, s.Y, c.sigma, s.P0), optim.Settings{RelativeSigma: c.relative})
		if err != nil {
			t.Fatal(err)
		}
		if d := distance(r.X, want.Popt); d > 1e-7 {
			t.Errorf("%s: x %v, want %v", name, r.X, want.Popt)
		}
		for i, row := range want.Pcov {
			n := len(row)
			if d := distance(r.Cov[n*i:n*i+n], row); d > 1e-5 {
				t.Errorf("%s: covariance row %d %v, want %v", name, i, r.Cov[n*i:n*i+n], row)
			}
		}
	}
}

func TestManySmallFits(t *testing.T) {
	var f struct {
		X        []float64
		Y        [][]float64
		P0       []float64
		BestFit  [][]float64 `json:"best_fit"`
		HalfSums []float64   `json:"cost_half_ssq"`
	}
	golden.JSON(t, &f, "inference", "optim", "batched_g2_fits.json")
	for i, y := range f.Y {
		r, err := optim.LeastSquares(context.Background(), problem(t, "b + c*exp(-2 x/t)", f.X, y, nil, f.P0), optim.Settings{})
		if err != nil {
			t.Fatal(err)
		}
		if d := distance(r.X, f.BestFit[i]); d > 1e-6 || math.Abs(r.Cost-f.HalfSums[i]) > 1e-10*f.HalfSums[i] {
			t.Errorf("fit %d: %v, want %v (%.1e), cost %g, want %g", i, r.X, f.BestFit[i], d, r.Cost, f.HalfSums[i])
		}
	}
}

// beside is a start near the truth of tau, baseline and contrast.
func beside(truth []float64) []float64 { return []float64{1.25 * truth[0], truth[1], 1.2 * truth[2]} }

func TestRobustAndLargeG2(t *testing.T) {
	var f struct {
		Robust struct {
			X, Y, Sigma  []float64
			Truth        []float64
			Lower, Upper []float64
			Cases        []struct {
				Loss   string
				FScale float64 `json:"f_scale"`
				Popt   []float64
				Cost   float64
			}
		}
		Large struct {
			Cases []struct {
				N      int
				Seed   uint64
				Noise  string
				Rule   string `json:"x_rule"`
				Truth  []float64
				Popt   []float64
				Scaled []float64 `json:"perr_scaled"`
			}
		}
	}
	golden.JSON(t, &f, "xpcs", "g2fit", "robust_large.json")
	single := func(p []*ad.Node, x *ad.Node) *ad.Node { // tau, baseline, contrast
		return ad.Add(p[1], ad.Mul(p[2], ad.Exp(ad.Scale(-2, ad.Div(x, p[0])))))
	}
	models["single"] = single
	defer delete(models, "single")
	for _, c := range f.Robust.Cases {
		p := problem(t, "single", f.Robust.X, f.Robust.Y, f.Robust.Sigma, beside(f.Robust.Truth))
		p.Lower, p.Upper = f.Robust.Lower, f.Robust.Upper
		r, err := optim.LeastSquares(context.Background(), p, optim.Settings{Loss: optim.Loss(c.Loss), LossScale: c.FScale})
		if err != nil {
			t.Fatal(err)
		}
		tol := 1e-8
		if c.Loss == "arctan" {
			tol = 1e-6
		}
		if d := distance(r.X, c.Popt); d > tol {
			t.Errorf("%s scale %g: %v, want %v (%.1e): %s", c.Loss, c.FScale, r.X, c.Popt, d, r.Status.Message())
		}
	}
	for _, c := range f.Large.Cases {
		if !tier.Slow && c.N > 300_000 {
			continue
		}
		var noise, reach float64
		if n, err := fmt.Sscanf(c.Noise+" "+c.Rule, "%g*(u_i-0.5) x_i = %g*(i+0.5)/n", &noise, &reach); n < 2 {
			t.Fatalf("%s, %s: %v", c.Noise, c.Rule, err)
		}
		x, y := make([]float64, c.N), make([]float64, c.N)
		u := golden.Input{Shape: []int{c.N}, Gen: "splitmix", Seed: c.Seed}.Values()
		for i := range x {
			x[i] = reach * (float64(i) + 0.5) / float64(c.N)
			y[i] = c.Truth[1] + c.Truth[2]*math.Exp(-2*x[i]/c.Truth[0]) + noise*(u[i]-0.5)
		}
		r, err := optim.LeastSquares(context.Background(), problem(t, "single", x, y, nil, beside(c.Truth)), optim.Settings{RelativeSigma: true})
		if err != nil {
			t.Fatal(err)
		}
		if d := max(distance(r.X, c.Popt), distance(r.SD(), c.Scaled)); d > 1e-8 {
			t.Errorf("%d points: %v, want %v (%.1e)", c.N, r.X, c.Popt, d)
		}
	}
}
