// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package autodiff

import (
	"slices"

	"github.com/euryale-dev/euryale/autodiff/internal/compiler"
	"github.com/euryale-dev/euryale/autodiff/internal/cpu"
	"github.com/euryale-dev/euryale/tensor"
)

// rowOp describes an operation that does the same to each row: it works on the last axes of its inputs, and the
// leading axes broadcast. The numbers are how many last axes the result and each of the inputs have.
type rowOp struct {
	out int
	in  []int
}

// lead returns the leading axes of the result, or a Node with the mistake.
func (r rowOp) lead(op string, in ...*Node) (tensor.Shape, *Node) {
	var lead tensor.Shape
	for i, x := range in {
		k := len(x.shape) - r.in[i]
		ok := k >= 0
		if ok {
			lead, ok = tensor.Broadcast(lead, x.shape[:k])
		}
		if !ok {
			return nil, failed(&tensor.ShapeError{Op: op, Got: shapesOf(in), Want: "leading axes that broadcast"})
		}
	}
	return lead.Clone(), nil
}

// lift returns n with the batch axis: rows of a batch are further rows.
func (r rowOp) lift(b *batcher, n *Node) *Node {
	lead := len(n.shape) - r.out
	in := make([]*Node, len(n.in))
	for i, x := range n.in {
		in[i] = b.front(x, lead+r.in[i])
	}
	m := newNode(n.op, append(tensor.Shape{b.n}, n.shape...), in...)
	m.attr, m.obj = n.attr, n.obj
	return b.toLast(m)
}

// offsets returns, for each row of the result, where the row of each input begins.
func (r rowOp) offsets(c *cpu.Call) []int {
	lead := c.Shape[:len(c.Shape)-r.out]
	out := make([]int, 0, lead.Size()*len(r.in))
	var strides [][]int
	for i, k := range r.in {
		s := c.InShape[i]
		own := s[:len(s)-k]
		strides = append(strides, compiler.AlignedStrides(own, own.Strides(), lead))
	}
	compiler.Walk(lead, func(idx []int, _ int) {
		for i, s := range strides {
			at := 0
			for axis, x := range idx {
				at += x * s[axis]
			}
			shape := c.InShape[i]
			out = append(out, at*shape[len(shape)-r.in[i]:].Size())
		}
	})
	return out
}

// rowWork is what such an operation keeps between runs.
type rowWork struct {
	n int
	f func(hand, from, to int)
}

// each runs row for every row of the result; make returns it, bound to the arrays and to the positions that offsets
// returns. work is the number of multiplications of a row.
func (r rowOp) each(c *cpu.Call, work int, make func(offsets []int) func(hand, from, to int)) error {
	w := cpu.Scratch(c, func() *rowWork {
		return &rowWork{c.Shape[:len(c.Shape)-r.out].Size(), make(r.offsets(c))}
	})
	if w.n > 0 {
		c.EachRow(w.n, w.n*work, w.f)
	}
	return nil
}

// last returns the length of the last axis.
func last(s tensor.Shape) int { return s[len(s)-1] }

// withTail returns the axes lead followed by tail.
func withTail(lead tensor.Shape, tail ...int) tensor.Shape { return slices.Concat(lead, tail) }
