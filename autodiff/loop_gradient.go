// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package autodiff

import (
	"fmt"
	"slices"

	"github.com/euryale-dev/euryale/autodiff/internal/compiler"
)

// adjoint is the gradient of a loop: saved is the loop with what the gradient needs of its steps as
// further results, and back runs from the last step to the first.
//
// The carries of back are the gradients of the carries, then sums of gradients of what the steps share.
// Its inputs are the gradients of results, then what saved kept, then inputs of the loop. Its results are the
// gradients of inputs, then factors of products whose sum over the steps is one product.
type adjoint struct {
	saved, back *loop
	inputs      []int // inputs of the loop that back takes
	shared      []int // what the steps share that back takes
	gradX       []int // result of back that is the gradient of an input; -1 for none
	sums        []int // carry of back that is part of the gradient of what the steps share; -1 for none
	products    []stackedProduct
	bad         *Node
}

// stackedProduct is a term of the gradient of what the steps share: the sum over the steps of the transpose of one
// matrix times another.
type stackedProduct struct {
	of   int // of what is shared, by its number
	a, b factor
}

// factor is a matrix of every step.
type factor struct {
	input bool // whether it is an input of back, and otherwise a result
	at    int
}

// loopVJP returns the gradients of a scan.
func loopVJP(g, y *Node, x []*Node) []*Node {
	l := y.obj.(*loop)
	grads, key := make([]*Node, 0, len(l.carry)+len(l.ys)), ""
	at := 0
	for _, s := range l.shapes() {
		piece := partOf(g, at, at+s.Size())
		at += s.Size()
		if piece != nil {
			piece = Reshape(piece, s...)
		}
		grads = append(grads, piece)
		key += fmt.Sprint(piece != nil, " ")
	}
	a := memo(l, &l.adjoints, key, func() *adjoint { return l.adjoint(grads) })
	if a.bad != nil {
		return repeat(a.bad, len(x))
	}
	return a.apply(l, grads, x)
}

// partOf returns elements of a vector; nil if they are known to be 0.
func partOf(g *Node, from, to int) *Node {
	if y, ok := pieceOf(g, []int{from, 1, to - from}); ok {
		return y
	}
	return Slice(g, 0, from, to)
}

// isZero reports whether n is known to be 0 everywhere.
func isZero(n *Node) bool {
	for n.op != nil && n.op.kind == compiler.View {
		n = n.in[0]
	}
	return n.op == nil && n.data != nil && !slices.ContainsFunc(n.data, func(v float64) bool { return v != 0 })
}

// adjoint makes the gradient from results of which grads is not nil.
func (l *loop) adjoint(grads []*Node) *adjoint {
	a := &adjoint{back: &loop{steps: l.steps, reverse: !l.reverse}, saved: l.like()}
	back := a.back
	var outs, seeds []*Node
	for i, n := range slices.Concat(l.next, l.ys) {
		if i >= len(l.next) && grads[i] == nil {
			continue
		}
		seed := Input("gradient", n.shape...)
		outs, seeds = append(outs, n), append(seeds, seed)
		if i < len(l.next) {
			back.carry = append(back.carry, seed)
		} else {
			back.xs = append(back.xs, seed)
		}
	}
	forward := upstream(slices.Concat(l.next, l.ys)...)
	all := vjp(outs, seeds, l.places(), nil)
	cut := cutter{a: a, l: l, forward: map[*Node]bool{}, moving: reaches(forward, slices.Concat(l.carry, l.xs)), place: map[*Node]*Node{}, uses: map[*Node]int{}, sliced: map[*Node]int{}}
	for _, n := range forward {
		cut.forward[n] = true
		for _, x := range n.in {
			cut.uses[x]++
		}
	}
	for _, n := range slices.Concat(l.next, l.ys) {
		cut.uses[n]++
	}
	a.saved.base, a.saved.carry, a.saved.xs, a.saved.captured, a.saved.next, a.saved.ys = l, l.carry, l.xs, l.captured, l.next, slices.Clone(l.ys)
	all = cut.apart(all)
	if a.bad = firstErr(all...); a.bad != nil {
		return a
	}
	c, x := len(l.carry), len(l.carry)+len(l.xs)
	back.next = all[:c:c]
	for i, g := range all[c:x] {
		a.gradX = append(a.gradX, -1)
		if !l.xs[i].isInt && !isZero(g) {
			a.gradX[i] = len(back.ys)
			back.ys = append(back.ys, g)
		}
	}
	for k, g := range all[x:] {
		a.sums = append(a.sums, -1)
		if l.captured[k].isInt || isZero(g) {
			continue
		}
		a.sums[k] = a.accumulate(k, g)
	}
	if l.count != nil || l.until != nil {
		back.count = Input("steps")
		back.carry, back.next = append(back.carry, back.count), append(back.next, back.count)
	}
	return a
}

