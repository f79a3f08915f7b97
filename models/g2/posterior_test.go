// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package g2_test

import (
	"context"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/infer"
	"github.com/euryale-dev/euryale/infer/diag"
	"github.com/euryale-dev/euryale/infer/dist"
	"github.com/euryale-dev/euryale/internal/golden"
	"github.com/euryale-dev/euryale/models/g2"
)

func TestLogDensityGoldens(t *testing.T) {
	var file struct {
		Cases []struct {
			Model string
			X     []float64 `json:"x_or_q"`
			Y     []float64
			Yerr  []float64
			Order []string `json:"latent_order"`
			Eval  []struct {
				Z, Grad []float64
				U       float64   `json:"potential_energy"`
				GradU   []float64 `json:"grad_potential"`
			} `json:"evaluations"`
		}
	}
	golden.JSON(t, &file, "xpcs", "logdensity", "logdensity.json")
	worst := 0.0
	for _, c := range file.Cases {
		model, err := g2.ByName(c.Model)
		if err != nil {
			t.Fatal(err)
		}
		curve := g2.Curve{X: c.X, Y: c.Y, Err: c.Yerr}
		if !slices.Equal(model.Sampled(curve), c.Order) {
			t.Errorf("%s: parameters %v, want %v", c.Model, model.Sampled(curve), c.Order)
		}
		m, err := g2.Posterior(model, curve, reference(c.Model))
		if err != nil {
			t.Fatal(err)
		}
		post, err := m.Compile()
		if err != nil {
			t.Fatal(err)
		}
		g := make([]float64, post.Dim())
		for _, e := range c.Eval {
			lp, err := post.LogProbGrad(e.Z, g)
			if err != nil {
				t.Fatal(err)
			}
			scale := 0.0
			for _, v := range e.GradU {
				scale = max(scale, math.Abs(v))
			}
			worst = max(worst, math.Abs(lp+e.U)/math.Abs(e.U))
			for i, v := range e.GradU {
				worst = max(worst, math.Abs(g[i]+v)/max(math.Abs(v), 1e-3*scale))
			}
			if !(worst <= 1e-10) {
				t.Fatalf("%s at %v: density %.15g, want %.15g; gradient %v, want minus %v", c.Model, e.Z, lp, -e.U, g, e.GradU)
			}
		}
	}
	t.Logf("largest relative deviation %.1e", worst)
}

// reference returns the priors of the reference where those of the model differ: of the prefactor whatever the units of the data, and of exponents below 1.
func reference(model string) g2.Settings {
	switch model {
	case "power":
		return g2.Settings{Priors: map[string]dist.Dist{"tau0": dist.LogNormal(0, 2)}}
	case "stretched":
		return g2.Settings{Priors: map[string]dist.Dist{"beta": dist.Beta(2, 2)}}
	}
	return g2.Settings{}
}

// A compressed decay is found by fit and posterior, and bounds hold in both.
func TestCompressedDecay(t *testing.T) {
	model, _ := g2.ByName("stretched")
	c := g2.Curve{Bin: 1, Q: math.NaN(), Phi: math.NaN()}
	for i := range 60 {
		x := 1e-3 * math.Pow(10, float64(i)/15)
		c.X, c.Y, c.Err = append(c.X, x), append(c.Y, 1+0.2*math.Exp(-math.Pow(2*x/0.5, 1.6))+2e-3*math.Sin(float64(37*i))), append(c.Err, 2e-3)
	}
	f, err := g2.FitOne(context.Background(), model, c, g2.Settings{})
	if err != nil || !f.OK() || math.Abs(f.X[3]-1.6) > 3*f.SD[3] || f.SD[3] > 0.2 {
		t.Fatalf("%v: %s, %v +- %v", err, f.Status, f.X, f.SD)
	}
	cfg := infer.Settings{Draws: 300, Warmup: 300}
	beta := sample(t, model, c, g2.Settings{}, cfg).Summary().Row("beta")
	if math.Abs(beta.Mean-f.X[3]) > 2*f.SD[3] {
		t.Errorf("beta is %g in the posterior, %g in the fit", beta.Mean, f.X[3])
	}
	s := g2.Settings{Bounds: map[string][2]float64{"beta": {0.5, 1.55}, "contrast": {0, 0.5}}}
	for _, chain := range sample(t, model, c, s, cfg).Draws("beta") {
		for _, v := range chain {
			if !(v >= 0.5 && v <= 1.55) {
				t.Fatalf("beta is %g beyond its bounds", v)
			}
		}
	}
}

type marginal struct {
	Mean, SD  float64
	Quantiles map[string]float64
}

// heavy says whether the tails make the standard deviation large beside the middle
// nine tenths, of which it is 0.3 for a normal distribution.
func (m marginal) heavy() bool { return m.SD > 0.4*(m.Quantiles["0.95"]-m.Quantiles["0.05"]) }

