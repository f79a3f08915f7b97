// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package autodiff

import (
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/lapack"
	"gonum.org/v1/gonum/lapack/lapack64"

	"github.com/euryale-dev/euryale/autodiff/internal/compiler"
	"github.com/euryale-dev/euryale/autodiff/internal/cpu"
	"github.com/euryale-dev/euryale/autodiff/internal/cuda"
	"github.com/euryale-dev/euryale/tensor"
)

// SVD returns the reduced factors of a = u diag(s) v^T: of an m x n matrix with k = min(m, n), u is
// m x k, s holds the k singular values in descending order, and v is n x k. The largest element in
// size of each column of v is positive. Gradient:
//
//	u (J s + s K + diag gs) v^T + (1 - u u^T) gu s^-1 v^T + u s^-1 gv^T (1 - v v^T)
//	J = F o (u^T gu - gu^T u), K = F o (v^T gv - gv^T v), F_ij = 1/(s_j^2 - s_i^2), F_ii = 0
//
// Singular vectors of repeated or zero values have no gradient. Functions that do not depend on the choice of these
// vectors, such as u diag(f(s)) v^T, have one, in which J s + s K is its limit as the values move apart; that of others
// is NaN. 1/s is taken as 0 where s is 0, which is right for functions of the singular values alone.
//
// Reference: Townsend, Differentiating the singular value decomposition, 2016.
func SVD(a *Node) (u, s, v *Node) {
	if bad := notReal("svd", a); bad != nil {
		return bad, bad, bad
	}
	d := len(a.shape)
	if d < 2 {
		bad := failed(&tensor.ShapeError{Op: "svd", Got: []tensor.Shape{a.shape}, Want: "at least two axes"})
		return bad, bad, bad
	}
	m, n := a.shape[d-2], a.shape[d-1]
	y := newNode(svdOp, append(lead(a, 2), m+1+n, min(m, n)), a)
	return rowsOf(y, 0, m), Index(y, -2, m), rowsOf(y, m+1, m+1+n)
}

// SingularValues returns the singular values in descending order; see SVD.
func SingularValues(a *Node) *Node {
	_, s, _ := SVD(a)
	return s
}

var svdOp *Op // operation that returns u, s and v stacked in one array

func init() {
	svdOp = register(&Op{Name: "svd", Arity: 1, kind: compiler.Step, Smooth: true, lift: (*batcher).matrices,
		vjp:    func(g, y *Node, x []*Node) []*Node { return []*Node{svdGrad(g, y, x[0])} },
		run:    runSVD,
		device: cuda.SVD,
		Sample: func(in Source) []*Node {
			base := Const([]float64{1, 0, 0, 0, 3, 0, 0, 0, 5, 1, -1, 2}, 4, 3)
			tall := Add(in(-0.4, 0.4, 2, 4, 3), base)
			wide := Add(in(-0.4, 0.4, 3, 4), T(base))
			u, s, v := SVD(tall)
			p, _, q := SVD(wide)
			return []*Node{u, s, v, p, q}
		}})
}

func svdGrad(g, y, a *Node) *Node {
	d := len(a.shape)
	m, n := a.shape[d-2], a.shape[d-1]
	u, s, v := rowsOf(y, 0, m), rowsOf(y, m, m+1), rowsOf(y, m+1, m+1+n)
	gu, gs, gv := rowsOf(g, 0, m), rowsOf(g, m, m+1), rowsOf(g, m+1, m+1+n)
	// The quotients s_j/(s_j + s_i) have no squares, which small or large values have no number for.
	turn := func(q, gq *Node) *Node {
		w := MatMul(T(q), gq)
		return Sub(w, T(w))
	}
	parts := func(y, g *Node) (left, right *Node) {
		s := rowsOf(y, m, m+1)
		sum := Add(s, T(s))
		return Mul(quotient(s, sum), turn(rowsOf(y, 0, m), rowsOf(g, 0, m))), Mul(quotient(T(s), sum), turn(rowsOf(y, m+1, m+1+n), rowsOf(g, m+1, m+1+n)))
	}
	top := func(y, g *Node) *Node { return Add(parts(y, g)) }
	size := func(y, g *Node) *Node {
		left, right := parts(y, g)
		return Add(Abs(left), Abs(right))
	}
	inner := Where(Eye(min(m, n)), gs, limitQuotient(y, g, Add(s, T(s)), m, top, size))
	outside := func(q, gq *Node) *Node { // (1 - q q^T) gq s^-1
		return quotient(Sub(gq, MatMul(q, MatMul(T(q), gq))), s)
	}
	left := Add(MatMul(u, inner), outside(u, gu))
	return Add(MatMul(left, T(v)), MatMul(u, T(outside(v, gv))))
}

type svdWork struct {
	a, u, vt blas64.General
	s, work  []float64
}

func runSVD(c *cpu.Call) error {
	out, in := c.AsFloat64()
	d := len(c.InShape[0])
	m, n := c.InShape[0][d-2], c.InShape[0][d-1]
	k := min(m, n)
	if k == 0 {
		return nil
	}
	w := cpu.Scratch(c, func() *svdWork {
		w := &svdWork{general(make([]float64, m*n), m, n), general(make([]float64, m*k), m, k), general(make([]float64, k*n), k, n), make([]float64, k), []float64{0}}
		lapack64.Gesvd(lapack.SVDStore, lapack.SVDStore, w.a, w.u, w.vt, w.s, w.work, -1)
		w.work = make([]float64, int(w.work[0]))
		return w
	})
	size := (m + 1 + n) * k
	for i := range len(in[0]) / (m * n) {
		a := in[0][i*m*n : (i+1)*m*n]
		if !finite(a) {
			return ErrNoConvergence
		}
		copy(w.a.Data, a)
		if !lapack64.Gesvd(lapack.SVDStore, lapack.SVDStore, w.a, w.u, w.vt, w.s, w.work, len(w.work)) {
			return ErrNoConvergence
		}
		u, v := out[i*size:i*size+m*k], out[i*size+(m+1)*k:(i+1)*size]
		copy(u, w.u.Data)
		copy(out[i*size+m*k:], w.s)
		for p := range n {
			for q := range k {
				v[p*k+q] = w.vt.Data[q*n+p]
			}
		}
		for j := range k {
			positiveColumn(k, j, v, u)
		}
	}
	c.StoreFloat64()
	return nil
}
