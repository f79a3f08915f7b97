// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

//go:build slow

package infer

import (
	"math"
	"math/rand/v2"
	"testing"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/infer/check"
	"github.com/euryale-dev/euryale/infer/diag"
	"github.com/euryale-dev/euryale/infer/dist"
)

// Of 1250 posteriors with one mode, skewed ones, funnels and periodic ones among them, hardly any are said to miss another, and none to
// have priors out of range.
func TestOneModeIsNoTwo(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 9))
	for name, build := range map[string]func(m *Model){
		"regression": func(m *Model) {
			a, b, s := m.Param("a", dist.Normal(0, 2)), m.Param("b", dist.Normal(0, 2)), m.Param("s", dist.HalfNormal(1))
			x, y := make([]float64, 20), make([]float64, 20)
			ta, tb, ts := rng.NormFloat64(), rng.NormFloat64(), 0.2+rng.Float64()
			for i := range x {
				x[i] = rng.NormFloat64()
				y[i] = ta + tb*x[i] + ts*rng.NormFloat64()
			}
			m.Observe("y", dist.Normal(ad.Add(a, ad.Mul(b, ad.Const(x))), s), y)
		},
		"schools": func(m *Model) {
			mu, tau := m.Param("mu", dist.Normal(0, 5)), m.Param("tau", dist.HalfCauchy(5))
			z := m.Param("z", dist.Normal(0, 1), Shape(8))
			y := make([]float64, 8)
			for i := range y {
				y[i] = 5*rng.NormFloat64() + 10*rng.NormFloat64()
			}
			m.Observe("y", dist.Normal(ad.Add(mu, ad.Mul(tau, z)), 10), y)
		},
		"centred": func(m *Model) {
			mu, tau := m.Param("mu", dist.Normal(0, 5)), m.Param("tau", dist.HalfNormal(5))
			z := m.Param("z", dist.Normal(mu, tau), Shape(8))
			y := make([]float64, 8)
			for i := range y {
				y[i] = 5*rng.NormFloat64() + 3*rng.NormFloat64()
			}
			m.Observe("y", dist.Normal(z, 3), y)
		},
		"decay": func(m *Model) {
			b, c, tau := m.Param("b", dist.Normal(1, 0.1)), m.Param("c", dist.HalfNormal(0.3)), m.Param("tau", dist.LogNormal(0, 1))
			x, y := make([]float64, 30), make([]float64, 30)
			tt := 0.2 + 3*rng.Float64()
			for i := range x {
				x[i] = 0.1 * float64(i+1)
				y[i] = 1 + 0.2*math.Exp(-2*x[i]/tt) + 0.02*rng.NormFloat64()
			}
			m.Observe("y", dist.Normal(ad.Add(b, ad.Mul(c, ad.Exp(ad.Scale(-2, ad.Div(ad.Const(x), tau))))), 0.02), y)
		},
		"sine": func(m *Model) {
			w, a := m.Param("w", dist.Normal(2, 0.3)), m.Param("a", dist.HalfNormal(1))
			x, y := make([]float64, 25), make([]float64, 25)
			for i := range x {
				x[i] = 0.2 * float64(i)
				y[i] = math.Sin(2*x[i]) + 0.3*rng.NormFloat64()
			}
			m.Observe("y", dist.Normal(ad.Mul(a, ad.Sin(ad.Mul(w, ad.Const(x)))), 0.3), y)
		},
	} {
		modes, ranges := 0, 0
		for k := range 250 {
			m := NewModel(name)
			build(m)
			p, err := m.Compile()
			if err != nil {
				t.Fatal(err)
			}
			fit := mustSample(t, p, Settings{Seed: uint64(k), Warmup: 300, Draws: 300})
			for _, a := range fit.Diagnose().Problems() {
				if a.Check == diag.CheckModes {
					modes++
					t.Logf("%s, run %d: %s", name, k, a)
				}
			}
			v, err := fit.CheckModel(CheckSettings{})
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range v.Flags {
				if f.Kind == check.KindRange {
					ranges++
				}
			}
		}
		if modes > 2 || ranges > 0 {
			t.Errorf("%s: of 250 runs %d are said to miss a mode, and %d to have a prior out of range", name, modes, ranges)
		}
	}
}
