// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package assembly

import (
	"math"
	"slices"
	"strings"
	"testing"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/internal/golden"
	"github.com/euryale-dev/euryale/internal/pretend"
)

// One step's "area" is a map for projections and a name for operations.
type rawStep map[string]any

type explicitCase struct {
	Case struct {
		Name    string
		Seed    uint64
		P       float64
		Stimuli []struct {
			Name string
			Size int
		}
		Areas []struct {
			Name string
			N, K int
			Beta float64
		}
		AreaBetas [][3]any `json:"area_betas"`
		Schedule  []rawStep
	}
	Rounds []map[string]struct {
		Winners []int32
		Kth     float64
		Kplus1  float64
		Ever    int `json:"ever_fired"`
	}
	Final struct {
		Areas map[string]struct{ Sum, Sumsq, Max float64 }
		Stim  map[string]struct {
			Sum, Max float64
			First16  []float64
		}
	}
}

func (c *explicitCase) brain(t *testing.T) *Brain {
	number := map[string]uint64{}
	n := uint64(0)
	for _, s := range c.Case.Stimuli {
		for _, a := range c.Case.Areas {
			n++
			number[s.Name+">"+a.Name] = n
		}
	}
	for _, s := range c.Case.Areas {
		for _, a := range c.Case.Areas {
			n++
			number[s.Name+">"+a.Name] = n
		}
	}
	b := New(Settings{P: c.Case.P, Connect: Hashed(c.Case.Seed, func(from, to string) uint64 { return number[from+">"+to] })})
	for _, s := range c.Case.Stimuli {
		check(t, b.AddStimulus(s.Name, s.Size))
	}
	for _, a := range c.Case.Areas {
		check(t, b.AddArea(Area{Name: a.Name, N: a.N, K: a.K, Beta: a.Beta}))
	}
	for _, x := range c.Case.AreaBetas {
		check(t, b.SetBeta(x[1].(string), x[0].(string), x[2].(float64)))
	}
	return b
}

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// run performs one entry of a schedule and returns its rounds.
func (s rawStep) run(t *testing.T, b *Brain) [][]Round {
	switch s["op"] {
	case "set_winners":
		var w []int32
		for _, x := range s["winners"].([]any) {
			w = append(w, int32(x.(float64)))
		}
		check(t, b.SetWinners(s["area"].(string), w))
		return nil
	case "keep_first":
		w, err := b.Winners(s["area"].(string))
		check(t, err)
		slices.Sort(w)
		check(t, b.SetWinners(s["area"].(string), w[:int(s["m"].(float64))]))
		return nil
	case "fix", "unfix":
		check(t, b.Fix(s["area"].(string), s["op"] == "fix"))
		return nil
	case "plasticity":
		b.Learn(s["on"].(bool))
		return nil
	}
	var fibres []string
	for _, kind := range []string{"stim", "area"} {
		m, _ := s[kind].(map[string]any)
		for _, from := range sorted(m) {
			for _, to := range m[from].([]any) {
				fibres = append(fibres, from+">"+to.(string))
			}
		}
	}
	p, err := b.Plan(fibres...)
	check(t, err)
	repeat := 1
	if r, ok := s["repeat"].(float64); ok {
		repeat = int(r)
	}
	trace, err := b.Project(p, repeat)
	check(t, err)
	return trace
}

