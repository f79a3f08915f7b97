// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package assembly

import (
	"encoding/json"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/internal/golden"
	"gonum.org/v1/gonum/stat"
)

// figures holds per-seed values of a protocol: numbers, or rows of numbers.
type figures map[string][][]float64

// forgetful draws the inputs of new neurons of lazy areas as if these had not lost before, which is the law of the
// reference data of the engine lazy_exact.
const forgetful Sampling = 2

// experiment is one run of the reference's statistics.
type experiment struct {
	Name, Engine string
	Data         map[string]json.RawMessage
	Kept         map[string][]int `json:"kept_rounds"`
	lazy         bool             // whether a lazy area is to give the figures of a whole one
}

func experiments(t *testing.T) []experiment {
	var all struct{ Runs []experiment }
	golden.JSON(t, &all, "assemblies", "simulation_statistics.json")
	return all.Runs
}

func (e experiment) figures(t *testing.T) figures {
	out := figures{}
	for k, raw := range e.Data {
		var rows [][]float64
		if json.Unmarshal(raw, &rows) != nil {
			rows = nil
			var flat []float64
			check(t, json.Unmarshal(raw, &flat))
			for _, v := range flat {
				rows = append(rows, []float64{v})
			}
		}
		out[k] = rows
	}
	return out
}

// area reads the protocol, the connection probability and the area out of a name
// such as merge_n1e4_k100_p05_b05, whose last two numbers are decimal places.
func (e experiment) area(t *testing.T) (protocol string, p float64, a Area) {
	t.Helper()
	parts := strings.Split(e.Name, "_")
	n := len(parts) - 4
	if n < 1 {
		t.Fatalf("the name %s has no n, k, p and b", e.Name)
	}
	number := func(i int, prefix, point string) float64 {
		v, err := strconv.ParseFloat(point+strings.TrimPrefix(parts[n+i], prefix), 64)
		check(t, err)
		return v
	}
	return strings.Join(parts[:n], "_"), number(2, "p", "0."),
		Area{Name: "A", N: int(number(0, "n", "")), K: int(number(1, "k", "")), Beta: number(3, "b", "0."), Lazy: e.Engine != "explicit"}
}

// eachExperiment runs f on at most limit runs of a protocol by an engine, in areas of
// ten thousand neurons or less: larger ones take minutes.
func eachExperiment(t *testing.T, protocol, engine string, limit int, f func(t *testing.T, p float64, a Area, want figures)) {
	t.Helper()
	for _, e := range experiments(t) {
		kind, p, a := e.area(t)
		if kind != protocol || e.Engine != engine || a.N > 10_000 || limit == 0 {
			continue
		}
		limit--
		t.Run(e.Name+"/"+e.Engine, func(t *testing.T) { f(t, p, a, e.figures(t)) })
	}
}

// same compares distributions by the Kolmogorov-Smirnov distance at a false alarm
// rate of 1e-4, and means of ten and more within four standard errors, metric by metric.
func (f figures) same(t *testing.T, want figures, metrics ...string) {
	t.Helper()
	for _, m := range metrics {
		for i := range f[m][0] {
			a, b := column(f[m], i), column(want[m], i)
			snap(a, b)
			limit := 2.23 * math.Sqrt(float64(len(a)+len(b))/float64(len(a)*len(b)))
			if d := stat.KolmogorovSmirnov(a, nil, b, nil); d > limit {
				t.Errorf("%s[%d]: distance %.3f above %.3f; means %.4g and %.4g", m, i, d, limit, stat.Mean(a, nil), stat.Mean(b, nil))
			}
			se := math.Sqrt(stat.Variance(a, nil)/float64(len(a)) + stat.Variance(b, nil)/float64(len(b)))
			if d := math.Abs(stat.Mean(a, nil) - stat.Mean(b, nil)); len(b) >= 10 && d > 4*se+1e-6 {
				t.Errorf("%s[%d]: mean %.5g, want %.5g within %.2g", m, i, stat.Mean(a, nil), stat.Mean(b, nil), 4*se)
			}
		}
	}
}

