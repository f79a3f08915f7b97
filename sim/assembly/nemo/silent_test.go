// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package nemo

import (
	"errors"
	"testing"
)

// What was not taught, or does not fire, is an error and not the first answer.
func TestNothingToAnswer(t *testing.T) {
	untaught := func(p float64) *Machine {
		w := Wiring{P: p, Seed: 1}
		matrix := func(name string, from, to int) *Matrix {
			m, err := w.Matrix(name, from, to)
			must(t, err)
			return m
		}
		m, err := NewMachine(area(t, 200, 10, 0.1), area(t, 40, 10, 0.1), matrix("symbol>arc", 20, 200), matrix("state>arc", 40, 200), matrix("arc>state", 200, 40))
		must(t, err)
		return m
	}
	table := []Arc{{0, 0, 0, 0}, {0, 1, 0, 1}}
	sequence := func() *Sequence {
		s, err := RandomSequence(SequenceSettings{N: 40, K: 5})
		must(t, err)
		return s
	}
	classifier := func(p float64) *Classifier {
		in, err := Wiring{P: p, Seed: 1}.Matrix("in", 40, 40)
		must(t, err)
		c, err := NewClassifier(area(t, 40, 5, 0.1), in)
		must(t, err)
		return c
	}
	for name, c := range map[string]struct {
		want error
		do   func() error
	}{
		"an untaught machine": {ErrUntaught, func() error { _, err := untaught(0.3).Run(0, []int{0, 1}); return err }},
		"a machine that was not started": {ErrSilent, func() error {
			m := untaught(0.3)
			must(t, m.Teach(Transition{0, 0, 1}))
			_, err := m.Read(0)
			return err
		}},
		"a machine without synapses": {ErrSilent, func() error {
			m := untaught(0)
			m.fromArc.drawn = false
			_, err := m.Run(0, []int{0})
			return err
		}},
		"an automaton that was not started": {ErrSilent, func() error {
			m, err := LearnAutomaton(table, AutomatonSettings{K: 10, Presentations: 1})
			must(t, err)
			_, err = m.Step()
			return err
		}},
		"an automaton without synapses": {ErrSilent, func() error {
			m, err := LearnAutomaton(table, AutomatonSettings{K: 10, Presentations: 1})
			must(t, err)
			m.toState, err = Wiring{}.Matrix("none", m.Arc.N, m.State.N)
			must(t, err)
			_, err = m.Generate(0, 3)
			return err
		}},
		"a coin without synapses": {ErrSilent, func() error {
			c, err := NewCoin(CoinSettings{N: 100, K: 10, P: 1e-9})
			must(t, err)
			_, err = c.Flip()
			return err
		}},
		"a learned coin without synapses": {ErrSilent, func() error {
			c, err := NewLearnedCoin(LearnedCoinSettings{K: 10, P: 1e-9})
			must(t, err)
			_, err = c.Flip(0)
			return err
		}},
		"recall before a presentation": {ErrUntaught, func() error { _, err := sequence().Recall([]int32{1}, 3); return err }},
		"recall from nothing": {ErrSilent, func() error {
			s := sequence()
			_, err := s.Present([][]int32{{1, 2}, {3, 4}})
			must(t, err)
			_, err = s.Recall(nil, 3)
			return err
		}},
		"a sequence that begins with nothing": {ErrSilent, func() error { _, err := sequence().Present([][]int32{{}, {3}}); return err }},
		"a class without synapses":            {ErrSilent, func() error { _, err := classifier(0).Learn([][]int32{{1, 2}}); return err }},
		"a stimulus without neurons": {ErrSilent, func() error {
			c := classifier(0.3)
			_, err := c.Learn([][]int32{{1, 2}})
			must(t, err)
			_, _, err = c.Classify(nil)
			return err
		}},
	} {
		if err := c.do(); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
	if block, n := Nearest([]int32{90}, 10, 3); block != -1 || n != 0 {
		t.Errorf("no shared neurons: block %d by %d", block, n)
	}
	if block, n := Nearest([]int32{5, 12, 13, 27, 28}, 10, 3); block != 1 || n != 2 {
		t.Errorf("block %d by %d, want the lower of two", block, n)
	}
}
