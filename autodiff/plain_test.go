// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package autodiff

import (
	"math"
	"slices"
	"testing"

	"github.com/euryale-dev/euryale/autodiff/internal/compiler"
)

// plain evaluates a graph as it is written: each operation alone, in a program of
// its own that knows none of its inputs as constants, so that nothing is rewritten
// or fused. Constants are float64 in every precision, as in a program. With each
// element goes a bound of the rounding errors up to it.
type plain struct {
	t     *testing.T
	s     Settings
	known map[*Node][]element

	hoisted bool // quotients may be products with reciprocals, see Hoist
}

// element is one number of the plain evaluation.
type element struct {
	v, err float64
	open   bool // the documentation leaves the value open, or the bound says nothing
	signed bool // the sign counts even if v is 0
	burst  bool // a product that overflowed
}

// unit returns the unit roundoff, the smallest positive number and the largest one
// of the precision.
func (p *plain) unit() (u, tiny, largest float64) {
	if p.s.Precision == 32 {
		return 0x1p-24, 0x1p-149, math.MaxFloat32
	}
	return 0x1p-53, 0x1p-1074, math.MaxFloat64
}

// of returns the elements of n.
func (p *plain) of(n *Node) []element {
	if e, ok := p.known[n]; ok {
		return e
	}
	var e []element
	switch {
	case n.IsConst():
		e = p.exact(n.data)
	case n.op.kind == compiler.View || n.op == embedOp:
		e = p.moved(n)
	default:
		e = p.computed(n)
	}
	p.known[n] = e
	return e
}

// exact makes elements of given numbers.
func (p *plain) exact(v []float64) []element {
	u, _, _ := p.unit()
	out := make([]element, len(v))
	for i, x := range v {
		out[i] = element{v: x, signed: true}
		if p.s.Precision == 32 && x == x && x != float64(float32(x)) {
			out[i].err = u * math.Abs(x)
		}
	}
	return out
}

// alone runs n by itself on numbers in place of its inputs.
func (p *plain) alone(n *Node, in [][]float64) []float64 {
	c, s := *n, p.s
	c.id, c.in, s.Inputs = lastID.Add(1), make([]*Node, len(in)), make([]*Node, len(in))
	for i, x := range n.in {
		c.in[i] = Input("x", x.shape...)
		s.Inputs[i] = c.in[i]
	}
	c.id = lastID.Add(1)
	if fromConstants(n) {
		s.Precision = 64
	}
	prog, err := Compile([]*Node{&c}, s)
	if err != nil {
		p.t.Fatal(err)
	}
	st := prog.NewState()
	for i, x := range in {
		if err := st.SetInput(i, x); err != nil {
			p.t.Fatal(err)
		}
	}
	if err := st.Run(); err != nil {
		p.t.Fatal(err)
	}
	return st.OutputFloat64(0)
}

func fromConstants(n *Node) bool {
	return !slices.ContainsFunc(upstream(n), func(x *Node) bool { return x.isInput() })
}

// moved is a view: numbers and bounds go to the same places.
func (p *plain) moved(n *Node) []element {
	x := p.of(n.in[0])
	field := func(f func(e element) float64) []float64 {
		in := make([]float64, len(x))
		for i, e := range x {
			in[i] = f(e)
		}
		return p.alone(n, [][]float64{in})
	}
	v, from := field(func(e element) float64 { return e.v }), field(func(e element) float64 { return 1 })
	place := field(nth())
	out := make([]element, len(v))
	for i := range out {
		out[i] = element{v: v[i], signed: true}
		if from[i] == 1 {
			out[i] = x[int(place[i])]
		}
	}
	return out
}

// nth counts from 0.
func nth() func(element) float64 {
	k := -1.0
	return func(element) float64 { k++; return k }
}

// computed is an elementwise operation or a reduction.
func (p *plain) computed(n *Node) []element {
	in := make([][]element, len(n.in))
	numbers := make([][]float64, len(n.in))
	for i, x := range n.in {
		in[i] = p.of(x)
		for _, e := range in[i] {
			numbers[i] = append(numbers[i], e.v)
		}
	}
	v := p.alone(n, numbers)
	out := make([]element, len(v))
	if n.op.kind == compiler.Reduction {
		groups := make([][]element, len(v))
		strides := compiler.KeptStrides(n.in[0].shape, n.attr)
		compiler.Walk(n.in[0].shape, func(idx []int, flat int) {
			at := 0
			for d, k := range idx {
				at += k * strides[d]
			}
			groups[at] = append(groups[at], in[0][flat])
		})
		for i := range out {
			out[i] = p.reduced(n.op, v[i], groups[i])
		}
		return out
	}
	compiler.Walk(n.shape, func(idx []int, flat int) {
		args := make([]element, len(in))
		for i, x := range n.in {
			at := 0
			for d, s := range compiler.AlignedStrides(x.shape, x.shape.Strides(), n.shape) {
				at += idx[d] * s
			}
			args[i] = in[i][at]
		}
		out[flat] = p.bounded(n, v[flat], args)
	})
	return out
}

// reduced bounds the error of a reduction.
func (p *plain) reduced(op *Op, v float64, x []element) element {
	u, tiny, largest := p.unit()
	out := element{v: v}
	size := 0.0
	for _, e := range x {
		out.open = out.open || e.open || e.burst && op == sumOp
		if math.Abs(e.v) <= largest {
			size += math.Abs(e.v)
		}
		if op == sumOp {
			out.err += e.err
		} else {
			out.err = max(out.err, e.err)
		}
	}
	if op == sumOp {
		out.err += u*size*float64(len(x)+4) + tiny
		out.open = out.open || size > largest/2 // the order of additions decides
	}
	return out
}
