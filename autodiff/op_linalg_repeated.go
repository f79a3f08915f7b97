// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package autodiff

import (
	"math"

	"github.com/euryale-dev/euryale/tensor"
)

// Gradients of eigenvectors divide by differences of eigenvalues. A function that does not depend on which vectors span
// the space of a repeated eigenvalue has a gradient there all the same: numerator and denominator are both 0, and the
// quotient has a limit, which is that of their derivatives when the eigenvalues move apart.

// nearValues is the difference of values, relative to their size, below which the limit is taken: rounding errors of the
// quotient and what the limit leaves out are then both about 1e-8. tied is how far the numerator of such a function may
// be from 0 by rounding, relative to what is subtracted in it.
const nearValues, tied = 1e-8, 1e-6

// limitQuotient returns top(y, g)/(w_j - w_i), 0 on the diagonal, in which w is row number row of y and g is the gradient
// with respect to y. Where values are equal it is the limit, from top's derivative as they move apart with the vectors
// staying, each by its number; and it is NaN where top is not 0 there. size is what top subtracts, and scale the size of
// the values.
func limitQuotient(y, g, scale *Node, row int, top, size func(y, g *Node) *Node) *Node {
	n, rows := last(y.shape), y.shape[len(y.shape)-2]
	w := rowsOf(y, row, row+1)
	gap, numerator := Sub(w, T(w)), top(y, g)
	at := Input("values", w.shape...)
	moved := Concat(-2, rowsOf(y, 0, row), at, rowsOf(y, row+1, rows))
	step := Broadcast(filled("count", tensor.Shape{1, n}, func(v []float64) {
		for i := range v {
			v[i] = float64(i)
		}
	}), w.shape...)
	slope := JVP(top(moved, Substitute([]*Node{g}, []*Node{y}, []*Node{moved})[0]), []*Node{at}, []*Node{step})
	limit := Scalar(math.NaN()) // where something downstream has first derivatives only
	if slope.err == nil {
		limit = quotient(Substitute([]*Node{slope}, []*Node{at}, []*Node{w})[0], Sub(step, T(step)))
	}
	near := LessEqual(Abs(gap), Scale(nearValues, scale))
	balanced := LessEqual(Abs(numerator), Scale(tied, size(y, g)))
	far := Where(Equal(gap, Scalar(0)), Scalar(math.NaN()), quotient(numerator, gap))
	return Where(Eye(n), Scalar(0), Where(Mul(near, balanced), limit, far))
}

// quotient returns x/y, and 0 where y is 0.
func quotient(x, y *Node) *Node {
	zero := Equal(y, Scalar(0))
	return Where(zero, Scalar(0), Div(x, Where(zero, Scalar(1), y)))
}

// largestOf returns the largest element in size of each row, as a 1 x 1 matrix.
func largestOf(w *Node) *Node { return restored(MaxAxes(Abs(w), -1), w.shape, []int{len(w.shape) - 1}) }
