// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package autodiff

import (
	"math"
	"slices"
)

// affine is n linear forms of variables with known coefficients.
type affine struct {
	n        int
	constant []float64 // nil for zeros
	terms    []*affineTerm
}

// affineTerm is a variable of each form: element idx[i] of base in form i, where nil stands for i, or element at in all of them, and its
// coefficient, where nil stands for ones.
type affineTerm struct {
	base *Node
	at   int // -1: it differs
	idx  []int32
	coef []float64
}

func (t *affineTerm) place(i int) int {
	switch {
	case t.at >= 0:
		return t.at
	case t.idx == nil:
		return i
	}
	return int(t.idx[i])
}

func (t *affineTerm) factor(i int) float64 {
	if t.coef == nil {
		return 1
	}
	return t.coef[i]
}

// same says whether two terms have the same variables.
func (t *affineTerm) same(o *affineTerm) bool {
	return t.base == o.base && t.at == o.at && (t.at >= 0 || slices.Equal(t.idx, o.idx) && (t.idx == nil) == (o.idx == nil))
}

// spread returns the forms at places; nil stands for all in order.
func (f *affine) spread(places []int32, n int) *affine {
	if places == nil {
		return f
	}
	out := &affine{n: n, constant: picked(f.constant, places)}
	for _, t := range f.terms {
		own := &affineTerm{base: t.base, at: t.at, coef: picked(t.coef, places)}
		if t.at < 0 {
			own.idx = through(t.idx, places)
		}
		out.terms = append(out.terms, own.settled())
	}
	return out
}

// settled finds that all forms have the same element.
func (t *affineTerm) settled() *affineTerm {
	if t.at < 0 && len(t.idx) > 0 && !slices.ContainsFunc(t.idx, func(k int32) bool { return k != t.idx[0] }) {
		t.at, t.idx = int(t.idx[0]), nil
	}
	return t
}

func picked(from []float64, places []int32) []float64 {
	if from == nil {
		return nil
	}
	out := make([]float64, len(places))
	for i, k := range places {
		out[i] = from[k]
	}
	return out
}

// plus adds sign times o.
func (f *affine) plus(o *affine, sign float64) *affine {
	out := &affine{n: f.n, constant: summed(f.constant, o.constant, sign, f.n, 0), terms: slices.Clone(f.terms)}
	for _, t := range o.terms {
		at := slices.IndexFunc(out.terms, t.same)
		if at < 0 {
			own := *t
			if sign != 1 {
				own.coef = summed(nil, t.coef, sign, f.n, 1)
			}
			out.terms = append(out.terms, &own)
			continue
		}
		own := *out.terms[at]
		coef := make([]float64, f.n)
		for i := range coef {
			coef[i] = own.factor(i) + sign*t.factor(i)
		}
		own.coef, out.terms[at] = coef, &own
	}
	return out
}

// summed returns a + sign b, where a nil a is 0 and a nil b is def.
func summed(a, b []float64, sign float64, n int, def float64) []float64 {
	if b == nil && def == 0 {
		return a
	}
	out := make([]float64, n)
	copy(out, a)
	for i := range out {
		if b == nil {
			out[i] += sign * def
		} else {
			out[i] += sign * b[i]
		}
	}
	return out
}

// scaled multiplies form i by by[i].
func (f *affine) scaled(by []float64) *affine {
	out := &affine{n: f.n}
	if f.constant != nil {
		out.constant = make([]float64, f.n)
		for i := range out.constant {
			out.constant[i] = by[i] * f.constant[i]
		}
	}
	for _, t := range f.terms {
		own := *t
		own.coef = make([]float64, f.n)
		for i := range own.coef {
			own.coef[i] = by[i] * t.factor(i)
		}
		out.terms = append(out.terms, &own)
	}
	return out
}

// mostColumns bounds the products of matrices whose columns become terms, and the variables of sums of squares.
const mostColumns = 64

