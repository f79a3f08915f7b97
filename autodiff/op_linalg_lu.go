// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package autodiff

import (
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/lapack/lapack64"

	"github.com/euryale-dev/euryale/autodiff/internal/compiler"
	"github.com/euryale-dev/euryale/autodiff/internal/cpu"
	"github.com/euryale-dev/euryale/autodiff/internal/cuda"
	"github.com/euryale-dev/euryale/tensor"
)

// Solve returns the x with a x = b for any square matrices a, by LU with partial pivoting. Leading
// axes broadcast; if b has one axis, it is one column. A run fails with a [*SingularError] if a
// pivot is 0. For symmetric positive definite matrices see [CholeskySolve]. Gradient: gb = a^-T g,
// ga = -gb x^T.
func Solve(a, b *Node) *Node { return system(solveOp, a, b, 0) }

// Inverse returns the inverses of any square matrices. A run fails with a [*SingularError] if a
// matrix has none. Prefer [Solve] or [CholeskySolve]. Gradient: -y^T g y^T.
func Inverse(a *Node) *Node {
	if _, bad := square("inverse", a); bad != nil {
		return bad
	}
	return newNode(inverseOp, a.shape, a)
}

// Det returns the determinants of square matrices, by LU. Gradient: g y a^-T, so a must not be
// singular.
func Det(a *Node) *Node {
	if _, bad := square("det", a); bad != nil {
		return bad
	}
	return newNode(detOp, lead(a, 2), a)
}

// LogDet returns log |det a| of any square matrices, by LU: -Inf where they are singular. For the
// sign see [SignLogDet]. For symmetric positive definite matrices [CholeskyLogDet] needs fewer
// steps. Gradient: g a^-T.
func LogDet(a *Node) *Node {
	_, log := SignLogDet(a)
	return log
}

// SignLogDet returns the signs of the determinants of square matrices, -1, 0 or 1, and the
// logarithms of their absolute values, which are -Inf for singular matrices. Gradient of the
// logarithm: g a^-T; of the sign: none.
func SignLogDet(a *Node) (sign, log *Node) {
	if _, bad := square("sign_log_det", a); bad != nil {
		return bad, bad
	}
	y := newNode(signLogDetOp, append(lead(a, 2), 2), a)
	return Index(y, -1, 0), Index(y, -1, 1)
}

var solveOp, inverseOp, detOp, signLogDetOp *Op

func init() {
	general := func(in Source, lead ...int) *Node {
		return Add(in(-1, 1, append(lead, 3, 3)...), Const([]float64{0, 3, 0, 0, 0, 3, 3, 0, 0}, 3, 3))
	}
	solveOp = register(&Op{Name: "solve", Arity: 2, kind: compiler.Step, Smooth: true, lift: (*batcher).systems,
		vjp: func(g, y *Node, x []*Node) []*Node {
			gb := system(solveOp, x[0], g, 1-y.attr[0])
			if y.attr[0] == 1 {
				return []*Node{Neg(MatMul(y, T(gb))), gb}
			}
			return []*Node{Neg(MatMul(gb, T(y))), gb}
		},
		run:    runSolve,
		device: cuda.Solve,
		Sample: func(in Source) []*Node {
			return []*Node{Solve(general(in, 2), in(-1, 1, 3, 2)), Solve(general(in), in(-1, 1, 3)), system(solveOp, general(in), in(-1, 1, 2, 3, 1), 1)}
		}})
	inverseOp = register(&Op{Name: "inverse", Arity: 1, kind: compiler.Step, Smooth: true, lift: (*batcher).matrices,
		vjp: func(g, y *Node, _ []*Node) []*Node {
			return []*Node{Neg(MatMul(T(y), MatMul(g, T(y))))}
		},
		run:    runInverse,
		device: cuda.Inverse,
		Sample: func(in Source) []*Node { return []*Node{Inverse(general(in, 2))} }})
	detOp = register(&Op{Name: "det", Arity: 1, kind: compiler.Step, Smooth: true, lift: (*batcher).matrices,
		vjp: func(g, y *Node, x []*Node) []*Node {
			return []*Node{Mul(asMatrix(Mul(g, y)), T(Inverse(x[0])))}
		},
		run:    runDet,
		device: cuda.Det,
		Sample: func(in Source) []*Node { return []*Node{Det(general(in)), Det(general(in, 2))} }})
	signLogDetOp = register(&Op{Name: "sign_log_det", Arity: 1, kind: compiler.Step, Smooth: true, lift: (*batcher).matrices,
		vjp: func(g, _ *Node, x []*Node) []*Node {
			return []*Node{Mul(asMatrix(Index(g, -1, 1)), T(Inverse(x[0])))}
		},
		run:    runSignLogDet,
		device: cuda.SignLogDet,
		Sample: func(in Source) []*Node {
			_, l := SignLogDet(general(in, 2))
			return []*Node{l}
		}})
}

