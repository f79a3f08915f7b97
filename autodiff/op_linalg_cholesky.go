// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package autodiff

import (
	"math"

	"github.com/euryale-dev/euryale/autodiff/internal/compiler"
	"github.com/euryale-dev/euryale/autodiff/internal/cpu"
	"github.com/euryale-dev/euryale/autodiff/internal/cuda"
	"github.com/euryale-dev/euryale/internal/linalg"
)

// Cholesky returns the lower triangular L with L L^T = a, for each symmetric positive definite
// matrix of the last two axes. It reads the lower triangle of a and assumes that the upper one is
// its mirror image, whatever it holds. The upper triangle of L is 0.
//
// A run fails with a [*NotPositiveDefiniteError] where a has no factor; see [CholeskyOrNaN]. The
// gradient is that of the lower triangle, in which an element below the diagonal stands for itself
// and its mirror image; above the diagonal the gradient is 0:
//
//	Phi(S + S^T), S = L^-T Phi(L^T g) L^-1, Phi: lower triangle, half the diagonal
//
// Reference: Murray, arXiv:1602.07527.
func Cholesky(a *Node) *Node { return factored(a, 0) }

// CholeskyOrNaN is Cholesky, but factors that do not exist are NaN, so that in a batch the other
// matrices still have theirs.
func CholeskyOrNaN(a *Node) *Node { return factored(a, 1) }

func factored(a *Node, orNaN int) *Node {
	if _, bad := square("cholesky", a); bad != nil {
		return bad
	}
	l := newNode(choleskyOp, a.shape, a)
	l.attr = []int{orNaN}
	return l
}

// CholeskyLogDet returns log det a = 2 sum log L_ii of symmetric positive definite matrices a, from
// their factor L that [Cholesky] returns. It reads only the diagonal of L, and its gradient is 0
// elsewhere. For other matrices see [LogDet].
func CholeskyLogDet(l *Node) *Node {
	d := Diag(l)
	if d.err != nil {
		return d
	}
	return Scale(2, SumAxes(Log(d), -1))
}

var choleskyOp, choleskyGradOp *Op

func init() {
	spd := func(in Source, lead ...int) *Node {
		a := in(-1, 1, append(lead, 3, 3)...)
		return Add(MatMul(a, T(a)), Eye(3))
	}
	choleskyOp = register(&Op{Name: "cholesky", Arity: 1, kind: compiler.Step, Smooth: true, lift: (*batcher).matrices,
		vjp:    func(g, l *Node, _ []*Node) []*Node { return []*Node{newNode(choleskyGradOp, l.shape, l, g)} },
		run:    runCholesky,
		device: cuda.Cholesky,
		Sample: func(in Source) []*Node {
			return []*Node{Cholesky(spd(in, 2)), Cholesky(Add(in(-1, 1, 3, 3), Scale(4, Eye(3)))), CholeskyOrNaN(spd(in))}
		}})
	choleskyGradOp = register(&Op{Name: "cholesky_grad", Arity: 2, kind: compiler.Step, Smooth: true, lift: (*batcher).matrices,
		vjp: func(h, _ *Node, x []*Node) []*Node {
			// Of leaves, since x[1] may depend on x[0].
			l, g := Input("l", x[0].shape...), Input("g", x[1].shape...)
			return Substitute(VJP(choleskyGrad(l, g), h, l, g), []*Node{l, g}, x)
		},
		run:    runCholeskyGrad,
		device: cuda.CholeskyGrad,
		Sample: func(in Source) []*Node {
			l := Tril(Add(in(-1, 1, 2, 3, 3), Scale(2.5, Eye(3))), 0)
			return []*Node{newNode(choleskyGradOp, l.shape, l, in(-1, 1, 2, 3, 3))}
		}})
}

// choleskyGrad is the formula that runCholeskyGrad evaluates.
func choleskyGrad(l, g *Node) *Node {
	p := lowerHalf(MatMul(T(l), Tril(g, 0)))
	s := SolveTriangular(l, T(SolveTriangular(l, p, true, true)), true, true) // S^T
	return lowerHalf(Add(s, T(s)))
}

