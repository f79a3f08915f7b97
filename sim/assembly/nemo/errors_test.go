// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package nemo

import (
	"math"
	"slices"
	"strings"
	"testing"
)

// Bad input gives errors that name numbers; nothing panics.
func TestErrors(t *testing.T) {
	a, in := random(t, 40, 5, 0.1, 0.3, 1)
	small := area(t, 20, 5, 0.1)
	m, err := LearnMachine([]Transition{{0, 0, 1}, {1, 0, 0}}, MachineSettings{K: 10, Presentations: 1})
	must(t, err)
	p, err := LearnAutomaton([]Arc{{0, 0, 0, 0}, {0, 1, 0, 1}}, AutomatonSettings{K: 10, Presentations: 1})
	must(t, err)
	s, err := RandomSequence(SequenceSettings{N: 40, K: 5})
	must(t, err)
	l, err := NewLearnedCoin(LearnedCoinSettings{K: 10})
	must(t, err)
	c, err := NewClassifier(a, in)
	must(t, err)
	for name, f := range map[string]func() error{
		"fire 5 of its 4":              func() error { _, err := NewArea(4, 5, 0.1); return err },
		"fire 0 of its 4":              func() error { _, err := NewArea(4, 0, 0.1); return err },
		"plasticity of an area is -1":  func() error { _, err := NewArea(4, 2, -1); return err },
		"plasticity of an area is NaN": func() error { _, err := NewArea(4, 2, math.NaN()); return err },
		"not made by NewArea":          func() error { return (&Area{N: 3, K: 1}).Step(true) },
		"probability 1.5":              func() error { _, err := Wiring{P: 1.5}.Matrix("x", 2, 2); return err },
		"from 0 neurons":               func() error { _, err := Wiring{P: 0.5}.Matrix("x", 0, 2); return err },
		"leads to 7": func() error {
			_, err := NewMatrix(1, 3, func(int) []Synapse { return []Synapse{{7, 1}} })
			return err
		},
		"synapse 1 of neuron 0": func() error {
			_, err := NewMatrix(1, 3, func(int) []Synapse { return []Synapse{{1, 1}, {1, 1}} })
			return err
		},
		"weight NaN": func() error {
			_, err := NewMatrix(1, 3, func(int) []Synapse { return []Synapse{{1, math.NaN()}} })
			return err
		},
		"set to fire 21": func() error {
			b := area(t, 20, 5, 0.1)
			b.K = 21
			return b.Step(true)
		},
		"noise is +Inf": func() error { return small.Disturb(slices.Repeat([]float64{math.Inf(1)}, 20)) },
		"presented -1": func() error {
			_, err := LearnMachine([]Transition{{0, 0, 0}}, MachineSettings{Presentations: -1})
			return err
		},
		"less than 2^31":        func() error { _, err := LearnMachine([]Transition{{0, 1 << 50, 0}}, MachineSettings{}); return err },
		"neuron 40 cannot fire": func() error { return a.Step(true, Firing{in, []int32{40}}) },
		"neuron -1 cannot fire": func() error { return a.Force([]int32{-1}) },
		"neuron 99 cannot fire": func() error { return a.Fire([]int32{99}) },
		"an input is missing":   func() error { return a.Step(true, Firing{nil, nil}) },
		"leads to 40 neurons":   func() error { return small.Step(true, Firing{in, nil}) },
		"noise for 3":           func() error { return a.Disturb(make([]float64, 3)) },
		"no transitions":        func() error { _, err := LearnMachine(nil, MachineSettings{}); return err },
		"leads from state 0 both to": func() error {
			_, err := LearnMachine([]Transition{{0, 1, 1}, {0, 1, 0}}, MachineSettings{})
			return err
		},
		"want numbers from 0": func() error { _, err := LearnMachine([]Transition{{0, -1, 1}}, MachineSettings{}); return err },
		"70 of its 30": func() error {
			_, err := LearnMachine([]Transition{{0, 0, 0}}, MachineSettings{ArcNeurons: 30})
			return err
		},
		"neurons for symbols": func() error {
			_, err := LearnMachine([]Transition{{0, 0, 0}}, MachineSettings{SymbolNeurons: 30})
			return err
		},
		"state 1: choose one of 1": func() error {
			_, err := LearnMachine([]Transition{{0, 0, 1}}, MachineSettings{StateNeurons: 80})
			return err
		},
		"symbol 1: choose one of 1": func() error { _, err := m.Read(1); return err },
		"state 2: choose one of 2":  func() error { return m.Start(2) },
		"state -1":                  func() error { return m.Teach(Transition{0, 0, -1}) },
		"symbol 9":                  func() error { _, err := m.Run(0, []int{0, 9}); return err },
		"lacks the area of":         func() error { _, err := NewMachine(nil, a, in, in, in); return err },
		"from states to arcs":       func() error { _, err := NewMachine(a, small, in, in, in); return err },
		"no arcs":                   func() error { _, err := LearnAutomaton(nil, AutomatonSettings{}); return err },
		"flip 0 of state 0": func() error {
			_, err := LearnAutomaton([]Arc{{0, 0, 0, 0}, {0, 0, 0, 1}}, AutomatonSettings{})
			return err
		},
		"states among": func() error {
			_, err := LearnAutomaton([]Arc{{0, 0, 3, 0}}, AutomatonSettings{StateNeurons: 90})
			return err
		},
		"state 5: choose one of 1":                    func() error { return p.Start(5) },
		"flip 2: choose one of 2":                     func() error { return p.Teach(Arc{0, 2, 0, 0}) },
		"coin has 3 outcomes":                         func() error { _, err := NewCoin(CoinSettings{N: 100, K: 40, Outcomes: 3}); return err },
		"input has neurons 0":                         func() error { _, err := s.Present([][]int32{{40}}); return err },
		"no helper":                                   func() error { _, err := NewScaffold(a, nil, in, in, in); return err },
		"sequence has no area":                        func() error { _, err := NewSequence(nil, in); return err },
		"matrix of the sequence to itself is missing": func() error { _, err := NewSequence(small, in); return err },
		"context 1: choose one of 1":                  func() error { return l.Observe(1, 0) },
		"outcome 2: choose one of 2":                  func() error { return l.Observe(0, 2) },
		"lambda -1":                                   func() error { _, err := NewLearnedCoin(LearnedCoinSettings{K: 10, Lambda: -1}); return err },
		"no classes":                                  func() error { _, _, err := c.Classify(nil); return err },
		"no stimuli":                                  func() error { _, err := c.Learn(nil); return err },
		"classifier has no area":                      func() error { _, err := NewClassifier(nil, in); return err },
	} {
		if err := f(); err == nil || !strings.Contains(err.Error(), name) || !strings.HasPrefix(err.Error(), "nemo: ") {
			t.Errorf("want an error with %q, got %v", name, err)
		}
	}
}

