// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package g2_test

import (
	"context"
	"math"
	"slices"
	"testing"

	"github.com/euryale-dev/euryale/infer"
	"github.com/euryale-dev/euryale/models/g2"
)

// exponential is a curve of one or two relaxations without errors, so that sigma is sampled; its residuals alternate.
func exponential(tau ...float64) g2.Curve {
	c := g2.Curve{Bin: 1}
	for i := range 60 {
		x := slices.Min(tau) / 30 * math.Pow(3000*slices.Max(tau)/slices.Min(tau), float64(i)/59)
		y := 1 + 0.002*float64(1-2*(i%2))
		for _, t := range tau {
			y += 0.3 / float64(len(tau)) * math.Exp(-2*x/t)
		}
		c.X, c.Y = append(c.X, x), append(c.Y, y)
	}
	return c
}

// Chains start where the fit ended, in the parameters themselves and not in their logarithms taken for them: also at 1000 s, with a sampled
// sigma, and with the slower of two relaxations first.
func TestStartsAreWhereTheFitEnded(t *testing.T) {
	for _, c := range []struct {
		model string
		tau   []float64
	}{{"single", []float64{1000}}, {"single", []float64{1e-5}}, {"double", []float64{0.02, 2}}, {"double", []float64{2, 0.02}}} {
		model, err := g2.ByName(c.model)
		if err != nil {
			t.Fatal(err)
		}
		curve := exponential(c.tau...)
		fit, err := g2.FitOne(context.Background(), model, curve, g2.Settings{})
		if err != nil || !fit.OK() {
			t.Fatal(err, fit.Message)
		}
		m, err := g2.Posterior(model, curve, g2.Settings{})
		if err != nil {
			t.Fatal(err)
		}
		post, err := m.Compile()
		if err != nil {
			t.Fatal(err)
		}
		starts, err := g2.Starts(post, fit, g2.Settings{}, 20, 1)
		if err != nil {
			t.Fatal(err)
		}
		at := slices.Index(model.Sampled(curve), map[string]string{"single": "tau", "double": "tau1"}[c.model])
		want := slices.Min(c.tau)
		grad, out := make([]float64, len(starts[0])), make([]float64, post.Len())
		for _, q := range starts {
			if lp, err := post.LogProbGrad(q, grad); err != nil || math.IsNaN(lp) || math.IsInf(lp, 0) {
				t.Errorf("%s %v: log density %g at a start, %v", c.model, c.tau, lp, err)
			}
			if err := post.Write(q, out); err != nil || !(math.Abs(math.Log(out[at]/want)) < 0.5) {
				t.Errorf("%s %v: a chain starts at a relaxation time of %g s, %v", c.model, c.tau, out[at], err)
			}
		}
	}
}

// New data are drawn with every parameter in its own place, whatever the order of names.
func TestPredictionsFollowTheCurve(t *testing.T) {
	model, _ := g2.ByName("single")
	c := exponential(0.05)
	fit := sample(t, model, c, g2.Settings{}, infer.Settings{Warmup: 200, Draws: 200})
	m, err := g2.Posterior(model, c, g2.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	post, err := m.Compile()
	if err != nil {
		t.Fatal(err)
	}
	p, err := g2.PredictiveBands(post, fit, c, 1)
	if err != nil {
		t.Fatal(err)
	}
	for i, x := range c.X {
		want := 1 + 0.3*math.Exp(-2*x/0.05)
		if math.Abs(p.Mid[i]-want) > 0.003 || p.Low[i] > c.Y[i] || p.High[i] < c.Y[i] || p.High[i]-p.Low[i] > 0.02 {
			t.Fatalf("at %g s: %g, from %g to %g: want about %g", x, p.Mid[i], p.Low[i], p.High[i], want)
		}
	}
	var draws [][]float64
	for k := range fit.Draws("tau")[0] {
		draws = append(draws, []float64{fit.Draws("tau")[0][k], fit.Draws("baseline")[0][k], fit.Draws("contrast")[0][k]})
	}
	b, err := model.PosteriorBand(c, draws, 0.9)
	if err != nil {
		t.Fatal(err)
	}
	for i, x := range b.X {
		if want := 1 + 0.3*math.Exp(-2*x/0.05); math.Abs(b.Mid[i]-want) > 0.003 {
			t.Fatalf("at %g s: %g, want about %g", x, b.Mid[i], want)
		}
	}
}
