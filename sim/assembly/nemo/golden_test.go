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
func (c *goldenCase) matrix(f uint64, sources, targets int) *Matrix {
	connect := assembly.Hashed(c.Seed, func(string, string) uint64 { return f })
	var room []int32
	return NewMatrix(sources, targets, func(i int) []Synapse {
		room = connect(room[:0], assembly.Fibre{P: c.P, N: targets}, i)
		row := make([]Synapse, len(room))
		for k, j := range room {
			row[k] = Synapse{j, 1 + 0.01*assembly.Jitter(c.Seed, f+1000, i, int(j))}
		}
		return row
	})
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
		t.Fatalf("no case %s", kind)
	}
	return list
}

func TestRecurrentArea(t *testing.T) {
	for _, c := range cases(t, "recurrent_area") {
		a, in := NewArea(c.N, c.K, c.Beta), c.matrix(1, c.N, c.N)
		a.Recurrent = c.matrix(2, c.N, c.N)
		if c.NormalizeFirst {
			in.Normalize()
			a.Recurrent.Normalize()
		}
		for i := range c.Rounds {
			a.Step(true, Firing{in, Block(0, c.K)})
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
	for _, c := range append(cases(t, "simple_sequence"), cases(t, "scaffold_sequence")...) {
		t.Run(c.Kind, func(t *testing.T) {
			s := c.sequence()
			s.normalize()
			for j := range c.Presentations {
				s.inhibit()
				for i := range c.SeqLen {
					s.step(true, Block(i, c.K))
					if j == 0 && !slices.Equal(s.main.Winners, c.First[i]) {
						t.Fatalf("item %d: %v, want %v", i, s.main.Winners, c.First[i])
					}
				}
				s.normalize()
				s.inhibit()
				for i := range c.SeqLen {
					var item []int32
					if i == 0 {
						item = Block(0, c.K)
					}
					s.step(false, item)
					if o := assembly.Overlap(s.main.Winners, c.First[i], c.K); math.Abs(o-c.Recall[j][i]) > 1e-12 {
						t.Fatalf("after presentation %d item %d is recalled to %v, want %v", j+1, i, o, c.Recall[j][i])
					}
				}
			}
		})
	}
}

// sequence is an area that hears items, with a helper in the scaffold.
type sequence struct {
	main, helper             *Area
	in, fromHelper, fromMain *Matrix
}

func (c *goldenCase) sequence() *sequence {
	s := &sequence{main: NewArea(c.N, c.K, c.Beta), in: c.matrix(1, c.N, c.N)}
	s.main.Recurrent = c.matrix(3, c.N, c.N)
	if c.Kind == "scaffold_sequence" {
		s.helper = NewArea(c.N, c.K, c.Beta)
		s.fromHelper, s.fromMain = c.matrix(2, c.N, c.N), c.matrix(4, c.N, c.N)
		s.helper.Recurrent = c.matrix(5, c.N, c.N)
	}
	return s
}

func (s *sequence) step(learn bool, item []int32) {
	if s.helper == nil {
		s.main.Step(learn, Firing{s.in, item})
		return
	}
	before := s.main.Winners
	s.main.Step(learn, Firing{s.in, item}, Firing{s.fromHelper, s.helper.Winners})
	s.helper.Step(learn, Firing{s.fromMain, before})
}

func (s *sequence) normalize() {
	for _, m := range []*Matrix{s.in, s.main.Recurrent, s.fromHelper, s.fromMain} {
		if m != nil {
			m.Normalize()
		}
	}
	if s.helper != nil {
		s.helper.Recurrent.Normalize()
	}
}

func (s *sequence) inhibit() {
	s.main.Inhibit()
	if s.helper != nil {
		s.helper.Inhibit()
	}
}

func TestMachine(t *testing.T) {
	for _, c := range cases(t, "fsm") {
		m := NewMachine(NewArea(c.NArc, c.K, c.Beta), NewArea(c.NState, c.K, c.Beta),
			c.matrix(2, c.NSymbol, c.NArc), c.matrix(3, c.NState, c.NArc), c.matrix(1, c.NArc, c.NState))
		for range c.Presentations {
			for _, x := range c.Transitions {
				m.Teach(x[1], x[0], x[2])
			}
		}
		sum := 0.0
		for _, b := range m.Arc.Bias {
			sum += b
		}
		near(t, "sum of biases", sum, c.BiasSum)
		for i, x := range c.Transitions {
			m.Start(x[0])
			got := m.Read(x[1])
			for s, want := range c.Overlaps[i] {
				if o := int(assembly.Overlap(Block(s, c.K), got, 1)); o != want {
					t.Errorf("transition %v: overlap %d with state %d, want %d", x, o, s, want)
				}
			}
		}
		for _, r := range c.Runs {
			m.Start(c.Start)
			for i, symbol := range r.Input {
				if s, o := m.In(m.Read(symbol), len(c.Overlaps[0])); s != r.States[i] || o != r.Overlap[i] {
					t.Errorf("input %v: state %d by %d after %d symbols, want %d by %d", r.Input, s, o, i+1, r.States[i], r.Overlap[i])
				}
			}
		}
	}
}
