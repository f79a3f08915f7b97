// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package nemo

import "fmt"

// Sequence memorises a sequence of items: its area gets one item per step, together with its own
// winners of the previous step. With a second area beside it as a scaffold, it needs fewer
// presentations.
type Sequence struct {
	Main, Helper             *Area // recalling area and its scaffold; Helper is nil without a scaffold
	in, fromHelper, fromMain *Matrix
}

// NewSequence makes a sequence of a recurrent area and the matrix from items to it,
// and normalises both matrices.
func NewSequence(main *Area, in *Matrix) (*Sequence, error) {
	return newSequence(&Sequence{Main: main, in: in})
}

// NewScaffold makes a sequence with a second recurrent area, and the matrices from
// items to the main area, from the helper to it and back. It normalises all matrices.
func NewScaffold(main, helper *Area, in, fromHelper, fromMain *Matrix) (*Sequence, error) {
	if helper == nil {
		return nil, fmt.Errorf("nemo: the scaffold has no helper area: give one, or use NewSequence")
	}
	return newSequence(&Sequence{Main: main, Helper: helper, in: in, fromHelper: fromHelper, fromMain: fromMain})
}

func newSequence(s *Sequence) (*Sequence, error) {
	if s.Main == nil {
		return nil, fmt.Errorf("nemo: the sequence has no area: make one with NewArea")
	}
	if err := s.check(); err != nil {
		return nil, err
	}
	s.Normalize()
	return s, nil
}

func (s *Sequence) check() error {
	n := s.Main.N
	if err := s.Main.Recurrent.between("of the sequence to itself", n, n); err != nil {
		return err
	}
	if err := s.in.onto("from the items", n); err != nil {
		return err
	}
	if s.Helper == nil {
		return nil
	}
	h := s.Helper.N
	if err := s.Helper.Recurrent.between("of the scaffold to itself", h, h); err != nil {
		return err
	}
	if err := s.fromHelper.between("from the scaffold", h, n); err != nil {
		return err
	}
	return s.fromMain.between("to the scaffold", n, h)
}

// SequenceSettings describe the random connections. Zero values are the defaults.
type SequenceSettings struct {
	N        int     // neurons of each area; default 1000
	K        int     // neurons that fire at a time, and neurons of an item; default 30
	Inputs   int     // neurons that items are made of; default N
	P        float64 // probability of a synapse; default 0.4
	Beta     float64 // plasticity of all synapses; default 0.1
	Scaffold bool
	Seed     uint64
}

// RandomSequence draws the connections of a sequence.
func RandomSequence(set SequenceSettings) (*Sequence, error) {
	n, k := orElse(set.N, 1000), orElse(set.K, 30)
	inputs, beta := orElse(set.Inputs, n), orElseFloat(set.Beta, 0.1)
	d := &drawing{Wiring: Wiring{P: orElseFloat(set.P, 0.4), Seed: set.Seed}}
	s := &Sequence{Main: d.area(n, k, beta)}
	if set.Scaffold {
		s.Helper = d.area(n, k, beta)
	}
	if d.err != nil {
		return nil, d.err
	}
	s.in = d.matrix("item>main", inputs, n)
	s.Main.Recurrent = d.matrix("main>main", n, n)
	if set.Scaffold {
		s.fromHelper, s.fromMain = d.matrix("helper>main", n, n), d.matrix("main>helper", n, n)
		s.Helper.Recurrent = d.matrix("helper>helper", n, n)
	}
	if d.err != nil {
		return nil, d.err
	}
	return newSequence(s)
}

// Present shows items once, one per step, to silent areas that learn, and then normalises all
// matrices. It returns the assembly that answers each item. The first item must have neurons.
func (s *Sequence) Present(items [][]int32) ([][]int32, error) {
	for _, item := range items {
		if err := inRange(item, len(s.in.rows), "input"); err != nil {
			return nil, err
		}
	}
	if len(items) > 0 && len(items[0]) == 0 {
		return nil, fmt.Errorf("nemo: item 0 of %d has no neurons: %w: begin the sequence with an item that has some", len(items), ErrSilent)
	}
	s.Inhibit()
	list, err := s.run(true, len(items), func(i int) []int32 { return items[i] })
	s.Normalize()
	return list, err
}

// Recall shows a cue to silent areas and lets them run freely for the remaining steps, without
// learning. It returns the assembly of each step, ErrUntaught before the first presentation, and
// ErrSilent for a cue without neurons.
func (s *Sequence) Recall(cue []int32, steps int) ([][]int32, error) {
	switch {
	case s.in.drawn:
		return nil, fmt.Errorf("nemo: %d steps cannot be recalled: %w: call Present first", steps, ErrUntaught)
	case len(cue) == 0:
		return nil, fmt.Errorf("nemo: %d steps cannot be recalled from a cue without neurons: %w: cue with the first item", steps, ErrSilent)
	}
	s.Inhibit()
	return s.run(false, steps, func(i int) []int32 {
		if i == 0 {
			return cue
		}
		return nil
	})
}

func (s *Sequence) run(learn bool, steps int, item func(i int) []int32) ([][]int32, error) {
	var list [][]int32
	for i := range steps {
		if err := s.Step(learn, item(i)); err != nil {
			return nil, err
		}
		list = append(list, s.Main.Winners)
	}
	return list, nil
}

// Step shows one item, or none, for one step. Both areas read the other's winners of the step
// before.
func (s *Sequence) Step(learn bool, item []int32) error {
	if s.Helper == nil {
		return s.Main.Step(learn, Firing{s.in, item})
	}
	before := s.Main.Winners
	if err := s.Main.Step(learn, Firing{s.in, item}, Firing{s.fromHelper, s.Helper.Winners}); err != nil {
		return err
	}
	return s.Helper.Step(learn, Firing{s.fromMain, before})
}

// Normalize divides the weights onto each neuron by their sum, in each matrix.
func (s *Sequence) Normalize() {
	list := []*Matrix{s.in, s.Main.Recurrent}
	if s.Helper != nil {
		list = append(list, s.fromHelper, s.fromMain, s.Helper.Recurrent)
	}
	for _, m := range list {
		m.Normalize()
	}
}

// Inhibit silences both areas.
func (s *Sequence) Inhibit() {
	s.Main.Inhibit()
	if s.Helper != nil {
		s.Helper.Inhibit()
	}
}
