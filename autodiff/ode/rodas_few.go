// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package ode

import ad "github.com/euryale-dev/euryale/autodiff"

// mostFew is the number of states up to which the linear systems of Rodas are solved by formulas. A step is then made of single numbers
// alone, which have machine code.
const mostFew = 3

// states is the number of components without tangents, which follow them.
func (g *graph) states() int {
	if g.tangents {
		return len(g.y) / 2
	}
	return len(g.y)
}

// few says whether the state consists of a few single numbers.
func (g *graph) few() bool {
	for _, y := range g.y {
		if len(y.Shape()) > 0 {
			return false
		}
	}
	return g.states() <= mostFew
}

// rodasOfFew is rodas for a state of a few numbers. The matrix of state and tangent has two equal blocks on its diagonal, of which the inverse
// is taken once for all stages.
func (g *graph) rodasOfFew() (next, estimate []*ad.Node) {
	n, rate := g.states(), g.rate(g.t, g.y, g.p)
	jacobian, overTime := make([][]*ad.Node, len(rate)), make([]*ad.Node, len(rate))
	for i, r := range rate {
		d := ad.Grad(r, append(append([]*ad.Node{}, g.y...), g.t)...)
		jacobian[i], overTime[i] = d[:len(g.y)], d[len(g.y)]
	}
	shift := ad.Reciprocal(ad.Scale(rodasGamma, g.h))
	a, scale := make([][]*ad.Node, n), make([]*ad.Node, n)
	for i := range a {
		// Rows are divided by a number as large as their entry on the diagonal, so that determinants have no powers of the unit of time.
		scale[i] = ad.StopGradient(ad.Reciprocal(ad.Add(shift, ad.Abs(jacobian[i][i]))))
		for j := range n {
			entry := ad.Neg(jacobian[i][j])
			if i == j {
				entry = ad.Add(shift, entry)
			}
			a[i] = append(a[i], ad.Mul(scale[i], entry))
		}
	}
	inverse := inverted(a)
	for _, row := range inverse {
		for j := range row {
			row[j] = ad.Mul(row[j], scale[j])
		}
	}
	var k [][]*ad.Node
	y := g.y
	for i, alpha := range rodasAlpha {
		right := append([]*ad.Node{}, rate...)
		if i > 0 {
			y = g.plus(g.y, false, rodasA[i], k)
			right = g.rate(ad.Add(g.t, ad.Scale(alpha, g.h)), y, g.p)
			for m := range right {
				var terms []*ad.Node
				for j, c := range rodasC[i] {
					terms = append(terms, ad.Scale(c, k[j][m]))
				}
				right[m] = ad.Add(right[m], ad.Div(ad.AddN(terms...), g.h))
			}
		}
		if d := rodasD[i]; d != 0 {
			for m := range right {
				right[m] = ad.Add(right[m], ad.Mul(ad.Scale(d, g.h), overTime[m]))
			}
		}
		stage := times(inverse, right[:n])
		if g.tangents {
			for m, row := range jacobian[n:] {
				right[n+m] = ad.Add(right[n+m], times([][]*ad.Node{row[:n]}, stage)[0])
			}
			stage = append(stage, times(inverse, right[n:])...)
		}
		k = append(k, stage)
	}
	last := k[len(k)-1]
	for i := range y {
		next = append(next, ad.Add(y[i], last[i]))
	}
	return next, last
}

// inverted returns the inverse of a matrix of at most three rows, by cofactors.
func inverted(a [][]*ad.Node) [][]*ad.Node {
	minor := func(i, j int) *ad.Node {
		var rest [][]*ad.Node
		for r, row := range a {
			if r != i {
				rest = append(rest, append(append([]*ad.Node{}, row[:j]...), row[j+1:]...))
			}
		}
		switch len(rest) {
		case 0:
			return ad.Scalar(1)
		case 1:
			return rest[0][0]
		}
		return ad.Sub(ad.Mul(rest[0][0], rest[1][1]), ad.Mul(rest[0][1], rest[1][0]))
	}
	out, terms := make([][]*ad.Node, len(a)), make([]*ad.Node, len(a))
	for j := range a {
		for i := range a {
			c := minor(i, j)
			if (i+j)%2 == 1 {
				c = ad.Neg(c)
			}
			out[j] = append(out[j], c)
			if i == 0 {
				terms[j] = ad.Mul(a[0][j], c)
			}
		}
	}
	determinant := ad.AddN(terms...)
	over := ad.Reciprocal(determinant)
	// An infinite determinant makes the inverse NaN, not 0, with which any step would be taken for one without an error.
	over = ad.Mul(over, ad.Sub(ad.Scalar(2), ad.Mul(determinant, over)))
	for _, row := range out {
		for i, c := range row {
			row[i] = ad.Mul(c, over)
		}
	}
	return out
}

// times is the product of a matrix and a vector.
func times(a [][]*ad.Node, v []*ad.Node) []*ad.Node {
	out := make([]*ad.Node, len(a))
	for i, row := range a {
		terms := make([]*ad.Node, len(v))
		for j, x := range v {
			terms[j] = ad.Mul(row[j], x)
		}
		out[i] = ad.AddN(terms...)
	}
	return out
}
