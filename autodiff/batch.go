// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package autodiff

import (
	"slices"

	"github.com/euryale-dev/euryale/autodiff/internal/compiler"
	"github.com/euryale-dev/euryale/autodiff/internal/cpu"
	"github.com/euryale-dev/euryale/tensor"
)

// batch rewrites a graph so that the Batched inputs, and everything that depends on them, have one
// more axis. It is the last axis, so that the lanes of a batch are adjacent in memory.
func batch(outputs []*Node, s Settings) (outs, inputs []*Node, bad *Node) {
	b := &batcher{n: s.Batch, made: map[*Node]*Node{}}
	for _, x := range s.Batched {
		if x == nil || !x.isInput() || x.isInt {
			return nil, nil, mistake("batch", "Batched holds %v: want Nodes made by Input", x)
		}
		b.place(x)
	}
	if outs, bad = b.outputs(outputs); bad != nil {
		return nil, nil, bad
	}
	return outs, b.inputs(s.Inputs), nil
}

// place gives an input the batch axis.
func (b *batcher) place(x *Node) {
	p := Input(x.name, append(x.shape.Clone(), b.n)...)
	p.isInt = x.isInt
	b.made[x] = p
}

// outputs returns Nodes with the batch axis, or what is wrong.
func (b *batcher) outputs(list []*Node) (outs []*Node, bad *Node) {
	for _, n := range upstream(list...) {
		if b.made[n] == nil && slices.ContainsFunc(n.in, func(x *Node) bool { return b.made[x] != nil }) {
			if b.made[n] = b.lift(n); b.made[n].err != nil {
				return nil, b.made[n]
			}
		}
	}
	for _, n := range list {
		outs = append(outs, b.full(n))
	}
	return outs, firstErr(append(outs, list...)...)
}

// inputs returns what stands for inputs.
func (b *batcher) inputs(list []*Node) (now []*Node) {
	for _, x := range list {
		if m := b.made[x]; m != nil {
			x = m
		}
		now = append(now, x)
	}
	return now
}

type batcher struct {
	n        int
	made     map[*Node]*Node // batched form of each Node; nil for a Node that does not depend on the batch
	repeated map[*Node]*Node // Nodes that do not, repeated
}

// full returns x with the batch axis, repeated if it does not depend on it.
func (b *batcher) full(x *Node) *Node {
	if m := b.made[x]; m != nil {
		return m
	}
	if b.repeated[x] == nil {
		if b.repeated == nil {
			b.repeated = map[*Node]*Node{}
		}
		b.repeated[x] = Broadcast(Reshape(x, append(x.shape.Clone(), 1)...), append(x.shape.Clone(), b.n)...)
	}
	return b.repeated[x]
}

// thin returns x with a batch axis of length 1 if it does not depend on it.
func (b *batcher) thin(x *Node) *Node {
	if m := b.made[x]; m != nil {
		return m
	}
	return Reshape(x, append(x.shape.Clone(), 1)...)
}

// lift returns n with the batch axis.
func (b *batcher) lift(n *Node) *Node {
	if n.op.lift != nil {
		return n.op.lift(b, n)
	}
	in := make([]*Node, len(n.in))
	for i, x := range n.in {
		if n.op.kind == compiler.Elementwise {
			in[i] = b.thin(x)
		} else {
			in[i] = b.full(x)
		}
	}
	return b.with(n, n.attr, in...)
}

// with returns the operation of n on inputs that have the batch axis.
func (b *batcher) with(n *Node, attr []int, in ...*Node) *Node {
	m := newNode(n.op, b.shape(n), in...)
	m.attr, m.obj, m.isInt, m.name = attr, n.obj, n.isInt, n.name
	return m
}

// shape returns the shape of n with the batch axis.
func (b *batcher) shape(n *Node) tensor.Shape { return append(n.shape.Clone(), b.n) }

// sliced lifts an operation whose attributes are from, step and length of each axis.
func (b *batcher) sliced(n *Node) *Node {
	return b.with(n, append(slices.Clone(n.attr), 0, 1, b.n), b.full(n.in[0]))
}

