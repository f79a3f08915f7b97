// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package autodiff

import (
	"slices"

	"github.com/euryale-dev/euryale/tensor"
)

// Jacobian returns dy/dx, with the axes of y before those of x. It is built from whichever is
// fewer: one JVP for each element of x or one VJP for each element of y. Gradient: second
// derivatives.
func Jacobian(y, x *Node) *Node {
	if bad := notReal("jacobian", y, x); bad != nil {
		return bad
	}
	shape := slices.Concat(y.shape, x.shape)
	m, n := y.Size(), x.Size()
	if m == 0 || n == 0 {
		return Full(0, shape...)
	}
	if bad := tooLarge("jacobian", tensor.Shape{m, n}); bad != nil {
		return bad
	}
	var parts []*Node
	if n <= m {
		for i := range n {
			parts = append(parts, Reshape(JVP(y, []*Node{x}, []*Node{basis(i, x.shape)}), m))
		}
		return Reshape(Stack(1, parts...), shape...)
	}
	for i := range m {
		parts = append(parts, Reshape(VJP(y, basis(i, y.shape), x)[0], n))
	}
	return Reshape(Stack(0, parts...), shape...)
}

// Hessian returns the second derivatives of the sum of y with respect to x; its shape is that of x
// twice.
func Hessian(y, x *Node) *Node { return Jacobian(Grad(y, x)[0], x) }

// basis is 1 at element i and 0 elsewhere.
func basis(i int, s tensor.Shape) *Node {
	if len(s) == 0 {
		return Scalar(1)
	}
	return filled("basis", s, func(e []float64) { e[i] = 1 })
}
