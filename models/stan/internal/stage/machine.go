// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

// Package stage runs programs of the Stan language: what depends on data only as they run, and the rest into a graph.
package stage

import (
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/euryale-dev/euryale/internal/given"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/infer/dist"
	"github.com/euryale-dev/euryale/models/stan/internal/check"
	"github.com/euryale-dev/euryale/models/stan/internal/library"
	"github.com/euryale-dev/euryale/models/stan/internal/syntax"
	"github.com/euryale-dev/euryale/models/stan/internal/typing"
	"github.com/euryale-dev/euryale/models/stan/internal/value"
)

func init() { given.BuildsGraphs() }

// mostUnrolled bounds the terms that statements add to the graph, and mostCalls the depth of functions that call each other. A statement that
// the Machine runs counts as ofMachine of those that run as Go functions, and one that makes a part of the graph as ofGraph.
const (
	mostUnrolled = 100_000
	mostCalls    = 2000
	ofMachine    = 20
	ofGraph      = 240
)

// Machine runs statements.
type Machine struct {
	Prog   *syntax.Program
	Out    io.Writer // of print; nil for nowhere
	Random dist.Source
	// MaxSteps is how many statements may run.
	MaxSteps int
	// NoJacobian leaves out what statements and functions add as the logarithm of a Jacobian.
	NoJacobian bool
	// Unjudged is true once data may have entered the target in other ways than by a distribution statement that can be judged.
	Unjudged bool

	funcs map[string][]*syntax.Function
	scope []map[string]*slot
	terms []*ad.Node // of the target, with Known collected in constant
	// origin are the statements that added terms.
	origin map[*ad.Node]syntax.Span
	values []Term // what statements assign, as far as it depends on parameters
	apart  int    // statements run in a branch, a loop of the graph or a solver, whose values are not of the graph itself
	known  float64
	// graph says that values may depend on parameters.
	graph        bool
	drop         bool // lupdf inside functions
	lanes        *lanes
	assigned     map[string]bool // in the loop whose repetitions run at once
	masks        []mask          // of the choices on parameters around what is evaluated
	journal      []*change
	logging      bool
	steps, depth int
	at           syntax.Span // of the statement that runs
	unrolled     int         // loops that run one repetition after another
	stuck        map[*syntax.For]bool
	late         bool // a late statement runs, or one that may become one
	compiled     *calls
	plains       *plainStatements
	repeating    bool // a loop on known numbers runs repetition by repetition
	observed     []*observation
	priors       []Prior
	notes        []note
}

// slot is a variable.
type slot struct {
	name  string
	v     value.Value
	typ   typing.Type
	owned bool   // the numbers of v belong to this slot alone
	lanes *lanes // where it was declared; nil outside of loops that run at once
	late  bool   // has a value only as draws are written
	seen  *seen
}

// change is what a slot was before.
type change struct {
	s *slot
	v value.Value
}

// Error is a mistake that appears as a program runs.
type Error struct {
	Source *syntax.Source
	Span   syntax.Span
	Err    error
	// Rejected tells that the point is to be rejected, and Fatal that the run is to end.
	Rejected, Fatal bool
}

func (e *Error) Error() string {
	line := e.Source.Line(e.Span)
	text := e.Source.Text[e.Span.From:min(e.Span.To, e.Span.From+120)]
	text, _, _ = strings.Cut(text, "\n")
	return fmt.Sprintf("%s, line %d: %v\n  in: %s", e.Source.Name, line, e.Err, text)
}

func (e *Error) Unwrap() error { return e.Err }

var (
	errLate    = errors.New("stan: a value that is known only as draws are written")
	errUnknown = errors.New("this depends on parameters: it must be known before sampling, so compute it from data")
)

// New returns a machine for a checked program.
func New(p *syntax.Program) *Machine {
	m := &Machine{Prog: p, funcs: map[string][]*syntax.Function{}, stuck: map[*syntax.For]bool{}, MaxSteps: 120_000_000, compiled: &calls{}, origin: map[*ad.Node]syntax.Span{}, plains: &plainStatements{by: map[syntax.Stmt]*plainStatement{}, functions: map[*syntax.Function]*plainCallee{}}}
	for _, f := range p.Functions {
		if f.Body != nil {
			m.funcs[f.Name] = append(m.funcs[f.Name], f)
		}
	}
	m.push()
	return m
}

