// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

//go:build slow

package infer

import (
	"math"
	"testing"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/infer/dist"
	"github.com/euryale-dev/euryale/tensor"
)

// Ranks of the truth among draws are uniform with coordinates and warm-up at their defaults, in both forms of a hierarchy: of 8 bins over 400 fits,
// chi-square has 7 degrees of freedom, and is above 26 in one of 2000.
func TestRanksAtDefaults(t *testing.T) {
	const fits, bins = 400, 8
	for form, build := range map[string]func(m *Model, mu, tau *ad.Node) *ad.Node{
		"centred": func(m *Model, mu, tau *ad.Node) *ad.Node { return m.Param("theta", dist.Normal(mu, tau), Shape(6)) },
		"non-centred": func(m *Model, mu, tau *ad.Node) *ad.Node {
			return ad.Add(mu, ad.Mul(tau, m.Param("z", dist.Normal(0, 1), Shape(6))))
		},
	} {
		random, counts := tensor.NewStream(6, 1, 0), map[string][]int{"mu": make([]int, bins), "tau": make([]int, bins)}
		for k := range fits {
			truth := map[string]float64{"mu": random.Normal(), "tau": math.Abs(random.Normal())}
			y := make([]float64, 6)
			for i := range y {
				y[i] = truth["mu"] + truth["tau"]*random.Normal() + random.Normal()
			}
			m := NewModel("ranks")
			theta := build(m, m.Param("mu", dist.Normal(0, 1)), m.Param("tau", dist.HalfNormal(1)))
			m.Observe("y", dist.Normal(theta, 1), y)
			fit := mustSample(t, compiled(t, m), Settings{Seed: uint64(k), Draws: 320, Chains: 2})
			for name, count := range counts {
				below, all := 0, 0
				for _, chain := range fit.Draws(name) {
					for i := 0; i < len(chain); i += 5 {
						if all++; chain[i] < truth[name] {
							below++
						}
					}
				}
				count[below*bins/(all+1)]++
			}
		}
		for name, count := range counts {
			chi := 0.0
			for _, c := range count {
				d := float64(c) - fits/bins
				chi += d * d / (fits / bins)
			}
			if chi > 26 {
				t.Errorf("%s: ranks of %s are not uniform: %v, chi-square %.1f", form, name, count, chi)
			}
			t.Logf("%s: %s %v, chi-square %.1f", form, name, count, chi)
		}
	}
}
