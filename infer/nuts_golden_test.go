package infer

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"

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

func goldenMetric(t *testing.T, raw json.RawMessage) Metric {
	t.Helper()
	var diag []float64
	if json.Unmarshal(raw, &diag) == nil {
		m, err := DiagMetric(diag)
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	var cov [][]float64
	if err := json.Unmarshal(raw, &cov); err != nil {
		t.Fatal(err)
	}
	m, err := DenseMetric(cov)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// goldenDensity returns the density a golden describes in words.
func goldenDensity(t *testing.T, words string, dim int) Target {
	t.Helper()
	normal := func(sd ...float64) Target {
		return Func(dim, func(q, g []float64) (lp float64) {
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
	correlated := func(r float64) Target {
		c := 1 / (1 - r*r)
		return Func(2, func(q, g []float64) float64 {
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
		return Func(3, func(q, g []float64) float64 {
			e := math.Exp(-q[0])
			r2 := q[1]*q[1] + q[2]*q[2]
			g[0], g[1], g[2] = -q[0]/9-1+e*r2/2, -e*q[1], -e*q[2]
			return -q[0]*q[0]/18 - q[0] - e*r2/2
		})
	case strings.HasPrefix(words, "banana"):
		return Func(2, func(q, g []float64) float64 {
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
		s := system{target: density, metric: &m, v: make([]float64, n)}
		p := newPoint(n)
		copy(p.q, c.Q0)
		m.force(p.z, c.P0)
		if err := s.start(&p); err != nil {
			t.Fatal(err)
		}
		dev.check(c.Name+" H0", []float64{p.energy()}, []float64{c.H0})
		momentum := make([]float64, n)
		for _, want := range c.Steps {
			if err := s.leapfrog(&p, c.Eps); err != nil {
				t.Fatal(err)
			}
			m.momentum(momentum, p.z)
			dev.check(c.Name+" q", p.q, want.Q)
			dev.check(c.Name+" p", momentum, want.P)
			dev.check(c.Name+" logp, H", []float64{p.lp, p.energy()}, []float64{want.LogP, want.H})
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
			tr := newTrajectory(density, &m, c.MaxDepth, 1000, &stream, &stream)
			tr.noCross = kind == "without_extra_checks"
			next := 0
			tr.forward = func() int { next++; return c.Forward[next-1] }
			p := newPoint(n)
			copy(p.q, c.Q0)
			if err := tr.start(&p); err != nil {
				t.Fatal(err)
			}
			m.force(p.z, c.P0)
			for more := tr.begin(&p, c.Eps); more; {
				end := &tr.ends[tr.side]
				if err := tr.leapfrog(end, tr.step()); err != nil {
					t.Fatal(err)
				}
				h := end.energy()
				tr.next().hold(tr.mem, end)
				more = tr.took(h, math.Exp(-math.Abs(tr.h0-h)), nil)
			}
			checkTree(t, &dev, c.Name+" "+kind, tr, &want)
		}
	}
	t.Logf("largest deviation %.2g", dev.worst)
}

func checkTree(t *testing.T, dev *deviation, where string, tr *trajectory, want *goldenTree) {
	t.Helper()
	o := &tr.out
	if o.depth != want.Depth || o.steps != want.Leapfrog || o.divergent != want.Divergent || o.turned != want.Turned {
		t.Errorf("%s: depth %d, %d leapfrogs, divergent %v, turned %v; want %d, %d, %v, %v", where,
			o.depth, o.steps, o.divergent, o.turned, want.Depth, want.Leapfrog, want.Divergent, want.Turned)
		return
	}
	dev.check(where+" sums", []float64{tr.shift + math.Log(o.weight), o.accept, o.accept / float64(o.steps)},
		[]float64{want.LogSumWeight, want.SumMetropolis, want.Accept})
	if want.ForwardEnd.P == nil { // not recorded when the last subtree was invalid
		return
	}
	p := make([]float64, len(want.ForwardEnd.P))
	for side, end := range []goldenPoint{want.BackwardEnd, want.ForwardEnd} {
		tr.metric.momentum(p, tr.ends[side].z)
		dev.check(where+" end q", tr.ends[side].q, end.Q)
		dev.check(where+" end p", p, end.P)
	}
}

func TestDualAveragingGoldens(t *testing.T) {
	dev := deviation{t: t}
	for _, c := range readNuts(t).DualAveraging {
		d := dualAverage{delta: c.Delta, maxLog: math.Inf(1)}
		d.restart(c.Eps0)
		dev.check("mu", []float64{d.mu}, []float64{c.Mu})
		for i, a := range c.Accept {
			eps := d.update(a)
			dev.check("step", []float64{eps, d.final(), d.sbar}, c.Want[i][:])
		}
	}
	t.Logf("largest deviation %.2g", dev.worst)
}

func TestStanMetricGoldens(t *testing.T) {
	c := readNuts(t).Metrics.Stan
	n := len(c.Diag)
	diag, dense := newEstimator(DiagVariance, n, true), newEstimator(DenseVariance, n, true)
	for _, q := range c.Draws {
		diag.add(q, nil)
		dense.add(q, nil)
	}
	dev := deviation{t: t}
	d, ok := diag.metric()
	if !ok {
		t.Fatal("no diagonal metric")
	}
	dev.check("diagonal", d.Variances(n), c.Diag)
	full, ok := dense.metric()
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
	e := newEstimator(DiagFisher, len(g.Fisher.InvMetric), false)
	for i, q := range g.Fisher.Draws {
		e.add(q, g.Fisher.Grads[i])
	}
	m, ok := e.metric()
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
	m, err := LowRankMetric(f.scale, f.vectors, f.lambda)
	if err != nil {
		t.Fatal(err)
	}
	for i, row := range m.Cov(len(sigma)) {
		dev.check("metric", row, cov[i])
	}
}