// linear writes the elements of n as linear forms.
func (c *condenser) linear(n *Node) *affine {
	size := n.Size()
	if n.data != nil {
		return &affine{n: size, constant: n.data}
	}
	operand := func(x *Node) *affine {
		if x.shape.Equal(n.shape) {
			return c.linear(x)
		}
		p, _ := moved(&Node{op: broadcastOp, in: []*Node{x}, shape: n.shape})
		return c.linear(x).spread(p, size)
	}
	if p, ok := moved(n); ok {
		return c.linear(n.in[0]).spread(p, size)
	}
	switch n.op {
	case addOp:
		return operand(n.in[0]).plus(operand(n.in[1]), 1)
	case subOp:
		return operand(n.in[0]).plus(operand(n.in[1]), -1)
	case negOp:
		return (&affine{n: size}).plus(c.linear(n.in[0]), -1)
	case mulOp:
		for i, a := range n.in {
			switch b := n.in[1-i]; {
			case a.data != nil:
				return operand(b).scaled(operand(a).constant)
			case a.Size() == 1 && b.Size() > 1:
				return operand(b).multiplied(c, a)
			}
		}
	case divOp:
		if d := n.in[1]; d.data != nil {
			by := slices.Clone(operand(d).constant)
			for i, v := range by {
				by[i] = 1 / v
			}
			return operand(n.in[0]).scaled(by)
		} else if d.Size() == 1 && n.in[0].Size() > 1 {
			return operand(n.in[0]).multiplied(c, c.inverse(d))
		}
	case matmulOp:
		if x, v := n.in[0], n.in[1]; x.data != nil && len(x.shape) == 2 && v.Size() == x.shape[1] && x.shape[1] <= mostColumns {
			return columns(x, v)
		}
	}
	t := &affineTerm{base: n, at: -1}
	if size == 1 {
		t.at = 0
	}
	return &affine{n: size, terms: []*affineTerm{t}}
}

// columns are the forms of a product of a known matrix and a vector.
func columns(x, v *Node) *affine {
	base, places := placesOf(v)
	rows, k := x.shape[0], x.shape[1]
	f := &affine{n: rows}
	for j := range k {
		t := &affineTerm{base: base, at: j, coef: make([]float64, rows)}
		if places != nil {
			t.at = int(places[j])
		}
		for i := range t.coef {
			t.coef[i] = x.data[i*k+j]
		}
		f = f.plus(&affine{n: rows, terms: []*affineTerm{t}}, 1)
	}
	return f
}

// multiplied multiplies the forms by a number, which becomes part of the variables.
func (f *affine) multiplied(c *condenser, by *Node) *affine {
	out := &affine{n: f.n}
	if f.constant != nil {
		out.terms = append(out.terms, &affineTerm{base: by, at: 0, coef: f.constant})
	}
	for _, t := range f.terms {
		own := *t
		own.base = c.multiple(by, t.base)
		out.terms = append(out.terms, &own)
	}
	return out
}

// squares adds w times the sum of squares of linear forms.
func (c *condenser) squares(n *Node, w weight) {
	f := c.linear(n.in[0])
	if x := f.triangular(); x != nil {
		c.group(w.by).accumulate(Sum(Square(x)), 0, w.c)
		return
	}
	if n.Size() == 1 {
		c.group(w.by).accumulate(n, 0, w.c)
		return
	}
	c.term(n, w)
}

// worthwhile is the part of the rows above which joining them is not worth it.
const worthwhile = 0.75

// triangular returns fewer forms with the same sum of squares, or nil if there are none.
func (f *affine) triangular() *Node {
	k := len(f.terms)
	if f.constant != nil {
		k++
	}
	if k > mostColumns || f.n < 4 {
		return nil
	}
	groups := f.groups()
	rows := 0
	for _, g := range groups {
		rows += min(len(g), k)
	}
	if float64(rows) > worthwhile*float64(f.n) {
		return nil
	}
	out := &affine{}
	for range f.terms {
		out.terms = append(out.terms, &affineTerm{})
	}
	for i, t := range f.terms {
		out.terms[i].base, out.terms[i].at = t.base, t.at
	}
	if f.constant != nil {
		out.constant = []float64{}
	}
	for _, g := range groups {
		a := make([]float64, len(g)*k)
		for r, i := range g {
			row := a[r*k : (r+1)*k]
			for j, t := range f.terms {
				row[j] = t.factor(i)
			}
			if f.constant != nil {
				row[k-1] = f.constant[i]
			}
		}
		for r := range eliminate(a, len(g), k) {
			row := a[r*k : (r+1)*k]
			if !slices.ContainsFunc(row, func(v float64) bool { return v != 0 }) {
				continue
			}
			out.n++
			for j, t := range out.terms {
				t.coef = append(t.coef, row[j])
				if t.at < 0 {
					t.idx = append(t.idx, int32(f.terms[j].place(g[0])))
				}
			}
			if f.constant != nil {
				out.constant = append(out.constant, row[k-1])
			}
		}
	}
	return out.node()
}

