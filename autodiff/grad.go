// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package autodiff

import (
	"cmp"
	"slices"

	"github.com/euryale-dev/euryale/tensor"
)

// Grad returns the gradients of the sum of y with respect to each of xs.
//
// A Node that y does not depend on has a gradient of zeros. The results are
// Nodes like any other: Grad of a Grad gives second derivatives.
func Grad(y *Node, xs ...*Node) []*Node {
	if bad := notReal("grad", append([]*Node{y}, xs...)...); bad != nil {
		return repeat(bad, len(xs))
	}
	return vjp([]*Node{y}, []*Node{Full(1, y.shape...)}, xs, nil)
}

// VJP returns the gradients of the sum of y*g with respect to each of xs: the vector g, which has
// y's shape, times the Jacobian of y.
func VJP(y, g *Node, xs ...*Node) []*Node {
	if bad := notReal("vjp", append([]*Node{y, g}, xs...)...); bad != nil {
		return repeat(bad, len(xs))
	}
	if bad := directions("vjp", []*Node{y}, []*Node{g}); bad != nil {
		return repeat(bad, len(xs))
	}
	return vjp([]*Node{y}, []*Node{g}, xs, nil)
}

// JVP returns the derivative of y when each xs[i] moves along vs[i], which has its shape. It is the
// Jacobian times a vector and has y's shape.
//
// It is computed as the gradient of a gradient: sum(v * VJP(y, u)) is linear in u, and its gradient
// with respect to u is J v.
func JVP(y *Node, xs, vs []*Node) *Node {
	if bad := cmp.Or(notReal("jvp", y), directions("jvp", xs, vs)); bad != nil {
		return bad
	}
	u := Input("jvp.u", y.shape...)
	var dot *Node
	for i, g := range vjp([]*Node{y}, []*Node{u}, xs, nil) {
		dot = accumulate(dot, Sum(Mul(g, vs[i])))
	}
	if dot == nil {
		return Full(0, y.shape...)
	}
	return Grad(dot, u)[0]
}

// HVP returns the Hessian of the sum of y times the vectors vs, with one Node for each of xs. vs[i]
// must have the shape of xs[i].
func HVP(y *Node, xs, vs []*Node) []*Node {
	if bad := cmp.Or(notReal("hvp", y), directions("hvp", xs, vs)); bad != nil {
		return repeat(bad, len(xs))
	}
	if len(xs) == 0 {
		return nil
	}
	var dot *Node
	for i, g := range Grad(y, xs...) {
		dot = accumulate(dot, Sum(Mul(g, vs[i])))
	}
	return Grad(dot, xs...)
}

// directions returns a Node with the mistake unless vs has as many Nodes as xs, of the same shapes
// and real like them.
func directions(op string, xs, vs []*Node) *Node {
	if bad := notReal(op, append(slices.Clone(xs), vs...)...); bad != nil {
		return bad
	}
	if len(xs) != len(vs) {
		return mistake(op, "there are %d inputs and %d directions: give one direction for each input", len(xs), len(vs))
	}
	for i, x := range xs {
		if !x.shape.Equal(vs[i].shape) {
			return mistake(op, "direction %d has shape %v: want the shape of %v", i, vs[i].shape, x)
		}
	}
	return nil
}

// vjp returns sum_k gs[k] dys[k]/dxs. If mirror is not nil, the derivative rules see mirror(n) in
// place of the forward value n: see GradCheckpoint.
func vjp(ys, gs, xs []*Node, mirror *recompute) []*Node {
	grads := map[*Node][]*Node{} // what has to be added up
	for i, y := range ys {
		grads[y] = append(grads[y], gs[i])
	}
	order := upstream(ys...)
	need := reaches(order, xs)
	for _, n := range slices.Backward(order) {
		g := gathered(grads[n])
		if g != nil {
			grads[n] = []*Node{g}
		}
		if g == nil || n.op == nil || n.op.vjp == nil || !need[n] {
			continue
		}
		if g.err != nil { // the error goes on as it is; its shape would lead to further ones
			for _, x := range n.in {
				if need[x] {
					grads[x] = []*Node{g}
				}
			}
			continue
		}
		in, out := mirror.of(n, g)
		for i, d := range n.op.vjp(g, out, in) {
			x := n.in[i]
			if d == nil || !need[x] {
				continue
			}
			if d.err == nil && !reducible(d.shape, x.shape) {
				d = mistake(n.called(), "its VJP returns a gradient of shape %v for input %d, which has the shape %v: want this shape, or one that it was broadcast to", d.shape, i, x.shape)
			}
			grads[x] = append(grads[x], sumTo(d, x.shape))
		}
	}
	out := make([]*Node, len(xs))
	for i, x := range xs {
		if out[i] = gathered(grads[x]); out[i] == nil {
			out[i] = Full(0, x.shape...)
		}
	}
	return out
}

// manyPlaced is the number of pieces of a vector from which on their gradients are put together in one step.
const manyPlaced = 8