func sorted(m map[string]any) (keys []string) {
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

func TestExplicitGoldens(t *testing.T) {
	var all []explicitCase
	golden.JSON(t, &all, "assemblies", "explicit_goldens.json")
	for _, c := range all {
		onEach(t, c.Case.Name, func(t *testing.T, backend ad.Backend) {
			b := c.brain(t)
			b.SetBackend(backend)
			var trace [][]Round
			for _, s := range c.Case.Schedule {
				trace = append(trace, s.run(t, b)...)
			}
			if len(trace) != len(c.Rounds) {
				t.Fatalf("%d rounds, want %d", len(trace), len(c.Rounds))
			}
			for i, want := range c.Rounds {
				for _, r := range trace[i] {
					w, ok := want[r.Area]
					if !ok {
						t.Fatalf("round %d: area %s is not in the reference", i, r.Area)
					}
					if !slices.Equal(ids(r.Winners), ids(w.Winners)) || r.Support != w.Ever {
						t.Fatalf("round %d of %s: winners %v, want %v; support %d, want %d", i, r.Area, r.Winners, w.Winners, r.Support, w.Ever)
					}
					if w.Kth != 0 && (math.Abs(r.Kth-w.Kth) > 2e-6*max(1, w.Kth) || math.Abs(r.Next-w.Kplus1) > 2e-6*max(1, w.Kplus1)) {
						t.Errorf("round %d of %s: k-th input %v and %v, want %v and %v", i, r.Area, r.Kth, r.Next, w.Kth, w.Kplus1)
					}
				}
			}
			c.checkWeights(t, b)
		})
	}
}

// onEach runs a test on the processor and on the pretend device.
func onEach(t *testing.T, name string, test func(t *testing.T, backend ad.Backend)) {
	t.Run(name, func(t *testing.T) { test(t, nil) })
	t.Run(name+" on a device", func(t *testing.T) {
		pretend.Shared(t)
		test(t, ad.CUDA{})
	})
}

func ids(w []int32) []int32 {
	w = slices.Clone(w)
	slices.Sort(w)
	return w
}

func (c *explicitCase) checkWeights(t *testing.T, b *Brain) {
	for _, from := range c.Case.Areas {
		for _, to := range c.Case.Areas {
			name := from.Name + "->" + to.Name
			sum, squares, largest, _ := total(t, b, from.Name, to.Name)
			want := c.Final.Areas[name]
			for k, x := range [][2]float64{{sum, want.Sum}, {squares, want.Sumsq}, {largest, want.Max}} {
				if math.Abs(x[0]-x[1]) > 1e-6*x[1] {
					t.Errorf("%s: statistic %d is %v, want %v", name, k, x[0], x[1])
				}
			}
		}
	}
	for name, want := range c.Final.Stim {
		from, to, _ := strings.Cut(name, "->")
		f, err := b.fibre(from, to)
		check(t, err)
		for j, w := range want.First16 {
			if math.Abs(f.total[j]-w) > 1e-6*max(1, w) {
				t.Errorf("%s: neuron %d gets %v, want %v", name, j, f.total[j], w)
			}
		}
	}
}

// The C++ engine lets areas without input fall silent and bounds weights.
func TestSilentGoldens(t *testing.T) {
	var all []struct {
		Name      string
		Seed      uint64
		N, K      int
		P, Beta   float64
		MaxWeight float64 `json:"max_weight"`
		Fibers    map[string]uint64
		Phases    []struct {
			Active     string `json:"active_fibers"`
			Steps      int
			Plasticity bool
			Trace      []map[string][]int32
		}
		Final map[string]struct {
			Sum, Sumsq, Max float64
			NNZ             int
		}
	}
	golden.JSON(t, &all, "assemblies", "cpp_explicit_goldens.json")
	for _, c := range all {
		onEach(t, c.Name, func(t *testing.T, backend ad.Backend) {
			b := New(Settings{P: c.P, Activity: Silent, MaxWeight: c.MaxWeight, Backend: backend,
				Connect: Hashed(c.Seed, func(from, to string) uint64 { return c.Fibers[from+"->"+to] })})
			check(t, b.AddArea(Area{Name: "S", N: c.N, K: c.K}))
			for _, name := range []string{"A", "B"} {
				check(t, b.AddArea(Area{Name: name, N: c.N, K: c.K, Beta: c.Beta}))
			}
			check(t, b.Activate("S", 0))
			check(t, b.Fix("S", true))
			for i, phase := range c.Phases {
				b.Learn(phase.Plasticity)
				p, err := b.Plan(strings.TrimSuffix(strings.ReplaceAll(phase.Active, "->", ">"), " no plasticity"))
				check(t, err)
				for step := range phase.Steps {
					_, err := b.Project(p, 1)
					check(t, err)
					for _, name := range []string{"A", "B"} {
						got, _ := b.Winners(name)
						if want := phase.Trace[step][name]; !slices.Equal(ids(got), ids(want)) {
							t.Fatalf("phase %d step %d: area %s fires %v, want %v", i, step, name, ids(got), want)
						}
					}
				}
			}
			for name, want := range c.Final {
				from, to, _ := strings.Cut(name, "->")
				sum, squares, largest, n := total(t, b, from, to)
				for k, x := range [][2]float64{{sum, want.Sum}, {squares, want.Sumsq}, {largest, want.Max}, {n, float64(want.NNZ)}} {
					if math.Abs(x[0]-x[1]) > 1e-6*x[1] {
						t.Errorf("%s: statistic %d is %v, want %v", name, k, x[0], x[1])
					}
				}
			}
		})
	}
}

// total returns the sum, the sum of squares, the largest and the number of the
// weights of a fibre between areas, from neurons that may fire.
func total(t *testing.T, b *Brain, from, to string) (sum, squares, largest, n float64) {
	f, err := b.fibre(from, to)
	check(t, err)
	f.each(b, func(i, _ int32, v float64) {
		if from != "S" || int(i) < b.areas[0].K {
			sum, squares, largest, n = sum+v, squares+v*v, max(largest, v), n+1
		}
	})
	return sum, squares, largest, n
}
