package assembly

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/euryale-dev/euryale/internal/golden"
	"gonum.org/v1/gonum/stat"
)

// figures holds per-seed values of a protocol: numbers, or rows of numbers.
type figures map[string][][]float64

// experiment is one run of the reference's statistics.
type experiment struct {
	Name, Engine string
	Data         map[string]json.RawMessage
	Kept         map[string][]int `json:"kept_rounds"`
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

func readFigures(t *testing.T, name, engine string) figures {
	for _, r := range experiments(t) {
		if r.Name == name && r.Engine == engine {
			return r.figures(t)
		}
	}
	t.Fatalf("no run %s of %s", name, engine)
	return nil
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
		engine string
		p, b   float64
		lazy   bool
		set    Settings
		seeds  int
	}{
		{"lazy_exact", 0.01, 0.05, true, Settings{}, 120},
		{"lazy_exact", 0.05, 0.1, true, Settings{}, 120},
		{"cpp", 0.05, 0.05, true, Settings{Lazy: Normal, Activity: Silent}, 120},
		{"explicit", 0.01, 0.05, false, Settings{}, 60},
	} {
		name := fmt.Sprintf("project_n1e4_k100_p%02.0f_b%02.0f", 100*c.p, 100*c.b)
		t.Run(name+"/"+c.engine, func(t *testing.T) {
			want := readFigures(t, name, c.engine)
			got := figures{}
			for seed := range c.seeds {
				s := c.set
				s.P, s.Seed = c.p, uint64(seed+1)
				for k, v := range projected(t, s, Area{Name: "A", N: 10000, K: 100, Beta: c.b, Lazy: c.lazy}, len(want["w"][0])) {
					got[k] = append(got[k], v)
				}
			}
			got.same(t, want, "w", "cons", "density", "mean_rec_w", "stim_w")
		})
	}
}

// The largest of many binomials have the law that theory gives them.
func TestCandidates(t *testing.T) {
	law := newBinomial(200, 0.05)
	sum := 0.0
	for i := range law.tail { // E X = sum of P(X > i)
		sum += law.tail[i]
	}
	if mean := sum + float64(law.from); math.Abs(mean-10) > 1e-9 {
		t.Errorf("mean %v, want 10", mean)
	}
	for _, s := range []float64{0.5, 1e-3, 1e-9, 1e-200} {
		m := law.quantile(s)
		if p := law.tail[m-law.from]; p > s || m > law.from && law.tail[m-law.from-1] <= s {
			t.Errorf("quantile %d exceeded with probability %g: want just %g", m, p, s)
		}
	}
}
