// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package autodiff

import "slices"

// Condense returns a Node equal to x, a single number, up to rounding, that is computed from fewer elements where x is a sum over many, as
// log densities of data are. Unlike the rewriting of Compile, which keeps every bit, it uses the algebra of real numbers:
//
//   - Sums of linear forms become sums over the variables, with the coefficients added up.
//   - A sum of squares of linear forms with known coefficients C is |C v|^2 = |R v|^2 with the triangular factor R of C = Q R, which has as
//     many rows as variables. Rows whose elements of gathered variables are the same share a factor.
//   - Terms that are equal, because their data and the elements that they gather are, are computed once and counted.
//   - Logarithms of exponentials and of sigmoids, and functions of gathered elements, are computed before they are gathered.
//
// Call it before Grad, so that the gradient has fewer elements too. The gradient agrees up to rounding as well.
func Condense(x *Node) *Node {
	if bad := notReal("condense", x); bad != nil {
		return bad
	}
	if x.Size() != 1 {
		return mistake("condense", "%v has %d elements: want a single number", x, x.Size())
	}
	simple := simplerFunctions(x)
	c := &condenser{uses: map[*Node]int{}, by: map[*Node]*weighted{}, products: map[[2]*Node]*Node{}, inverses: map[*Node]*Node{}}
	for _, n := range upstream(simple) {
		for _, in := range n.in {
			c.uses[in]++
		}
	}
	c.add(simple, weight{c: 1})
	return Reshape(c.total(), x.shape...)
}

// condenser collects the terms of a sum.
type condenser struct {
	uses     map[*Node]int // by Node: how many others read it
	groups   []*weighted
	by       map[*Node]*weighted
	products map[[2]*Node]*Node // of a number and a Node
	inverses map[*Node]*Node    // of numbers
}

// weight is a factor of a term: a number times a Node without axes, which may be nil.
type weight struct {
	c  float64
	by *Node
}

// weighted are the terms with one factor.
type weighted struct {
	by       *Node
	constant float64
	bases    []*Node // variables of linear terms
	linear   map[*Node][]float64
}

func (c *condenser) group(by *Node) *weighted {
	g := c.by[by]
	if g == nil {
		g = &weighted{by: by, linear: map[*Node][]float64{}}
		c.by[by] = g
		c.groups = append(c.groups, g)
	}
	return g
}

// times returns the weight multiplied by a Node of one element.
func (c *condenser) times(w weight, n *Node) weight {
	if n.data != nil {
		w.c *= n.data[0]
		return w
	}
	if w.by != nil {
		n = c.multiple(n, w.by)
	}
	return weight{w.c, Reshape(n)}
}

// multiple returns the product of a number and a Node, the same for the same ones.
func (c *condenser) multiple(by, n *Node) *Node {
	k := [2]*Node{by, n}
	if c.products[k] == nil {
		c.products[k] = Mul(Reshape(by), n)
	}
	return c.products[k]
}

// inverse returns 1/n for a Node of one element, the same for the same one.
func (c *condenser) inverse(n *Node) *Node {
	if c.inverses[n] == nil {
		c.inverses[n] = Reciprocal(Reshape(n))
	}
	return c.inverses[n]
}

// repeated returns the weight of an operand of n, whose elements broadcasting repeats equally often.
func (w weight) repeated(n, operand *Node) weight {
	w.c *= float64(n.Size()) / float64(operand.Size())
	return w
}

// add adds w times the sum of the elements of n.
func (c *condenser) add(n *Node, w weight) {
	if n.Size() == 0 {
		return
	}
	if n.data != nil {
		g := c.group(w.by)
		for _, v := range n.data {
			g.constant += w.c * v
		}
		return
	}
	if c.uses[n] > 1 && n.op != nil && n.op.kind != viewKind {
		c.leaf(n, w)
		return
	}
	switch n.op {
	case addOp, subOp:
		c.add(n.in[0], w.repeated(n, n.in[0]))
		w = w.repeated(n, n.in[1])
		if n.op == subOp {
			w.c = -w.c
		}
		c.add(n.in[1], w)
	case negOp:
		c.add(n.in[0], weight{-w.c, w.by})
	case reshapeOp, permuteOp, sumOp:
		c.add(n.in[0], w)
	case broadcastOp:
		c.add(n.in[0], w.repeated(n, n.in[0]))
	case concatOp:
		for _, x := range n.in {
			c.add(x, w)
		}
	case mulOp:
		c.product(n, w)
	case divOp:
		if d := n.in[1]; d.Size() == 1 {
			c.add(n.in[0], c.times(w.repeated(n, n.in[0]), c.inverse(d)))
			return
		}
		c.leaf(n, w)
	case squareOp:
		c.squares(n, w)
	default:
		c.leaf(n, w)
	}
}

