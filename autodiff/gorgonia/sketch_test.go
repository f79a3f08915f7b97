// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package gorgonia_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	G "gorgonia.org/gorgonia"
	gt "gorgonia.org/tensor"

	bridge "github.com/euryale-dev/euryale/autodiff/gorgonia"
)

// sketch is a random graph of Gorgonia while it is drawn. Equal seeds give equal
// graphs, drawn in graphs of their own.
type sketch struct {
	*rand.Rand
	g       *G.ExprGraph
	typ     gt.Dtype
	eval    bool // run with dropout and the like switched off
	unnamed bool // some inputs have no name

	inputs []*G.Node // of reals
	bound  map[*G.Node][]float64
	pool   []*G.Node       // arguments to choose from: reals of moderate size
	shapes map[string]bool // of the unnamed inputs: equal ones would be one node
	most   int             // elements of an argument
	names  int             // given so far
}

func newSketch(seed uint64, typ gt.Dtype) *sketch {
	return &sketch{
		Rand: rand.New(rand.NewPCG(seed, 1)), g: G.NewGraph(), typ: typ, most: 60,
		bound: map[*G.Node][]float64{}, shapes: map[string]bool{},
	}
}

// chance is true with probability p.
func (s *sketch) chance(p float64) bool { return s.Float64() < p }

// lengths draws the lengths of rank axes, 1 among them.
func (s *sketch) lengths(rank int) gt.Shape {
	for {
		shape := make(gt.Shape, rank)
		for i := range shape {
			shape[i] = 1 + s.IntN(4)
		}
		if shape.TotalSize() <= s.most {
			return shape
		}
	}
}

// input makes an input of normal values.
func (s *sketch) input(shape ...int) *G.Node {
	opts := []G.NodeConsOpt{G.WithShape(shape...)}
	if key := fmt.Sprint(shape); s.unnamed && !s.shapes[key] && s.chance(0.5) {
		s.shapes[key] = true
	} else {
		opts = append(opts, G.WithName(s.name()))
	}
	return s.adopt(G.NewTensor(s.g, s.typ, len(shape), opts...))
}

// name makes a name that nothing else has.
func (s *sketch) name() string {
	s.names++
	return fmt.Sprintf("x%d", s.names)
}

// adopt gives an input values and makes it an argument.
func (s *sketch) adopt(n *G.Node) *G.Node {
	s.inputs, s.pool = append(s.inputs, n), append(s.pool, n)
	s.bound[n] = s.normals(max(1, n.Shape().TotalSize()))
	must(n, G.Let(n, s.value(s.bound[n], n.Shape())))
	return n
}

// normals draws n normal numbers, of which none is far out.
func (s *sketch) normals(n int) []float64 {
	v := make([]float64, n)
	for i := range v {
		for v[i] = s.NormFloat64(); v[i] < -2.5 || v[i] > 2.5; {
			v[i] = s.NormFloat64()
		}
	}
	return v
}

// bind binds the inputs to copies of their values: Gorgonia's machines may
// overwrite them.
func (s *sketch) bind() {
	for n, v := range s.bound {
		must(n, G.Let(n, s.value(v, n.Shape())))
	}
}

// shake gives the inputs other values.
func (s *sketch) shake() {
	for _, n := range s.inputs {
		s.bound[n] = s.normals(len(s.bound[n]))
	}
}

// whole makes an input of whole numbers.
func (s *sketch) whole(v []int, shape ...int) *G.Node {
	n := G.NewTensor(s.g, gt.Int, len(shape), G.WithShape(shape...), G.WithName(s.name()),
		G.WithValue(gt.New(gt.WithShape(shape...), gt.WithBacking(v))))
	return n
}

