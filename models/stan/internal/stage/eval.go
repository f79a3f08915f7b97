// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package stage

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/models/stan/internal/check"
	"github.com/euryale-dev/euryale/models/stan/internal/library"
	"github.com/euryale-dev/euryale/models/stan/internal/syntax"
	"github.com/euryale-dev/euryale/models/stan/internal/typing"
	"github.com/euryale-dev/euryale/models/stan/internal/value"
)

func errorIsUnknown(err error) bool { return errors.Is(err, errUnknown) }

// eval evaluates an expression.
func (m *Machine) eval(x syntax.Expr) (value.Value, error) {
	v, err := m.evaluate(x)
	if err != nil {
		return v, m.fault(x.At(), err)
	}
	return v, nil
}

func (m *Machine) evaluate(x syntax.Expr) (value.Value, error) {
	switch x := x.(type) {
	case *syntax.Number:
		f, err := strconv.ParseFloat(x.Text, 64)
		if err != nil && !errors.Is(err, strconv.ErrRange) {
			return value.Value{}, err
		}
		if x.Imaginary {
			return value.Complex(x.Type(), value.Real(0), value.Real(f)), nil
		}
		return value.Value{Type: x.Type(), F: []float64{f}}, nil
	case *syntax.Text:
		return value.Value{Type: typing.Of(typing.String)}, nil
	case *syntax.Name:
		return m.masked(m.variable(x))
	case *syntax.Target:
		if m.lanes != nil {
			return value.Value{}, value.ErrUnroll
		}
		return value.Of(typing.Of(typing.Real), m.Target()), nil
	case *syntax.Unary:
		v, err := m.eval(x.X)
		if err != nil {
			return v, err
		}
		if x.Op == "'" {
			return library.Transpose(v, x.Type())
		}
		return library.Prefix(x.Op, v, x.Type())
	case *syntax.Binary:
		return m.binary(x)
	case *syntax.Choice:
		return m.choice(x)
	case *syntax.Call:
		return m.call(x)
	case *syntax.Index:
		return m.masked(m.element(x))
	case *syntax.Field:
		v, err := m.eval(x.X)
		if err != nil {
			return v, err
		}
		return v.Elems[x.N-1], nil
	case *syntax.List:
		return m.listValue(x)
	}
	return value.Value{}, fmt.Errorf("no such expression")
}

func (m *Machine) variable(x *syntax.Name) (value.Value, error) {
	s := m.find(x.Name)
	if s == nil {
		if len(m.funcs[x.Name]) > 0 {
			return value.Value{Type: x.Type()}, nil
		}
		return value.Value{}, fmt.Errorf("%s has no value here", x.Name)
	}
	if s.late {
		return value.Value{}, errLate
	}
	if err := m.readWhole(s); err != nil {
		return value.Value{}, err
	}
	// Single numbers stay such where loops are unrolled, and so do columns.
	if (m.unrolled == 0 || s.v.Lanes > 0 || s.v.Size() >= fewRepetitions) && !s.v.ByColumns() {
		s.v = s.v.Settle()
	}
	s.owned = false
	return m.inLanes(s, s.v), nil
}

func (m *Machine) binary(x *syntax.Binary) (value.Value, error) {
	a, err := m.eval(x.X)
	if err != nil {
		return a, err
	}
	if (x.Op == "&&" || x.Op == "||") && a.Known() && a.Lanes == 0 {
		if (a.Number() != 0) == (x.Op == "||") {
			return value.Bool(x.Op == "||"), nil
		}
		b, err := m.eval(x.Y)
		if err != nil {
			return b, err
		}
		return library.Prefix("!", must(library.Prefix("!", b, typing.Of(typing.Int))), typing.Of(typing.Int))
	}
	if (x.Op == "&&" || x.Op == "||") && a.Known() { // by lanes: those that are decided do not look at the right side
		return m.shortCircuit(x, a)
	}
	b, err := m.eval(x.Y)
	if err != nil {
		return b, err
	}
	return library.Operator(x.Op, a, b, x.Type())
}

func must(v value.Value, err error) value.Value {
	if err != nil && v.N == nil {
		v.N = ad.Fail(err)
	}
	return v
}

func (m *Machine) shortCircuit(x *syntax.Binary, a value.Value) (value.Value, error) {
	out := slices.Clone(a.F)
	var at []int
	for l, f := range a.F {
		out[l] = 0
		if f != 0 {
			out[l] = 1
		}
		if (f != 0) == (x.Op == "&&") {
			at = append(at, l)
		}
	}
	err := m.some(at, func() error {
		b, err := m.eval(x.Y)
		if err != nil {
			return err
		}
		if !b.Known() {
			return value.ErrUnroll
		}
		b = b.Spread(len(at))
		for i, l := range at {
			out[l] = 0
			if b.F[i] != 0 {
				out[l] = 1
			}
		}
		return nil
	})
	return value.Value{Type: typing.Of(typing.Int), F: out, Lanes: a.Lanes}, err
}