// product adds w times the sum of the elements of a product.
func (c *condenser) product(n *Node, w weight) {
	for i, a := range n.in {
		b := n.in[1-i]
		if a.Size() == 1 && (a.data != nil || b.Size() > 1 || isSum(b)) {
			c.add(b, c.times(w.repeated(n, b), a))
			return
		}
	}
	if n.in[0].data != nil || n.in[1].data != nil {
		c.form(n, w)
		return
	}
	c.leaf(n, w)
}

// isSum says whether terms of a single number can be collected.
func isSum(n *Node) bool {
	for n.op == reshapeOp || n.op == negOp {
		n = n.in[0]
	}
	return slices.Contains([]*Op{addOp, subOp, sumOp}, n.op)
}

// leaf adds w times the sum of the elements of something that is no sum.
func (c *condenser) leaf(n *Node, w weight) {
	if n.Size() == 1 {
		g := c.group(w.by)
		g.accumulate(n, 0, w.c)
		return
	}
	if n.op == nil || n.op.kind == viewKind || n.op == gatherOp || n.op == matmulOp {
		c.form(n, w)
		return
	}
	c.term(n, w)
}

// term adds w times the sum of the elements of n, of which equal ones are computed once.
func (c *condenser) term(n *Node, w weight) {
	var s *Node
	if c.uses[n] <= 1 || n.op != addOp && n.op != subOp { // others need all rows of a sum, which then costs no more
		s = joinedRows(n)
	}
	if s == nil {
		s = Sum(n)
	}
	g := c.group(w.by)
	g.accumulate(s, 0, w.c)
}

// form adds w times the sum of a linear form.
func (c *condenser) form(n *Node, w weight) {
	g := c.group(w.by)
	f := c.linear(n)
	for _, v := range f.constant {
		g.constant += w.c * v
	}
	for _, t := range f.terms {
		if t.base.op != nil && t.base.op.kind == elementwiseKind && t.idx == nil && t.at < 0 && t.coef != nil {
			c.term(Mul(Const(t.coef), Reshape(t.base, f.n)), w)
			continue
		}
		for i := range f.n {
			g.accumulate(t.base, t.place(i), w.c*t.factor(i))
		}
	}
}

// accumulate adds a coefficient of an element of a variable.
func (g *weighted) accumulate(base *Node, at int, coef float64) {
	list := g.linear[base]
	if list == nil {
		list = make([]float64, base.Size())
		g.linear[base] = list
		g.bases = append(g.bases, base)
	}
	list[at] += coef
}

// total returns the sum of all terms.
func (c *condenser) total() *Node {
	constant := 0.0
	var sum []*Node
	for _, g := range c.groups {
		own := g.total()
		if g.by == nil {
			constant += g.constant
			sum = append(sum, own...)
			continue
		}
		if g.constant != 0 || len(own) == 0 && !isInput(g.by) {
			own = append(own, Scalar(g.constant))
		}
		if len(own) > 0 {
			sum = append(sum, Mul(g.by, AddN(own...)))
		}
	}
	if constant != 0 || len(sum) == 0 {
		sum = append(sum, Scalar(constant))
	}
	return AddN(sum...)
}

// isInput says whether all elements of n are those of an input, which are finite, so that their products with 0 are 0.
func isInput(n *Node) bool {
	for n.op != nil && n.op.kind == viewKind && len(n.in) == 1 {
		n = n.in[0]
	}
	return n.op == nil
}

// total returns the terms but for the constant.
func (g *weighted) total() (sum []*Node) {
	for _, b := range g.bases {
		coef := g.linear[b]
		same := !slices.ContainsFunc(coef, func(v float64) bool { return v != coef[0] })
		switch {
		case same && coef[0] == 0 && isInput(b):
		case same:
			s := Sum(b)
			if coef[0] != 1 {
				s = Scale(coef[0], s)
			}
			sum = append(sum, s)
		default:
			sum = append(sum, Dot(Const(coef), Reshape(b, len(coef))))
		}
	}
	return sum
}
