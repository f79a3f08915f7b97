// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package autodiff

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/euryale-dev/euryale/autodiff/internal/compiler"
	"github.com/euryale-dev/euryale/autodiff/internal/cpu"
	"github.com/euryale-dev/euryale/autodiff/internal/cuda"
)

// Settings are the settings of Compile. The zero value is the default.
type Settings struct {
	// Inputs is the order in which State.Input numbers the inputs. Default: order of creation.
	Inputs []*Node
	// Precision is the width of reals in bits, 64 or 32. Default 64, because inference needs it.
	Precision int
	// Batch adds a last axis of this length to the Batched inputs and to every
	// output, and computes all of its elements in one run. Default 0: none.
	Batch   int
	Batched []*Node
	// Isolate lets the lanes of a batch fail alone: if an operation such as Cholesky has no result
	// for the numbers of one lane, that result is NaN and Run continues. Default: Run returns the
	// error.
	Isolate bool
	// MaxMemory is the number of bytes that a State may take; for a larger program Compile returns
	// a *MemoryError. Default: the memory of the machine, of its container or of GOMEMLIMIT,
	// whichever is least. A device has a limit of its own, about which Run returns an error.
	MaxMemory int64
	// Backend runs the program. Default: CPU{}.
	Backend Backend
}

// Program is a compiled graph. It is immutable and safe for concurrent use; each
// goroutine runs it with a State of its own.
type Program struct {
	settings Settings
	options  cpu.Settings
	inputs   []*Node
	outputs  []*Node // outputs of the graph that was compiled
	code     *compiler.Program
	device   *cuda.Code // nil on the processor
}

func init() { compiler.Of = func(p any) *compiler.Program { return p.(*Program).code } }

// Compile makes a Program that computes the outputs.
func Compile(outputs []*Node, s Settings) (*Program, error) {
	p, err := prepared(outputs, s)
	if err != nil {
		return nil, err
	}
	if _, cpu := p.settings.Backend.(CPU); cpu {
		if err := p.fits(); err != nil {
			return nil, err
		}
	}
	p.device, err = p.settings.Backend.compile(p.code, p.settings)
	return p, err
}

// prepared makes a Program without what its backend makes of it.
func prepared(outputs []*Node, s Settings) (*Program, error) {
	if bad := firstErr(outputs...); bad != nil {
		return nil, bad.err
	}
	p := &Program{settings: s}
	if err := p.check(); err != nil {
		return nil, err
	}
	if s.Batch > 0 {
		var bad *Node
		if outputs, p.settings.Inputs, bad = batch(outputs, p.settings); bad != nil {
			return nil, bad.err
		}
	}
	order := upstream(outputs...)
	if err := p.findInputs(order); err != nil {
		return nil, err
	}
	p.outputs = outputs
	var err error
	p.code, err = build(p.inputs, outputs, order, p.apart(), nil)
	return p, err
}

// apart reports whether products may read matrices whose rows lie apart, which those of devices do not.
func (p *Program) apart() bool {
	_, cpu := p.settings.Backend.(CPU)
	return cpu
}

// build compiles a graph, all of whose Nodes it is given; trace, unless nil, is told what each pass has made.
func build(inputs, outputs, all []*Node, apart bool, trace func(pass string, made fmt.Stringer)) (*compiler.Program, error) {
	if slices.ContainsFunc(all, func(n *Node) bool { return n.op == scanOp }) {
		outputs = tidyLoops(all, outputs)
		all = upstream(outputs...)
	}
	r, of := compiler.NewGraph(len(all)), make(map[*Node]*compiler.Value, len(all))
	r.Apart = apart
	ins := make([]*compiler.Value, len(inputs))
	for i, n := range inputs {
		ins[i] = r.Input(n.name, n.shape, n.isInt)
		of[n] = ins[i]
	}
	for _, n := range all {
		if of[n] != nil {
			continue
		}
		var err error
		if of[n], err = translated(r, n, of); err != nil {
			return nil, err
		}
	}
	roots := make([]*compiler.Value, len(outputs))
	for i, n := range outputs {
		roots[i] = of[n]
	}
	return compiler.Build(r, ins, roots, trace)
}