// TestPosteriorGoldens samples every model from its point fit and compares with
// exact quadrature: means and quantiles within 4 Monte Carlo standard errors, sd
// within 5 %. With nine posteriors of about 20 numbers the threshold of 4 would
// be passed by chance about once in 80 runs; the seed is fixed.
func TestPosteriorGoldens(t *testing.T) {
	var file struct {
		Cases []struct {
			Name, Model string
			X, Y, Yerr  []float64
			Q, Tau      []float64
			TauErr      []float64 `json:"tau_err"`
			Posterior   struct{ Marginals map[string]marginal }
		}
	}
	golden.JSON(t, &file, "xpcs", "posterior", "posterior.json")
	for _, c := range file.Cases {
		t.Run(c.Name, func(t *testing.T) {
			model, err := g2.ByName(c.Model)
			if err != nil {
				t.Fatal(err)
			}
			curve := g2.Curve{Bin: 1, X: c.X, Y: c.Y, Err: c.Yerr}
			if c.Q != nil {
				curve = g2.Curve{Bin: 1, X: c.Q, Y: c.Tau, Err: c.TauErr}
			}
			cfg := infer.Settings{Draws: 1500}
			heavy := false
			for _, m := range c.Posterior.Marginals {
				heavy = heavy || m.heavy()
			}
			if heavy { // the file asks for more draws
				cfg = infer.Settings{Draws: 20_000, TargetAccept: 0.95}
			}
			fit := sample(t, model, curve, reference(c.Model), cfg)
			sum := fit.Summary()
			for name, want := range c.Posterior.Marginals {
				r := sum.Row(name)
				if r == nil {
					t.Fatalf("no parameter %s", name)
				}
				if r.RHat > 1.01 || r.ESSBulk < 400 || r.ESSTail < 400 {
					t.Errorf("%s: R-hat %.3f, ESS %.0f and %.0f", name, r.RHat, r.ESSBulk, r.ESSTail)
				}
				if !heavy { // else means have no useful standard error
					if z := (r.Mean - want.Mean) / r.MCSEMean; math.Abs(z) > 4 {
						t.Errorf("%s: mean %g, want %g: %.1f standard errors", name, r.Mean, want.Mean, z)
					}
					if math.Abs(r.SD/want.SD-1) > 0.05 {
						t.Errorf("%s: sd %g, want %g", name, r.SD, want.SD)
					}
				}
				x := fit.Draws(name)
				for key, p := range map[string]float64{"0.05": .05, "0.5": .5, "0.95": .95} {
					got, se := diag.Quantile(slices.Concat(x...), p), diag.MCSEQuantile(x, p)
					if z := (got - want.Quantiles[key]) / se; math.Abs(z) > 4 {
						t.Errorf("%s: quantile %s is %g, want %g: %.1f standard errors", name, key, got, want.Quantiles[key], z)
					}
				}
			}
			if n := fit.Divergent(); n > 0 && !heavy {
				t.Errorf("%d divergences", n)
			}
		})
	}
}

func sample(t *testing.T, model g2.Model, c g2.Curve, s g2.Settings, cfg infer.Settings) *infer.Fit {
	t.Helper()
	const seed = 3
	ctx := context.Background()
	point, err := g2.FitOne(ctx, model, c, g2.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	m, err := g2.Posterior(model, c, s)
	if err != nil {
		t.Fatal(err)
	}
	post, err := m.Compile()
	if err != nil {
		t.Fatal(err)
	}
	starts, err := g2.Starts(post, point, s, 4, seed)
	if err != nil {
		t.Fatal(err)
	}
	cfg.Chains, cfg.Seed, cfg.Init = 4, seed, starts
	fit, err := infer.Sample(ctx, post, cfg)
	if err != nil {
		t.Fatal(err)
	}
	return fit
}

func TestBadCurves(t *testing.T) {
	model, _ := g2.ByName("single")
	good := g2.Curve{Bin: 1, X: []float64{1, 2, 3, 4}, Y: []float64{1.3, 1.2, 1.1, 1.05}, Err: []float64{.01, .01, 0, .01}}
	nan := g2.Curve{Bin: 2, X: good.X, Y: []float64{1.3, math.NaN(), 1.1, 1}, Err: good.Err}
	empty := g2.Curve{Bin: 3}
	short := g2.Curve{Bin: 4, X: []float64{1, 2}, Y: []float64{1.3, 1.1}}
	fits, err := g2.FitAll(context.Background(), model, []g2.Curve{good, nan, empty, short}, g2.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	if !fits[0].OK() {
		t.Errorf("good bin: %s %s", fits[0].Status, fits[0].Message)
	}
	for i, want := range []string{"", "g2 of point 2 is NaN", "no points", "2 points"} {
		if i > 0 && (fits[i].Status != "failed" || !strings.Contains(fits[i].Message, want) || fits[i].SD[0] != -1) {
			t.Errorf("bin %d: %s %q %v", i+1, fits[i].Status, fits[i].Message, fits[i].SD)
		}
	}
	if _, err := g2.FitAll(context.Background(), model, nil, g2.Settings{Fixed: map[string]float64{"tua": 1}}); err == nil {
		t.Error("unknown fixed parameter: no error")
	}
	if _, err := g2.Posterior(model, nan, g2.Settings{}); err == nil || !strings.Contains(err.Error(), "bin 2") {
		t.Errorf("model of a NaN: %v", err)
	}
}