// groups lists the forms, those with the same elements of all variables together.
func (f *affine) groups() [][]int {
	var varying []*affineTerm
	for _, t := range f.terms {
		if t.at < 0 {
			varying = append(varying, t)
		}
	}
	number := map[[4]int32]int{}
	var groups [][]int
	for i := range f.n {
		var key [4]int32
		if len(varying) > len(key) {
			key[0] = int32(i)
		} else {
			for j, t := range varying {
				key[j] = int32(t.place(i))
			}
		}
		g, ok := number[key]
		if !ok {
			g = len(groups)
			number[key] = g
			groups = append(groups, nil)
		}
		groups[g] = append(groups[g], i)
	}
	return groups
}

// eliminate replaces a matrix of rows and columns by the triangular factor of its QR decomposition, by Householder reflections, and returns
// the number of its rows. A matrix with no more rows than columns stays as it is.
func eliminate(a []float64, rows, cols int) int {
	if rows <= cols {
		return rows
	}
	for k := range cols {
		scale := 0.0
		for i := k; i < rows; i++ {
			scale = max(scale, math.Abs(a[i*cols+k]))
		}
		if scale == 0 {
			continue
		}
		norm := 0.0
		for i := k; i < rows; i++ {
			v := a[i*cols+k] / scale
			norm += v * v
		}
		norm = scale * math.Sqrt(norm)
		if a[k*cols+k] > 0 {
			norm = -norm
		}
		// v = x - norm e_k, and the reflection is 1 - 2 v v^T/(v^T v) with v^T v = 2 norm (norm - x_k).
		top := a[k*cols+k] - norm
		half := -norm * top
		for j := k + 1; j < cols; j++ {
			dot := top * a[k*cols+j]
			for i := k + 1; i < rows; i++ {
				dot += a[i*cols+k] * a[i*cols+j]
			}
			dot /= half
			a[k*cols+j] -= dot * top
			for i := k + 1; i < rows; i++ {
				a[i*cols+j] -= dot * a[i*cols+k]
			}
		}
		a[k*cols+k] = norm
		for i := k + 1; i < rows; i++ {
			a[i*cols+k] = 0
		}
	}
	return cols
}

// node computes the forms.
func (f *affine) node() *Node {
	var sum []*Node
	if f.constant != nil {
		sum = append(sum, Const(f.constant))
	}
	done := map[*Node]bool{}
	for _, t := range f.terms {
		if t.at < 0 {
			sum = append(sum, Mul(Const(t.coef), taken(t.base, t.idx)))
			continue
		}
		if done[t.base] {
			continue
		}
		done[t.base] = true
		sum = append(sum, f.block(t.base))
	}
	return AddN(sum...)
}

// block is the part of the forms that has the same elements of a variable in all.
func (f *affine) block(base *Node) *Node {
	var own []*affineTerm
	for _, t := range f.terms {
		if t.base == base && t.at >= 0 {
			own = append(own, t)
		}
	}
	slices.SortFunc(own, func(a, b *affineTerm) int { return a.at - b.at })
	if len(own) == 1 {
		return Mul(Const(own[0].coef), Reshape(taken(base, []int32{int32(own[0].at)})))
	}
	places, data := make([]int32, len(own)), make([]float64, f.n*len(own))
	for j, t := range own {
		places[j] = int32(t.at)
		for i, v := range t.coef {
			data[i*len(own)+j] = v
		}
	}
	return MatMul(Const(data, f.n, len(own)), taken(base, places))
}
