// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package stage

import (
	"slices"
	"sync"

	"github.com/euryale-dev/euryale/models/stan/internal/syntax"
	"github.com/euryale-dev/euryale/models/stan/internal/typing"
	"github.com/euryale-dev/euryale/models/stan/internal/value"
)

// Statements that run for each draw work on known numbers alone. As far as these are single numbers and containers of them, and no ranges of
// indices or tuples occur, the statements become Go functions once, which run some ten times as fast as a Machine. Whatever goes wrong in
// them is left to the Machine, which runs the statement again and says what it is.

// block is a container of numbers, in row-major order.
type block struct {
	f     []float64
	shape []int
}

// frame holds the variables of a running function.
type frame struct {
	numbers []float64
	blocks  []block
	shared  *plainRun
	result  block // of a function; a number is its first element
}

// plainRun is what all frames of a run share.
type plainRun struct {
	m     *Machine
	steps int
	calls []*compiledCall // of functions of the library, by the place where they are called; kept between runs
}

// failure ends plain statements, so that the Machine runs them.
type failure struct{}

func fail() { panic(failure{}) }

// endless ends plain statements that run for too long.
type endless struct{}

// count counts statements, repetitions of loops and calls, so that loops without end stop.
func (r *plainRun) count(n int) {
	if r.steps += n; r.steps > r.m.MaxSteps {
		panic(endless{})
	}
}

type (
	act    func(f *frame) way
	number func(f *frame) float64
	blocky func(f *frame) block
)

// plainStatement is a statement on known numbers as a Go function.
type plainStatement struct {
	at              syntax.Span
	run             act
	numbers, blocks int
	outside         []outer
	idle            sync.Pool // of *plainRun
}

// outer is a variable that a plain statement takes from a Machine.
type outer struct {
	name     string
	scalar   bool
	at       int
	assigned bool
}

// runOn runs the statement with the variables of a Machine, and says whether it ended well; if not, the Machine is to run it unless there
// is an error.
func (p *plainStatement) runOn(m *Machine) (ok bool, err error) {
	shared := p.idle.Get().(*plainRun)
	shared.m, shared.steps = m, m.steps
	defer p.idle.Put(shared)
	f := &frame{numbers: make([]float64, p.numbers), blocks: make([]block, p.blocks), shared: shared}
	slots := make([]*slot, len(p.outside))
	for i, o := range p.outside {
		s := m.find(o.name)
		if s == nil || s.late || !s.v.Known() || s.v.Elems != nil || s.v.Lanes > 0 {
			return false, nil
		}
		slots[i] = s
		switch {
		case o.scalar:
			f.numbers[o.at] = s.v.F[0]
		case o.assigned:
			f.blocks[o.at] = block{slices.Clone(s.v.F), s.v.Shape}
		default:
			f.blocks[o.at] = block{s.v.F, s.v.Shape}
		}
	}
	defer m.recovered(p.at, m.depth, &ok, &err)
	if p.run(f) != on {
		return false, nil
	}
	m.steps = shared.steps
	for i, o := range p.outside {
		if !o.assigned {
			continue
		}
		var v block
		if o.scalar {
			v.f = []float64{f.numbers[o.at]}
		} else {
			v = f.blocks[o.at]
		}
		slots[i].v, slots[i].owned = value.Known(slots[i].typ, v.f, v.shape...), false
	}
	return true, nil
}

// recovered ends a Go function that went wrong or took too long.
func (m *Machine) recovered(at syntax.Span, depth int, ok *bool, err *error) {
	switch r := recover(); r.(type) {
	case nil:
	case failure:
		*ok, m.depth = false, depth
	case endless:
		*ok, *err = false, m.tooLong(at, m.MaxSteps)
	default:
		panic(r)
	}
}

// variableOf is where a plain function keeps a variable.
type variableOf struct {
	scalar bool
	at     int
}

// compiler makes Go functions of statements.
type plainCompiler struct {
	prog      *syntax.Program
	funcs     map[string][]*syntax.Function
	done      map[*syntax.Function]*plainFunction
	scopes    []map[string]variableOf
	numbers   int
	blocks    int
	outside   []outer // nil-able only at the top
	inside    bool    // a function, which sees no variables from outside
	assigning map[string]bool
	calls     *int // of functions of the library
}