func TestSeedsReproduce(t *testing.T) {
	generate := func(seed uint64) []int {
		m, err := LearnAutomaton([]Arc{{0, 0, 0, 0}, {0, 1, 1, 1}, {1, 0, 0, 2}, {1, 1, 1, 3}}, AutomatonSettings{K: 20, Seed: seed})
		must(t, err)
		list, err := m.Generate(0, 40)
		must(t, err)
		return list
	}
	if a, b := generate(3), generate(3); !slices.Equal(a, b) {
		t.Errorf("one seed gives %v and %v", a, b)
	}
	if a, b := generate(3), generate(4); slices.Equal(a, b) {
		t.Errorf("two seeds give %v", a)
	}
	w := Wiring{P: 0.3, Seed: 1}
	one, err := w.Matrix("one", 50, 50)
	must(t, err)
	two, err := w.Matrix("two", 50, 50)
	must(t, err)
	same := 0
	for i := range 50 {
		for j := range 50 {
			if one.Weight(i, j) == two.Weight(i, j) {
				same++
			}
		}
	}
	if p := 0.3*0.3 + 0.7*0.7; math.Abs(float64(same)-2500*p) > 5*math.Sqrt(2500*p*(1-p)) { // false alarm in 2e6
		t.Errorf("%d of 2500 pairs are alike in two fibres, want about %.0f", same, 2500*p)
	}
}