func (m *Machine) push() { m.scope = append(m.scope, map[string]*slot{}) }
func (m *Machine) pop()  { m.scope = m.scope[:len(m.scope)-1] }

func (m *Machine) find(name string) *slot {
	for i := len(m.scope) - 1; i >= 0; i-- {
		if s := m.scope[i][name]; s != nil {
			return s
		}
	}
	return nil
}

// Set gives a variable of a block a value.
func (m *Machine) Set(name string, t typing.Type, v value.Value) {
	v.Type = t
	m.scope[0][name] = &slot{name: name, v: v, typ: t}
}

// Forget takes the value of a variable of a block away.
func (m *Machine) Forget(name string) { delete(m.scope[0], name) }

// Get returns the value of a variable of a block.
func (m *Machine) Get(name string) (value.Value, bool) {
	s := m.scope[0][name]
	if s == nil {
		return value.Value{}, false
	}
	return s.v, true
}

// fault adds the place to an error.
func (m *Machine) fault(at syntax.Span, err error) error {
	var e *Error
	if err == nil || errors.As(err, &e) || errors.Is(err, value.ErrUnroll) || errors.Is(err, errLate) {
		return err
	}
	return &Error{Source: m.Prog.Source, Span: at, Err: err}
}

func (m *Machine) faultf(at syntax.Span, format string, args ...any) error {
	return m.fault(at, fmt.Errorf(format, args...))
}

// way is how a statement ended.
type way int

const (
	on way = iota
	broke
	continued
	returned
	rejected // by reject under a condition on parameters
)

// end is how a statement ended, with the value that a function returns.
type end struct {
	way    way
	v      value.Value
	leaves *leaving // where that depends on parameters; way is on then
}

// step counts statements, so that loops without end stop.
func (m *Machine) step(at syntax.Span) error {
	if m.graph {
		m.steps += ofGraph
	} else {
		m.steps += ofMachine
	}
	switch {
	case m.graph && len(m.terms) > mostUnrolled:
		return m.faultf(at, "the program makes more than %d terms here: write the loop with vectors", mostUnrolled)
	case m.steps <= m.MaxSteps:
		return nil
	case m.graph:
		return m.faultf(at, "more than %d statements that depend on parameters have run one after another: does the loop or the recursion end? Write a loop over many elements with vectors", m.MaxSteps/ofGraph)
	}
	return m.tooLong(at, m.MaxSteps/ofMachine)
}

// tooLong is the error of a program that computes from data for too long.
func (m *Machine) tooLong(at syntax.Span, statements int) error {
	err := fmt.Errorf("more than %d statements have run: does the loop or the recursion end? Compute what takes so long outside of the program, and pass it as data", statements)
	return &Error{Source: m.Prog.Source, Span: at, Err: err, Fatal: true}
}

// Run runs statements of a block.
func (m *Machine) Run(list []syntax.Stmt) error {
	e, err := m.list(list)
	if err == nil && e.way == rejected {
		m.term(ad.Scalar(math.Inf(-1)))
	}
	return err
}

func (m *Machine) list(list []syntax.Stmt) (end, error) {
	for i, s := range list {
		if c, ok := s.(*syntax.If); ok && m.graph && jumps(c) {
			known, v, err := m.condition(c.Cond)
			if err != nil {
				return end{}, m.fault(c.Cond.At(), err)
			}
			if !known {
				return m.fork(c, v, list[i+1:])
			}
		}
		e, err := m.statement(s)
		if err == nil && e.depends() && i+1 < len(list) {
			return m.resume(s.At(), e, func() (end, error) { return m.list(list[i+1:]) })
		}
		if err != nil || e.over() || e.depends() {
			return e, err
		}
	}
	return end{}, nil
}

// jumps says whether a statement may leave the list of statements it stands in.
func jumps(s syntax.Stmt) bool {
	switch s := s.(type) {
	case *syntax.Return, *syntax.Jump:
		return true
	case *syntax.Tell:
		return s.Word != "print"
	case *syntax.Block:
		return slices.ContainsFunc(s.List, jumps)
	case *syntax.If:
		return jumps(s.Then) || s.Else != nil && jumps(s.Else)
	case *syntax.For:
		return jumps(s.Body)
	case *syntax.While:
		return jumps(s.Body)
	case *syntax.Each:
		return jumps(s.Body)
	}
	return false
}

// condition evaluates a condition; v is its value if it is not known.
func (m *Machine) condition(x syntax.Expr) (known bool, v value.Value, err error) {
	v, err = m.eval(x)
	if err != nil {
		return false, v, err
	}
	return v.Known() && v.Lanes == 0, v, nil
}

