// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package stage

import (
	"math"
	"sync"

	"github.com/euryale-dev/euryale/models/stan/internal/library"
	"github.com/euryale-dev/euryale/models/stan/internal/syntax"
	"github.com/euryale-dev/euryale/models/stan/internal/typing"
	"github.com/euryale-dev/euryale/models/stan/internal/value"
)

// plainFunction is a function of the program.
type plainFunction struct {
	body            act
	args            []variableOf
	numbers, blocks int
}

// function compiles a function of the program, which may call itself.
func (c *plainCompiler) function(x *syntax.Function) *plainFunction {
	if p := c.done[x]; p != nil {
		return p
	}
	p := &plainFunction{}
	c.done[x] = p
	own := &plainCompiler{prog: c.prog, funcs: c.funcs, done: c.done, inside: true, calls: c.calls}
	own.push()
	for _, a := range x.Args {
		p.args = append(p.args, own.add(a.Name, a.Type))
	}
	if !simple(x.Result) {
		c.stop()
	}
	p.body = own.scoped(x.Body)
	p.numbers, p.blocks = own.numbers, own.blocks
	return p
}

// plainCallee is a function of the program that a Machine calls as a Go function.
type plainCallee struct {
	*plainFunction
	idle sync.Pool // of *plainRun
}

// callee returns a function of the program as a Go function; nil if it cannot be one.
func (m *Machine) callee(x *syntax.Function) (p *plainCallee) {
	m.plains.mu.Lock()
	defer m.plains.mu.Unlock()
	p, ok := m.plains.functions[x]
	if ok {
		return p
	}
	defer func() {
		if r := recover(); r != nil {
			if _, mine := r.(unfit); !mine {
				panic(r)
			}
			p = nil
		}
		m.plains.functions[x] = p
	}()
	c := &plainCompiler{prog: m.Prog, funcs: m.funcs, done: map[*syntax.Function]*plainFunction{}, inside: true, calls: new(int)}
	p = &plainCallee{plainFunction: c.function(x)}
	p.idle.New = func() any { return &plainRun{calls: make([]*compiledCall, *c.calls)} }
	return p
}

// callPlainly calls a function of the program with known arguments as a Go function if it can be one and ends well.
func (m *Machine) callPlainly(x *syntax.Function, args []value.Value) (v value.Value, ok bool, err error) {
	for _, a := range args {
		if !a.Known() || a.Lanes > 0 || a.Elems != nil {
			return v, false, nil
		}
	}
	p := m.callee(x)
	if p == nil {
		return v, false, nil
	}
	shared := p.idle.Get().(*plainRun)
	defer p.idle.Put(shared)
	shared.m, shared.steps = m, m.steps
	f := &frame{numbers: make([]float64, p.numbers), blocks: make([]block, p.blocks), shared: shared}
	for i, a := range args {
		if at := p.args[i]; at.scalar {
			f.numbers[at.at] = a.F[0]
		} else {
			f.blocks[at.at] = block{a.F, a.Shape}
		}
	}
	defer m.recovered(x.At, m.depth, &ok, &err)
	if p.body(f) != returned {
		return v, false, nil
	}
	m.steps = shared.steps
	if single(x.Result) {
		return value.Known(x.Result, f.result.f[:1]), true, nil
	}
	return value.Known(x.Result, f.result.f, f.result.shape...), true, nil
}

// arguments are those of a call, as numbers or containers.
type plainArgument struct {
	scalar bool
	number number
	block  blocky
	t      typing.Type
}

func (c *plainCompiler) argument(x syntax.Expr) plainArgument {
	t := x.Type()
	if !simple(t) {
		c.stop()
	}
	if single(t) {
		return plainArgument{scalar: true, number: c.number(x), t: t}
	}
	return plainArgument{block: c.block(x), t: t}
}