// gathered adds gradients up; nil if there are none. Pieces placed among zeros are joined first, if they are all of an array or
// if they are many pieces of a vector.
func gathered(list []*Node) (sum *Node) {
	list = tiled(list)
	var pieces, rest []*Node
	for _, g := range list {
		if g.op == embedOp && len(g.shape) == 1 && g.attr[1] == 1 && g.in[0].Size() > 0 {
			pieces = append(pieces, g)
		} else {
			rest = append(rest, g)
		}
	}
	if len(pieces) >= manyPlaced {
		list = append(rest, joinedPieces(pieces))
	}
	for _, g := range list {
		sum = accumulate(sum, g)
	}
	return sum
}

// tiled returns gradients with one array in place of pieces along an axis that are all of it, each element once.
func tiled(list []*Node) []*Node {
	first := slices.IndexFunc(list, func(g *Node) bool { return g.op == embedOp })
	if first < 0 {
		return list
	}
	shape, part, axis := list[first].shape, list[first].in[0].shape, 0
	for axis < len(shape)-1 && part[axis] == shape[axis] {
		axis++
	}
	if len(shape) == 0 {
		return list
	}
	var pieces, rest []*Node
	for _, g := range list {
		if isPiece(g, axis) {
			pieces = append(pieces, g)
		} else {
			rest = append(rest, g)
		}
	}
	slices.SortStableFunc(pieces, func(a, b *Node) int { return a.attr[3*axis] - b.attr[3*axis] })
	end := 0
	inner := make([]*Node, len(pieces))
	for i, p := range pieces {
		if p.attr[3*axis] != end {
			return list
		}
		inner[i] = p.in[0]
		end += inner[i].shape[axis]
	}
	if len(pieces) < 2 || end != shape[axis] {
		return list
	}
	return append(rest, Concat(axis, inner...))
}

// isPiece reports whether g is a piece along one axis placed among zeros, whole along the others.
func isPiece(g *Node, axis int) bool {
	if g.op != embedOp || g.in[0].Size() == 0 {
		return false
	}
	for i, n := range g.in[0].shape {
		if g.attr[3*i+1] != 1 || i != axis && n != g.shape[i] {
			return false
		}
	}
	return true
}

// joinedPieces is the sum of pieces placed in a vector.
func joinedPieces(pieces []*Node) *Node {
	n := pieces[0].shape[0]
	slices.SortStableFunc(pieces, func(a, b *Node) int { return a.attr[0] - b.attr[0] })
	var inner []*Node
	var idx []int
	whole := true
	for _, p := range pieces {
		for k := range p.in[0].Size() {
			whole = whole && p.attr[0]+k == len(idx)
			idx = append(idx, p.attr[0]+k)
		}
		inner = append(inner, p.in[0])
	}
	all := Concat(0, inner...)
	if whole && len(idx) == n {
		return all
	}
	return ScatterAdd(all, Ints(idx), 0, n)
}

// called returns the name of the operation that made n.
func (n *Node) called() string {
	if c, ok := n.obj.(*Custom); ok {
		return c.Name
	}
	return n.op.Name
}

// reducible reports whether sums along axes turn an array of shape from into one of shape to.
func reducible(from, to tensor.Shape) bool {
	lead := len(from) - len(to)
	if lead < 0 {
		return false
	}
	for i, n := range to {
		if n != 1 && n != from[lead+i] {
			return false
		}
	}
	return true
}

func accumulate(sum, d *Node) *Node {
	if sum == nil {
		return d
	}
	return Add(sum, d)
}

// sumTo undoes broadcasting: it sums d over the axes that s lacks or whose length in s is 1.
func sumTo(d *Node, s tensor.Shape) *Node {
	if d.err != nil || d.shape.Equal(s) {
		return d
	}
	lead := len(d.shape) - len(s)
	var axes []int
	for i, n := range d.shape {
		if i < lead || (s[i-lead] == 1 && n != 1) {
			axes = append(axes, i)
		}
	}
	return Reshape(SumAxes(d, axes...), s...)
}

// upstream returns ys and everything they were made from, inputs before outputs.
func upstream(ys ...*Node) []*Node { return upstreamUntil(nil, ys...) }

// upstreamUntil is upstream without what only Nodes lead to at which to stop; nil for none.
func upstreamUntil(stop func(n *Node) bool, ys ...*Node) []*Node {
	var seen nodeSet
	stack := append([]*Node(nil), ys...)
	for len(stack) > 0 {
		n := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		if seen.add(n) && (stop == nil || !stop(n)) {
			stack = append(stack, n.in...)
		}
	}
	return seen.inOrder()
}

// reaches marks the Nodes of order that depend on one of xs.
func reaches(order, xs []*Node) map[*Node]bool {
	need := make(map[*Node]bool, len(order))
	for _, x := range xs {
		need[x] = true
	}
	for _, n := range order {
		for _, x := range n.in {
			if need[x] {
				need[n] = true
				break
			}
		}
	}
	return need
}

func repeat(n *Node, k int) []*Node {
	out := make([]*Node, k)
	for i := range out {
		out[i] = n
	}
	return out
}
