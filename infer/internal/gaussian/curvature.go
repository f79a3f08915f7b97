// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package gaussian

import (
	"cmp"
	"slices"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/infer/internal/graph"
)

const (
	// mostPairs is the number of products of two derivatives up to which they are looked at one by one.
	mostPairs = 300_000
	// gathering is how many elements of arrays it takes to gather one of them, or to add it to another.
	gathering = 4
	// mostDense is the number of elements up to which a precision may have all entries.
	mostDense = 500
)

// entry is a contribution to an entry of the lower triangle of the second derivatives: a number times elements of three rows of coefficients.
type entry struct{ row, col, left, right, weight int }

// contributions are those with the same three rows, of which nil ones are 1.
type contributions struct {
	left, right, weight *ad.Node
	number              map[entry]float64
}

// curvatures are the second derivatives of a log density with respect to x: a sum.
type curvatures struct {
	*sight
	parts []*contributions
	dense []*ad.Node // symmetric matrices
	wide  int        // rows of the products that have more than half of the elements of x
}

// curvaturesOf returns the second derivatives of lp, of which polynomial holds with respect to every x, false where they are not seen. They are those of the products of nodes
// that are linear in x, whose weights do not depend on it:
//
//	H = sum over products of J1^T diag(w) J2 + J2^T diag(w) J1,  w = d lp/d product
func curvaturesOf(lp *ad.Node, s *sight) (*curvatures, bool) {
	var products []*ad.Node
	for _, n := range upward(lp) {
		if s.on[n] && n.Op() != nil && s.pairs(n) {
			products = append(products, n)
		}
	}
	if len(products) == 0 {
		return nil, false
	}
	c := &curvatures{sight: s}
	for i, w := range ad.Grad(lp, products...) {
		if w.Err() != nil || slices.ContainsFunc(s.x, func(x *ad.Node) bool { return graph.Reads(w, x) }) || !c.add(products[i], w) {
			return nil, false
		}
	}
	return c, true
}

// upward lists the nodes of a graph, each after those that it is made of.
func upward(out *ad.Node) []*ad.Node { return upwardUnless(map[*ad.Node]bool{}, out) }

// upwardUnless leaves out those that are seen already, and marks the others.
func upwardUnless(seen map[*ad.Node]bool, out *ad.Node) (list []*ad.Node) {
	var visit func(n *ad.Node)
	visit = func(n *ad.Node) {
		if seen[n] {
			return
		}
		seen[n] = true
		for _, x := range n.In() {
			visit(x)
		}
		list = append(list, n)
	}
	visit(out)
	return list
}

// pairs reports whether a node is the product of two nodes that depend on x.
func (s *sight) pairs(n *ad.Node) bool {
	switch n.Op().Name {
	case "square":
		return true
	case "mul", "matmul":
		return s.on[n.In()[0]] && s.on[n.In()[1]]
	}
	return false
}

// add adds the second derivatives of a product with the weight w.
func (c *curvatures) add(product, w *ad.Node) bool {
	in := product.In()
	weight := c.coefficients(w)
	var left, right linear
	switch product.Op().Name {
	case "square":
		left = c.derivatives(in[0])
		right = left
	case "mul":
		left, right = c.derivatives(in[0]).selected(spread(in[0].Shape(), product.Shape())), c.derivatives(in[1]).selected(spread(in[1].Shape(), product.Shape()))
	case "matmul":
		if len(in[0].Shape()) != 2 || len(in[1].Shape()) != 2 {
			return false
		}
		rows, inner, columns := in[0].Shape()[0], in[0].Shape()[1], in[1].Shape()[1]
		if rows*inner*columns > mostLinear {
			return false
		}
		var a, b, to []int
		for i := range rows {
			for j := range columns {
				for l := range inner {
					a, b, to = append(a, i*inner+l), append(b, l*columns+j), append(to, i*columns+j)
				}
			}
		}
		left, right, weight = c.derivatives(in[0]).selected(a), c.derivatives(in[1]).selected(b), weight.selected(to)
	}
	return c.pair(left, right, weight)
}

