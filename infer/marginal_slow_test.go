// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package infer

import (
	"math"
	"testing"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/infer/dist"
	"github.com/euryale-dev/euryale/internal/peer"
	"github.com/euryale-dev/euryale/internal/tier"
)

// Models whose normal parameters interact have the same means and standard deviations with these integrated out as without. The log has effective draws per gradient and per
// second of the processor.
func TestDenseMarginalsAgree(t *testing.T) {
	tier.SlowOnly(t)
	for _, c := range []struct {
		name string
		of   func(t *testing.T) *Posterior
	}{
		{"crossed 40 x 12", func(t *testing.T) *Posterior { return crossed(t, 40, 12, 400) }},
		{"crossed 200 x 30", func(t *testing.T) *Posterior { return crossed(t, 200, 30, 2000) }},
		{"crossed 300 x 8", func(t *testing.T) *Posterior { return crossed(t, 300, 8, 2000) }},
		{"crossed 8 x 5", func(t *testing.T) *Posterior { return crossed(t, 8, 5, 40) }},
		{"correlated groups", func(t *testing.T) *Posterior { return correlatedGroups(t, 40, 400, false) }},
		{"correlated groups in standard form", func(t *testing.T) *Posterior { return correlatedGroups(t, 40, 400, true) }},
		{"Gaussian process in standard form", func(t *testing.T) *Posterior { return noisyProcess(t, 60, false) }},
		{"Gaussian process", func(t *testing.T) *Posterior { return noisyProcess(t, 60, true) }},
		{"Gaussian process with another for its error", func(t *testing.T) *Posterior { return twoProcesses(t, 100, 30) }},
		{"smooth trend", func(t *testing.T) *Posterior { return trend(t, 60) }},
		{"level with a slope", func(t *testing.T) *Posterior { return levels(t, 60) }},
	} {
		var fits [2]*Fit
		for k, cfg := range []Settings{{Seed: 1}, {Seed: 2, NoMarginals: true}} {
			p := c.of(t)
			begin := peer.CPUTime()
			fits[k] = mustSample(t, p, cfg)
			spent := peer.CPUTime() - begin
			least := math.Inf(1)
			for _, r := range fits[k].Summary().Rows {
				if r.SD > 0 {
					least = min(least, r.ESSBulk)
				}
			}
			warm, sampling := fits[k].Gradients()
			t.Logf("%s: %.4f effective draws per gradient, %.0f per second of the processor (%.2f s, %d gradients, %d divergences), %v", c.name, least/float64(warm+sampling), least/spent, spent, warm+sampling, fits[k].Divergent(), fits[k].Coordinates())
		}
		a, b := fits[0].Summary(), fits[1].Summary()
		for i, r := range a.Rows {
			o := b.Rows[i]
			if o.RHat > 1.02 || o.ESSBulk < 100 { // without them, chains do not come around
				continue
			}
			if z := math.Abs(r.Mean-o.Mean) / math.Hypot(r.MCSEMean, o.MCSEMean); z > 4.5 {
				t.Errorf("%s: the means of %s are %g and %g, %.1f errors apart", c.name, r.Name, r.Mean, o.Mean, z)
			}
			if z := math.Abs(r.SD-o.SD) / math.Hypot(r.MCSESD, o.MCSESD); z > 4.5 {
				t.Errorf("%s: the standard deviations of %s are %g and %g, %.1f errors apart", c.name, r.Name, r.SD, o.SD, z)
			}
		}
	}
}

// Ranks of what data were simulated from are uniform among draws, where parameters are integrated out exactly, and by Laplace's approximation with its correction.
func TestRanksOfMarginals(t *testing.T) {
	tier.SlowOnly(t)
	for _, c := range []ranked{
		{"joined", joined8(t), Settings{}},
		{"Bernoulli", counted(t, countedData["Bernoulli"], 3), Settings{Laplace: true}},
		{"Poisson", counted(t, countedData["Poisson"], 3), Settings{Laplace: true}},
	} {
		c.check(t)
	}
}

// Ranks are uniform where tails are taken in.
func TestRanksOfTails(t *testing.T) {
	tier.SlowOnly(t)
	ranked{"Cauchy", weakly(t, dist.Cauchy(0, 1), 100), Settings{}}.check(t)
}

// Ranks are uniform among points of tempered Monte Carlo: of a number whose square the data tell, so that the posterior has two modes of different heights, and of a hierarchy with one.
func TestRanksOfSMC(t *testing.T) {
	tier.SlowOnly(t)
	two := NewModel("two modes")
	x := two.Param("x", dist.Normal(0, 1))
	two.Observe("y", dist.Normal(ad.Add(ad.Square(x), ad.Scale(0.2, x)), 0.3), []float64{0, 0})
	one := NewModel("one mode")
	theta := one.Param("theta", dist.Normal(one.Param("mu", dist.Normal(0, 1)), one.Param("tau", dist.HalfNormal(1))), Shape(5))
	one.Observe("y", dist.Normal(theta, 1), make([]float64, 5))
	for _, m := range []*Model{two, one} {
		ranked{m.name, compiled(t, m), Settings{Method: SMC}}.check(t)
	}
}

// ranked is a posterior whose calibration is looked at.
type ranked struct {
	name string
	post *Posterior
	cfg  Settings
}

func (c ranked) check(t *testing.T) {
	t.Helper()
	const fits, bins, thinned = 400, 8, 31
	sim, err := c.post.Prior(fits, 3)
	if err != nil {
		t.Fatal(err)
	}
	names := c.post.Names()
	counts, sums := make([][bins]float64, len(names)), make([]float64, len(names))
	for i := range fits {
		if err := c.post.SetData("y", sim.Values("y")[i]); err != nil {
			t.Fatal(err)
		}
		var truth []float64
		for _, v := range c.post.stored() {
			truth = append(truth, sim.Values(v.name)[i]...)
		}
		cfg := c.cfg
		cfg.Seed, cfg.Chains, cfg.Draws = uint64(i), 2, 310
		fit := mustSample(t, c.post, cfg)
		for k := range names {
			rank := 0
			for j := range thinned {
				if fit.Column(k)[j%2][10*j+9-10*(j%2)] < truth[k] {
					rank++
				}
			}
			counts[k][rank*bins/(thinned+1)]++
			sums[k] += float64(rank)
		}
	}
	for k, name := range names {
		chi2 := 0.0
		for _, n := range counts[k] {
			chi2 += (n - fits/bins) * (n - fits/bins) / (fits / bins)
		}
		// The mean of ranks from 0 to 31 has the variance (32^2 - 1)/12 over the number of fits.
		z := (sums[k]/fits - thinned/2.0) / math.Sqrt((thinned+1)*(thinned+1)-1) * math.Sqrt(12*fits)
		t.Logf("%s: ranks of %s fall into %v, chi-square %.1f, mean %.2f standard errors off", c.name, name, counts[k], chi2, z)
		if chi2 > 29.9 || math.Abs(z) > 4 { // probability 1e-4 with 7 degrees of freedom, and 6e-5
			t.Errorf("%s: ranks of %s are not uniform", c.name, name)
		}
	}
}