// accumulate adds the gradient of something shared up over the steps, in a carry whose number it returns, or -1 if products
// of stacked matrices are all of it.
func (a *adjoint) accumulate(k int, g *Node) int {
	var rest *Node
	for _, term := range terms(g) {
		if !a.product(k, term) {
			rest = accumulate(rest, term)
		}
	}
	if rest == nil {
		return -1
	}
	sum := Input("sum", rest.shape...)
	a.back.carry = append(a.back.carry, sum)
	a.back.next = append(a.back.next, Add(sum, rest))
	return len(a.back.carry) - 1
}

// terms returns the terms of a sum.
func terms(n *Node) []*Node {
	if n.op == addOp && n.in[0].shape.Equal(n.shape) && n.in[1].shape.Equal(n.shape) {
		return append(terms(n.in[0]), terms(n.in[1])...)
	}
	return []*Node{n}
}

// product reports whether a term of the gradient of something shared is a product of two matrices whose sum over the steps is
// better one product of stacked matrices: their rows are fewer than the elements of the sum would be moved.
func (a *adjoint) product(k int, n *Node) bool {
	if n.op != matmulOp || len(n.in[0].shape) != 2 || len(n.in[1].shape) != 2 {
		return false
	}
	if rows := n.in[1].shape[0]; rows*(n.shape[0]+n.shape[1]) > 4*n.Size() {
		return false
	}
	left := n.in[0]
	if left.op == permuteOp {
		left = left.in[0]
	} else {
		left = T(left)
	}
	a.products = append(a.products, stackedProduct{k, a.factor(left), a.factor(n.in[1])})
	return true
}

// factor finds a matrix among the inputs of back, or makes it a result.
func (a *adjoint) factor(n *Node) factor {
	if i := slices.Index(a.back.xs, n); i >= 0 {
		return factor{true, i}
	}
	i := slices.Index(a.back.ys, n)
	if i < 0 {
		i = len(a.back.ys)
		a.back.ys = append(a.back.ys, n)
	}
	return factor{false, i}
}

// cutter takes the forward values out of a gradient.
type cutter struct {
	a               *adjoint
	l               *loop
	forward, moving map[*Node]bool
	place           map[*Node]*Node // what stands for a forward value in back
	uses            map[*Node]int   // how often a forward value is an input or a result
	sliced          map[*Node]int   // how many elements of a forward value back takes by slices
	from, to        []*Node
}

// apart returns gradients with places for the forward values that back does not compute itself.
func (c *cutter) apart(grads []*Node) []*Node {
	for _, n := range upstreamUntil(func(n *Node) bool { return c.forward[n] && (n.op == sliceOp || c.given(n) || c.kept(n)) }, grads...) {
		if c.forward[n] && n.op == sliceOp {
			c.sliced[n.in[0]] += n.Size()
		}
	}
	for _, n := range upstreamUntil(func(n *Node) bool { return c.given(n) || c.kept(n) }, grads...) {
		c.places(n)
	}
	// inputs of the loop come after what it saved
	for i, x := range c.l.xs {
		if c.place[x] != nil {
			c.a.inputs = append(c.a.inputs, i)
			c.a.back.xs = append(c.a.back.xs, c.place[x])
		}
	}
	for i, x := range c.l.captured {
		if c.place[x] != nil {
			c.a.shared = append(c.a.shared, i)
			c.a.back.captured = append(c.a.back.captured, c.place[x])
		}
	}
	return Substitute(grads, c.from, c.to)
}

