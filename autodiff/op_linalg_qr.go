// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package autodiff

import (
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/lapack/lapack64"

	"github.com/euryale-dev/euryale/autodiff/internal/compiler"
	"github.com/euryale-dev/euryale/autodiff/internal/cpu"
	"github.com/euryale-dev/euryale/autodiff/internal/cuda"
	"github.com/euryale-dev/euryale/tensor"
)

// QR returns the reduced factors of m x n matrices, m >= n: q is m x n with
// orthonormal columns and r is upper triangular with a positive diagonal, which
// makes them unique. Gradient, where the columns of a are independent:
//
//	(gq + q C(M)) r^-T, M = r gr^T - gq^T q, C: the lower triangle and its mirror image
//
// Reference: Liao, Liu, Wang, Xiang, arXiv:1903.09650, appendix.
func QR(a *Node) (q, r *Node) {
	if bad := notReal("qr", a); bad != nil {
		return bad, bad
	}
	k := len(a.shape)
	if k < 2 || a.shape[k-2] < a.shape[k-1] {
		bad := failed(&tensor.ShapeError{Op: "qr", Got: []tensor.Shape{a.shape}, Want: "matrices with at least as many rows as columns"})
		return bad, bad
	}
	m, n := a.shape[k-2], a.shape[k-1]
	y := newNode(qrOp, append(lead(a, 2), m+n, n), a)
	return rowsOf(y, 0, m), rowsOf(y, m, m+n)
}

var qrOp *Op // operation that returns q and r stacked in one array

func init() {
	qrOp = register(&Op{Name: "qr", Arity: 1, kind: compiler.Step, Smooth: true, lift: (*batcher).matrices,
		vjp: func(g, y *Node, x []*Node) []*Node {
			k := len(x[0].shape)
			m, n := x[0].shape[k-2], x[0].shape[k-1]
			q, r, gq, gr := rowsOf(y, 0, m), rowsOf(y, m, m+n), rowsOf(g, 0, m), rowsOf(g, m, m+n)
			c := Sub(MatMul(r, T(Triu(gr, 0))), MatMul(T(gq), q))
			c = Add(Tril(c, 0), T(Tril(c, -1)))
			return []*Node{T(SolveTriangular(r, T(Add(gq, MatMul(q, c))), false, false))}
		},
		run:    runQR,
		device: cuda.QR,
		Sample: func(in Source) []*Node {
			q, r := QR(Add(in(-1, 1, 2, 4, 3), Const([]float64{3, 0, 0, 0, 3, 0, 0, 0, 3, 1, 1, 1}, 4, 3)))
			_, s := QR(Add(in(-1, 1, 2, 2), Scale(3, Eye(2))))
			return []*Node{q, r, s}
		}})
}

type qrWork struct {
	a         blas64.General
	tau, work []float64
}

func runQR(c *cpu.Call) error {
	out, in := c.AsFloat64()
	k := len(c.InShape[0])
	m, n := c.InShape[0][k-2], c.InShape[0][k-1]
	if n == 0 {
		return nil
	}
	w := cpu.Scratch(c, func() *qrWork {
		w := &qrWork{a: general(make([]float64, m*n), m, n), tau: make([]float64, n)}
		size := []float64{0}
		lapack64.Geqrf(w.a, w.tau, size, -1)
		w.work = make([]float64, max(n, int(size[0]), 64*n))
		return w
	})
	for i := range len(in[0]) / (m * n) {
		copy(w.a.Data, in[0][i*m*n:])
		lapack64.Geqrf(w.a, w.tau, w.work, len(w.work))
		q := out[i*(m+n)*n : (i+1)*(m+n)*n]
		r := q[m*n:]
		clear(r)
		for j := range n {
			copy(r[j*n+j:(j+1)*n], w.a.Data[j*n+j:])
		}
		lapack64.Orgqr(w.a, w.tau, w.work, len(w.work))
		copy(q, w.a.Data)
		for j := range n {
			if r[j*n+j] < 0 {
				negateColumn(q[:m*n], n, j)
				negateColumn(r[j*n:(j+1)*n], 1, 0)
			}
		}
	}
	c.StoreFloat64()
	return nil
}

func negateColumn(a []float64, n, j int) {
	for ; j < len(a); j += n {
		a[j] = -a[j]
	}
}

// positiveColumn negates column j of the matrices, each of n columns, where the
// largest element of the first is negative.
func positiveColumn(n, j int, a ...[]float64) {
	best := 0.0
	for i := j; i < len(a[0]); i += n {
		if v := a[0][i]; v > best || -v > best {
			best = max(v, -v)
		}
	}
	for i := j; i < len(a[0]); i += n {
		if a[0][i] == -best && best > 0 {
			for _, b := range a {
				negateColumn(b, n, j)
			}
			return
		} else if a[0][i] == best {
			return
		}
	}
}
