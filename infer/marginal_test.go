// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package infer

import (
	"context"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/infer/diag"
	"github.com/euryale-dev/euryale/infer/dist"
	"github.com/euryale-dev/euryale/infer/internal/gaussian"
	"github.com/euryale-dev/euryale/tensor"
)

// walk is a random walk with a tendency back, or with its steps as parameters, that is observed with normal errors at some of its times.
func walk(t *testing.T, n int) *Posterior {
	t.Helper()
	m := NewModel("walk")
	stay := m.Param("stay", dist.Uniform(0, 1))
	step := m.Param("step", dist.HalfNormal(1))
	sd := m.Param("sd", dist.HalfNormal(1))
	x := m.Flat("x", dist.IdentityTransform(), Shape(n))
	m.AddLogProb("start", dist.Normal(0, 1).LogProb(ad.Slice(x, 0, 0, 1)))
	m.AddLogProb("steps", dist.Normal(ad.Mul(stay, ad.Slice(x, 0, 0, n-1)), step).LogProb(ad.Slice(x, 0, 1, n)))
	var seen []int
	var y []float64
	for i := 0; i < n; i += 2 {
		seen, y = append(seen, i), append(y, math.Sin(float64(i)))
	}
	m.Observe("y", dist.Normal(ad.Gather(x, ad.Ints(seen), 0), sd), y)
	return compiled(t, m)
}

// lines are groups with a mean and a slope of their own.
func lines(t *testing.T, groups int) *Posterior {
	t.Helper()
	m := NewModel("lines")
	spread := m.Param("spread", dist.HalfNormal(1), Shape(2))
	level := m.Param("level", dist.Normal(0, 2))
	a := m.Param("a", dist.Normal(level, ad.Index(spread, 0, 0)), Shape(groups))
	b := m.Param("b", dist.Normal(0, 1), Shape(groups))
	sd := m.Param("sd", dist.HalfNormal(1))
	var of []int
	var x, y []float64
	for i := range 3 * groups {
		of, x, y = append(of, i%groups), append(x, float64(i)/4-1), append(y, math.Cos(float64(3*i)))
	}
	g := ad.Ints(of)
	slope := ad.Mul(ad.Index(spread, 0, 1), ad.Gather(b, g, 0))
	m.Observe("y", dist.Normal(ad.Add(ad.Gather(a, g, 0), ad.Mul(slope, m.Data("x", x))), sd), y)
	return compiled(t, m)
}

func integratedOf(t *testing.T, p Target) *marginal {
	t.Helper()
	m := marginalOf(integrate(p, false))
	if m == nil {
		t.Fatal("nothing is integrated out")
	}
	return m
}

// somewhere returns numbers between -1 and 1.
func somewhere(n int, seed uint64) []float64 {
	src := tensor.NewStream(seed, 9, 9)
	q := make([]float64, n)
	for i := range q {
		q[i] = 2*src.Float64() - 1
	}
	return q
}

var integratedModels = []struct {
	name  string
	of    func(t *testing.T) *Posterior
	names string
}{
	{"centred schools", centredSchools, "[theta]"},
	{"schools with standard effects", uncentredSchools, "[z]"},
	{"a walk", func(t *testing.T) *Posterior { return walk(t, 9) }, "[x]"},
	{"means and slopes", func(t *testing.T) *Posterior { return lines(t, 4) }, "[a b]"},
	{"elements that all interact", func(t *testing.T) *Posterior {
		m := NewModel("sum")
		x := m.Param("x", dist.Normal(0, m.Param("s", dist.HalfNormal(1))), Shape(8))
		m.Observe("y", dist.Normal(ad.Sum(x), 1), []float64{1})
		return compiled(t, m)
	}, "[x]"},
	{"crossed effects", func(t *testing.T) *Posterior { return crossed(t, 9, 6, 50) }, "[person item]"},
	{"correlated effects", func(t *testing.T) *Posterior { return correlatedGroups(t, 5, 40, false) }, "[effects mu]"},
	{"correlated effects in standard form", func(t *testing.T) *Posterior { return correlatedGroups(t, 4, 1200, true) }, "[z mu]"},
	{"a Gaussian process in standard form", func(t *testing.T) *Posterior { return noisyProcess(t, 12, false) }, "[z]"},
	{"a Gaussian process", func(t *testing.T) *Posterior { return noisyProcess(t, 12, true) }, "[f]"},
	{"a Gaussian process with another for its error", func(t *testing.T) *Posterior { return twoProcesses(t, 40, 12) }, "[mean]"},
	{"a smooth trend", func(t *testing.T) *Posterior { return trend(t, 9) }, "[x]"},
	{"a level with a slope", func(t *testing.T) *Posterior { return levels(t, 9) }, "[level slope]"},
}

