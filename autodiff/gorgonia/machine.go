// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package gorgonia

import (
	"fmt"

	G "gorgonia.org/gorgonia"

	ad "github.com/euryale-dev/euryale/autodiff"
)

// Settings say how a Machine runs. The zero value is the default.
type Settings struct {
	// Threads is the largest number of goroutines that work on one large array. Results do not
	// depend on it. Default: GOMAXPROCS.
	Threads int
	// SIMD is the instruction set: "avx512", "avx2", "neon" or "go". Default: the best that the processor
	// has.
	SIMD string
	// Backend runs the graph, for example ad.CUDA{}. Default: the processor, with these Threads and
	// SIMD.
	Backend ad.Backend
	// Eval switches dropout and similar operations off, as gorgonia.EvalMode does. Default:
	// training.
	Eval bool
}

// Machine runs a compiled Gorgonia graph. It is a gorgonia.VM: RunAll reads the values bound to the
// input nodes, named or not, computes, and binds the outputs. It belongs to one goroutine, and so
// does its graph; RunAll does not allocate unless an operation of Gorgonia runs inside.
//
// The values of outputs are the Machine's own memory, which the next RunAll overwrites. Large
// inputs are read in place, and others are copied. Inner nodes that are not outputs keep whatever
// value they had.
type Machine struct {
	imported   *Imported
	state      *ad.State
	sources    []source
	results    []*result
	reads      []read
	learnables G.Nodes
}

var _ G.VM = (*Machine)(nil)

// NewMachine compiles the nodes that outs depend on, with the default Settings. Nodes made by
// gorgonia.Grad may be among outs; Node.Grad of the nodes with respect to which they differentiate
// then returns their values, so that solvers work. See Warnings for gradients that are wrong, and
// NewTrainer for gradients that are right.
func NewMachine(outs ...*G.Node) (*Machine, error) { return Settings{}.NewMachine(outs...) }

// NewTrainer compiles cost and its gradients with respect to weights, by
// autodiff's rules: gorgonia.Grad is not needed, and where it has been called its
// nodes get the right values. After RunAll cost.Value and the weights' Grad hold
// the results, so solver.Step(gorgonia.NodesToValueGrads(weights)) works.
// The cost must have one element and the weights must be inputs.
func NewTrainer(cost *G.Node, weights ...*G.Node) (*Machine, error) {
	return Settings{}.NewTrainer(cost, weights...)
}

// NewMachine is the function NewMachine with these Settings.
func (s Settings) NewMachine(outs ...*G.Node) (*Machine, error) {
	reads := readsOf(outs)
	for _, r := range reads {
		outs = append(outs, r.node)
	}
	outs = values(outs)
	im, err := Import(outs...)
	if err != nil {
		return nil, err
	}
	m := &Machine{imported: im, reads: reads}
	for _, n := range outs {
		m.results = append(m.results, &result{node: n, of: derivedFrom(n)})
	}
	for _, r := range m.results {
		m.learnables = append(m.learnables, r.of...)
	}
	return m, m.compile(s, im.Outputs())
}

// NewTrainer is the function NewTrainer with these Settings.
func (s Settings) NewTrainer(cost *G.Node, weights ...*G.Node) (*Machine, error) {
	if cost == nil || cost.Shape().TotalSize() != 1 {
		return nil, fmt.Errorf("gorgonia: trainer: the cost is %v: want a node of one element, such as a Sum or a Mean", cost)
	}
	for _, w := range weights {
		if w == nil || w.Op() != nil {
			return nil, fmt.Errorf("gorgonia: trainer: the weight %v is not an input: use Imported.Grad for other nodes", w)
		}
	}
	reads := readsOf(append(G.Nodes{cost}, weights...))
	outs := G.Nodes{cost}
	for _, r := range reads {
		outs = append(outs, r.node)
	}
	outs = values(outs)
	im, err := Import(outs...)
	if err != nil {
		return nil, err
	}
	grads, err := im.Grad(cost, weights...)
	if err != nil {
		return nil, err
	}
	m := &Machine{imported: im, reads: reads, learnables: weights}
	for _, n := range outs {
		m.results = append(m.results, &result{node: n})
	}
	for _, w := range weights {
		m.results = append(m.results, &result{node: w.Deriv(), of: G.Nodes{w}, like: w, dual: true})
	}
	return m, m.compile(s, append(im.Outputs(), grads...))
}

func (m *Machine) compile(s Settings, outs []*ad.Node) error {
	im := m.imported
	in := make([]*ad.Node, len(im.inputs))
	for i, n := range im.inputs {
		in[i] = im.of[n]
	}
	if s.Backend == nil {
		s.Backend = ad.CPU{Threads: s.Threads, SIMD: s.SIMD}
	}
	p, err := ad.Compile(outs, ad.Settings{Inputs: in, Precision: im.Precision, Backend: s.Backend})
	if err != nil {
		return fmt.Errorf("gorgonia: %w", err)
	}
	for n := range im.of {
		if op, ok := n.Op().(G.TrainModeOp); ok {
			if err := op.SetTraining(!s.Eval); err != nil {
				return fmt.Errorf("gorgonia: %v: %w", n, err)
			}
		}
	}
	m.state = p.NewState()
	for i, n := range im.inputs {
		m.sources = append(m.sources, newSource(n, m.state, i))
	}
	for i, r := range m.results {
		if err := r.place(m.state, i); err != nil {
			return err
		}
	}
	return nil
}

// RunAll computes the outputs from the values bound to the inputs. It returns an
// error for an input without a value or with one of another type or size.
func (m *Machine) RunAll() error {
	for i := range m.sources {
		if err := m.sources[i].load(m.results); err != nil {
			return err
		}
	}
	if err := m.state.Run(); err != nil {
		return err
	}
	for _, r := range m.results {
		if err := r.publish(); err != nil {
			return err
		}
	}
	for i := range m.reads {
		m.reads[i].store()
	}
	return nil
}

// Reset does nothing: a run leaves no state behind.
func (m *Machine) Reset() {}

// Close does nothing: the memory is freed with the Machine.
func (m *Machine) Close() error { return nil }

// Learnables returns the nodes whose gradients the Machine computes, for
// gorgonia.NodesToValueGrads.
func (m *Machine) Learnables() G.Nodes { return append(G.Nodes(nil), m.learnables...) }

// Warnings names the nodes that were made by gorgonia.Grad, are needed by the outputs, and may have
// wrong derivatives, and also the statements that do not run. NewTrainer needs no such derivatives.
func (m *Machine) Warnings() []string { return m.imported.Warnings }

// Program returns the program that the Machine runs.
func (m *Machine) Program() *ad.Program { return m.state.Program() }
