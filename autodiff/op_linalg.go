// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package autodiff

import (
	"fmt"
	"slices"

	"github.com/euryale-dev/euryale/tensor"
)

// The operations of linear algebra work on the last two axes; leading axes are
// batches. In programs of float32 they compute in float64 and round the result.

// NotPositiveDefiniteError is the error of a run in which Cholesky meets a matrix that has no
// factor. A sampler may treat the point as one of density 0.
type NotPositiveDefiniteError struct {
	Matrix int     // index of the matrix over the leading axes, in row-major order
	Pivot  int     // row at which the factor ends
	Size   int     // number of rows of the matrix
	Value  float64 // square of the diagonal element in that row
}

func (e *NotPositiveDefiniteError) Error() string {
	return fmt.Sprintf("autodiff: cholesky: matrix %d, %d x %d, is not positive definite: pivot %d is %g: add to the diagonal, or use CholeskyOrNaN",
		e.Matrix, e.Size, e.Size, e.Pivot, e.Value)
}

// AtPoint marks the error as one of these numbers and not of the program, so that a sampler rejects
// the point.
func (e *NotPositiveDefiniteError) AtPoint() bool { return true }

// SingularError is the error of a run in which a matrix that must be inverted has a pivot of 0 or
// holds a NaN.
type SingularError struct {
	Op     string
	Matrix int // index of the matrix over the leading axes, in row-major order
	Size   int // number of rows of the matrix
}

func (e *SingularError) Error() string {
	return fmt.Sprintf("autodiff: %s: matrix %d, %d x %d, is singular: check for equal or zero rows", e.Op, e.Matrix, e.Size, e.Size)
}

// AtPoint marks the error as one of these numbers, as for NotPositiveDefiniteError.
func (e *SingularError) AtPoint() bool { return true }

// Diag returns the diagonals of the matrices in the last two axes, which must be equal. Gradient:
// placed back on the diagonal.
func Diag(x *Node) *Node {
	n, bad := square("diag", x)
	if bad != nil {
		return bad
	}
	if n == 0 {
		return Reshape(x, lead(x, 1)...)
	}
	return SliceStep(Reshape(x, append(lead(x, 2), n*n)...), -1, 0, n*n, n+1)
}

// DiagMatrix returns matrices with the last axis of x on the diagonal and 0 elsewhere. Gradient:
// Diag.
func DiagMatrix(x *Node) *Node {
	if bad := notReal("diag_matrix", x); bad != nil {
		return bad
	}
	if len(x.shape) == 0 {
		return mistake("diag_matrix", "the array is a scalar: want at least one axis")
	}
	return Where(Eye(x.shape[len(x.shape)-1]), Reshape(x, append(x.shape.Clone(), 1)...), Scalar(0))
}

// Eye returns the n x n matrix with 1 on the diagonal and 0 elsewhere.
func Eye(n int) *Node {
	if n < 0 {
		return mistake("eye", "the order of the matrix is %d: want at least 0", n)
	}
	return mask(n, n, func(i, j int) bool { return i == j })
}

// Tril keeps elements j <= i+k of the last two axes; the others become 0.
// Gradient: the same elements.
func Tril(x *Node, k int) *Node { return keep(x, func(i, j int) bool { return j <= i+k }) }

// Triu keeps elements j >= i+k of the last two axes; the others become 0.
// Gradient: the same elements.
func Triu(x *Node, k int) *Node { return keep(x, func(i, j int) bool { return j >= i+k }) }

func keep(x *Node, f func(i, j int) bool) *Node {
	if bad := notReal("triangle", x); bad != nil {
		return bad
	}
	k := len(x.shape)
	if k < 2 {
		return mistake("triangle", "the array has shape %v: want at least two axes", x.shape)
	}
	return Where(mask(x.shape[k-2], x.shape[k-1], f), x, Scalar(0))
}

// mask is 1 where f holds and 0 elsewhere.
func mask(m, n int, f func(i, j int) bool) *Node {
	return filled("mask", tensor.Shape{m, n}, func(data []float64) {
		for i := range m {
			for j := range n {
				data[i*n+j] = truth(f(i, j))
			}
		}
	})
}

// lowerHalf is Phi of Murray: the lower triangle with half the diagonal.
func lowerHalf(x *Node) *Node {
	n := x.shape[len(x.shape)-1]
	return Mul(filled("lower_half", tensor.Shape{n, n}, func(w []float64) {
		for i := range n {
			for j := range i {
				w[i*n+j] = 1
			}
			w[i*n+i] = 0.5
		}
	}), x)
}

// square returns the order of the matrices in x, or a Node with the mistake.
func square(op string, x *Node) (int, *Node) {
	if bad := notReal(op, x); bad != nil {
		return 0, bad
	}
	k := len(x.shape)
	if k < 2 || x.shape[k-1] != x.shape[k-2] {
		return 0, failed(&tensor.ShapeError{Op: op, Got: []tensor.Shape{x.shape}, Want: "square matrices in the last two axes"})
	}
	return x.shape[k-1], nil
}

// lead returns the shape of x without the last n axes.
func lead(x *Node, n int) tensor.Shape { return x.shape[:len(x.shape)-n].Clone() }

// asMatrix gives a number for each matrix two axes of length 1.
func asMatrix(x *Node) *Node { return Reshape(x, append(x.shape.Clone(), 1, 1)...) }

// rowsOf returns rows i..j-1 of the matrices in x.
func rowsOf(x *Node, i, j int) *Node { return Slice(x, -2, i, j) }

// system checks a and b of a x = b and makes op's Node; a b of one axis is one
// column, which goes again.
func system(op *Op, a, b *Node, attr ...int) *Node {
	if bad := notReal(op.Name, a, b); bad != nil {
		return bad
	}
	n, bad := square(op.Name, a)
	if bad != nil {
		return bad
	}
	if len(b.shape) == 1 {
		x := system(op, a, Reshape(b, b.Size(), 1), attr...)
		if x.err != nil {
			return x
		}
		return Reshape(x, lead(x, 1)...)
	}
	k := len(b.shape)
	if k == 0 || b.shape[k-2] != n {
		return failed(&tensor.ShapeError{Op: op.Name, Got: []tensor.Shape{a.shape, b.shape}, Want: "as many rows in the second as in the first"})
	}
	s, ok := tensor.Broadcast(lead(a, 2), lead(b, 2))
	if !ok {
		return failed(&tensor.ShapeError{Op: op.Name, Got: []tensor.Shape{a.shape, b.shape}, Want: "leading axes that broadcast"})
	}
	x := newNode(op, slices.Concat(s, tensor.Shape{n, b.shape[k-1]}), a, b)
	x.attr = attr
	return x
}