// At any draw the density as declared is that of the parameters that are left times that of what was drawn given them, and gradients agree with differences.
func TestIntegratedDensities(t *testing.T) {
	for _, c := range integratedModels {
		p := c.of(t)
		m := integratedOf(t, p)
		if got := fmt.Sprint(m.names()); got != c.names {
			t.Errorf("%s: %s are integrated out, want %s", c.name, got, c.names)
		}
		for seed := range uint64(3) {
			q, all := somewhere(m.Dim(), seed), make([]float64, p.Dim())
			lp, err := m.LogProbGrad(q, make([]float64, len(q)))
			if err != nil {
				t.Fatal(err)
			}
			log, err := m.expand(q, all)
			if err != nil {
				t.Fatal(err)
			}
			whole, err := p.LogProbGrad(all, make([]float64, len(all)))
			if err != nil {
				t.Fatal(err)
			}
			if math.Abs(whole-lp-log) > 1e-11*(1+math.Abs(whole)+math.Abs(log)) {
				t.Errorf("%s: the log density is %.15g, but %.15g of the rest and %.15g of what was drawn", c.name, whole, lp, log)
			}
			if !slices.Equal(m.project(all), q) {
				t.Errorf("%s: the parameters that are left are %v, want %v", c.name, m.project(all), q)
			}
			if err := CheckGradient(m, q); err != nil {
				t.Errorf("%s: %v", c.name, err)
			}
		}
	}
}

// The density of the rest is the integral over what is gone, by sums over a grid.
func TestIntegralsOverGrids(t *testing.T) {
	for name, p := range map[string]*Posterior{"lines": lines(t, 2), "walk": walk(t, 3)} {
		m := integratedOf(t, p)
		q, mean := somewhere(m.Dim(), 4), make([]float64, p.Dim())
		if _, err := m.fill(q, mean, nil); err != nil {
			t.Fatal(err)
		}
		lp, err := m.LogProbGrad(q, make([]float64, len(q)))
		if err != nil {
			t.Fatal(err)
		}
		step, reach := 0.3, 24
		var gone []int
		for _, b := range m.blocks {
			for _, i := range b.Inputs {
				for k := range m.move.Inputs[i].Size() {
					gone = append(gone, m.first[i]+k)
				}
			}
		}
		if name == "lines" { // four dimensions are many: those of the first block
			rest := m.blocks[1]
			gone, step, reach = gone[:2], 0.1, 90
			n := rest.Size()
			x := mean[m.first[rest.Inputs[0]]:][:n]
			lp += gaussian.Draw(make([]float64, n), x, rest.Precision, [][]float64{m.at.Output(3)}, nil)
		}
		sum, g := 0.0, make([]float64, p.Dim())
		var over func(k int, at []float64)
		over = func(k int, at []float64) {
			if k == len(gone) {
				v, err := p.LogProbGrad(at, g)
				if err != nil {
					t.Fatal(err)
				}
				sum += math.Exp(v) * math.Pow(step, float64(len(gone)))
				return
			}
			for i := -reach; i <= reach; i++ {
				at[gone[k]] = mean[gone[k]] + step*float64(i)
				over(k+1, at)
			}
			at[gone[k]] = mean[gone[k]]
		}
		over(0, slices.Clone(mean))
		if math.Abs(math.Log(sum)-lp) > 1e-9 {
			t.Errorf("%s: the log density is %.13g, but the integral %.13g", name, lp, math.Log(sum))
		}
	}
}

