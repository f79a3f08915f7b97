// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package infer

import (
	"errors"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/infer/diag"
	"github.com/euryale-dev/euryale/infer/dist"
	"github.com/euryale-dev/euryale/internal/tier"
	"github.com/euryale-dev/euryale/tensor"
)

// counted are effects of groups that are seen through other data than normal ones.
func counted(t *testing.T, of func(m *Model, x *ad.Node), groups int) *Posterior {
	t.Helper()
	m := NewModel("counted")
	mu, tau := m.Param("mu", dist.Normal(0, 1)), m.Param("tau", dist.Gamma(4, 4))
	x := m.Param("x", dist.Normal(mu, tau), Shape(groups))
	of(m, x)
	return compiled(t, m)
}

var countedData = map[string]func(m *Model, x *ad.Node){
	"Poisson":   func(m *Model, x *ad.Node) { m.Observe("y", dist.Poisson(ad.Exp(x)), []float64{0, 3, 1}) },
	"Bernoulli": func(m *Model, x *ad.Node) { m.Observe("y", dist.BernoulliLogit(x), []float64{0, 1, 1}) },
	"negative binomial": func(m *Model, x *ad.Node) {
		m.Observe("y", dist.NegBinomial2Log(x, 3), []float64{0, 3, 1})
	},
	"t with 5": func(m *Model, x *ad.Node) { m.Observe("y", dist.StudentT(5, x, 0.7), []float64{-1, 1.2, 0.3}) },
	"normal":   func(m *Model, x *ad.Node) { m.Observe("y", dist.Normal(x, 0.7), []float64{-1, 1.2, 0.3}) },
}

// The approximate density has the gradient of its differences; corrected by the mean of its weights it is the integral, which it is without for normal data.
func TestLaplaceDensities(t *testing.T) {
	for name, data := range countedData {
		p := counted(t, data, 3)
		m, err := approximate(p)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if told := m.told(); !strings.Contains(told, "x is integrated out by Laplace's approximation") {
			t.Errorf("%s: the target tells %q", name, told)
		}
		for seed := range uint64(2) {
			h := somewhere(2, seed)
			if err := CheckGradient(m, h); err != nil {
				t.Errorf("%s: %v", name, err)
			}
			lp, err := m.LogProbGrad(h, make([]float64, 2))
			if err != nil {
				t.Fatal(err)
			}
			// the integral over each x alone, by sums
			all, g := make([]float64, p.Dim()), make([]float64, p.Dim())
			m.put(h, all)
			at := func(x float64, k int) float64 {
				all[2], all[3], all[4] = 0, 0, 0
				all[2+k] = x
				v, err := p.LogProbGrad(all, g)
				if err != nil {
					t.Fatal(err)
				}
				return v
			}
			base := at(0, 0)
			want := base
			for k := range 3 {
				sum := 0.0
				for x := -15.0; x <= 15; x += 0.02 {
					sum += 0.02 * math.Exp(at(x, k)-base)
				}
				want += math.Log(sum)
			}
			mean, n := 0.0, 400
			src := tensor.NewStream(seed, 5, 5)
			for range n {
				_, log, err := m.weigh(h, make([]float64, p.Dim()), &src)
				if err != nil {
					t.Fatal(err)
				}
				mean += math.Exp(log) / float64(n)
			}
			if name == "normal" && math.Abs(lp-want) > 1e-9 {
				t.Errorf("%s: the log density is %.12g, want %.12g", name, lp, want)
			}
			if got := lp + math.Log(mean); math.Abs(got-want) > 0.02 || math.Abs(lp-want) > 0.5 {
				t.Errorf("%s: the log density is %.4f, and %.4f with weights, want %.4f", name, lp, got, want)
			}
		}
	}
}

// Runs with Laplace's approximation have the posterior, tell so, and go on bit by bit.
func TestLaplaceRuns(t *testing.T) {
	for name, data := range countedData {
		if name != "Bernoulli" && !tier.Slow {
			continue
		}
		p := counted(t, data, 3)
		draws := tier.Of(1000, 10_000)
		with, without := mustSample(t, p, Settings{Seed: 1, Laplace: true, Draws: draws}), mustSample(t, p, Settings{Seed: 2, Draws: draws})
		a, b := with.Summary(), without.Summary()
		for i, r := range a.Rows {
			o := b.Rows[i]
			if z := math.Abs(r.Mean-o.Mean) / math.Hypot(r.MCSEMean, o.MCSEMean); z > 4.5 {
				t.Errorf("%s: the means of %s are %g and %g, %.1f errors apart", name, r.Name, r.Mean, o.Mean, z)
			}
			if z := math.Abs(r.SD-o.SD) / math.Hypot(r.MCSESD, o.MCSESD); z > 4.5 {
				t.Errorf("%s: the standard deviations of %s are %g and %g, %.1f errors apart", name, r.Name, r.SD, o.SD, z)
			}
		}
		k := slices.IndexFunc(with.Diagnose(), func(a diag.Advice) bool { return a.Check == CheckLaplace })
		if k < 0 || !with.Diagnose()[k].OK {
			t.Errorf("%s: the report is %s", name, with.Diagnose())
		}
		for i := range 20 {
			q := with.Unconstrained(1, i)
			lp, err := p.LogProbGrad(q, make([]float64, len(q)))
			if err != nil || math.Abs(lp-with.Stats(1)[i].LogProb) > 1e-9*(1+math.Abs(lp)) {
				t.Fatalf("%s: the log density of draw %d is %g, but %g is stored: %v", name, i, lp, with.Stats(1)[i].LogProb, err)
			}
		}
		t.Logf("%s: %.4f effective draws per gradient, %.4f without", name, leastESS(with), leastESS(without))
	}
	p := counted(t, countedData["Bernoulli"], 3)
	file := filepath.Join(t.TempDir(), "run")
	settings := Settings{Seed: 3, Chains: 2, Draws: 60, Laplace: true, Checkpoint: Checkpoint{Path: file}}
	mustSample(t, p, settings)
	settings.Draws, settings.Resume = 120, file
	resumed := mustSample(t, p, settings)
	settings.Checkpoint, settings.Resume = Checkpoint{}, ""
	straight := mustSample(t, p, settings)
	if bits(resumed) != bits(straight) || !slices.Equal(resumed.chains[0].weights, straight.chains[0].weights) {
		t.Error("a resumed run has other draws or weights")
	}
}

