// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package infer

import (
	"slices"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/infer/internal/graph"
)

// numbers are the nodes of a choice: of located and of positive parameters. The on are 1 where a parameter has other coordinates, and nil in a choice that
// stays, whose changes is false.
type numbers struct {
	on, weight, pull, k, softOn []*ad.Node
	center, width, tailOn       []*ad.Node
	changes                     bool
}

// constants returns the nodes of a choice that stays.
func (h choice) constants() (n numbers) {
	for _, i := range h.of {
		n.weight, n.pull = append(n.weight, ad.Const(i.weight)), append(n.pull, ad.Const(i.pull))
	}
	for _, k := range h.k {
		n.k = append(n.k, ad.Scalar(k))
	}
	for _, t := range h.tail {
		n.center, n.width = append(n.center, ad.Scalar(t.center)), append(n.width, ad.Scalar(t.width))
	}
	return n
}

// inputs returns nodes for choices that change, in the order of values.
func (f *family) inputs() (n numbers, all []*ad.Node) {
	node := func(list *[]*ad.Node, name string, shape ...int) {
		x := ad.Input(name, shape...)
		*list, all = append(*list, x), append(all, x)
	}
	n.changes = true
	for _, l := range f.located {
		size := l.informed(f.Inputs[l.Input].Size())
		node(&n.on, "on")
		node(&n.weight, "weight", size)
		node(&n.pull, "pull", size)
	}
	for range f.Positive {
		node(&n.k, "k")
		node(&n.softOn, "on")
	}
	for range f.heavy {
		node(&n.center, "center")
		node(&n.width, "width")
		node(&n.tailOn, "on")
	}
	return n, all
}

// values are the numbers of a choice for the nodes of inputs.
func (f *family) values(h choice) (out []float64) {
	for j, l := range f.located {
		if i := h.of[j]; i.weight != nil {
			out = slices.Concat(out, []float64{1}, i.weight, i.pull)
		} else {
			out = append(out, make([]float64, 1+2*l.informed(f.Inputs[l.Input].Size()))...)
		}
	}
	for _, k := range h.k {
		if k == 0 {
			out = append(out, 1, 0)
		} else {
			out = append(out, k, 1)
		}
	}
	for _, t := range h.tail {
		if t.width == 0 {
			out = append(out, 0, 1, 0)
		} else {
			out = append(out, t.center, t.width, 1)
		}
	}
	return out
}

// conditional is the normal distribution of v = (q - loc)/scale, or factor^-1 (q - loc), that a standard normal distribution and information leave, where eta = offset + factor v:
//
//	precision P = 1 + factor^T weight factor,  mean P^-1 factor^T (pull - weight offset)
//
// The coordinates x of q are standard normal under it: v = mean + P^(-1/2) x.
type conditional struct {
	loc, scale *ad.Node // of each element, in a row
	factor     *ad.Node // Cholesky factor of the covariance in place of scale, nil for independent elements
	mean       *ad.Node
	// root is the square root of the precision of each element, or the Cholesky factor of P.
	root   *ad.Node
	matrix bool
}

// conditional returns that of parameter l, where the parameters have the values q.
func (f *family) conditional(l *located, q []*ad.Node, weight, pull *ad.Node) *conditional {
	u := f.Inputs[l.Input]
	all := func(x *ad.Node) *ad.Node { return graph.Row(ad.Broadcast(x, u.Shape()...)) }
	nodes := l.Located.nodes()
	if l.use != nil {
		nodes = append(nodes, l.use.nodes()...)
	}
	nodes = ad.Substitute(nodes, f.Inputs, q)
	c := &conditional{loc: all(nodes[0])}
	if l.Factor != nil {
		c.factor = nodes[1]
		return c.correlated(nodes[2:], weight, pull)
	}
	c.scale = all(nodes[1])
	offset, factor := c.loc, c.scale
	switch {
	case l.use == nil:
	case l.use.matrix != nil:
		m, row, column := nodes[3], nodes[4], nodes[5]
		offset = ad.Add(nodes[2], ad.Mul(row, ad.MatMul(m, ad.Mul(column, c.loc))))
		return c.product(m, row, ad.Mul(column, c.scale), offset, weight, pull)
	default:
		offset, factor = ad.Add(nodes[2], ad.Mul(nodes[3], c.loc)), ad.Mul(nodes[3], c.scale)
	}
	precision := ad.Add(ad.Scalar(1), ad.Mul(weight, ad.Square(factor)))
	c.root = ad.Sqrt(precision)
	c.mean = ad.Div(ad.Mul(factor, ad.Sub(pull, ad.Mul(weight, offset))), precision)
	return c
}