// given reports whether a forward value is an input of the step.
func (c *cutter) given(n *Node) bool {
	return c.forward[n] && (slices.Contains(c.l.xs, n) || slices.Contains(c.l.captured, n))
}

// kept reports whether a forward value is kept for back, which computes others again.
func (c *cutter) kept(n *Node) bool {
	return c.forward[n] && (slices.Contains(c.l.carry, n) || !c.l.again && !n.isInt && n.op != nil && c.moving[n] && !c.cheap(n))
}

// places gives a forward value that is given or kept a place in back.
func (c *cutter) places(n *Node) {
	given := c.given(n)
	if !given && !c.kept(n) {
		return
	}
	p := Input(n.name, n.shape...)
	p.isInt = n.isInt
	c.place[n] = p
	c.from, c.to = append(c.from, n), append(c.to, p)
	if !given {
		c.a.saved.ys = append(c.a.saved.ys, n)
		c.a.back.xs = append(c.a.back.xs, p)
	}
}

// leastAgain is the number of elements from which on arithmetic takes less time than memory.
const leastAgain = 128

// cheap reports whether a value is better computed again than kept: the elements of another one in a new order or repeated,
// slices of one that are together as large as it, and arithmetic that has a kernel, unless it is the last of a product.
func (c *cutter) cheap(n *Node) bool {
	switch n.op.kind {
	case compiler.View:
		return n.Size() >= n.in[0].Size() || n.op == sliceOp && c.sliced[n.in[0]] >= n.in[0].Size()
	case compiler.Elementwise:
		return n.op.prim.Kernel != "" && n.Size() >= leastAgain && !c.finishes(n)
	}
	return false
}

// finishes reports whether n adds something to a product that nothing else uses: then n is kept in place of the product.
func (c *cutter) finishes(n *Node) bool {
	if n.op != addOp || n.in[0].Size() != n.in[1].Size() {
		return false
	}
	return slices.ContainsFunc(n.in, func(x *Node) bool { return x.op != nil && x.op.kind == compiler.Step && c.uses[x] == 1 })
}

// apply makes the gradients of a scan of l with the inputs x.
func (a *adjoint) apply(l *loop, grads, x []*Node) []*Node {
	c, k := len(l.carry), len(l.carry)+len(l.xs)
	kept := a.saved.call(x)
	if kept.err != nil {
		return repeat(kept, len(x))
	}
	done, stacks := a.saved.parts(kept)
	var carry, xs, shared []*Node
	for i, place := range a.back.carry {
		switch {
		case i < c && grads[i] != nil:
			carry = append(carry, grads[i])
		case place == a.back.count && l.count != nil:
			carry = append(carry, x[slices.Index(l.carry, l.count)])
		case place == a.back.count && l.until != nil:
			carry = append(carry, done[slices.Index(l.carry, l.done)])
		default:
			carry = append(carry, Full(0, place.shape...))
		}
	}
	for _, g := range grads[c:] {
		if g != nil {
			xs = append(xs, g)
		}
	}
	xs = append(xs, stacks[len(l.ys):]...)
	for _, i := range a.inputs {
		xs = append(xs, x[c+i])
	}
	for _, i := range a.shared {
		shared = append(shared, x[k+i])
	}
	last, ys := a.back.parts(a.back.call(slices.Concat(carry, xs, shared)))
	if len(last) > 0 && last[0].err != nil {
		return repeat(last[0], len(x))
	}
	out := make([]*Node, len(x))
	copy(out, last[:c])
	for i, at := range a.gradX {
		if at >= 0 {
			out[c+i] = ys[at]
		}
	}
	for i, at := range a.sums {
		if at >= 0 {
			out[k+i] = last[at]
		}
	}
	rows := func(f factor) *Node {
		m := ys
		if f.input {
			m = xs
		}
		s := m[f.at].shape
		return Reshape(m[f.at], s[0]*s[1], s[2])
	}
	for _, p := range a.products {
		d := matmul(T(rows(p.a)), rows(p.b))
		if l.steps == 0 {
			d = Full(0, l.captured[p.of].shape...)
		}
		out[k+p.of] = accumulate(out[k+p.of], d)
	}
	return out
}