func (m *Machine) block(s syntax.Stmt) (end, error) {
	m.push()
	defer m.pop()
	if b, ok := s.(*syntax.Block); ok {
		return m.list(b.List)
	}
	return m.list([]syntax.Stmt{s})
}

func (m *Machine) statement(s syntax.Stmt) (end, error) {
	if err := m.step(s.At()); err != nil {
		return end{}, err
	}
	m.at = s.At()
	switch s := s.(type) {
	case *syntax.Declare:
		return end{}, m.fault(s.At(), m.declare(s))
	case *syntax.Assign:
		return end{}, m.fault(s.At(), m.assignment(s))
	case *syntax.Increase:
		if s.Jacobian && m.NoJacobian {
			return end{}, nil
		}
		v, err := m.eval(s.X)
		if m.at = s.At(); err == nil { // and not a statement of a function that it calls
			err = m.add(v)
			m.Unjudged = m.Unjudged || !s.Jacobian && !v.Known()
		}
		return end{}, m.fault(s.At(), err)
	case *syntax.Tilde:
		return end{}, m.fault(s.At(), m.tilde(s))
	case *syntax.Do:
		_, err := m.call(s.Call)
		return end{}, m.fault(s.At(), err)
	case *syntax.Block:
		return m.block(s)
	case *syntax.Profile:
		return m.block(s.Body)
	case *syntax.If:
		return m.branch(s)
	case *syntax.For, *syntax.While, *syntax.Each:
		return m.repeated(s)
	case *syntax.Jump:
		if s.Word == "break" {
			return end{way: broke}, nil
		}
		return end{way: continued}, nil
	case *syntax.Return:
		if s.X == nil {
			return end{way: returned}, nil
		}
		v, err := m.eval(s.X)
		return end{way: returned, v: v}, m.fault(s.At(), err)
	case *syntax.Tell:
		return m.tell(s)
	}
	return end{}, m.faultf(s.At(), "no such statement")
}

// add increases the target by the sum of a value.
func (m *Machine) add(v value.Value) error {
	if v.Known() && v.Lanes == 0 {
		for _, x := range v.F {
			if math.IsNaN(x) && m.graph && !m.logging {
				return errors.New("this is not a number, whatever the parameters are: check the functions and the data that it is computed from")
			}
			if math.IsInf(x, 0) && m.graph && !m.logging {
				m.term(ad.Scalar(x)) // which explanations of the target name
				continue
			}
			m.known += x * float64(m.repetitions())
		}
		return nil
	}
	n := v.Node()
	if err := n.Err(); err != nil {
		return err
	}
	if n.Size() == 0 {
		return nil
	}
	if len(n.Shape()) > 0 {
		n = ad.Sum(n)
	}
	if v.Lanes == 0 && m.repetitions() > 1 {
		n = ad.Scale(float64(m.repetitions()), n)
	}
	m.term(n)
	return nil
}

// term adds to the target a term of the statement that runs.
func (m *Machine) term(n *ad.Node) {
	m.terms = append(m.terms, n)
	m.origin[n] = m.at
}

// Add increases the target by the logarithm of the Jacobian of a parameter's constraint.
func (m *Machine) Add(of *syntax.Declare, n *ad.Node) {
	m.at = of.At()
	m.term(n)
}

// Target returns the sum of all that was added.
func (m *Machine) Target() *ad.Node {
	if len(m.terms) == 0 {
		return ad.Scalar(m.known)
	}
	t := ad.AddN(m.terms...)
	if m.known != 0 {
		t = ad.Shift(t, m.known)
	}
	return t
}

// Text writes a known value as print does.
func Text(v value.Value) string {
	if v.Type.Kind.IsComplex() && len(v.Shape) == 0 {
		return "(" + Text(v.Elems[0]) + "," + Text(v.Elems[1]) + ")"
	}
	if v.Elems != nil {
		var s []string
		for _, e := range v.Elems {
			s = append(s, Text(e))
		}
		if v.Type.Dims > 0 {
			return "[" + strings.Join(s, ",") + "]"
		}
		return "(" + strings.Join(s, ",") + ")"
	}
	return text(v.F, v.Shape)
}

