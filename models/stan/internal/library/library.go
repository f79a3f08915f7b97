// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

// Package library holds the functions and distributions of the Stan language, on known numbers and on nodes of a graph.
package library

import (
	"fmt"
	"math"
	"slices"

	"github.com/euryale-dev/euryale/internal/given"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/infer/dist"
	"github.com/euryale-dev/euryale/models/stan/internal/typing"
	"github.com/euryale-dev/euryale/models/stan/internal/value"
)

func init() {
	given.BuildsGraphs()
	scalars()
	vectorFunctions()
	matrixFunctions()
	complexNumbers()
	densities()
	jointDensities()
	diffusions()
	filters()
	hypergeometrics()
	randomNumbers()
}

// Call is a call of a function.
type Call struct {
	Name   string
	Args   []value.Value
	Result typing.Type
	// Drop leaves out the terms of a density that depend on known numbers only.
	Drop bool
	// Random is where random numbers come from.
	Random dist.Source
	// Evaluated says, after the call, that a graph of known numbers was made and evaluated, which a compiled program does faster.
	Evaluated bool
}

// Function is a function of the language.
type Function struct {
	Name      string
	Overloads []typing.Overload
	Do        func(c *Call) (value.Value, error)
	// Lanes says that Do takes arguments with lanes.
	Lanes bool
	// Graph says that Do evaluates a graph even if all arguments are known, so that repeated calls are compiled.
	Graph bool
}

var functions = map[string]*Function{}

// Find returns the function of a name, or nil.
func Find(name string) *Function { return functions[name] }

// Names lists all functions.
func Names() (list []string) {
	for n := range functions {
		list = append(list, n)
	}
	slices.Sort(list)
	return list
}

// register makes a function known. Each signature is one that typing.Sig reads.
func register(name string, lanes bool, do func(c *Call) (value.Value, error), signatures ...string) {
	f := &Function{Name: name, Do: do, Lanes: lanes}
	for _, s := range signatures {
		f.Overloads = append(f.Overloads, typing.Sig(s))
	}
	functions[name] = f
}

// overload adds an overload to a function that is registered.
func overload(name string, o typing.Overload) {
	functions[name].Overloads = append(functions[name].Overloads, o)
}

// lanesOf returns the number of lanes of values, 0 if none has any.
func lanesOf(vs ...value.Value) (lanes int) {
	for _, v := range vs {
		lanes = max(lanes, v.Lanes)
	}
	return lanes
}

func allKnown(vs ...value.Value) bool {
	for _, v := range vs {
		if !v.Known() {
			return false
		}
	}
	return true
}

// ranked returns a Node whose own axes are at least rank many, with ones in front, behind that of lanes.
func ranked(v value.Value, rank int) *ad.Node {
	n := v.Node()
	if v.Lanes == 0 || len(v.Shape) >= rank {
		return n
	}
	shape := []int{v.Lanes}
	for range rank - len(v.Shape) {
		shape = append(shape, 1)
	}
	return ad.Reshape(n, append(shape, v.Shape...)...)
}

// reals is the type of a container with real numbers in place of integers.
func reals(t typing.Type) typing.Type {
	if t.Kind == typing.Int {
		t.Kind = typing.Real
	}
	t.Data = false
	return t
}

// computed evaluates a graph of known numbers.
func computed(t typing.Type, n *ad.Node, lanes int, shape ...int) (value.Value, error) {
	if err := n.Err(); err != nil {
		return value.Value{}, err
	}
	out := value.Of(t, n, shape...)
	out.Lanes = lanes
	if !slices.Equal([]int(n.Shape()), out.Full()) {
		out.N = ad.Reshape(ad.Broadcast(n, out.Full()...), out.Full()...)
	}
	return out, nil
}

// evaluate replaces a Node by numbers.
func evaluate(v value.Value) (value.Value, error) {
	if v.N == nil || v.Size() == 0 {
		if v.N != nil {
			return value.Known(v.Type, nil, v.Shape...), nil
		}
		return v, nil
	}
	d, err := ad.Numbers(v.N)
	if err != nil {
		return v, err
	}
	v.N, v.F = nil, slices.Clone(d[0])
	return v, nil
}

