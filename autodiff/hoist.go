// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package autodiff

import (
	"slices"

	"github.com/euryale-dev/euryale/autodiff/internal/compiler"
)

// Hoist moves the parts of outputs that depend only on constants and on the inputs in still, which
// keep their values over many runs, out of the outputs, so that they are computed once. made are
// the Nodes of these parts, and rest are the outputs with the new Inputs places in their positions.
// Views stay in rest, and so do operations that are neither elementwise nor reductions.
//
// A quotient by a still value, or by a value with fewer elements than the result, becomes a product
// with the reciprocal, which is rounded once more. A divisor below the normal range may act like 0,
// because its reciprocal is infinite.
func Hoist(outputs []*Node, still ...*Node) (rest, made, places []*Node) {
	if bad := firstErr(append(slices.Clone(outputs), still...)...); bad != nil {
		return repeat(bad, len(outputs)), nil, nil
	}
	h := &hoister{still: map[*Node]bool{}, moves: map[*Node]bool{}, now: map[*Node]*Node{}}
	for _, x := range still {
		h.still[x] = true
	}
	order := upstream(outputs...)
	for _, n := range order {
		h.classify(n)
	}
	for _, n := range order {
		if h.moves[n] {
			h.rebuild(n)
		}
	}
	for _, n := range outputs {
		rest = append(rest, h.use(n))
	}
	return rest, h.made, h.places
}

type hoister struct {
	// still are the Nodes that depend on still inputs and can be taken out, moves those that stay;
	// a Node in neither depends on constants alone.
	still, moves map[*Node]bool
	now          map[*Node]*Node // replacement of each Node
	made, places []*Node
}

func (h *hoister) classify(n *Node) {
	if h.still[n] {
		return
	}
	h.moves[n] = n.isInput()
	for _, x := range n.in {
		h.moves[n] = h.moves[n] || h.moves[x]
		h.still[n] = h.still[n] || h.still[x]
	}
	if h.still[n] && (n.op.kind == compiler.Step || n.op.kind == compiler.Barrier) {
		h.moves[n] = true
	}
	h.still[n] = h.still[n] && !h.moves[n]
}

// rebuild makes a moving Node again if something that it depends on has changed.
func (h *hoister) rebuild(n *Node) {
	if n.op == nil {
		return
	}
	if n.op == divOp {
		if y := n.in[1]; h.still[y] || h.moves[y] && y.Size() < n.Size() {
			h.now[n] = Mul(h.use(n.in[0]), h.inverse(y))
			return
		}
	}
	h.again(n)
}

// again copies n with the replacements of its inputs, if they differ from the inputs.
func (h *hoister) again(n *Node) {
	in := make([]*Node, len(n.in))
	for i, x := range n.in {
		in[i] = h.use(x)
	}
	if !slices.Equal(in, n.in) {
		c := *n
		c.in, c.id = in, lastID.Add(1)
		h.now[n] = &c
	}
}

// inverse returns the replacement of 1/y.
func (h *hoister) inverse(y *Node) *Node {
	if !h.still[y] {
		return Reciprocal(h.use(y))
	}
	for i, m := range h.made {
		if m.op == reciprocalOp && m.in[0] == y {
			return h.places[i]
		}
	}
	return h.place(Reciprocal(y))
}

// use returns the replacement of x in a moving Node.
func (h *hoister) use(x *Node) *Node {
	if m := h.now[x]; m != nil {
		return m
	}
	if !h.still[x] || x.op == nil || x.isInt {
		return x
	}
	if x.op.kind != compiler.View {
		h.now[x] = h.place(x)
	} else if h.again(x); h.now[x] == nil {
		h.now[x] = x
	}
	return h.now[x]
}

// place makes an Input for x.
func (h *hoister) place(x *Node) *Node {
	p := Input(x.String(), x.shape...)
	h.made, h.places = append(h.made, x), append(h.places, p)
	return p
}