// translated returns the value of n, whose inputs have theirs.
func translated(r *compiler.Graph, n *Node, of map[*Node]*compiler.Value) (*compiler.Value, error) {
	switch {
	case n.op == nil && n.isInt:
		return r.Indices(n.shape, n.ints), nil
	case n.op == nil:
		return r.Constant(n.shape, n.data), nil
	}
	var some [3]*compiler.Value
	in := some[:0]
	for _, x := range n.in {
		in = append(in, of[x])
	}
	obj := n.obj
	if l, ok := obj.(*loop); ok {
		var err error
		if obj, err = l.compiled(); err != nil {
			return nil, err
		}
	}
	return r.Make(n.op.prim, n.shape, n.attr, obj, n.isInt, in...), nil
}

func (p *Program) check() error {
	s := &p.settings
	if s.Precision == 0 {
		s.Precision = 64
	}
	if s.Precision != 64 && s.Precision != 32 {
		return fmt.Errorf("autodiff: Precision is %d: want 64 or 32", s.Precision)
	}
	if s.Batch < 0 {
		return fmt.Errorf("autodiff: Batch is %d: want at least 1, or 0 for none", s.Batch)
	}
	if s.Backend == nil {
		s.Backend = CPU{}
	}
	var err error
	p.options, err = s.Backend.options(p.settings)
	return err
}

// findInputs lists the inputs in the order of Settings.Inputs, then of creation.
func (p *Program) findInputs(nodes []*Node) error {
	known := map[*Node]bool{}
	for i, n := range p.settings.Inputs {
		if n == nil || !n.isInput() || n.err != nil {
			return fmt.Errorf("autodiff: Settings.Inputs[%d] is %v: want a Node made by Input", i, n)
		}
		if known[n] {
			return fmt.Errorf("autodiff: Settings.Inputs[%d] is %v again: list each input once", i, n)
		}
		known[n] = true
		p.inputs = append(p.inputs, n)
	}
	for _, n := range nodes {
		if n.isInput() && !known[n] {
			p.inputs = append(p.inputs, n)
		}
	}
	return nil
}

// Inputs returns the inputs in the order of State.Input.
func (p *Program) Inputs() []*Node { return slices.Clone(p.inputs) }

// hasInput is an error if there is no input of the number.
func (p *Program) hasInput(i int) error {
	if i < 0 || i >= len(p.inputs) {
		return fmt.Errorf("autodiff: there is no input %d in a program with %d inputs, which are counted from 0: use one of these", i, len(p.inputs))
	}
	return nil
}

// Outputs returns the number of outputs.
func (p *Program) Outputs() int { return len(p.code.Outputs) }

// OutputShape returns the shape of output i.
func (p *Program) OutputShape(i int) []int { return slices.Clone(p.code.Outputs[i].Shape) }

// Precision returns the width of reals in bits, 64 or 32.
func (p *Program) Precision() int { return p.settings.Precision }

// Bytes returns the memory that each State takes for arrays, in bytes.
func (p *Program) Bytes() int {
	reals, ints := p.code.Sizes()
	return reals*(p.settings.Precision/8) + ints*8
}

// OnProcessor returns the names of the operations, in alphabetical order, that have no kernel on
// the device for which the program was compiled. It is empty for a program for the processor.
func (p *Program) OnProcessor() []string {
	if p.device == nil {
		return nil
	}
	return slices.Sorted(maps.Keys(p.device.Hosted()))
}

// String lists the steps of the program, one line for each pass over memory.
func (p *Program) String() string {
	on := p.options.Level.String()
	if p.device != nil {
		on = p.device.String()
	}
	return fmt.Sprintf("program float%d %s: %d inputs, %d outputs, %d jobs, %d bytes\n%v",
		p.settings.Precision, on, len(p.inputs), len(p.code.Outputs), len(p.code.Jobs), p.Bytes(), p.code)
}

// Explain describes what each pass of the compiler made of the graph: the values after rewriting,
// where their elements are, which of them are computed in one pass over memory, the arrays, the
// loops and, on a device, the kernels in CUDA C.
func (p *Program) Explain() string {
	var b strings.Builder
	if _, err := build(p.inputs, p.outputs, upstream(p.outputs...), p.apart(), func(pass string, made fmt.Stringer) { fmt.Fprintf(&b, "%s\n%v", pass, made) }); err != nil {
		return err.Error()
	}
	if p.device != nil {
		fmt.Fprintf(&b, "kernels\n%s", p.device.Text())
	}
	return b.String()
}