func text(f []float64, shape []int) string {
	if len(shape) == 0 {
		return strings.Replace(fmt.Sprintf("%.6g", f[0]), "NaN", "nan", 1)
	}
	var s []string
	inner := value.Size(shape[1:])
	for i := range shape[0] {
		s = append(s, text(f[i*inner:(i+1)*inner], shape[1:]))
	}
	return "[" + strings.Join(s, ",") + "]"
}

// declare makes a variable.
func (m *Machine) declare(s *syntax.Declare) error {
	var v value.Value
	var err error
	if s.Init != nil {
		if v, err = m.eval(s.Init); err != nil {
			return err
		}
		m.note(s.At(), v)
		v = v.As(s.Unsized)
		shape, err := m.shape(s.Type)
		if err != nil {
			return err
		}
		if s.Unsized.Kind != typing.Tuple && !slices.Equal(shape, v.Shape) && !(value.Size(shape) == 0 && v.Size() == 0) {
			return fmt.Errorf("%s is declared with size %v, and its value has size %v: give both the same size", s.Name, shape, v.Shape)
		}
		if s.Unsized.Kind != typing.Tuple {
			v.Shape = shape
		}
	} else if v, err = m.unset(s.Type); err != nil {
		return err
	}
	m.scope[len(m.scope)-1][s.Name] = &slot{name: s.Name, v: v, typ: s.Unsized, owned: s.Init == nil, lanes: m.lanes}
	return nil
}

// mostElements bounds the size of a variable.
const mostElements = 1 << 28

// shape evaluates the sizes of a type.
func (m *Machine) shape(t *syntax.Sized) ([]int, error) {
	shape := []int{}
	total := 1.0
	for _, x := range append(slices.Clone(t.Dims), m.sizesOf(t)...) {
		v, err := m.eval(x)
		if err != nil {
			return nil, err
		}
		if !v.Known() {
			return nil, fmt.Errorf("the size %w", errUnknown)
		}
		if v.Lanes > 0 {
			if v = common(v); v.Lanes > 0 {
				return nil, &value.Split{By: v.F}
			}
		}
		n := v.Integer()
		if n < 0 {
			return nil, fmt.Errorf("the size %s is %d: want one of at least 0", m.Prog.Source.Text[x.At().From:x.At().To], n)
		}
		total *= float64(n)
		shape = append(shape, n)
	}
	if total > mostElements {
		return nil, fmt.Errorf("a variable of %v has %.3g elements, and at most %d are allowed", shape, total, mostElements)
	}
	return shape, nil
}

// sizesOf lists the sizes of a vector or matrix as those of its shape.
func (m *Machine) sizesOf(t *syntax.Sized) []syntax.Expr {
	if t.Kind == typing.Matrix && len(t.Sizes) == 1 { // square
		return []syntax.Expr{t.Sizes[0], t.Sizes[0]}
	}
	return t.Sizes
}

// common takes the lanes from a known value that is the same in all of them.
func common(v value.Value) value.Value {
	n := v.Size()
	for l := 1; l < v.Lanes; l++ {
		for i := range n {
			if v.F[l*n+i] != v.F[i] {
				return v
			}
		}
	}
	v.F, v.Lanes = v.F[:n], 0
	return v
}

func (m *Machine) unset(t *syntax.Sized) (value.Value, error) {
	if t.Kind == typing.Tuple {
		out := value.Value{Type: typing.Type{Kind: typing.Tuple}}
		for _, e := range t.Elems {
			v, err := m.unset(e)
			if err != nil {
				return out, err
			}
			out.Elems = append(out.Elems, v)
		}
		out.Type = t.Type()
		if len(t.Dims) == 0 {
			return out, nil
		}
		shape, err := m.shape(&syntax.Sized{Dims: t.Dims, Kind: typing.Real})
		if err != nil {
			return out, err
		}
		return repeated(out, t.Type(), shape), nil
	}
	shape, err := m.shape(t)
	if err != nil {
		return value.Value{}, err
	}
	return value.Unset(t.Type(), shape...), nil
}

// repeated makes an array of tuples.
func repeated(v value.Value, t typing.Type, shape []int) value.Value {
	out := value.Value{Type: t, Shape: shape}
	for range shape[0] {
		e := v
		if len(shape) > 1 {
			e = repeated(v, t.Element(), shape[1:])
		}
		e.Type = t.Element()
		out.Elems = append(out.Elems, e)
	}
	return out
}

