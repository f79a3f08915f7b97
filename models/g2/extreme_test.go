// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package g2_test

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/infer"
	"github.com/euryale-dev/euryale/infer/check"
	"github.com/euryale-dev/euryale/infer/dist"
	"github.com/euryale-dev/euryale/models/g2"
)

// decaying returns a decay with a relaxation time of 0.01 s and a small ripple as noise, with delays in another unit.
func decaying(scale float64) g2.Curve {
	c := g2.Curve{Bin: 1, Q: math.NaN(), Phi: math.NaN()}
	for i := range 30 {
		x := 5e-4 * math.Pow(1.2, float64(i))
		c.X = append(c.X, x*scale)
		c.Y = append(c.Y, 1+0.2*math.Exp(-2*x/0.01)+0.002*math.Sin(float64(i*i)))
		c.Err = append(c.Err, 0.002)
	}
	return c
}

// A bin that cannot be fitted has failed, with a reason, errors of -1 and no verdict.
func TestExtremeDelaysFail(t *testing.T) {
	model, _ := g2.ByName("single")
	for _, scale := range []float64{1e300, 1e-300} {
		f, err := g2.FitOne(context.Background(), model, decaying(scale), g2.Settings{})
		if err != nil {
			t.Fatal(err)
		}
		if f.Status != "failed" || !strings.Contains(f.Message, "give tau in s") || f.SD[0] != -1 || f.Check.OK || !math.IsNaN(f.Cost) {
			t.Errorf("delays times %g: %s, %q, %v, %v", scale, f.Status, f.Message, f.SD, f.Check)
		}
		if _, err := g2.Posterior(model, decaying(scale), g2.Settings{}); err == nil {
			t.Errorf("delays times %g: a posterior", scale)
		}
	}
	for _, scale := range []float64{1e90, 1, 1e-90} {
		f, err := g2.FitOne(context.Background(), model, decaying(scale), g2.Settings{})
		if err != nil || f.Status == "failed" || f.SD[0] == -1 {
			t.Errorf("delays times %g: %s, %s, %v", scale, f.Status, f.Message, err)
		}
	}
}

// Relaxation times are positive.
func TestNegativeRelaxationTimes(t *testing.T) {
	for model, name := range map[string]string{"single": "tau", "double": "tau2", "aps_single": "b", "stretched": "tau"} {
		m, _ := g2.ByName(model)
		s := g2.Settings{Bounds: map[string][2]float64{name: {-5, -1}}}
		if _, err := g2.FitOne(context.Background(), m, decaying(1), s); err == nil || !strings.Contains(err.Error(), "must be positive") {
			t.Errorf("%s: %v", model, err)
		}
	}
	m, _ := g2.ByName("aps_single")
	if _, err := g2.Posterior(m, decaying(1), g2.Settings{Bounds: map[string][2]float64{"b": {-5, 1}}}); err == nil || !strings.Contains(err.Error(), "must be positive") {
		t.Errorf("posterior: %v", err)
	}
	single, _ := g2.ByName("single")
	f, err := g2.FitOne(context.Background(), single, decaying(1), g2.Settings{Bounds: map[string][2]float64{"tau": {0, 1}, "contrast": {-1, 1}}})
	if err != nil || !f.OK() || math.Abs(f.X[0]-0.01) > 1e-3 {
		t.Errorf("bounds that include 0: %v, %s, %v", err, f.Status, f.X)
	}
}

// Priors must be continuous distributions of numbers.
func TestDiscretePriors(t *testing.T) {
	m, _ := g2.ByName("single")
	for _, d := range []dist.Dist{dist.Bernoulli(0.5), dist.Poisson(3), dist.Dirichlet([]float64{1, 2})} {
		_, err := g2.Posterior(m, decaying(1), g2.Settings{Priors: map[string]dist.Dist{"tau": d}})
		if err == nil || !strings.Contains(err.Error(), "not a continuous distribution of numbers") {
			t.Errorf("%s: %v", d.Name, err)
		}
	}
}