// snap makes equal what differs by the rounding of the reference's figures.
func snap(got, want []float64) {
	for i, v := range got {
		k, _ := slices.BinarySearch(want, v)
		for _, at := range []int{k - 1, k} {
			if at >= 0 && at < len(want) && math.Abs(want[at]-v) < 1e-5 {
				got[i] = want[at]
			}
		}
	}
	slices.Sort(got)
}

func column(rows [][]float64, i int) (v []float64) {
	for _, r := range rows {
		v = append(v, r[i])
	}
	slices.Sort(v)
	return v
}

// projected runs the protocol "project": S>A, then S>A and A>A.
func projected(t *testing.T, s Settings, a Area, rounds int) map[string][]float64 {
	b := New(s)
	check(t, b.AddStimulus("S", a.K))
	check(t, b.AddArea(a))
	first, err := b.Plan("S>A")
	check(t, err)
	trace, err := b.Project(first, 1)
	check(t, err)
	again, err := b.Plan("S>A A>A")
	check(t, err)
	more, err := b.Project(again, rounds-1)
	check(t, err)
	out := map[string][]float64{}
	var before []int32
	for _, r := range append(trace, more...) {
		out["w"] = append(out["w"], float64(r[0].Support))
		out["cons"] = append(out["cons"], float64(common(before, r[0].Winners)))
		before = r[0].Winners
	}
	edges, weight, stim := 0.0, 0.0, 0.0
	for _, i := range before {
		for _, j := range before {
			if w, _ := b.Weight("A", "A", int(i), int(j)); w > 0 {
				edges, weight = edges+1, weight+w
			}
		}
		w, _ := b.Weight("S", "A", 0, int(i))
		stim += w
	}
	out["density"], out["mean_rec_w"] = []float64{edges / float64(a.K*a.K)}, []float64{weight / edges}
	out["stim_w"] = []float64{stim / float64(a.K)}
	return out
}

func common(a, b []int32) (n int) {
	in := map[int32]bool{}
	for _, x := range a {
		in[x] = true
	}
	for _, x := range b {
		if in[x] {
			n++
		}
	}
	return n
}

func TestLawOfProjection(t *testing.T) {
	for _, c := range []struct {
		engine       string
		limit, seeds int
		set          Settings
		whole        bool
	}{
		{"lazy_exact", 2, 120, Settings{Lazy: forgetful}, false},
		{"cpp", 1, 120, Settings{Lazy: Normal, Activity: Silent}, false},
		{"explicit", 1, 60, Settings{}, true},
		{"explicit", 1, 120, Settings{}, false},
	} {
		eachExperiment(t, "project", c.engine, c.limit, func(t *testing.T, p float64, a Area, want figures) {
			c.set.P, a.Lazy = p, !c.whole
			got := collect(c.seeds, c.set, func(s Settings) map[string][]float64 { return projected(t, s, a, len(want["w"][0])) })
			got.same(t, want, "w", "cons", "density", "mean_rec_w", "stim_w")
		})
	}
}

// The largest of many binomials have the distribution that theory gives them.
func TestCandidates(t *testing.T) {
	distribution := newBinomial(200, 0.05)
	sum := 0.0
	for i := range distribution.tail { // E X = sum of P(X > i)
		sum += distribution.tail[i]
	}
	if mean := sum + float64(distribution.from); math.Abs(mean-10) > 1e-9 {
		t.Errorf("mean %v, want 10", mean)
	}
	for _, s := range []float64{0.5, 1e-3, 1e-9, 1e-200} {
		m := distribution.quantile(s)
		if p := distribution.tail[m-distribution.from]; p > s || m > distribution.from && distribution.tail[m-distribution.from-1] <= s {
			t.Errorf("quantile %d exceeded with probability %g: want just %g", m, p, s)
		}
	}
}