// product is the conditional distribution with eta = offset + row (m (column v)).
func (c *conditional) product(m, row, column, offset, weight, pull *ad.Node) *conditional {
	c.matrix = true
	n := column.Size()
	// The product of a matrix that is known with itself is, too, where the factors of its rows are.
	gram := ad.MatMul(ad.T(m), ad.Mul(ad.Reshape(ad.Mul(weight, ad.Square(row)), row.Size(), 1), m))
	c.root = ad.Cholesky(ad.Add(ad.Eye(n), ad.Mul(ad.Mul(ad.Reshape(column, n, 1), ad.Reshape(column, 1, n)), gram)))
	c.mean = ad.CholeskySolve(c.root, ad.Mul(column, ad.MatMul(ad.T(m), ad.Mul(row, ad.Sub(pull, ad.Mul(weight, offset))))))
	return c
}

// correlated is the conditional distribution of v where q = loc + factor v, with the nodes of its use.
func (c *conditional) correlated(use []*ad.Node, weight, pull *ad.Node) *conditional {
	n := c.loc.Size()
	one := ad.Full(1, n)
	switch len(use) {
	case 0:
		return c.product(c.factor, one, one, c.loc, weight, pull)
	case 2:
		row := ad.Broadcast(use[1], n)
		return c.product(c.factor, row, one, ad.Add(use[0], ad.Mul(row, c.loc)), weight, pull)
	}
	m, row, column := use[1], use[2], use[3]
	offset := ad.Add(use[0], ad.Mul(row, ad.MatMul(m, ad.Mul(column, c.loc))))
	return c.product(ad.MatMul(m, ad.Mul(ad.Reshape(column, n, 1), c.factor)), row, one, offset, weight, pull)
}

// to returns the elements at the coordinates x, and the logarithm of the determinant.
func (c *conditional) to(x *ad.Node) (q, logDet *ad.Node) {
	if c.factor != nil {
		v := ad.SolveTriangular(c.root, x, true, true)
		logDet = ad.Scale(0.5, ad.Sub(ad.CholeskyLogDet(c.factor), ad.CholeskyLogDet(c.root)))
		return ad.Add(c.loc, ad.MatMul(c.factor, ad.Add(c.mean, v))), logDet
	}
	logDet = ad.Sum(ad.Log(c.scale))
	var v *ad.Node
	if c.matrix {
		v, logDet = ad.SolveTriangular(c.root, x, true, true), ad.Sub(logDet, ad.Scale(0.5, ad.CholeskyLogDet(c.root)))
	} else {
		v, logDet = ad.Div(x, c.root), ad.Sub(logDet, ad.Sum(ad.Log(c.root)))
	}
	return ad.Add(c.loc, ad.Mul(c.scale, ad.Add(c.mean, v))), logDet
}

// from returns the coordinates of the elements q.
func (c *conditional) from(q *ad.Node) *ad.Node {
	v := ad.Sub(q, c.loc)
	if c.factor != nil {
		v = ad.SolveTriangular(c.factor, v, true, false)
	} else {
		v = ad.Div(v, c.scale)
	}
	v = ad.Sub(v, c.mean)
	if c.matrix {
		return ad.MatMul(ad.T(c.root), v)
	}
	return ad.Mul(c.root, v)
}

