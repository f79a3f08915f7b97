// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package stage

import (
	"math"
	"slices"
	"sync"

	"github.com/euryale-dev/euryale/models/stan/internal/library"
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

// count counts the repetitions of loops.
func (r *plainRun) count() {
	if r.steps++; r.steps > r.m.MaxSteps {
		fail()
	}
}

type (
	act    func(f *frame) way
	number func(f *frame) float64
	blocky func(f *frame) block
)

// plainStatement is a statement of generated quantities as a Go function.
type plainStatement struct {
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

// run runs the statement with the variables of a Machine, and says whether it ended well.
func (p *plainStatement) runOn(m *Machine) (ok bool) {
	shared := p.idle.Get().(*plainRun)
	shared.m, shared.steps = m, 0
	defer p.idle.Put(shared)
	f := &frame{numbers: make([]float64, p.numbers), blocks: make([]block, p.blocks), shared: shared}
	slots := make([]*slot, len(p.outside))
	for i, o := range p.outside {
		s := m.find(o.name)
		if s == nil || s.late || !s.v.Known() || s.v.Elems != nil || s.v.Lanes > 0 {
			return false
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
	defer func() {
		if r := recover(); r != nil {
			if _, mine := r.(failure); !mine {
				panic(r)
			}
			ok = false
		}
	}()
	if p.run(f) != on {
		return false
	}
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
	return true
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
	p = &plainStatement{run: run, numbers: c.numbers, blocks: c.blocks, outside: c.outside}
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

// list runs statements one after the other.
func (c *plainCompiler) list(list []syntax.Stmt) act {
	acts := make([]act, len(list))
	for i, s := range list {
		acts[i] = c.statement(s)
	}
	return func(f *frame) way {
		for _, a := range acts {
			if w := a(f); w != on {
				return w
			}
		}
		return on
	}
}

func (c *plainCompiler) scoped(s syntax.Stmt) act {
	c.push()
	defer c.pop()
	if b, ok := s.(*syntax.Block); ok {
		return c.list(b.List)
	}
	return c.statement(s)
}

func (c *plainCompiler) statement(s syntax.Stmt) act {
	switch s := s.(type) {
	case *syntax.Declare:
		return c.declare(s)
	case *syntax.Assign:
		return c.assign(s)
	case *syntax.Block:
		return c.scoped(s)
	case *syntax.Profile:
		return c.scoped(s.Body)
	case *syntax.If:
		cond, then := c.number(s.Cond), c.scoped(s.Then)
		otherwise := func(*frame) way { return on }
		if s.Else != nil {
			otherwise = c.scoped(s.Else)
		}
		return func(f *frame) way {
			if cond(f) != 0 {
				return then(f)
			}
			return otherwise(f)
		}
	case *syntax.For:
		return c.loop(s)
	case *syntax.While:
		cond, body := c.number(s.Cond), c.scoped(s.Body)
		return func(f *frame) way {
			for cond(f) != 0 {
				f.shared.count()
				if w := body(f); w == broke {
					break
				} else if w == returned {
					return w
				}
			}
			return on
		}
	case *syntax.Jump:
		w := continued
		if s.Word == "break" {
			w = broke
		}
		return func(*frame) way { return w }
	case *syntax.Return:
		return c.ret(s)
	case *syntax.Tell:
		if s.Word != "print" {
			return func(*frame) way { fail(); return on }
		}
	}
	c.stop()
	return nil
}

func (c *plainCompiler) loop(s *syntax.For) act {
	lo, hi := c.number(s.Lo), c.number(s.Hi)
	c.push()
	at := c.add(s.Name, typing.Of(typing.Int)).at
	body := c.scoped(s.Body)
	c.pop()
	return func(f *frame) way {
		for i, last := lo(f), hi(f); i <= last; i++ {
			f.shared.count()
			f.numbers[at] = i
			if w := body(f); w == broke {
				break
			} else if w == returned {
				return w
			}
		}
		return on
	}
}

func (c *plainCompiler) ret(s *syntax.Return) act {
	if s.X == nil || !c.inside {
		c.stop()
	}
	if single(s.X.Type()) {
		x := c.number(s.X)
		return func(f *frame) way { f.result = block{f: []float64{x(f)}}; return returned }
	}
	x := c.block(s.X)
	return func(f *frame) way { f.result = x(f); return returned }
}

// declare makes a variable: unset, or with its value.
func (c *plainCompiler) declare(s *syntax.Declare) act {
	t := s.Unsized
	if s.Init != nil && single(t) {
		x := c.number(s.Init)
		at := c.add(s.Name, t).at
		return func(f *frame) way { f.numbers[at] = x(f); return on }
	}
	unset := value.UnsetReal
	if t.Kind == typing.Int {
		unset = value.UnsetInt
	}
	if single(t) {
		at := c.add(s.Name, t).at
		return func(f *frame) way { f.numbers[at] = unset; return on }
	}
	var sizes []number
	own := s.Type.Sizes
	if s.Type.Kind == typing.Matrix && len(own) == 1 {
		own = append(own[:1:1], own[0])
	}
	for _, x := range append(slices.Clone(s.Type.Dims), own...) {
		sizes = append(sizes, c.number(x))
	}
	var init blocky
	if s.Init != nil {
		init = c.block(s.Init)
	}
	at := c.add(s.Name, t).at
	return func(f *frame) way {
		shape, n := make([]int, len(sizes)), 1
		for i, size := range sizes {
			shape[i] = int(size(f))
			if shape[i] < 0 || n > mostElements/max(1, shape[i]) {
				fail()
			}
			n *= shape[i]
		}
		if init != nil {
			b := init(f)
			if !slices.Equal(b.shape, shape) {
				fail()
			}
			f.blocks[at] = block{slices.Clone(b.f), shape}
			return on
		}
		b := block{make([]float64, n), shape}
		for i := range b.f {
			b.f[i] = unset
		}
		f.blocks[at] = b
		return on
	}
}

// assign stores a number, an element or a part of a container, or a whole one.
func (c *plainCompiler) assign(s *syntax.Assign) act {
	var name *syntax.Name
	var index []number
	switch to := s.To.(type) {
	case *syntax.Name:
		name = to
	case *syntax.Index:
		n, ok := to.X.(*syntax.Name)
		if !ok {
			c.stop()
		}
		name, index = n, c.places(to.List)
	default:
		c.stop()
	}
	t := s.To.Type()
	v := c.find(name.Name, name.Type())
	if single(t) {
		from := c.number(s.From)
		op := scalarOperator(s.Op, t, s.From.Type())
		if s.Op != "" && op == nil {
			c.stop()
		}
		if v.scalar {
			if op == nil {
				return func(f *frame) way { f.numbers[v.at] = from(f); return on }
			}
			return func(f *frame) way { f.numbers[v.at] = op(f.numbers[v.at], from(f)); return on }
		}
		return func(f *frame) way {
			x := from(f)
			b := f.blocks[v.at]
			at := b.place(f, index)
			if op != nil {
				x = op(b.f[at], x)
			}
			b.f[at] = x
			return on
		}
	}
	if s.Op != "" {
		c.stop()
	}
	from := c.block(s.From)
	return func(f *frame) way {
		x, b := from(f), f.blocks[v.at].part(f, index)
		if !slices.Equal(x.shape, b.shape) {
			fail()
		}
		copy(b.f, x.f)
		return on
	}
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

// value makes a value of an argument.
func (a plainArgument) value(f *frame) value.Value {
	if a.scalar {
		return value.Value{Type: a.t, F: []float64{a.number(f)}}
	}
	b := a.block(f)
	return value.Known(a.t, b.f, b.shape...)
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
		f.shared.count()
		for i, a := range args {
			if a.scalar {
				g.numbers[p.args[i].at] = a.number(f)
			} else {
				g.blocks[p.args[i].at] = a.block(f)
			}
		}
		if f.shared.m.depth++; f.shared.m.depth > mostCalls {
			f.shared.m.depth = 0
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
