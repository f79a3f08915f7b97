// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package autodiff

import (
	"slices"

	"github.com/euryale-dev/euryale/autodiff/internal/compiler"
	"github.com/euryale-dev/euryale/autodiff/internal/cpu"
	"github.com/euryale-dev/euryale/autodiff/internal/cuda"
	"github.com/euryale-dev/euryale/tensor"
)

// MatMul returns the matrix product of the last two axes; leading axes are batches and broadcast. A
// vector is a row on the left and a column on the right; that axis is dropped from the result.
// Gradient: g b^T, a^T g.
func MatMul(a, b *Node) *Node {
	if bad := notReal("matmul", a, b); bad != nil {
		return bad
	}
	as, bs := a.shape, b.shape
	if len(as) == 0 || len(bs) == 0 || as[len(as)-1] != bs[max(0, len(bs)-2)] {
		return failed(&tensor.ShapeError{Op: "matmul", Got: []tensor.Shape{as, bs}, Want: "as many columns in the first as rows in the second"})
	}
	row, col := len(as) == 1, len(bs) == 1
	if row {
		a = Reshape(a, 1, as[0])
	}
	if col {
		b = Reshape(b, bs[0], 1)
	}
	y := matmul(a, b)
	if y.err != nil || !(row || col) {
		return y
	}
	s := y.shape.Clone()
	if col {
		s = s[:len(s)-1]
	}
	if row {
		i := len(y.shape) - 2
		s = slices.Delete(s, i, i+1)
	}
	return Reshape(y, s...)
}

// Outer returns the matrix x_i y_j of two vectors.
func Outer(x, y *Node) *Node {
	if bad := notReal("outer", x, y); bad != nil {
		return bad
	}
	return Mul(Reshape(x, x.Size(), 1), Reshape(y, 1, y.Size()))
}

func matmul(a, b *Node) *Node {
	p, q := len(a.shape)-2, len(b.shape)-2
	lead, ok := tensor.Broadcast(a.shape[:p], b.shape[:q])
	if !ok {
		return failed(&tensor.ShapeError{Op: "matmul", Got: []tensor.Shape{a.shape, b.shape}, Want: "leading axes that broadcast"})
	}
	if p > 0 && q == 0 && a.op != permuteOp { // one product of all rows, whose gradient by b is one too
		k := a.shape[p+1]
		return Reshape(matmul(Reshape(a, a.shape[:p+1].Size(), k), b), slices.Concat(lead, tensor.Shape{a.shape[p], b.shape[q+1]})...)
	}
	return newNode(matmulOp, slices.Concat(lead, tensor.Shape{a.shape[p], b.shape[q+1]}), a, b)
}

var matmulOp *Op

func init() {
	matmulOp = register(&Op{Name: "matmul", code: compiler.MatMul, Arity: 2, kind: compiler.Step, lift: (*batcher).matmul, Smooth: true,
		vjp: func(g, _ *Node, x []*Node) []*Node {
			return []*Node{matmul(g, T(x[1])), matmul(T(x[0]), g)}
		},
		run:    func(c *cpu.Call) error { return cpu.Matmul(c) },
		device: cuda.MatMul,
		Sample: func(in Source) []*Node {
			return []*Node{MatMul(in(-2, 2, 2, 3), in(-2, 2, 3, 4)), MatMul(in(-1, 1, 2, 1, 3, 2), in(-1, 1, 3, 2, 2)), MatMul(in(-2, 2, 3), in(-2, 2, 3, 2))}
		}})
}