// Where Laplace's approximation finds nothing, has no mode, creeps or is too far off, all parameters are sampled, which the fit tells; chains that adapt alone are refused.
func TestLaplaceGivesWay(t *testing.T) {
	var many, none, turned, far []float64
	for i := range 20 {
		many, none, turned, far = append(many, float64(i%3/2)), append(none, 1), append(turned, math.Cos(float64(i))), append(far, math.Tan(float64(i)))
	}
	for _, c := range []struct {
		name, want string
		wide       float64
		of         func(m *Model, x *ad.Node)
	}{
		{"far too wide", "would be taken", 40, func(m *Model, x *ad.Node) { m.Observe("y", dist.BernoulliLogit(x), many) }},
		{"separated", "would be taken", 40, func(m *Model, x *ad.Node) { m.Observe("y", dist.BernoulliLogit(x), none) }},
		{"cosines", "steps on average", 3, func(m *Model, x *ad.Node) { m.Observe("y", dist.Normal(ad.Cos(x), 0.1), turned) }},
		{"heavy tails", "would be taken", 5, func(m *Model, x *ad.Node) { m.Observe("y", dist.StudentT(2, x, 1), far) }},
		{"nothing", "no parameters were found", 1, nil},
	} {
		m := NewModel(c.name)
		mu := m.Param("mu", dist.Normal(0, c.wide))
		if c.of != nil {
			c.of(m, m.Param("x", dist.Normal(mu, c.wide), Shape(20)))
		}
		fit, err := Sample(t.Context(), compiled(t, m), Settings{Seed: 1, Chains: 2, Draws: 200, Laplace: true})
		if err != nil || !strings.Contains(strings.Join(fit.Coordinates(), " "), c.want) {
			t.Errorf("%s: told %q: %v", c.name, fit.Coordinates(), err)
		}
		t.Logf("%s: %v", c.name, fit.Coordinates())
	}
	p := counted(t, countedData["Bernoulli"], 3)
	if _, err := Sample(t.Context(), p, Settings{Laplace: true, Independent: true}); err == nil || !errors.Is(err, ErrLaplace) {
		t.Errorf("chains that adapt alone end with %v", err)
	}
}

// An approximation that the warm-up lets pass is judged again by the weights of all draws.
func TestLaplaceGivesWayAtTheEnd(t *testing.T) {
	tier.SlowOnly(t)
	m := NewModel("heavy tails")
	mu, tau := m.Param("mu", dist.Normal(0, 5)), m.Param("tau", dist.HalfNormal(5))
	r, y := tensor.NewStream(1, 2, 3), make([]float64, 8)
	for i := range y {
		y[i] = r.Normal() / math.Abs(r.Normal())
	}
	m.Observe("y", dist.StudentT(2, m.Param("x", dist.Normal(mu, tau), Shape(8)), 1), y)
	fit := mustSample(t, compiled(t, m), Settings{Seed: 1, Laplace: true})
	if told := strings.Join(fit.Coordinates(), " "); !strings.Contains(told, "too far off") || !fit.Diagnose().OK() {
		t.Errorf("told %q: %s", told, fit.Diagnose())
	}
}

// A run in which all parameters are sampled in place of Laplace's approximation goes on so.
func TestLaplaceGivenUpResumes(t *testing.T) {
	m := NewModel("plain")
	m.Observe("y", dist.Normal(m.Param("a", dist.Normal(0, 1)), 1), []float64{1})
	cfg := Settings{Seed: 3, Chains: 2, Draws: 30, Laplace: true, Checkpoint: Checkpoint{Path: filepath.Join(t.TempDir(), "run")}}
	mustSample(t, compiled(t, m), cfg)
	cfg.Draws, cfg.Resume = 60, cfg.Checkpoint.Path
	resumed := mustSample(t, compiled(t, m), cfg)
	cfg.Checkpoint, cfg.Resume = Checkpoint{}, ""
	if straight := mustSample(t, compiled(t, m), cfg); bits(resumed) != bits(straight) || !strings.Contains(strings.Join(resumed.Coordinates(), " "), "did not serve") {
		t.Errorf("a resumed run has other draws, or tells %q", resumed.Coordinates())
	}
}
