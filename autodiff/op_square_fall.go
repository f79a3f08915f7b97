// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package autodiff

import "github.com/euryale-dev/euryale/autodiff/internal/special"

// SquareFall returns nu log(1 + z^2/nu) for nu > 0, the power of Student's distribution, which is z^2 for a large nu.
//
// Gradient: log(1+w) - w/(1+w) with w = z^2/nu for nu, computed without its differences; 2 z/(1+w) for z.
func SquareFall(nu, z *Node) *Node {
	if nu != nil && len(nu.data) == 1 && nu.data[0] >= 1e-8 && nu.data[0] <= 1e8 { // a number of which neither quotient is out of range
		return Mul(nu, Log1pSquare(Div(z, Sqrt(nu))))
	}
	return apply(squareFallOp, nu, z)
}

var squareFallOp, squareFallSlopeOp *Op

func init() {
	squareFallOp = Binary{
		Name:   "square_fall",
		CPU:    special.SquareFall,
		CUDA:   "eu_square_fall(x, y)",
		Helper: special.CUDALog1pmx + special.CUDASquareFall,
		Double: true,
		VJP: func(g, _, nu, z *Node) (dnu, dz *Node) {
			root := Sqrt(nu)
			return Mul(g, apply(squareFallSlopeOp, nu, z)), Mul(g, Mul(root, apply(log1psqSlopeOp, Div(z, root))))
		},
		Domain: Interval{0.5, 3},
		Kernel: squareFalls,
	}.Define()
	squareFallSlopeOp = Binary{
		Name:   "square_fall_slope",
		CPU:    special.SquareFallSlope,
		CUDA:   "eu_square_fall_slope(x, y)",
		Helper: special.CUDALog1pmx + special.CUDASquareFall,
		Double: true,
		VJP: func(g, _, nu, z *Node) (dnu, dz *Node) { // w/(1+w)^2 times the derivative of w
			r := Div(z, Sqrt(nu))
			q := apply(inverseHypot1Op, r)
			share := Square(Mul(r, q)) // w/(1+w)
			return Neg(Mul(g, Div(Square(share), nu))), Mul(g, Mul(Scale(2, share), Mul(Mul(r, q), Div(q, Sqrt(nu)))))
		},
		Domain: Interval{0.5, 3},
	}.Define()
}