// call returns what calls a function; a number is the only element of what it returns.
func (c *plainCompiler) call(x *syntax.Call) blocky {
	if _, ok := solvers[x.Name]; ok {
		c.stop()
	}
	var args []plainArgument
	var types []value.Value
	for _, a := range x.Args {
		args = append(args, c.argument(a))
		types = append(types, value.Value{Type: a.Type()})
	}
	own := &Machine{Prog: c.prog, funcs: c.funcs}
	if fn := own.userFunction(x.Name, types); fn != nil {
		return c.userCall(fn, args)
	}
	name := x.Name
	lib := library.Find(name)
	if lib == nil || !simple(x.Type()) {
		c.stop()
	}
	if compiled := c.compiled(lib, x, args); compiled != nil {
		return compiled
	}
	return func(f *frame) block {
		values := make([]value.Value, len(args))
		for i, a := range args {
			values[i] = a.value(f)
		}
		m := f.shared.m
		v, err := m.invoke(name, values, x.Type(), false)
		if err != nil || v.F == nil && v.Size() > 0 || !v.Known() {
			fail()
		}
		f.shared.count(ofMachine + len(v.F))
		return block{v.F, v.Shape}
	}
}

// compiled calls a function of the library that evaluates a graph by a program for this place; nil unless all of its arguments are real
// numbers, or integers that stand there.
func (c *plainCompiler) compiled(lib *library.Function, x *syntax.Call, args []plainArgument) blocky {
	if !lib.Graph || !x.Type().Is(typing.Real) {
		return nil
	}
	var inputs []number
	for i, a := range args {
		if _, literal := x.Args[i].(*syntax.Number); !a.scalar || a.t.Kind == typing.Int && !literal {
			return nil
		}
		if a.t.Kind != typing.Int {
			inputs = append(inputs, a.number)
		}
	}
	site := *c.calls
	*c.calls++
	return func(f *frame) block {
		p := f.shared.calls[site]
		if p == nil {
			call := &library.Call{Name: x.Name, Result: x.Type()}
			for _, a := range args {
				call.Args = append(call.Args, a.value(f))
			}
			if p = compileCall(lib, call); p == nil {
				fail()
			}
			f.shared.calls[site] = p
		}
		for k, in := range inputs {
			p.state.Input(k)[0] = in(f)
		}
		if p.state.Run() != nil {
			fail()
		}
		out := p.state.Output(0)
		if x := out[0]; math.IsNaN(x) || math.IsInf(x, -1) {
			fail()
		}
		return block{f: out}
	}
}

func (c *plainCompiler) userCall(fn *syntax.Function, args []plainArgument) blocky {
	p := c.function(fn)
	return func(f *frame) block {
		g := &frame{numbers: make([]float64, p.numbers), blocks: make([]block, p.blocks), shared: f.shared}
		f.shared.count(ofMachine / 2) // which takes about as long
		for i, a := range args {
			if a.scalar {
				g.numbers[p.args[i].at] = a.number(f)
			} else {
				g.blocks[p.args[i].at] = a.block(f)
			}
		}
		if f.shared.m.depth++; f.shared.m.depth > mostCalls {
			fail()
		}
		if p.body(g) != returned {
			fail()
		}
		f.shared.m.depth--
		return g.result
	}
}

// scalarOperator is an operator of numbers; nil if there is none that cannot fail.
func scalarOperator(op string, a, b typing.Type) func(x, y float64) float64 {
	whole := a.Kind == typing.Int && b.Kind == typing.Int
	wrap := func(f func(x, y float64) float64) func(x, y float64) float64 {
		if !whole {
			return f
		}
		return func(x, y float64) float64 { return float64(int32(int64(f(x, y)))) }
	}
	switch op {
	case "+":
		return wrap(func(x, y float64) float64 { return x + y })
	case "-":
		return wrap(func(x, y float64) float64 { return x - y })
	case "*", ".*":
		return wrap(func(x, y float64) float64 { return x * y })
	case "/", "%/%":
		if whole {
			return func(x, y float64) float64 {
				if y == 0 {
					fail()
				}
				return math.Trunc(x / y)
			}
		}
		return func(x, y float64) float64 { return x / y }
	case "./":
		return func(x, y float64) float64 { return x / y }
	case "%":
		return func(x, y float64) float64 {
			if y == 0 {
				fail()
			}
			return math.Mod(x, y)
		}
	case "^", ".^":
		return math.Pow
	}
	return nil
}