// Densities that are not normal in a parameter keep it.
func TestWhatIsNotIntegrated(t *testing.T) {
	for name, build := range map[string]func(m *Model){
		"counts": func(m *Model) {
			x := m.Param("x", dist.Normal(0, m.Param("s", dist.HalfNormal(1))), Shape(3))
			m.Observe("y", dist.Poisson(ad.Exp(x)), []float64{1, 2, 3})
		},
		"a bound far away": func(m *Model) {
			x := m.Param("x", dist.Normal(0, m.Param("s", dist.HalfNormal(1))), Shape(3))
			m.AddLogProb("bound", ad.Where(ad.Less(x, ad.Scalar(50)), ad.Scalar(0), ad.Scalar(-30)))
			m.Observe("y", dist.Normal(x, 1), []float64{1, 2, 3})
		},
		"a step far away": func(m *Model) {
			x := m.Param("x", dist.Normal(0, m.Param("s", dist.HalfNormal(1))), Shape(3))
			m.AddLogProb("step", ad.Scale(-30, ad.Greater(x, ad.Scalar(50))))
			m.Observe("y", dist.Normal(x, 1), []float64{1, 2, 3})
		},
		"scales that follow": func(m *Model) {
			x := m.Param("x", dist.Normal(0, m.Param("s", dist.HalfNormal(1))), Shape(3))
			m.Observe("y", dist.Normal(x, ad.Exp(x)), []float64{1, 2, 3})
		},
		"whole numbers": func(m *Model) {
			x := m.Param("x", dist.Normal(0, m.Param("s", dist.HalfNormal(1))), Shape(3))
			m.Observe("y", dist.Normal(ad.Floor(x), 1), []float64{1, 2, 3})
		},
		"nothing that would be left": func(m *Model) {
			m.Observe("y", dist.Normal(m.Param("x", dist.Normal(0, 1), Shape(2)), 1), []float64{1, 2})
		},
		"coefficients of a regression": func(m *Model) {
			src := tensor.NewStream(1, 2, 4)
			x := src.NormalTo(make([]float64, 900))
			b := m.Param("b", dist.Normal(0, 5), Shape(9))
			m.Observe("y", dist.Normal(ad.MatMul(m.Data("x", x, Shape(100, 9)), b), m.Param("s", dist.HalfNormal(1))), x[:100])
		},
	} {
		m := NewModel(name)
		build(m)
		if got := marginalOf(integrate(compiled(t, m), false)); got != nil {
			t.Errorf("%s: %v are integrated out", name, got.names())
		}
	}
}

// Crossed effects are integrated out together where each interacts with few others, and not at all where each interacts with many; coefficients with given priors may stay.
func TestCrossedEffects(t *testing.T) {
	for _, c := range []struct {
		persons, items, scores int
		names                  string
	}{{24, 13, 312, ""}, {40, 12, 160, "[person item]"}, {60, 8, 400, "[person item]"}} {
		got := ""
		if m := marginalOf(integrate(crossed(t, c.persons, c.items, c.scores), false)); m != nil {
			got = fmt.Sprint(m.names())
		}
		if got != c.names {
			t.Errorf("of %d persons and %d items with %d scores %q is integrated out, want %q", c.persons, c.items, c.scores, got, c.names)
		}
	}
	m := NewModel("groups with coefficients")
	src := tensor.NewStream(1, 2, 5)
	x, of := src.NormalTo(make([]float64, 1200)), make([]int, 120)
	for i := range of {
		of[i] = i % 30
	}
	a := m.Param("a", dist.Normal(0, m.Param("tau", dist.HalfNormal(1))), Shape(30))
	line := ad.MatMul(m.Data("x", x, Shape(120, 10)), m.Param("b", dist.Normal(0, 5), Shape(10)))
	m.Observe("y", dist.Normal(ad.Add(line, ad.Gather(a, ad.Ints(of), 0)), m.Param("s", dist.HalfNormal(1))), x[:120])
	if got := fmt.Sprint(integratedOf(t, compiled(t, m)).names()); got != "[a]" {
		t.Errorf("%s is integrated out beside coefficients, want [a]", got)
	}
}

// Eight schools in both forms yield 0.15 effective draws per gradient or more without a divergence, and the quantiles of tau are those by quadrature.
func TestSchoolsWithMarginals(t *testing.T) {
	for name, p := range map[string]*Posterior{"centred": centredSchools(t), "standard": uncentredSchools(t)} {
		fit := mustSample(t, p, Settings{Seed: 5})
		if per := leastESS(fit); per < 0.15 || fit.Divergent() > 0 {
			t.Errorf("%s: %.3f effective draws per gradient, %d divergences", name, per, fit.Divergent())
		}
		tau := fit.Draws("tau")
		all := slices.Sorted(slices.Values(slices.Concat(tau...)))
		for share, want := range map[float64]float64{0.01: 0.049, 0.05: 0.246, 0.25: 1.262, 0.5: 2.749, 0.75: 4.991, 0.95: 9.841, 0.99: 14.765} {
			if got, se := all[int(share*float64(len(all)))], diag.MCSEQuantile(tau, share); math.Abs(got-want) > 4.5*se {
				t.Errorf("%s: quantile %g of tau is %.3f +- %.3f, want %.3f", name, share, got, se, want)
			}
		}
	}
}