// pair adds J1^T diag(w) J2 + J2^T diag(w) J1.
func (c *curvatures) pair(left, right linear, weight *coefficients) bool {
	if left == nil || right == nil {
		return false
	}
	rows := len(weight.number)
	for _, n := range left.counts(rows) {
		if 2*n > c.size {
			c.wide++
		}
	}
	possible := c.size <= mostDense && rows*c.size <= 10*mostLinear
	if pairsOf(left, right, rows) <= mostPairs {
		one := &curvatures{sight: c.sight}
		for _, p := range left {
			for _, q := range right {
				one.join(p, q, weight)
			}
		}
		if !possible || one.gathered() < rows*c.size*c.size/quick+gathering*(rows+c.size)*c.size {
			c.parts = append(c.parts, one.parts...)
			return true
		}
	}
	if !possible {
		return false
	}
	m := c.separated(left, right, weight)
	if m == nil {
		a, b := left.matrix(rows, c.size), right.matrix(rows, c.size)
		m = ad.MatMul(ad.T(ad.Mul(a, ad.Reshape(weight.node(), rows, 1))), b)
	}
	c.dense = append(c.dense, ad.Add(m, ad.T(m)))
	return true
}

// separated returns J1^T diag(w) J2 where both matrices are known numbers K with factors u of their rows and v of their columns, so that it is diag(v1) K1^T diag(w u1 u2) K2 diag(v2);
// nil for others.
func (c *curvatures) separated(left, right linear, weight *coefficients) *ad.Node {
	rows := len(weight.number)
	a, b := left.separated(rows, c.size), right.separated(rows, c.size)
	if a == nil || b == nil {
		return nil
	}
	w := ad.Mul(weight.node(), ad.Mul(a.row, b.row))
	return ad.Mul(ad.Mul(ad.Reshape(a.column, c.size, 1), ad.Reshape(b.column, 1, c.size)), ad.MatMul(ad.T(ad.Mul(a.known, ad.Reshape(w, rows, 1))), b.known))
}

// separated is a matrix of known numbers, of which rows and columns have factors.
type separated struct{ known, row, column *ad.Node }

// separated returns the matrix in this form, nil where it has another one.
func (d linear) separated(rows, columns int) *separated {
	if len(d) != 1 {
		return nil
	}
	s, p, known := &separated{row: ad.Full(1, rows), column: ad.Full(1, columns)}, d[0], make([]float64, rows*columns)
	for _, f := range p.factors() {
		if at := along(p.row, f.at, rows); at != nil {
			s.row = ad.Mul(s.row, gathered(f.node, at))
		} else if at := along(p.col, f.at, columns); at != nil {
			s.column = ad.Mul(s.column, gathered(f.node, at))
		} else {
			return nil
		}
	}
	for e, v := range p.number {
		known[p.row[e]*columns+p.col[e]] += v
	}
	s.known = ad.Const(known, rows, columns)
	return s
}

// along returns the element of each of n lines that all entries of the line have, nil where they have several, and 0 for lines without entries.
func along(line, at []int, n int) []int {
	out, set := make([]int, n), make([]bool, n)
	for e, i := range line {
		if set[i] && out[i] != at[e] {
			return nil
		}
		out[i], set[i] = at[e], true
	}
	return out
}

// gathered is what adding the contributions one by one takes, in elements of arrays.
func (c *curvatures) gathered() (cost int) {
	for _, p := range c.parts {
		bases := 1
		for _, base := range []*ad.Node{p.left, p.right, p.weight} {
			if base != nil && base.Size() > 1 {
				bases++
			}
		}
		cost += gathering * bases * len(p.number)
	}
	return cost
}

// counts returns how many entries each of so many rows has.
func (d linear) counts(rows int) []int {
	out := make([]int, rows)
	for _, p := range d {
		for _, r := range p.row {
			out[r]++
		}
	}
	return out
}