// tilde adds the log density of a distribution statement.
func (m *Machine) tilde(s *syntax.Tilde) error {
	if v, ok, err := m.solved(s); ok {
		if err != nil {
			return err
		}
		return m.add(v)
	}
	x, err := m.eval(s.X)
	if err != nil {
		return err
	}
	args := []value.Value{x}
	for _, a := range s.Args {
		v, err := m.eval(a)
		if err != nil {
			return err
		}
		args = append(args, v)
	}
	v, err := m.invoke(s.Name+s.Suffix, args, typing.Of(typing.Real), true)
	if err != nil {
		return err
	}
	m.at = s.At()
	if !m.observe(s, args) {
		m.Unjudged = m.Unjudged || args[0].Known() && !v.Known()
	}
	m.locate(s.X, s.Name, args)
	if err := m.add(v); err != nil || !s.Truncated {
		return err
	}
	return m.truncate(s, x, args[1:])
}

// truncate subtracts the logarithm of the probability between the bounds.
func (m *Machine) truncate(s *syntax.Tilde, x value.Value, params []value.Value) error {
	real := typing.Of(typing.Real)
	tail := func(suffix string, at value.Value) (value.Value, error) {
		return m.invoke(s.Name+suffix, append([]value.Value{at}, params...), real, false)
	}
	op := func(o string, a, b value.Value) (value.Value, error) { return library.Operator(o, a, b, real) }
	var lower, upper value.Value
	var err error
	if s.Lower != nil {
		if lower, err = m.eval(s.Lower); err != nil {
			return err
		}
		if err := m.inside(x, lower, ">="); err != nil {
			return err
		}
		if s.Suffix == "_lpmf" {
			if lower, err = library.Operator("-", lower, value.Int(1), typing.Of(typing.Int)); err != nil {
				return err
			}
		}
	}
	if s.Upper != nil {
		if upper, err = m.eval(s.Upper); err != nil {
			return err
		}
		if err := m.inside(x, upper, "<="); err != nil {
			return err
		}
	}
	times, err := byElement(x, params, &lower, &upper)
	if err != nil {
		return err
	}
	var p value.Value
	switch {
	case s.Lower != nil && s.Upper != nil:
		a, err := tail("_lcdf", lower)
		if err != nil {
			return err
		}
		b, err := tail("_lcdf", upper)
		if err != nil {
			return err
		}
		p, err = m.invoke("log_diff_exp", []value.Value{b, a}, real, false)
		if err != nil {
			return err
		}
	case s.Lower != nil:
		p, err = tail("_lccdf", lower)
	case s.Upper != nil:
		p, err = tail("_lcdf", upper)
	default:
		return nil
	}
	if err != nil {
		return err
	}
	if p, err = op("*", value.Real(-float64(times)), p); err != nil {
		return err
	}
	return m.add(p)
}

// byElement prepares the parameters and the bounds of a truncation for all elements of x at once. It makes lanes of those that have several
// elements, and returns how often the result counts, which is once if there are any.
func byElement(x value.Value, params []value.Value, bounds ...*value.Value) (times int, err error) {
	all := bounds
	for i := range params {
		all = append(all, &params[i])
	}
	several := slices.ContainsFunc(all, func(v *value.Value) bool { return len(v.Shape) > 0 })
	if !several {
		return x.Size(), nil
	}
	for _, v := range all {
		if v.Lanes > 0 || x.Lanes > 0 {
			return 0, value.ErrUnroll
		}
		if n := v.Size(); len(v.Shape) > 0 && n > 0 {
			*v = v.ByLane(n)
		}
	}
	return 1, nil
}

// inside makes the target -Inf where a value is beyond a bound.
func (m *Machine) inside(x, bound value.Value, op string) error {
	ok, err := library.Operator(op, x, bound, typing.Of(typing.Int))
	if err != nil {
		return err
	}
	if ok.Known() {
		if slices.Contains(ok.F, 0) {
			return m.add(value.Real(math.Inf(-1)))
		}
		return nil
	}
	n := ok.Node()
	if len(n.Shape()) > 0 {
		n = ad.Min(n)
	}
	m.term(ad.Where(ad.Equal(n, ad.Scalar(0)), ad.Scalar(math.Inf(-1)), ad.Scalar(0)))
	return nil
}

// userFunction finds a function of the program.
func (m *Machine) userFunction(name string, args []value.Value) *syntax.Function {
	list := m.funcs[name]
	if len(list) == 0 {
		return nil
	}
	var ts []typing.Type
	for _, a := range args {
		ts = append(ts, a.Type)
	}
	return check.UserFunction(list, ts)
}