// value makes what an input of the given shape is bound to.
func (s *sketch) value(v []float64, shape gt.Shape) any {
	single := make([]float32, len(v))
	for i := range v {
		single[i] = float32(v[i])
	}
	switch scalar := len(shape) == 0; {
	case scalar && s.typ == gt.Float32:
		return G.NewF32(single[0])
	case scalar:
		return G.NewF64(v[0])
	case s.typ == gt.Float32:
		return gt.New(gt.WithShape(shape...), gt.WithBacking(single))
	}
	return gt.New(gt.WithShape(shape...), gt.WithBacking(slices.Clone(v)))
}

// constant makes a constant of values drawn from [lo, hi).
func (s *sketch) constant(lo, hi float64, shape ...int) *G.Node {
	v := make([]float64, max(1, gt.Shape(shape).TotalSize()))
	for i := range v {
		v[i] = lo + (hi-lo)*s.Float64()
	}
	// Gorgonia tells constants apart by their names: these are never repeated.
	return G.NewConstant(s.value(v, shape), G.WithName(s.name()))
}

// having draws an argument that ok likes: from the pool, or a new input of the
// shape that make gives.
func (s *sketch) having(ok func(gt.Shape) bool, make func() gt.Shape) *G.Node {
	for range 6 {
		if len(s.pool) == 0 || s.chance(0.2) {
			break
		}
		if n := s.pool[s.IntN(len(s.pool))]; ok(n.Shape()) {
			return n
		}
	}
	return s.input(make()...)
}

// any draws an argument of any rank up to 4.
func (s *sketch) any() *G.Node {
	return s.having(func(gt.Shape) bool { return true }, func() gt.Shape { return s.lengths(s.IntN(5)) })
}

// array draws an argument with axes.
func (s *sketch) array() *G.Node {
	return s.having(func(a gt.Shape) bool { return len(a) > 0 }, func() gt.Shape { return s.lengths(1 + s.IntN(4)) })
}

// ranked draws an argument of the given rank.
func (s *sketch) ranked(rank int) *G.Node {
	return s.having(func(a gt.Shape) bool { return len(a) == rank }, func() gt.Shape { return s.lengths(rank) })
}

// shaped draws an argument of the given shape.
func (s *sketch) shaped(shape ...int) *G.Node {
	return s.having(func(a gt.Shape) bool { return slices.Equal(a, shape) }, func() gt.Shape { return shape })
}

// small brings the elements of x between -1 and 1, or leaves an input as it is.
func (s *sketch) small(x *G.Node) *G.Node {
	if x.Op() == nil {
		return x
	}
	f := []func(*G.Node) (*G.Node, error){G.Tanh, G.Sin, G.Cos}[s.IntN(3)]
	return must(f(x))
}

// positive brings the elements of x between 0.3 and some 20.
func (s *sketch) positive(x *G.Node) *G.Node {
	x = s.small(x)
	switch s.IntN(3) {
	case 0:
		return must(G.Exp(must(G.Sin(x))))
	case 1:
		return must(G.Add(must(G.Square(x)), s.constant(0.3, 0.9)))
	}
	return must(G.Add(must(G.Softplus(x)), s.constant(0.3, 0.9)))
}

// share brings the elements of x between 0.1 and 0.9, in a node that nothing else
// stands on.
func (s *sketch) share(x *G.Node) *G.Node {
	return must(G.HadamardProd(must(G.Add(must(G.Tanh(x)), s.constant(1.3, 1.5))), s.constant(0.3, 0.36)))
}

// describe lists the nodes that outs stand on, arguments first.
func describe(outs ...*G.Node) string {
	var b strings.Builder
	seen := map[*G.Node]bool{}
	var visit func(n *G.Node)
	visit = func(n *G.Node) {
		if n == nil || seen[n] {
			return
		}
		seen[n] = true
		for _, k := range bridge.Arguments(n) {
			visit(k)
		}
		fmt.Fprintf(&b, "  %%%x %T %v %v", n.ID(), n.Op(), n, n.Shape())
		if n.Op() == nil {
			fmt.Fprintf(&b, " = %v", n.Value().Data())
		}
		b.WriteByte('\n')
	}
	for _, n := range outs {
		visit(n)
	}
	return b.String()
}
