// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package warmup

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/infer/internal/hamiltonian"
	"github.com/euryale-dev/euryale/internal/golden"
	"github.com/euryale-dev/euryale/tensor"
)

type nutsGoldens struct {
	Leapfrog []struct {
		Name, Target string
		Eps          float64
		InvMetric    json.RawMessage `json:"inv_metric"`
		Q0, P0       []float64
		H0           float64
		Steps        []struct {
			Q, P    []float64
			LogP, H float64
		}
	}
	Tree []struct {
		Name, Target string
		Eps          float64
		MaxDepth     int             `json:"max_depth"`
		InvMetric    json.RawMessage `json:"inv_metric"`
		Q0, P0       []float64
		Forward      []int `json:"go_forward"`
		Expected     map[string]goldenTree
	}
	DualAveraging []struct {
		Eps0, Delta, Mu float64
		Accept          []float64    `json:"accept_stats"`
		Want            [][3]float64 `json:"eps_exp_xbar_sbar"`
	} `json:"dual_averaging"`
	Metrics struct {
		Stan struct {
			Draws [][]float64
			Diag  []float64
			Dense [][]float64
		} `json:"stan_regularised"`
		Fisher struct {
			Draws, Grads [][]float64
			InvMetric    []float64 `json:"inv_metric"`
			Translation  []float64
		} `json:"fisher_diag"`
		Exact goldenLowRank `json:"fisher_low_rank_exact_gaussian"`
		Few   goldenLowRank `json:"fisher_low_rank_fewer_draws_than_dims"`
	}
	Windows []struct {
		Warmup  int   `json:"num_warmup"`
		Updates []int `json:"update_after_iteration_0based"`
	} `json:"stan_warmup_windows"`
}

type goldenTree struct {
	Depth         int
	Leapfrog      int `json:"n_leapfrog"`
	Divergent     bool
	Turned        bool
	LogSumWeight  float64     `json:"log_sum_weight"`
	SumMetropolis float64     `json:"sum_metropolis_prob"`
	Accept        float64     `json:"accept_stat"`
	ForwardEnd    goldenPoint `json:"forward_end"`
	BackwardEnd   goldenPoint `json:"backward_end"`
}

type goldenPoint struct{ Q, P []float64 }

type goldenLowRank struct {
	Draws, Grads [][]float64
	Results      []struct {
		Gamma, Cutoff      float64
		Sigma, Translation []float64
		Kept               []float64   `json:"eigenvalues_kept"`
		All                []float64   `json:"eigenvalues_all"`
		InvMetric          [][]float64 `json:"inv_metric_dense"`
	}
}

func readNuts(t *testing.T) *nutsGoldens {
	t.Helper()
	var g nutsGoldens
	golden.JSON(t, &g, "inference", "nuts", "nuts_internals.json")
	return &g
}

// deviation tracks the largest |got-want| relative to max(1e-3, |want|).
type deviation struct {
	t     *testing.T
	worst float64
}

func (d *deviation) check(where string, got, want []float64) {
	d.t.Helper()
	if len(got) != len(want) {
		d.t.Fatalf("%s: %d numbers, want %d", where, len(got), len(want))
	}
	for i := range got {
		e := math.Abs(got[i]-want[i]) / math.Max(1e-3, math.Abs(want[i]))
		if !(e <= 1e-10) {
			d.t.Errorf("%s: number %d is %.17g, want %.17g", where, i, got[i], want[i])
		} else {
			d.worst = max(d.worst, e)
		}
	}
}