// picked lifts an operation that picks whole rows, the same ones in all lanes.
func (b *batcher) picked(n *Node) *Node {
	if b.made[n.in[1]] != nil {
		return mistake("batch", "%s cannot use indices that differ between lanes: use TakeAlong or ScatterAlong, or leave the indices out of Batched", n.op.Name)
	}
	return b.with(n, n.attr, b.made[n.in[0]], n.in[1])
}

// along lifts an operation with separate indices for each element; indices without lanes serve all
// lanes.
func (b *batcher) along(n *Node) *Node {
	idx := n.in[1]
	if b.made[idx] != nil {
		idx = b.made[idx]
	}
	return b.with(n, n.attr, b.full(n.in[0]), idx)
}

// matmul multiplies lane by lane. If only the right factor has lanes, they become additional
// columns.
func (b *batcher) matmul(n *Node) *Node {
	x, y := n.in[0], n.in[1]
	if b.made[x] == nil && len(x.shape) == 2 && len(y.shape) == 2 {
		wide := Reshape(b.made[y], y.shape[0], y.shape[1]*b.n)
		return Reshape(matmul(x, wide), n.shape[0], n.shape[1], b.n)
	}
	return b.toLast(matmul(b.front(x, len(n.shape)), b.front(y, len(n.shape))))
}

// front returns x with the batch axis before the last rank axes, or x itself if it does not depend
// on the batch.
func (b *batcher) front(x *Node, rank int) *Node {
	m := b.made[x]
	if m == nil {
		return x
	}
	s := tensor.Shape{b.n}
	for range rank - len(x.shape) {
		s = append(s, 1)
	}
	return Reshape(b.toFirst(m), append(s, x.shape...)...)
}

// toFirst moves the last axis to the front.
func (b *batcher) toFirst(x *Node) *Node {
	perm := []int{len(x.shape) - 1}
	for i := range len(x.shape) - 1 {
		perm = append(perm, i)
	}
	return Permute(x, perm...)
}

// matrices lifts an operation on the last two axes of its inputs, for each index of
// the leading axes.
func (b *batcher) matrices(n *Node) *Node {
	in := make([]*Node, len(n.in))
	for i, x := range n.in {
		in[i] = b.toFirst(b.full(x))
	}
	return b.leading(n, in)
}

// systems lifts an operation on matrices whose leading axes broadcast. If only the right side of a
// system has lanes, they become additional columns.
func (b *batcher) systems(n *Node) *Node {
	if x := n.in[0]; b.made[x] == nil && len(x.shape) == 2 && len(n.shape) == 2 {
		m := newNode(n.op, tensor.Shape{n.shape[0], n.shape[1] * b.n}, x, Reshape(b.made[n.in[1]], n.shape[0], n.shape[1]*b.n))
		m.attr = n.attr
		return Reshape(m, n.shape[0], n.shape[1], b.n)
	}
	in := make([]*Node, len(n.in))
	for i, x := range n.in {
		in[i] = b.front(x, len(n.shape))
	}
	return b.leading(n, in)
}

// leading returns the operation of n on inputs whose first axis is the batch axis.
func (b *batcher) leading(n *Node, in []*Node) *Node {
	m := newNode(n.op, append(tensor.Shape{b.n}, n.shape...), in...)
	m.attr = n.attr
	return b.toLast(m)
}

// toLast moves the first axis to the end.
func (b *batcher) toLast(x *Node) *Node {
	perm := []int{}
	for i := 1; i < len(x.shape); i++ {
		perm = append(perm, i)
	}
	return Permute(x, append(perm, 0)...)
}

// lanes runs an opaque operation once for each lane.
func (b *batcher) lanes(n *Node) *Node {
	in := make([]*Node, len(n.in))
	for i, x := range n.in {
		in[i] = b.toFirst(b.full(x))
	}
	m := newNode(lanesOp, append(tensor.Shape{b.n}, n.shape...), in...)
	m.obj = &cpu.Lanes{Op: n.op.prim, Attr: n.attr, Obj: n.obj}
	return b.toLast(m)
}

var lanesOp *Op

func init() {
	lanesOp = compiled(&Op{Name: "lanes", Arity: -1, kind: compiler.Step, run: (*cpu.Call).EachLane})
}
