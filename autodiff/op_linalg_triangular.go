// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package autodiff

import (
	"github.com/euryale-dev/euryale/autodiff/internal/compiler"
	"github.com/euryale-dev/euryale/autodiff/internal/cpu"
	"github.com/euryale-dev/euryale/autodiff/internal/cuda"
	"github.com/euryale-dev/euryale/internal/linalg"
)

// SolveTriangular returns the x with a x = b, or a^T x = b if transposed, for triangular matrices
// a. It reads the lower triangle of a if lower is true and the upper one otherwise, with the
// diagonal, and treats the rest as 0, whatever it holds. Leading axes broadcast; if b has one axis,
// it is one column. A 0 on the diagonal makes the result infinite or NaN. Gradient: gb = a^-T g; ga
// = -gb x^T in that triangle, 0 in the other.
func SolveTriangular(a, b *Node, lower, transposed bool) *Node {
	return system(solveTriangularOp, a, b, int(truth(lower)), int(truth(transposed)))
}

// CholeskySolve returns the x with L L^T x = b for the factor L that [Cholesky] returns, by solving
// two triangular systems. It reads the lower triangle of L, and its gradient is 0 above it. Leading
// axes broadcast; if b has one axis, it is one column.
func CholeskySolve(l, b *Node) *Node {
	return SolveTriangular(l, SolveTriangular(l, b, true, false), true, true)
}

var solveTriangularOp *Op

func init() {
	solveTriangularOp = register(&Op{Name: "solve_triangular", Arity: 2, kind: compiler.Step, Smooth: true, lift: (*batcher).systems,
		vjp: func(g, y *Node, x []*Node) []*Node {
			lower, transposed := y.attr[0] == 1, y.attr[1] == 1
			gb := SolveTriangular(x[0], g, lower, !transposed)
			p, q := gb, y
			if transposed {
				p, q = y, gb
			}
			ga := Neg(MatMul(p, T(q)))
			if lower {
				return []*Node{Tril(ga, 0), gb}
			}
			return []*Node{Triu(ga, 0), gb}
		},
		run:    runSolveTriangular,
		device: cuda.SolveTriangular,
		Sample: func(in Source) []*Node {
			a := func(lead ...int) *Node { return Add(in(-1, 1, append(lead, 3, 3)...), Scale(3, Eye(3))) }
			return []*Node{SolveTriangular(a(2), in(-1, 1, 3, 2), true, false), SolveTriangular(a(), in(-1, 1, 2, 3, 2), true, true),
				SolveTriangular(a(), in(-1, 1, 3), false, false), SolveTriangular(a(2, 1), in(-1, 1, 2, 3, 1), false, true)}
		}})
}

func runSolveTriangular(c *cpu.Call) error {
	out, in := c.AsFloat64()
	k := len(c.Shape)
	n, m := c.Shape[k-2], c.Shape[k-1]
	for i, at := 0, c.Systems(); i < len(at); i += 2 {
		x := out[i/2*n*m : (i/2+1)*n*m]
		copy(x, in[1][at[i+1]*n*m:(at[i+1]+1)*n*m])
		solveTriangular(c, in[0][at[i]*n*n:(at[i]+1)*n*n], n, x, m, c.Attr[0] == 1, c.Attr[1] == 1)
	}
	c.StoreFloat64()
	return nil
}

// triangularBlock rows are solved one by one; products of matrices do the rest
// where there are enough columns.
const triangularBlock = 12

// solveTriangular replaces the n x m matrix x by the solution.
func solveTriangular(c *cpu.Call, a []float64, n int, x []float64, m int, lower, transposed bool) {
	size := n
	if m >= 8 && n > triangularBlock {
		size = triangularBlock
	}
	blocks := (n + max(size, 1) - 1) / max(size, 1)
	for b := range blocks {
		if lower == transposed {
			b = blocks - 1 - b
		}
		i0, i1 := b*size, min((b+1)*size, n)
		rest0, rest1 := 0, i0 // the unknowns on the other side of the triangle
		if !lower {
			rest0, rest1 = i1, n
		}
		if transposed {
			triangularColumns(a, n, x, m, i0, i1, lower)
			if rest0 < rest1 {
				c.Gemm(true, false, rest1-rest0, m, i1-i0, -1, a[i0*n+rest0:], n, x[i0*m:], m, x[rest0*m:], m)
			}
			continue
		}
		if rest0 < rest1 {
			c.Gemm(false, false, i1-i0, m, rest1-rest0, -1, a[i0*n+rest0:], n, x[rest0*m:], m, x[i0*m:], m)
		}
		triangularRows(a, n, x, m, i0, i1, lower)
	}
}

// triangularRows solves rows i0..i1-1 of a x = b among themselves.
func triangularRows(a []float64, n int, x []float64, m, i0, i1 int, lower bool) {
	for k := i0; k < i1; k++ {
		i, from, to := k, i0, k
		if !lower {
			i = i1 - 1 - (k - i0)
			from, to = i+1, i1
		}
		row := a[i*n : i*n+n]
		if m == 1 {
			x[i] = (x[i] - linalg.Dot(row[from:to], x[from:])) / row[i]
			continue
		}
		xi := x[i*m : i*m+m]
		for j := from; j < to; j++ {
			linalg.AddScaled(xi, -row[j], x[j*m:j*m+m])
		}
		for p := range xi {
			xi[p] /= row[i]
		}
	}
}

// triangularColumns solves rows i0..i1-1 of a^T x = b among themselves.
func triangularColumns(a []float64, n int, x []float64, m, i0, i1 int, lower bool) {
	for k := i0; k < i1; k++ {
		i, from, to := k, k+1, i1
		if lower {
			i = i1 - 1 - (k - i0)
			from, to = i0, i
		}
		row, xi := a[i*n:i*n+n], x[i*m:i*m+m]
		for p := range xi {
			xi[p] /= row[i]
		}
		if m == 1 {
			linalg.AddScaled(x[from:], -xi[0], row[from:to])
			continue
		}
		for j := from; j < to; j++ {
			linalg.AddScaled(x[j*m:j*m+m], -row[j], xi)
		}
	}
}