func goldenMetric(t *testing.T, raw json.RawMessage) hamiltonian.Metric {
	t.Helper()
	var diag []float64
	if json.Unmarshal(raw, &diag) == nil {
		m, err := hamiltonian.DiagMetric(diag)
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	var cov [][]float64
	if err := json.Unmarshal(raw, &cov); err != nil {
		t.Fatal(err)
	}
	m, err := hamiltonian.DenseMetric(cov)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// goldenDensity returns the density a golden describes in words.
func goldenDensity(t *testing.T, words string, dim int) hamiltonian.Density {
	t.Helper()
	normal := func(sd ...float64) hamiltonian.Density {
		return funcDensity(dim, func(q, g []float64) (lp float64) {
			for i, x := range q {
				s := 1.0
				if len(sd) > 0 {
					s = sd[i]
				}
				lp -= x * x / (s * s) / 2
				g[i] = -x / (s * s)
			}
			return lp
		})
	}
	correlated := func(r float64) hamiltonian.Density {
		c := 1 / (1 - r*r)
		return funcDensity(2, func(q, g []float64) float64 {
			g[0], g[1] = -c*(q[0]-r*q[1]), -c*(q[1]-r*q[0])
			return (q[0]*g[0] + q[1]*g[1]) / 2
		})
	}
	var r float64
	_, list, _ := strings.Cut(words, "sd=")
	list, _, _ = strings.Cut(list, "]")
	var sd []float64
	switch {
	case strings.HasPrefix(words, "standard normal"):
		return normal()
	case json.Unmarshal([]byte(list+"]"), &sd) == nil && len(sd) == dim:
		return normal(sd...)
	case scanned(words, "bivariate normal unit sd corr %g", &r):
		return correlated(r)
	case strings.HasPrefix(words, "Neal funnel") && dim == 3:
		return funcDensity(3, func(q, g []float64) float64 {
			e := math.Exp(-q[0])
			r2 := q[1]*q[1] + q[2]*q[2]
			g[0], g[1], g[2] = -q[0]/9-1+e*r2/2, -e*q[1], -e*q[2]
			return -q[0]*q[0]/18 - q[0] - e*r2/2
		})
	case strings.HasPrefix(words, "banana"):
		return funcDensity(2, func(q, g []float64) float64 {
			u := (q[1] - q[0]*q[0]) / 0.3
			g[0], g[1] = -q[0]+2*q[0]*u/0.3, -u/0.3
			return -q[0]*q[0]/2 - u*u/2
		})
	}
	t.Logf("not compared: this test has no density for %q", words)
	return nil
}

func scanned(text, format string, into ...any) bool {
	_, err := fmt.Sscanf(text, format, into...)
	return err == nil
}

func TestLeapfrogGoldens(t *testing.T) {
	dev := deviation{t: t}
	for _, c := range readNuts(t).Leapfrog {
		n := len(c.Q0)
		density := goldenDensity(t, c.Target, n)
		if density == nil {
			continue
		}
		m := goldenMetric(t, c.InvMetric)
		s := hamiltonian.System{Target: density, Metric: &m, V: make([]float64, n)}
		p := hamiltonian.NewPoint(n)
		copy(p.Q, c.Q0)
		m.Force(p.Z, c.P0)
		if err := s.Start(&p); err != nil {
			t.Fatal(err)
		}
		dev.check(c.Name+" H0", []float64{p.Energy()}, []float64{c.H0})
		momentum := make([]float64, n)
		for _, want := range c.Steps {
			if err := s.Leapfrog(&p, c.Eps); err != nil {
				t.Fatal(err)
			}
			m.Momentum(momentum, p.Z)
			dev.check(c.Name+" q", p.Q, want.Q)
			dev.check(c.Name+" p", momentum, want.P)
			dev.check(c.Name+" logp, H", []float64{p.Lp, p.Energy()}, []float64{want.LogP, want.H})
		}
	}
	t.Logf("largest deviation %.2g", dev.worst)
}

func TestTreeGoldens(t *testing.T) {
	dev := deviation{t: t}
	for _, c := range readNuts(t).Tree {
		for kind, want := range c.Expected {
			n := len(c.Q0)
			density := goldenDensity(t, c.Target, n)
			if density == nil {
				continue
			}
			m := goldenMetric(t, c.InvMetric)
			stream := tensor.NewStream(1, 0, 0)
			tr := hamiltonian.NewTree(density, &m, c.MaxDepth, 1000, &stream, &stream)
			tr.NoCross = kind == "without_extra_checks"
			next := 0
			tr.Forward = func() int { next++; return c.Forward[next-1] }
			p := hamiltonian.NewPoint(n)
			copy(p.Q, c.Q0)
			if err := tr.Start(&p); err != nil {
				t.Fatal(err)
			}
			m.Force(p.Z, c.P0)
			for more := tr.Begin(&p, c.Eps); more; {
				end := &tr.Ends[tr.Side]
				if err := tr.Leapfrog(end, tr.Step()); err != nil {
					t.Fatal(err)
				}
				h := end.Energy()
				tr.Next().Hold(tr.Mem, end)
				more = tr.TakeLeaf(h, math.Exp(-math.Abs(tr.H0-h)), nil)
			}
			checkTree(t, &dev, c.Name+" "+kind, tr, &want)
		}
	}
	t.Logf("largest deviation %.2g", dev.worst)
}

func checkTree(t *testing.T, dev *deviation, where string, tr *hamiltonian.Tree, want *goldenTree) {
	t.Helper()
	o := &tr.Out
	if o.Depth != want.Depth || o.Steps != want.Leapfrog || o.Divergent != want.Divergent || o.Turned != want.Turned {
		t.Errorf("%s: depth %d, %d leapfrogs, divergent %v, turned %v; want %d, %d, %v, %v", where,
			o.Depth, o.Steps, o.Divergent, o.Turned, want.Depth, want.Leapfrog, want.Divergent, want.Turned)
		return
	}
	dev.check(where+" sums", []float64{tr.Shift + math.Log(o.Weight), o.Accept, o.Accept / float64(o.Steps)},
		[]float64{want.LogSumWeight, want.SumMetropolis, want.Accept})
	if want.ForwardEnd.P == nil { // not recorded when the last subtree was invalid
		return
	}
	p := make([]float64, len(want.ForwardEnd.P))
	for side, end := range []goldenPoint{want.BackwardEnd, want.ForwardEnd} {
		tr.Metric.Momentum(p, tr.Ends[side].Z)
		dev.check(where+" end q", tr.Ends[side].Q, end.Q)
		dev.check(where+" end p", p, end.P)
	}
}

func TestDualAveragingGoldens(t *testing.T) {
	dev := deviation{t: t}
	for _, c := range readNuts(t).DualAveraging {
		d := DualAverage{Delta: c.Delta, MaxLog: math.Inf(1)}
		d.Restart(c.Eps0)
		dev.check("mu", []float64{d.mu}, []float64{c.Mu})
		for i, a := range c.Accept {
			eps := d.Update(a)
			dev.check("step", []float64{eps, d.Final(), d.sbar}, c.Want[i][:])
		}
	}
	t.Logf("largest deviation %.2g", dev.worst)
}

func TestStanMetricGoldens(t *testing.T) {
	c := readNuts(t).Metrics.Stan
	n := len(c.Diag)
	diag, dense := NewEstimator(DiagVariance, n, true), NewEstimator(DenseVariance, n, true)
	for _, q := range c.Draws {
		diag.Add(q, nil)
		dense.Add(q, nil)
	}
	dev := deviation{t: t}
	d, ok := diag.Metric()
	if !ok {
		t.Fatal("no diagonal metric")
	}
	dev.check("diagonal", d.Variances(n), c.Diag)
	full, ok := dense.Metric()
	if !ok {
		t.Fatal("no dense metric")
	}
	for i, row := range full.Cov(n) {
		dev.check("dense", row, c.Dense[i])
	}
	t.Logf("largest deviation %.2g", dev.worst)
}

func TestFisherMetricGoldens(t *testing.T) {
	g := readNuts(t).Metrics
	dev := deviation{t: t}
	e := NewEstimator(DiagFisher, len(g.Fisher.InvMetric), false)
	for i, q := range g.Fisher.Draws {
		e.Add(q, g.Fisher.Grads[i])
	}
	m, ok := e.Metric()
	if !ok {
		t.Fatal("no Fisher metric")
	}
	dev.check("variances", m.Variances(m.Dim()), g.Fisher.InvMetric)
	f, _ := fitScales(g.Fisher.Draws, g.Fisher.Grads)
	dev.check("translation", f.centre, g.Fisher.Translation)
	for _, c := range []goldenLowRank{g.Exact, g.Few} {
		for _, want := range c.Results {
			checkLowRank(t, &dev, c, want.Gamma, want.Cutoff, want.Sigma, want.Translation, want.Kept, want.InvMetric)
		}
	}
	t.Logf("largest deviation %.2g", dev.worst)
}

func checkLowRank(t *testing.T, dev *deviation, c goldenLowRank, gamma, cutoff float64, sigma, centre, kept []float64, cov [][]float64) {
	t.Helper()
	f, ok := fitLowRank(c.Draws, c.Grads, gamma, cutoff)
	if !ok {
		t.Fatal("no low-rank metric")
	}
	dev.check("scales", f.scale, sigma)
	dev.check("centre", f.centre, centre)
	for i, j := 0, len(f.lambda)-1; i < j; i, j = i+1, j-1 {
		f.lambda[i], f.lambda[j] = f.lambda[j], f.lambda[i]
		f.vectors[i], f.vectors[j] = f.vectors[j], f.vectors[i]
	}
	dev.check("eigenvalues", f.lambda, kept)
	m, err := hamiltonian.LowRankMetric(f.scale, f.vectors, f.lambda)
	if err != nil {
		t.Fatal(err)
	}
	for i, row := range m.Cov(len(sigma)) {
		dev.check("metric", row, cov[i])
	}
}
