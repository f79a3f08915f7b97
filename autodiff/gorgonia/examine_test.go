// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package gorgonia_test

import (
	"fmt"
	"math"
	"slices"

	G "gorgonia.org/gorgonia"
	gt "gorgonia.org/tensor"

	bridge "github.com/euryale-dev/euryale/autodiff/gorgonia"
)

// finding is what the examination of a graph that is right here says of Gorgonia.
type finding struct {
	value    string  // "tape", "do" and why, "corrected", or why Gorgonia has no value
	gradient string  // "equal", "wrong" or why Gorgonia has no gradient
	worst    float64 // deviation of the values from Gorgonia's
	slope    float64 // deviation of the gradient from differences
}

// examine runs a graph by our machine and returns an error where its values
// differ from Gorgonia's or its gradient from differences. Cost may be nil.
func (s *sketch) examine(outs []*G.Node, cost *G.Node) (f finding, err error) {
	defer caught(&err)
	theirs, value := s.gorgonias(outs)
	ours, err := s.values(outs)
	if err != nil {
		return f, err
	}
	f.value = value
	for i := range outs {
		if theirs == nil {
			break
		}
		d := apart(ours[i], theirs[i])
		if f.worst = max(f.worst, d); !(d <= s.tolerance()) {
			return f, fmt.Errorf("output %d, %v: deviation %.3g from Gorgonia (by %s): %v, want %v", i, outs[i], d, value, ours[i], theirs[i])
		}
	}
	if cost == nil {
		return f, nil
	}
	return f, s.gradients(cost, &f)
}

// tolerance is that of values, which rounding moves.
func (s *sketch) tolerance() float64 {
	if s.typ == gt.Float32 {
		return 2e-4
	}
	return 1e-9
}

// gorgonias returns the values of outs by Gorgonia, and by which of its two ways;
// by neither, and why.
func (s *sketch) gorgonias(outs []*G.Node) ([][]float64, string) {
	s.setTraining(outs)
	s.bind()
	do, corrected, err := byDo(outs...)
	switch {
	case err != nil:
		return nil, "fails: " + err.Error()
	case corrected:
		return do, "corrected"
	}
	s.bind()
	tape, err := byTape(s.eval, outs...)
	if err != nil {
		return do, "do: TapeMachine fails: " + err.Error()
	}
	for i := range outs {
		if !(apart(tape[i], do[i]) <= s.tolerance()) {
			return do, "do: TapeMachine contradicts the operations"
		}
	}
	return tape, "tape"
}

// setTraining does what Gorgonia's machines do when they are made.
func (s *sketch) setTraining(outs []*G.Node) {
	under := map[*G.Node]bool{}
	for _, n := range outs {
		below(n, under)
	}
	for n := range under {
		if op, ok := n.Op().(G.TrainModeOp); ok {
			op.SetTraining(!s.eval)
		}
	}
}

// values runs outs by a Machine, which stores them in variables and in the nodes.
func (s *sketch) values(outs []*G.Node) (vs [][]float64, err error) {
	vm, err := bridge.Settings{Eval: s.eval, Threads: 1}.NewMachine(outs...)
	if err != nil {
		return nil, err
	}
	s.bind()
	if err := vm.RunAll(); err != nil {
		return nil, err
	}
	for _, n := range outs {
		vs = append(vs, append([]float64(nil), elements(n.Value())...))
	}
	return vs, nil
}

// gradients compares our gradient with differences, and Gorgonia's. Where ours
// disagrees, it takes differences of a smaller step, or looks beside a kink.
func (s *sketch) gradients(cost *G.Node, f *finding) error {
	p, err := newProgram(cost)
	if err != nil {
		return err
	}
	reals := p.reals()
	vm, err := bridge.Settings{Eval: s.eval, Threads: 1}.NewTrainer(cost, reals...)
	if err != nil {
		return err
	}
	for try := 0; ; try++ {
		s.bind()
		p.load()
		want, smooth := p.differences([]float64{1e-5, 1e-6}[try%2])
		if err := vm.RunAll(); err != nil {
			return err
		}
		var wrong error
		if f.slope, wrong = s.deviation(reals, want); wrong == nil {
			f.gradient, err = s.judge(cost, reals, want)
			return err
		}
		switch {
		case try == 9, math.IsNaN(f.slope), smooth && try%2 == 1:
			return wrong
		case !smooth:
			s.shake()
		}
	}
}

// deviation is that of the gradients that are bound to inputs, and an error if it
// is too large.
func (s *sketch) deviation(inputs []*G.Node, want map[*G.Node][]float64) (worst float64, err error) {
	for _, n := range inputs {
		got := elements(sure(n.Grad()))
		d := apart(got, want[n])
		if worst = max(worst, d); !(d <= s.steepness()) {
			err = fmt.Errorf("gradient by %v: deviation %.3g from differences: %v, want %v", n, d, got, want[n])
		}
	}
	return worst, err
}

// steepness is the tolerance of gradients, in which differences err.
func (s *sketch) steepness() float64 {
	if s.typ == gt.Float32 {
		return 2e-3
	}
	return 1e-6
}

// judge compares Gorgonia's gradient, by its operations' own code, with
// differences. It returns an error where a Machine that runs its nodes is wrong
// without a warning.
func (s *sketch) judge(cost *G.Node, inputs []*G.Node, want map[*G.Node][]float64) (verdict string, err error) {
	// Grad refuses where one of the inputs has no part in the cost.
	inputs = slices.DeleteFunc(slices.Clone(inputs), func(n *G.Node) bool {
		return !slices.ContainsFunc(want[n], func(d float64) bool { return d != 0 })
	})
	if len(inputs) == 0 {
		return "none: the cost is flat", nil
	}
	grads, err := derived(cost, inputs)
	if err != nil {
		return "refused: " + err.Error(), nil
	}
	equal := func(got [][]float64) bool {
		for i, n := range inputs {
			if !(apart(got[i], want[n]) <= s.steepness()) {
				return false
			}
		}
		return true
	}
	if vm, err := (bridge.Settings{Eval: s.eval, Threads: 1}).NewMachine(append(G.Nodes{cost}, grads...)...); err == nil {
		s.bind()
		var ours [][]float64
		if err = vm.RunAll(); err == nil {
			for _, n := range grads {
				ours = append(ours, elements(n.Value()))
			}
		}
		if err == nil && !equal(ours) && len(vm.Warnings()) == 0 {
			return "", fmt.Errorf("Gorgonia's derivatives, run here, are wrong, but there is no warning: %v, want %v", ours, want)
		}
	}
	s.setTraining([]*G.Node{cost})
	s.bind()
	theirs, _, err := byDo(append(G.Nodes{cost}, grads...)...)
	switch {
	case err != nil:
		return "fails: " + err.Error(), nil
	case equal(theirs[1:]):
		return "equal", nil
	}
	return "wrong", nil
}