func runCholesky(c *cpu.Call) error {
	out, in := c.AsFloat64()
	n := c.Shape[len(c.Shape)-1]
	for i, at := 0, 0; at < len(out); i, at = i+1, at+n*n {
		l := out[at : at+n*n]
		copy(l, in[0][at:at+n*n])
		if p, v := cholesky(c, l, n); p >= 0 {
			if c.Attr[0] == 0 && !c.Isolate {
				return &NotPositiveDefiniteError{Matrix: i, Pivot: p, Size: n, Value: v}
			}
			for k := range l {
				l[k] = math.NaN()
			}
		}
	}
	c.StoreFloat64()
	return nil
}

// choleskyBlock columns are made at once; products of matrices do the rest.
const choleskyBlock = 48

// cholesky factors a in place, row by row, and clears the upper triangle. It
// returns the first bad pivot and its value, or -1.
func cholesky(c *cpu.Call, a []float64, n int) (int, float64) {
	for k0 := 0; k0 < n; k0 += choleskyBlock {
		k1 := min(n, k0+choleskyBlock)
		c.Gemm(false, true, n-k0, k1-k0, k0, -1, a[k0*n:], n, a[k0*n:], n, a[k0*n+k0:], n)
		if row, v := linalg.CholeskyColumns(a, n, k0, k1); row >= 0 {
			return row, v
		}
	}
	for i := range n {
		clear(a[i*n+i+1 : (i+1)*n])
	}
	return -1, 0
}

// choleskyWork is scratch for the gradient: a matrix and two columns.
type choleskyWork struct{ g, lk, fk []float64 }

func runCholeskyGrad(c *cpu.Call) error {
	out, in := c.AsFloat64()
	n := c.Shape[len(c.Shape)-1]
	w := cpu.Scratch(c, func() *choleskyWork {
		return &choleskyWork{make([]float64, n*n), make([]float64, n), make([]float64, n)}
	})
	for at := 0; at < len(out); at += n * n {
		l, g, f := in[0][at:at+n*n], in[1][at:at+n*n], out[at:at+n*n]
		clear(w.g)
		for i := range n {
			copy(w.g[i*n:i*n+i+1], g[i*n:i*n+i+1])
		}
		if n <= choleskyBlock {
			copy(f, w.g)
			w.small(f, l, n)
			continue
		}
		clear(f)
		c.Gemm(true, false, n, n, n, 1, l, n, w.g, n, f, n)
		phi(f, n)
		solveTriangular(c, l, n, f, n, true, true)
		transpose(f, n)
		solveTriangular(c, l, n, f, n, true, true)
		copy(w.g, f)
		transpose(w.g, n)
		for i := range f {
			f[i] += w.g[i]
		}
		phi(f, n)
	}
	c.StoreFloat64()
	return nil
}

// small replaces the gradient f of l by that of the matrix, column by column
// from the last. Reference: Smith, doi:10.1080/10618600.1995.10474671.
func (w *choleskyWork) small(f, l []float64, n int) {
	for k := n - 1; k >= 0; k-- {
		lk, fk := w.lk, w.fk
		for i := k; i < n; i++ {
			lk[i], fk[i] = l[i*n+k], f[i*n+k]
		}
		for i := k + 1; i < n; i++ {
			row := f[i*n+k+1 : i*n+i+1]
			fk[i] -= linalg.Dot(row, lk[k+1:])
			linalg.AddScaled(fk[k+1:], -lk[i], row)
		}
		for j := k + 1; j < n; j++ {
			fk[j] /= lk[k]
			fk[k] -= lk[j] * fk[j]
			f[j*n+k] = fk[j]
		}
		f[k*n+k] = fk[k] / (2 * lk[k])
	}
}

// phi halves the diagonal and clears what is above it.
func phi(a []float64, n int) {
	for i := range n {
		a[i*n+i] *= 0.5
		clear(a[i*n+i+1 : (i+1)*n])
	}
}

func transpose(a []float64, n int) {
	for i := range n {
		for j := range i {
			a[i*n+j], a[j*n+i] = a[j*n+i], a[i*n+j]
		}
	}
}