// A verdict that cannot be made says why, and is no error, so that no draws are lost.
func TestPosteriorThatCannotBeJudged(t *testing.T) {
	m, _ := g2.ByName("single")
	c := decaying(1)
	post, err := g2.Posterior(m, c, g2.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	compiled, err := post.Compile()
	if err != nil {
		t.Fatal(err)
	}
	fit, err := infer.Sample(context.Background(), compiled, infer.Settings{Chains: 1, Warmup: 100, Draws: 50, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	c.X[3] = math.NaN()
	v, err := g2.CheckPosterior(m, c, g2.Settings{}, fit)
	if err != nil || v.OK || len(v.Flags) != 1 || v.Flags[0].Kind != check.KindUnjudged || !math.IsNaN(v.P) || !strings.Contains(v.Summary(), "could not be judged") {
		t.Errorf("%+v, %v", v, err)
	}
}

// Data that are the same everywhere are on the model, up to rounding: nothing else is to be found, and rounding errors have no
// pattern.
func TestConstantCurve(t *testing.T) {
	m, _ := g2.ByName("single")
	c := decaying(1)
	for i := range c.Y {
		c.Y[i] = 1.2
	}
	f, err := g2.FitOne(context.Background(), m, c, g2.Settings{})
	if err != nil || f.Status == "failed" {
		t.Fatal(err, f.Message)
	}
	for _, w := range f.Warnings {
		if strings.Contains(w, "further starts") {
			t.Error(w)
		}
	}
	for _, flag := range f.Check.Flags {
		if flag.Kind == check.KindShape || flag.Kind == check.KindPattern || flag.Kind == check.KindOutliers {
			t.Errorf("%s: %s", flag.Kind, flag)
		}
	}
}

// Parameters of models have names that files of draws can hold.
func TestParametersThatFilesCannotHold(t *testing.T) {
	for _, name := range []string{"chain", "draw", "nan", "inf", "x_dim_0"} {
		m, _ := g2.ByName("single")
		m.Params = append([]g2.Param(nil), m.Params...)
		m.Params[0].Name = name
		if _, err := g2.Posterior(m, decaying(1), g2.Settings{}); err == nil || !strings.Contains(err.Error(), "files of draws") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Data in another unit of time or q give the same fit and verdict in that unit: cost, parameters, errors, and which of them are on bounds.
func TestFitsDoNotDependOnUnits(t *testing.T) {
	for _, model := range g2.Models() {
		of := func(time, q float64) g2.Fit {
			r, c := rand.New(rand.NewPCG(7, 7)), g2.Curve{Bin: 1, Q: math.NaN(), Phi: math.NaN()}
			for i := range 30 {
				x := 1e-3 * math.Pow(10, 4*float64(i)/29)
				y, sd := 1+0.15*math.Exp(-math.Pow(x/0.01, 0.9))+0.1*math.Exp(-2*x), 5e-4
				if model.Of == "q" {
					x = 2e-3 * math.Pow(1.1, float64(i))
					y, sd = 1e-5*math.Pow(x, -1.9)*time, 1e-6*math.Pow(x, -1.9)*time
					y += sd * r.NormFloat64()
					x *= q
				} else {
					x, y = x*time, y+sd*r.NormFloat64()
				}
				c.X, c.Y, c.Err = append(c.X, x), append(c.Y, y), append(c.Err, sd)
			}
			f, err := g2.FitOne(context.Background(), model, c, g2.Settings{})
			if err != nil {
				t.Fatal(err)
			}
			return f
		}
		want := of(1, 1)
		for _, unit := range []float64{1e-9, 1e-6, 1e-3, 1e3, 1e6, 1e9} {
			for _, q := range []float64{1, 1e-3, 10, 1e10} { // 1e10: in 1/m
				if q != 1 && model.Of != "q" {
					continue
				}
				f := of(unit, q)
				if math.Abs(f.Cost/want.Cost-1) > 1e-6 || f.Check.Word() != want.Check.Word() || !slices.Equal(f.Active, want.Active) {
					t.Errorf("%s, time times %g, q times %g: cost %.8g, %s, on bounds %v: want %.8g, %s, %v", model.Name, unit, q, f.Cost, f.Check.Word(), f.Active, want.Cost, want.Check.Word(), want.Active)
				}
				for i, p := range model.Params {
					scale := 1.0
					switch {
					case p.Unit == "s":
						scale = unit
					case p.Name == "tau0":
						scale = unit * math.Pow(q, want.X[1])
					case p.Name == "a" && model.Of == "q":
						scale = unit * math.Pow(q, -want.X[1])
					}
					if off := math.Abs(f.X[i]/scale - want.X[i]); off > 1e-3*want.SD[i]+1e-5*math.Abs(want.X[i]) {
						t.Errorf("%s, time times %g, q times %g: %s is %.8g, want %.8g", model.Name, unit, q, p.Name, f.X[i], scale*want.X[i])
					}
				}
			}
		}
	}
}