// luWork is scratch for one LU factorization.
type luWork struct {
	a   blas64.General
	piv []int
}

// lu factors a, which it copies; false means a pivot of 0 or a NaN.
func lu(c *cpu.Call, a []float64, n int) (*luWork, bool) {
	w := cpu.Scratch(c, func() *luWork { return &luWork{general(make([]float64, n*n), n, n), make([]int, n)} })
	copy(w.a.Data, a)
	if n == 0 {
		return w, true
	}
	ok := lapack64.Getrf(w.a, w.piv)
	for i := range n {
		d := w.a.Data[i*n+i]
		ok = ok && d == d
	}
	return w, ok
}

// solve replaces the n x m matrix x by the solution.
func (w *luWork) solve(x []float64, m int, transposed bool) {
	if m == 0 || w.a.Rows == 0 {
		return
	}
	t := blas.NoTrans
	if transposed {
		t = blas.Trans
	}
	lapack64.Getrs(t, w.a, general(x, w.a.Rows, m), w.piv)
}

// det returns the sign and the logarithm of the size of the determinant, and
// the determinant.
func (w *luWork) det() (sign, log, det float64) {
	sign, det = 1, 1
	for i, p := range w.piv {
		v := w.a.Data[i*w.a.Stride+i]
		if p != i {
			sign, det = -sign, -det
		}
		switch {
		case v < 0:
			sign = -sign
		case v == 0:
			sign = 0
		case v != v:
			sign = v
		}
		log += math.Log(math.Abs(v))
		det *= v
	}
	return sign, log, det
}

// general is data as an m x n matrix of BLAS.
func general(data []float64, m, n int) blas64.General {
	return blas64.General{Rows: m, Cols: n, Stride: max(n, 1), Data: data}
}

func runSolve(c *cpu.Call) error {
	out, in := c.AsFloat64()
	k := len(c.Shape)
	n, m := c.Shape[k-2], c.Shape[k-1]
	for i, at := 0, c.Systems(); i < len(at); i += 2 {
		x := out[i/2*n*m : (i/2+1)*n*m]
		copy(x, in[1][at[i+1]*n*m:(at[i+1]+1)*n*m])
		w, ok := lu(c, in[0][at[i]*n*n:(at[i]+1)*n*n], n)
		if ok {
			w.solve(x, m, c.Attr[0] == 1)
		} else if err := c.NoResult(x, &SingularError{Op: "solve", Matrix: at[i], Size: n}); err != nil {
			return err
		}
	}
	c.StoreFloat64()
	return nil
}

func runInverse(c *cpu.Call) error {
	out, in := c.AsFloat64()
	n := c.Shape[len(c.Shape)-1]
	for i, at := 0, 0; at < len(out); i, at = i+1, at+n*n {
		x := out[at : at+n*n]
		w, ok := lu(c, in[0][at:at+n*n], n)
		if !ok {
			if err := c.NoResult(x, &SingularError{Op: "inverse", Matrix: i, Size: n}); err != nil {
				return err
			}
			continue
		}
		clear(x)
		for k := range n {
			x[k*n+k] = 1
		}
		w.solve(x, n, false)
	}
	c.StoreFloat64()
	return nil
}

func runDet(c *cpu.Call) error {
	out, in := c.AsFloat64()
	n := order(c.InShape[0])
	for i := range out {
		w, _ := lu(c, in[0][i*n*n:(i+1)*n*n], n)
		_, _, out[i] = w.det()
	}
	c.StoreFloat64()
	return nil
}

func runSignLogDet(c *cpu.Call) error {
	out, in := c.AsFloat64()
	n := order(c.InShape[0])
	for i := range len(out) / 2 {
		w, _ := lu(c, in[0][i*n*n:(i+1)*n*n], n)
		out[2*i], out[2*i+1], _ = w.det()
	}
	c.StoreFloat64()
	return nil
}

// order returns the length of the last axis.
func order(s tensor.Shape) int { return s[len(s)-1] }