// result returns a Node as a value, and as known numbers if all arguments are known.
func result(c *Call, n *ad.Node, lanes int, shape ...int) (value.Value, error) {
	v, err := computed(c.Result, n, lanes, shape...)
	if err == nil && allKnown(c.Args...) {
		c.Evaluated = true
		return evaluate(v)
	}
	return v, err
}

// Elementwise applies a function to all numbers of a value. native may be nil.
func elementwise(v value.Value, t typing.Type, native func(float64) float64, graph func(*ad.Node) *ad.Node) (value.Value, error) {
	out := value.Value{Type: t, Shape: v.Shape, Lanes: v.Lanes}
	if v.Known() && native != nil {
		out.F = make([]float64, len(v.F))
		for i, x := range v.F {
			out.F[i] = native(x)
		}
		return out, nil
	}
	if v.ByColumns() {
		return mappedColumns(v, t, graph)
	}
	out.N = graph(v.Node())
	if err := out.N.Err(); err != nil {
		return out, err
	}
	if v.Known() {
		return evaluate(out)
	}
	return out, nil
}

// broadcast returns the shape of the elementwise combination of values, of which each is a scalar or has that shape.
func broadcast(vs ...value.Value) ([]int, error) {
	var shape []int
	for _, v := range vs {
		if len(v.Shape) == 0 {
			continue
		}
		if shape == nil {
			shape = v.Shape
		}
		if !slices.Equal(shape, v.Shape) {
			return nil, fmt.Errorf("sizes do not match: %s and %s: give both the same size", sizes(shape), sizes(v.Shape))
		}
	}
	return shape, nil
}

func sizes(s []int) string {
	out := ""
	for i, n := range s {
		if i > 0 {
			out += " x "
		}
		out += fmt.Sprint(n)
	}
	return out
}

// Combine applies a function of two numbers to the elements of two values, of which one may be a scalar.
func combine(a, b value.Value, t typing.Type, native func(x, y float64) float64, graph func(x, y *ad.Node) *ad.Node) (value.Value, error) {
	shape, err := broadcast(a, b)
	if err != nil {
		return value.Value{}, err
	}
	out := value.Value{Type: t, Shape: shape, Lanes: lanesOf(a, b)}
	if a.Known() && b.Known() && native != nil {
		n, lanes := value.Size(shape), max(1, out.Lanes)
		out.F = make([]float64, n*lanes)
		for l := range lanes {
			for i := range n {
				out.F[l*n+i] = native(at(a, l, i), at(b, l, i))
			}
		}
		return out, nil
	}
	if byColumns(a, b, shape) {
		return combinedColumns(a, b, t, shape[0], graph)
	}
	out.N = graph(ranked(a, len(shape)), ranked(b, len(shape)))
	if err := out.N.Err(); err != nil {
		return out, err
	}
	if full := out.Full(); !slices.Equal([]int(out.N.Shape()), full) {
		out.N = ad.Broadcast(out.N, full...)
	}
	if a.Known() && b.Known() {
		return evaluate(out)
	}
	return out, nil
}

// at returns a known number of a value by lane and element.
func at(v value.Value, lane, i int) float64 {
	if len(v.Shape) == 0 {
		i = 0
	}
	if v.Lanes > 0 {
		return v.F[lane*v.Size()+i]
	}
	return v.F[i]
}

// trailing lists the axes of a Node that are those of the value, without lanes.
func trailing(v value.Value) (axes []int) {
	first := 0
	if v.Lanes > 0 {
		first = 1
	}
	for i := range v.Shape {
		axes = append(axes, first+i)
	}
	return axes
}

// last is the last axis of a Node of the value.
func last(v value.Value) int { return len(v.Full()) - 1 }

func b2f(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

var inf = math.Inf(1)