// listValue makes an array, a row vector, a matrix or a tuple.
func (m *Machine) listValue(x *syntax.List) (value.Value, error) {
	var items []value.Value
	lanes := 0
	for _, e := range x.Items {
		v, err := m.eval(e)
		if err != nil {
			return v, err
		}
		items = append(items, v)
		lanes = max(lanes, v.Lanes)
	}
	t := x.Type()
	if x.Bracket == '(' {
		return value.Value{Type: t, Elems: items, Lanes: lanes}, nil
	}
	if len(items) == 0 {
		return value.Known(t, nil, 0), nil
	}
	if t.Kind == typing.Tuple {
		for i := range items {
			items[i] = items[i].As(t.Element())
		}
		return value.Value{Type: t, Shape: []int{len(items)}, Elems: items, Lanes: lanes}, nil
	}
	shape := append([]int{len(items)}, items[0].Shape...)
	out := value.Unset(t, shape...)
	if lanes > 0 {
		out = out.Spread(lanes)
	}
	inner := items[0].Size()
	owned := true
	for i, v := range items {
		if v.Size() != inner || len(v.Shape) != len(items[0].Shape) {
			return v, fmt.Errorf("element %d has size %v, and the first one %v: use elements of one size", i+1, v.Shape, items[0].Shape)
		}
		if t.Kind.IsComplex() && !v.Type.Kind.IsComplex() {
			e := t
			if t.Dims > 0 {
				e = t.Element()
			} else {
				e.Kind = typing.Complex
			}
			v = v.As(e)
		}
		var index []int
		for l := range max(1, lanes) {
			for k := range inner {
				index = append(index, l*len(items)*inner+i*inner+k)
			}
		}
		out = out.Put(index, v.Spread(lanes), owned)
	}
	if m.unrolled > 0 && lanes == 0 && out.Size() < fewRepetitions {
		return out, nil
	}
	return out.Settle(), nil
}

// call calls a function.
func (m *Machine) call(x *syntax.Call) (value.Value, error) {
	name := check.Density(x.Name)
	drop := name != x.Name && (m.drop || !m.inFunction())
	if s, ok := solvers[name]; ok {
		return s.do(m, x)
	}
	if f := spans[name]; f != nil && m.graph && len(m.funcs[name]) == 0 {
		if v, ok, err := m.part(x, f); ok || err != nil {
			return v, err
		}
	}
	var args []value.Value
	for _, a := range x.Args {
		v, err := m.eval(a)
		if err != nil {
			return v, err
		}
		args = append(args, v)
	}
	if family, ok := strings.CutSuffix(name, "_lpdf"); ok && x.Bar {
		m.locate(x.Args[0], family, args)
	}
	return m.invoke(name, args, x.Type(), drop)
}

func (m *Machine) inFunction() bool { return m.depth > 0 }

// invoke calls a function with values.
func (m *Machine) invoke(name string, args []value.Value, result typing.Type, drop bool) (value.Value, error) {
	if f := m.userFunction(name, args); f != nil {
		return m.user(f, args, drop)
	}
	f := library.Find(name)
	if f == nil {
		return value.Value{}, fmt.Errorf("there is no function %s: check its name", name)
	}
	if strings.HasSuffix(name, "_rng") && m.graph {
		return value.Value{}, errLate
	}
	for _, a := range args {
		if a.Lanes > 0 && !f.Lanes {
			return value.Value{}, value.ErrUnroll
		}
	}
	c := &library.Call{Name: name, Args: args, Result: result, Drop: drop, Random: m.Random}
	if (f.Graph || m.compiled.evaluate[name]) && !m.graph && !drop {
		if v, ok := m.compiled.run(f, c); ok {
			return v, nil
		}
	}
	v, err := f.Do(c)
	if c.Evaluated && !m.graph && m.compiled.evaluate != nil {
		m.compiled.evaluate[name] = true
	}
	if err != nil {
		return v, fmt.Errorf("%s: %w", name, err)
	}
	return v, nil
}

// user calls a function of the program.
func (m *Machine) user(f *syntax.Function, args []value.Value, drop bool) (value.Value, error) {
	if !m.graph && !drop && !m.drop {
		if v, ok, err := m.callPlainly(f, args); ok || err != nil {
			return v, err
		}
	}
	if m.depth >= mostCalls {
		return value.Value{}, fmt.Errorf("%s: functions call each other more than %d deep: does the recursion end?", f.Name, mostCalls)
	}
	scope, was, repeating := m.scope, m.drop, m.repeating
	m.scope = []map[string]*slot{{}}
	m.drop = drop || strings.HasSuffix(f.Name, "_lp")
	m.depth++
	m.repeating = false
	defer func() { m.scope, m.drop, m.repeating = scope, was, repeating; m.depth-- }()
	for i, a := range f.Args {
		t := a.Type
		t.Data = false
		m.scope[0][a.Name] = &slot{name: a.Name, v: args[i].As(t), typ: t, lanes: m.lanes}
	}
	m.push()
	e, err := m.list(f.Body.List)
	if err != nil {
		return value.Value{}, err
	}
	switch {
	case e.way == rejected:
		return value.Value{Type: f.Result, N: ad.Scalar(value.UnsetReal)}, nil
	case f.Result.Kind == typing.Void:
		return value.Value{Type: f.Result}, nil
	case e.way != returned && (e.leaves == nil || e.leaves.returned == nil):
		return value.Value{}, fmt.Errorf("%s ended without returning a value: add a return statement", f.Name)
	}
	return e.v.As(f.Result), nil
}
