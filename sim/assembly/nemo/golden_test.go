// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package nemo

import (
	"math"
	"slices"
	"testing"

	"github.com/euryale-dev/euryale/internal/golden"
	"github.com/euryale-dev/euryale/sim/assembly"
)

type goldenCase struct {
	Kind           string
	Seed           uint64
	N, K           int
	P, Beta        float64
	Rounds         int
	NormalizeFirst bool `json:"normalize_first"`
	Winners        [][]int32
	RecurrentSum   float64 `json:"recurrent_sum"`
	InputSum       float64 `json:"input_sum"`
	SeqLen         int     `json:"seq_len"`
	Presentations  int
	Recall         [][]float64
	First          [][]int32 `json:"first_presentation_assemblies"`
	NSymbol        int       `json:"n_symbol"`
	NState         int       `json:"n_state"`
	NArc           int       `json:"n_arc"`
	Transitions    [][3]int
	Overlaps       [][]int `json:"transition_overlaps"`
	Start          int
	Runs           []struct{ Input, States, Overlap []int }
	BiasSum        float64 `json:"arc_bias_sum"`
}

// matrix makes fibre number f with weights that have no ties: 1 + 0.01 jitter.
func (c *goldenCase) matrix(t testing.TB, f uint64, sources, targets int) *Matrix {
	t.Helper()
	connect := assembly.Hashed(c.Seed, func(string, string) uint64 { return f })
	var room []int32
	m, err := NewMatrix(sources, targets, func(i int) []Synapse {
		room = connect(room[:0], assembly.Fibre{P: c.P, N: targets}, i)
		row := make([]Synapse, len(room))
		for k, j := range room {
			row[k] = Synapse{j, 1 + 0.01*assembly.Jitter(c.Seed, f+1000, i, int(j))}
		}
		return row
	})
	must(t, err)
	return m
}

func cases(t *testing.T, kind string) (list []*goldenCase) {
	var all []*goldenCase
	golden.JSON(t, &all, "assemblies", "nemo_goldens.json")
	for _, c := range all {
		if c.Kind == kind {
			list = append(list, c)
		}
	}
	if len(list) == 0 {
		t.Skipf("no case %s", kind)
	}
	return list
}

func TestRecurrentArea(t *testing.T) {
	for _, c := range cases(t, "recurrent_area") {
		a, in := area(t, c.N, c.K, c.Beta), c.matrix(t, 1, c.N, c.N)
		a.Recurrent = c.matrix(t, 2, c.N, c.N)
		if c.NormalizeFirst {
			in.Normalize()
			a.Recurrent.Normalize()
		}
		for i := range c.Rounds {
			must(t, a.Step(true, Firing{in, Block(0, c.K)}))
			if !slices.Equal(a.Winners, c.Winners[i]) {
				t.Fatalf("seed %d round %d: %v, want %v", c.Seed, i, a.Winners, c.Winners[i])
			}
		}
		near(t, "recurrent sum", a.Recurrent.Sum(), c.RecurrentSum)
		near(t, "input sum", in.Sum(), c.InputSum)
	}
}

func near(t *testing.T, what string, got, want float64) {
	t.Helper()
	if math.Abs(got-want) > 1e-9*math.Abs(want) {
		t.Errorf("%s %v, want %v", what, got, want)
	}
}

func TestSequences(t *testing.T) {
	for _, kind := range []string{"simple_sequence", "scaffold_sequence"} {
		t.Run(kind, func(t *testing.T) {
			for _, c := range cases(t, kind) {
				c.checkSequence(t)
			}
		})
	}
}

func (c *goldenCase) checkSequence(t *testing.T) {
	s, items := c.sequence(t), [][]int32{}
	for i := range c.SeqLen {
		items = append(items, Block(i, c.K))
	}
	for j := range c.Presentations {
		list, err := s.Present(items)
		must(t, err)
		if j == 0 {
			equal(t, "item", list, c.First)
		}
		list, err = s.Recall(items[0], c.SeqLen)
		must(t, err)
		for i, w := range list {
			if o := assembly.Overlap(w, c.First[i], c.K); math.Abs(o-c.Recall[j][i]) > 1e-12 {
				t.Fatalf("after presentation %d item %d is recalled to %v, want %v", j+1, i, o, c.Recall[j][i])
			}
		}
	}
}

func equal(t *testing.T, what string, got, want [][]int32) {
	t.Helper()
	for i := range want {
		if !slices.Equal(got[i], want[i]) {
			t.Fatalf("%s %d: %v, want %v", what, i, got[i], want[i])
		}
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// area makes an area, of which the parameters are known to fit.
func area(t testing.TB, n, k int, beta float64) *Area {
	t.Helper()
	a, err := NewArea(n, k, beta)
	must(t, err)
	return a
}

func (c *goldenCase) sequence(t *testing.T) *Sequence {
	main := area(t, c.N, c.K, c.Beta)
	main.Recurrent = c.matrix(t, 3, c.N, c.N)
	in := c.matrix(t, 1, c.N, c.N)
	var s *Sequence
	var err error
	if c.Kind == "scaffold_sequence" {
		h := area(t, c.N, c.K, c.Beta)
		h.Recurrent = c.matrix(t, 5, c.N, c.N)
		s, err = NewScaffold(main, h, in, c.matrix(t, 2, c.N, c.N), c.matrix(t, 4, c.N, c.N))
	} else {
		s, err = NewSequence(main, in)
	}
	must(t, err)
	return s
}

func TestMachine(t *testing.T) {
	for _, c := range cases(t, "fsm") {
		m, err := NewMachine(area(t, c.NArc, c.K, c.Beta), area(t, c.NState, c.K, c.Beta),
			c.matrix(t, 2, c.NSymbol, c.NArc), c.matrix(t, 3, c.NState, c.NArc), c.matrix(t, 1, c.NArc, c.NState))
		must(t, err)
		for range c.Presentations {
			for _, x := range c.Transitions {
				must(t, m.Teach(Transition{x[0], x[1], x[2]}))
			}
		}
		sum := 0.0
		for _, b := range m.Arc.Bias {
			sum += b
		}
		near(t, "sum of biases", sum, c.BiasSum)
		for i, x := range c.Transitions {
			must(t, m.Start(x[0]))
			got, err := m.Read(x[1])
			must(t, err)
			for s, want := range c.Overlaps[i] {
				if o := int(assembly.Overlap(Block(s, c.K), got, 1)); o != want {
					t.Errorf("transition %v: overlap %d with state %d, want %d", x, o, s, want)
				}
			}
		}
		for _, r := range c.Runs {
			must(t, m.Start(c.Start))
			for i, symbol := range r.Input {
				neurons, err := m.Read(symbol)
				must(t, err)
				if s, o := Nearest(neurons, c.K, len(c.Overlaps[0])); s != r.States[i] || o != r.Overlap[i] {
					t.Errorf("input %v: state %d by %d after %d symbols, want %d by %d", r.Input, s, o, i+1, r.States[i], r.Overlap[i])
				}
			}
			states, err := m.Run(c.Start, r.Input)
			must(t, err)
			if !slices.Equal(states, r.States) {
				t.Errorf("input %v: states %v, want %v", r.Input, states, r.States)
			}
		}
	}
}