// unfit ends the compilation of statements that cannot be plain.
type unfit struct{}

func (c *plainCompiler) stop() { panic(unfit{}) }

// plain compiles a statement; nil if that is not possible.
func (m *Machine) plain(s syntax.Stmt) (p *plainStatement) {
	defer func() {
		if r := recover(); r != nil {
			if _, mine := r.(unfit); !mine {
				panic(r)
			}
			p = nil
		}
	}()
	c := &plainCompiler{prog: m.Prog, funcs: m.funcs, done: map[*syntax.Function]*plainFunction{}, assigning: map[string]bool{}, calls: new(int)}
	assignedIn(s, c.assigning)
	c.push()
	run := c.statement(s)
	p = &plainStatement{at: s.At(), run: run, numbers: c.numbers, blocks: c.blocks, outside: c.outside}
	p.idle.New = func() any { return &plainRun{calls: make([]*compiledCall, *c.calls)} }
	return p
}

func (c *plainCompiler) push() { c.scopes = append(c.scopes, map[string]variableOf{}) }
func (c *plainCompiler) pop()  { c.scopes = c.scopes[:len(c.scopes)-1] }

// simple says whether a type is a number or a container of numbers.
func simple(t typing.Type) bool {
	switch t.Kind {
	case typing.Int, typing.Real, typing.Vector, typing.RowVector, typing.Matrix:
		return true
	}
	return false
}

func single(t typing.Type) bool { return t.Is(typing.Int) || t.Is(typing.Real) }

// add makes a place for a variable.
func (c *plainCompiler) add(name string, t typing.Type) variableOf {
	if !simple(t) {
		c.stop()
	}
	v := variableOf{scalar: single(t)}
	if v.scalar {
		v.at, c.numbers = c.numbers, c.numbers+1
	} else {
		v.at, c.blocks = c.blocks, c.blocks+1
	}
	c.scopes[len(c.scopes)-1][name] = v
	return v
}

// find returns the place of a variable, which may be one from outside.
func (c *plainCompiler) find(name string, t typing.Type) variableOf {
	for i := len(c.scopes) - 1; i >= 0; i-- {
		if v, ok := c.scopes[i][name]; ok {
			return v
		}
	}
	if c.inside {
		c.stop()
	}
	top := c.scopes
	c.scopes = c.scopes[:1]
	v := c.add(name, t)
	c.scopes = top
	c.outside = append(c.outside, outer{name: name, scalar: v.scalar, at: v.at, assigned: c.assigning[name]})
	return v
}

// places are single indices.
func (c *plainCompiler) places(list []syntax.Place) (index []number) {
	for _, p := range list {
		if p.Single == nil || !p.Single.Type().Is(typing.Int) {
			c.stop()
		}
		index = append(index, c.number(p.Single))
	}
	return index
}

// offset is where the part with the first indices begins.
func (b block) offset(f *frame, index []number) int {
	at := 0
	for k, x := range index {
		i, n := x(f), b.shape[k]
		if !(i >= 1) || i > float64(n) {
			fail()
		}
		at = at*n + int(i) - 1
	}
	return at
}

// place is that of an element.
func (b block) place(f *frame, index []number) int {
	if len(index) != len(b.shape) {
		fail()
	}
	return b.offset(f, index)
}

// part is what the first indices leave.
func (b block) part(f *frame, index []number) block {
	if len(index) == 0 {
		return b
	}
	if len(index) >= len(b.shape) {
		fail()
	}
	shape := b.shape[len(index):]
	n := value.Size(shape)
	at := b.offset(f, index) * n
	return block{b.f[at : at+n : at+n], shape}
}

// value makes a value of an argument.
func (a plainArgument) value(f *frame) value.Value {
	if a.scalar {
		return value.Value{Type: a.t, F: []float64{a.number(f)}}
	}
	b := a.block(f)
	return value.Known(a.t, b.f, b.shape...)
}