// Runs with and without parameters integrated out agree, keep all parameters, and tell what was done; interrupted runs go on bit by bit.
func TestRunsWithMarginals(t *testing.T) {
	p := centredSchools(t)
	sample := func(cfg Settings) *Fit {
		t.Helper()
		fit, err := Sample(context.Background(), p, cfg)
		if err != nil {
			t.Fatal(err)
		}
		return fit
	}
	with, without := sample(Settings{Seed: 1}), sample(Settings{Seed: 2, NoMarginals: true})
	if told := with.Coordinates(); len(told) == 0 || told[0] != "theta is integrated out exactly and drawn back" {
		t.Errorf("the run tells %q", told)
	}
	if told := without.Coordinates(); len(told) > 0 && strings.Contains(told[0], "integrated") {
		t.Errorf("a run without marginals tells %q", told)
	}
	a, b := with.Summary(), without.Summary()
	for i, r := range a.Rows {
		o := b.Rows[i]
		if d := math.Abs(r.Mean-o.Mean) / math.Hypot(r.MCSEMean, o.MCSEMean); d > 4.5 {
			t.Errorf("the means of %s are %g and %g, %.1f errors apart", r.Name, r.Mean, o.Mean, d)
		}
		if d := math.Abs(r.SD-o.SD) / math.Hypot(r.MCSESD, o.MCSESD); d > 4.5 {
			t.Errorf("the standard deviations of %s are %g and %g, %.1f errors apart", r.Name, r.SD, o.SD, d)
		}
	}
	for i := range 20 {
		for _, fit := range []*Fit{with, without} {
			q := fit.Unconstrained(1, i)
			lp, err := p.LogProbGrad(q, make([]float64, len(q)))
			if err != nil || math.Abs(lp-fit.Stats(1)[i].LogProb) > 1e-9*math.Abs(lp) {
				t.Fatalf("the log density of draw %d is %g, but %g is stored: %v", i, lp, fit.Stats(1)[i].LogProb, err)
			}
		}
	}
	if _, err := with.LOO("y", diag.LOOSettings{}); err != nil {
		t.Error(err)
	}
	if _, err := with.BridgeEvidence(); err != nil {
		t.Error(err)
	}

	file := filepath.Join(t.TempDir(), "run")
	settings := Settings{Seed: 3, Chains: 2, Draws: 40, Checkpoint: Checkpoint{Path: file}}
	sample(settings)
	settings.Draws, settings.Resume = 80, file
	resumed := sample(settings)
	settings.Checkpoint, settings.Resume = Checkpoint{}, ""
	if bits(resumed) != bits(sample(settings)) {
		t.Error("a resumed run has other draws")
	}
	start := make([]float64, p.Dim())
	start[0] = 3
	next := sample(Settings{Chains: 2, Draws: 50, From: with, Init: [][]float64{start, start}})
	if next.dim() != p.Dim() || next.Coordinates()[0] != with.Coordinates()[0] {
		t.Errorf("a run from another has %d parameters, and tells %q", next.dim(), next.Coordinates())
	}
}

// A coupling that acts only where another parameter is large is part of the precision, which the graph shows.
func TestCouplingsFarFromZero(t *testing.T) {
	m := NewModel("coupled")
	mu := m.Param("mu", dist.Normal(150, 5))
	x := m.Param("x", dist.Normal(0, m.Param("tau", dist.HalfNormal(2))), Shape(9))
	apart := ad.Sub(ad.Index(x, 0, 0), ad.Index(x, 0, 2))
	m.AddLogProb("coupling", ad.Scale(-0.5, ad.Mul(ad.ReLU(ad.Sub(mu, ad.Scalar(100))), ad.Square(apart))))
	m.Observe("y", dist.Normal(x, 1), []float64{1, 2, 3, 4, 5, 6, 7, 8, 9})
	p := compiled(t, m)
	left := integratedOf(t, p)
	for _, at := range []float64{0, 150} {
		all, g := make([]float64, p.Dim()), make([]float64, p.Dim())
		lp, err := left.LogProbGrad([]float64{at, 0.7}, make([]float64, 2))
		if err != nil {
			t.Fatal(err)
		}
		log, err := left.expand([]float64{at, 0.7}, all)
		if err != nil {
			t.Fatal(err)
		}
		if whole, err := p.LogProbGrad(all, g); err != nil || math.Abs(whole-lp-log) > 1e-9*math.Abs(whole) {
			t.Errorf("where mu is %g the log density is %.12g, but %.12g of the rest and %.12g of what was drawn: %v", at, whole, lp, log, err)
		}
	}
}
