// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package autodiff

import (
	"errors"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/lapack"
	"gonum.org/v1/gonum/lapack/lapack64"

	"github.com/euryale-dev/euryale/autodiff/internal/compiler"
	"github.com/euryale-dev/euryale/autodiff/internal/cpu"
	"github.com/euryale-dev/euryale/autodiff/internal/cuda"
)

// EigenSymmetric returns the eigenvalues of symmetric matrices in ascending order, and the
// eigenvectors as columns of length 1 whose largest element in size is positive. It reads the lower
// triangle and assumes that the upper one is its mirror image, whatever it holds. The gradient is
// that of the lower triangle, in which an element below the diagonal stands for itself and its
// mirror image; above the diagonal the gradient is 0:
//
//	Phi(S + S^T), S = v (diag gw + F o (M - M^T)/2) v^T, M = v^T gv, F_ij = 1/(w_j - w_i), F_ii = 0
//
// Eigenvectors of repeated eigenvalues have no gradient. Functions that do not depend on the choice of these vectors, such
// as v diag(f(w)) v^T, have one, in which F o (M - M^T) is its limit as the eigenvalues move apart; that of others is NaN.
func EigenSymmetric(a *Node) (values, vectors *Node) {
	n, bad := square("eigen_symmetric", a)
	if bad != nil {
		return bad, bad
	}
	y := newNode(eigenOp, append(lead(a, 2), n+1, n), a)
	return Index(y, -2, 0), rowsOf(y, 1, n+1)
}

// EigenvaluesSymmetric returns the eigenvalues of symmetric matrices in ascending order; see
// [EigenSymmetric].
func EigenvaluesSymmetric(a *Node) *Node {
	w, _ := EigenSymmetric(a)
	return w
}

var eigenOp *Op // operation that returns values and vectors stacked in one array

func init() {
	eigenOp = register(&Op{Name: "eigen_symmetric", Arity: 1, kind: compiler.Step, Smooth: true, lift: (*batcher).matrices,
		vjp: func(g, y *Node, _ []*Node) []*Node {
			n := order(y.shape)
			v, gw := rowsOf(y, 1, n+1), rowsOf(g, 0, 1)
			turn := func(y, g *Node) *Node { return MatMul(T(rowsOf(y, 1, n+1)), rowsOf(g, 1, n+1)) }
			top := func(y, g *Node) *Node { m := turn(y, g); return Sub(m, T(m)) }
			size := func(y, g *Node) *Node { m := Abs(turn(y, g)); return Add(m, T(m)) }
			s := limitQuotient(y, g, largestOf(rowsOf(y, 0, 1)), 0, top, size)
			s = Where(Eye(n), gw, Scale(0.5, s))
			s = MatMul(v, MatMul(s, T(v)))
			return []*Node{lowerHalf(Add(s, T(s)))}
		},
		run:    runEigen,
		device: cuda.EigenSymmetric,
		Sample: func(in Source) []*Node {
			w, v := EigenSymmetric(Add(in(-0.4, 0.4, 2, 3, 3), Const([]float64{1, 1, 1, 1, 3, 1, 1, 1, 6}, 3, 3)))
			return []*Node{w, v}
		}})
}

type eigenWork struct {
	a       blas64.Symmetric
	w, work []float64
}

// ErrNoConvergence is the error of a run in which eigenvalues or singular values were not found,
// because the matrix holds a NaN or an infinity.
var ErrNoConvergence = errors.New("autodiff: the eigenvalues or singular values were not found: check the matrix for NaN and infinities")

func runEigen(c *cpu.Call) error {
	out, in := c.AsFloat64()
	n := order(c.Shape)
	if n == 0 {
		return nil
	}
	e := cpu.Scratch(c, func() *eigenWork {
		e := &eigenWork{a: blas64.Symmetric{N: n, Stride: n, Data: make([]float64, n*n), Uplo: blas.Lower}, w: make([]float64, n)}
		size := []float64{0}
		lapack64.Syev(lapack.EVCompute, e.a, e.w, size, -1)
		e.work = make([]float64, int(size[0]))
		return e
	})
	for i := range len(in[0]) / (n * n) {
		a := in[0][i*n*n : (i+1)*n*n]
		if !finite(a) {
			return ErrNoConvergence
		}
		copy(e.a.Data, a)
		if !lapack64.Syev(lapack.EVCompute, e.a, e.w, e.work, len(e.work)) {
			return ErrNoConvergence
		}
		y := out[i*(n+1)*n : (i+1)*(n+1)*n]
		copy(y, e.w)
		copy(y[n:], e.a.Data)
		for j := range n {
			positiveColumn(n, j, y[n:])
		}
	}
	c.StoreFloat64()
	return nil
}

func finite(a []float64) bool {
	s := 0.0
	for _, v := range a {
		s += 0 * v
	}
	return s == 0
}
