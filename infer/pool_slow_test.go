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

// The law of the draws after the warm-up does not depend on the number of chains that shared it: means of the numbers and of their squares over 200 runs agree with
// those of one long run within 4.5 standard errors.
func TestLawOfPools(t *testing.T) {
	p := groups3(t)
	moments := func(fits []*Fit) (mean, se []float64) {
		var each [][]float64 // of each fit
		for _, f := range fits {
			var m []float64
			for i := range f.Names() {
				first, second, n := 0.0, 0.0, 0.0
				for _, chain := range f.Column(i) {
					for _, x := range chain {
						first, second, n = first+x, second+x*x, n+1
					}
				}
				m = append(m, first/n, second/n)
			}
			each = append(each, m)
		}
		mean, se = make([]float64, len(each[0])), make([]float64, len(each[0]))
		for _, m := range each {
			for k, v := range m {
				mean[k] += v / float64(len(each))
			}
		}
		for _, m := range each {
			for k, v := range m {
				se[k] += (v - mean[k]) * (v - mean[k]) / float64(len(each)*(len(each)-1))
			}
		}
		for k := range se {
			se[k] = math.Sqrt(se[k])
		}
		return mean, se
	}
	for _, without := range []bool{true, false} {
		run := func(chains, draws int, seed uint64) *Fit {
			return mustSample(t, p, Settings{Seed: seed, Chains: chains, Warmup: 160, Draws: draws, NoMarginals: without})
		}
		var long []*Fit
		for seed := range uint64(20) {
			long = append(long, run(4, 4000, 1000+seed))
		}
		want, wantSE := moments(long)
		for _, chains := range []int{1, 2, 8} {
			var fits []*Fit
			for seed := range uint64(200) {
				fits = append(fits, run(chains, 40, seed))
			}
			got, se := moments(fits)
			for k := range got {
				if z := (got[k] - want[k]) / math.Hypot(se[k], wantSE[k]); math.Abs(z) > 4.5 {
					t.Errorf("%d chains, without marginals %v: moment %d is %.1f standard errors off", chains, without, k, z)
				}
			}
		}
	}
}