// pairsOf counts the pairs of entries in the same row.
func pairsOf(left, right linear, rows int) (n int) {
	a, b := left.counts(rows), right.counts(rows)
	for i := range a {
		n += a[i] * b[i]
	}
	return n
}

// matrix returns the matrix with all its entries.
func (d linear) matrix(rows, columns int) *ad.Node {
	var sums []*ad.Node
	for _, p := range d {
		at := make([]int, len(p.row))
		for e := range at {
			at[e] = p.row[e]*columns + p.col[e]
		}
		sums = append(sums, ad.ScatterAdd(p.node(), ad.Ints(at), 0, rows*columns))
	}
	return ad.Reshape(ad.AddN(sums...), rows, columns)
}

// join adds the products of the entries of two matrices in the same rows.
func (c *curvatures) join(p, q part, w *coefficients) {
	k := slices.IndexFunc(c.parts, func(o *contributions) bool { return o.left == p.base && o.right == q.base && o.weight == w.base })
	if k < 0 {
		k = len(c.parts)
		c.parts = append(c.parts, &contributions{p.base, q.base, w.base, map[entry]float64{}})
	}
	number := c.parts[k].number
	of := map[int][]int{}
	for e, r := range q.row {
		of[r] = append(of[r], e)
	}
	element := func(at []int, e int) int {
		if at == nil {
			return 0
		}
		return at[e]
	}
	for e, r := range p.row {
		for _, f := range of[r] {
			i, j := p.col[e], q.col[f]
			v := p.number[e] * q.number[f] * w.number[r]
			if i == j {
				v *= 2
			}
			number[entry{max(i, j), min(i, j), element(p.at, e), element(q.at, f), element(w.at, r)}] += v
		}
	}
}

// entries returns the entries of each of the contributions, in an order that does not depend on chance.
func (c *contributions) entries() []entry {
	out := make([]entry, 0, len(c.number))
	for e := range c.number {
		out = append(out, e)
	}
	slices.SortFunc(out, func(a, b entry) int {
		return cmp.Or(a.row-b.row, a.col-b.col, a.left-b.left, a.right-b.right, a.weight-b.weight)
	})
	return out
}

// precision returns a row of so many numbers, in which minus the contributions to the entry of a row and a column are added to the places that at returns.
func (c *curvatures) precision(size int, at func(row, col int) []int) *ad.Node {
	var sums []*ad.Node
	for _, p := range c.parts {
		var places []int
		v := [3]*coefficients{}
		for k, base := range []*ad.Node{p.left, p.right, p.weight} {
			v[k] = &coefficients{base: base}
		}
		for _, e := range p.entries() {
			for _, place := range at(e.row, e.col) {
				places = append(places, place)
				for k, element := range [3]int{e.left, e.right, e.weight} {
					number := 1.0
					if k == 0 {
						number = -p.number[e]
					}
					if v[k].number = append(v[k].number, number); v[k].base != nil {
						v[k].at = append(v[k].at, element)
					}
				}
			}
		}
		sums = append(sums, ad.ScatterAdd(v[0].times(v[1]).times(v[2]).node(), ad.Ints(places), 0, size))
	}
	if len(sums) == 0 {
		return ad.Full(0, size)
	}
	return ad.AddN(sums...)
}

// neighbours lists for each element of x those with which it has second derivatives, nil where these are matrices.
func (c *curvatures) neighbours() [][]int {
	if len(c.dense) > 0 {
		return nil
	}
	out := make([][]int, c.size)
	for _, p := range c.parts {
		for e := range p.number {
			if e.row != e.col {
				out[e.row], out[e.col] = append(out[e.row], e.col), append(out[e.col], e.row)
			}
		}
	}
	for i := range out {
		slices.Sort(out[i])
		out[i] = slices.Compact(out[i])
	}
	return out
}
