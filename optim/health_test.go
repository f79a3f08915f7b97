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
	"github.com/euryale-dev/euryale/tensor"
)

// sick is a decay with something wrong, or nothing.
func sick(t testing.TB, rng *tensor.Stream, change func(x, y, sigma []float64)) *optim.Result {
	t.Helper()
	const m = 60
	x, y, sigma := make([]float64, m), make([]float64, m), repeat(0.02, m)
	for i := range x {
		x[i] = float64(i) / 15
		y[i] = 0.5 + 2*math.Exp(-x[i]) + 0.02*rng.Normal()
	}
	if change != nil {
		change(x, y, sigma)
	}
	p := inputs("b", "c", "r")
	model := ad.Add(p[0], ad.Mul(p[1], ad.Exp(ad.Neg(ad.Mul(p[2], ad.Const(x))))))
	prob, err := optim.FromModel(model, p, optim.Observed{Y: y, Sigma: sigma})
	if err != nil {
		t.Fatal(err)
	}
	prob.Start = []float64{0.4, 1.5, 0.8}
	r, err := optim.LeastSquares(context.Background(), prob, optim.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestHealthOfAWindowTooShort(t *testing.T) {
	rng := tensor.NewStream(17, 0, 0)
	h := sick(t, &rng, func(x, y, _ []float64) {
		for i := range x {
			x[i] /= 1000
			y[i] = 2.5 - 2*x[i] + 0.02*float64(i%3-1)
		}
	}).Health()
	if h.OK() || !strings.Contains(h.String(), "correlated by") {
		t.Errorf("found %v", h)
	}
	for _, f := range h.Findings {
		if f.What == "" || f.Remedy == "" {
			t.Errorf("%+v", f)
		}
	}
}

func TestHealthOfASoundFit(t *testing.T) {
	rng := tensor.NewStream(18, 0, 0)
	for range 400 {
		h := sick(t, &rng, nil).Health()
		if !h.OK() || !(h.Condition > 1 && h.Condition < 1000) || len(h.Parameters) != 3 || h.Parameters[0].Inflation < 1 {
			t.Fatalf("%+v", h)
		}
	}
}

func TestHealthOfParameters(t *testing.T) {
	p := inputs("a", "b", "c")
	x := ad.Const([]float64{0, 1, 2, 3, 4, 5, 6, 7, 8, 9})
	y := []float64{0, 2, 4.1, 5.9, 8, 10, 12.1, 13.9, 16, 18}
	prob, err := optim.FromModel(ad.Add(ad.Mul(ad.Add(p[0], p[1]), x), p[2]), p, optim.Observed{Y: y})
	if err != nil {
		t.Fatal(err)
	}
	prob.Start = []float64{1, 1, 0.5}
	r, err := optim.LeastSquares(context.Background(), prob, optim.Settings{RelativeSigma: true})
	if err != nil {
		t.Fatal(err)
	}
	if h := r.Health(); !strings.Contains(h.String(), "do not determine a - b") || !math.IsInf(h.Condition, 1) {
		t.Errorf("%v", h)
	}
	prob.Lower, prob.Upper = []float64{0, 0, 0.4}, []float64{9, 9, 9}
	r, err = optim.LeastSquares(context.Background(), prob, optim.Settings{RelativeSigma: true, Fixed: map[string]float64{"b": 1}, MaxEvaluations: 100})
	if err != nil {
		t.Fatal(err)
	}
	h := r.Health()
	if !strings.Contains(h.String(), "c is on its bound 0.4") || len(h.Parameters) != 2 || h.Parameters[1].Active != -1 {
		t.Errorf("%v %+v", h, h.Parameters)
	}
	if r, err = optim.LeastSquares(context.Background(), rosenbrock(), optim.Settings{MaxEvaluations: 3}); err != nil || !strings.Contains(r.Health().String(), "did not converge (max_evaluations): start nearer") {
		t.Errorf("%v %v", err, r.Health())
	}
}