// blend returns one node or another, as a number that is 0 or 1 says.
func blend(on, from, to *ad.Node) *ad.Node { return ad.Add(from, ad.Mul(on, ad.Sub(to, from))) }

// forward returns the unconstrained parameters at the coordinates z, and the logarithm of the determinant.
func (f *family) forward(z []*ad.Node, h choice, n numbers) (q []*ad.Node, logDet *ad.Node) {
	q, logDet = slices.Clone(z), ad.Scalar(0)
	for _, i := range f.order {
		if j := slices.Index(f.heavy, i); j >= 0 && (n.changes || h.tail[j].width != 0) {
			x := z[i]
			if n.changes { // the cube of a declared parameter may overflow
				x = ad.Mul(n.tailOn[j], x)
			}
			to := ad.Add(n.center[j], ad.Mul(n.width[j], ad.Mul(x, ad.Shift(ad.Scale(1./3, ad.Square(x)), 1))))
			det := ad.Add(ad.Log(n.width[j]), ad.Log1pSquare(x))
			if n.changes {
				to, det = blend(n.tailOn[j], z[i], to), ad.Mul(n.tailOn[j], det)
			}
			q[i], logDet = to, ad.Add(logDet, ad.Sum(det))
		}
		if j := slices.IndexFunc(f.located, func(l located) bool { return l.Input == i }); j >= 0 && (n.changes || h.of[j].weight != nil) {
			to, det := f.conditional(&f.located[j], q, n.weight[j], n.pull[j]).to(graph.Row(q[i]))
			to = ad.Reshape(to, z[i].Shape()...)
			if n.changes {
				to, det = blend(n.on[j], q[i], to), ad.Mul(n.on[j], det)
			}
			q[i], logDet = to, ad.Add(logDet, det)
		}
		if j := slices.Index(f.Positive, i); j >= 0 && (n.changes || h.k[j] != 0) {
			soft := ad.Mul(n.k[j], q[i])
			upper := ad.Log(ad.Softplus(soft))
			to := ad.Sub(upper, ad.Log(n.k[j]))
			det := ad.Sub(ad.Add(ad.Log(n.k[j]), ad.LogSigmoid(soft)), upper)
			if n.changes {
				to, det = blend(n.softOn[j], q[i], to), ad.Mul(n.softOn[j], det)
			}
			q[i], logDet = to, ad.Add(logDet, ad.Sum(det))
		}
	}
	return q, logDet
}

// backward returns the coordinates of the unconstrained parameters.
func (f *family) backward(h choice, n numbers) []*ad.Node {
	z := slices.Clone(f.Inputs)
	for j, i := range f.Positive {
		if !n.changes && h.k[j] == 0 {
			continue
		}
		y := ad.Mul(n.k[j], ad.Exp(f.Inputs[i]))
		to := ad.Div(ad.Add(y, ad.Log(ad.Neg(ad.Expm1(ad.Neg(y))))), n.k[j]) // log(exp(y) - 1)/k
		if n.changes {
			to = blend(n.softOn[j], f.Inputs[i], to)
		}
		z[i] = to
	}
	for j := range f.located {
		if !n.changes && h.of[j].weight == nil {
			continue
		}
		l := &f.located[j]
		u := f.Inputs[l.Input]
		to := ad.Reshape(f.conditional(l, f.Inputs, n.weight[j], n.pull[j]).from(graph.Row(u)), u.Shape()...)
		if n.changes {
			to = blend(n.on[j], u, to)
		}
		z[l.Input] = to
	}
	for j, i := range f.heavy {
		if !n.changes && h.tail[j].width == 0 {
			continue
		}
		away := ad.Div(ad.Sub(z[i], n.center[j]), n.width[j])
		to := ad.Scale(2, ad.Sinh(ad.Scale(1./3, ad.Asinh(ad.Scale(1.5, away))))) // x + x^3/3 = away
		if n.changes {
			to = blend(n.tailOn[j], z[i], to)
		}
		z[i] = to
	}
	return z
}
