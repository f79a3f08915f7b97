// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package autodiff

import "github.com/euryale-dev/euryale/autodiff/internal/special"

// BesselLogI0e returns log(exp(-|x|) I0(x)), the logarithm of the scaled modified
// Bessel function of order 0.
//
// Gradient: I1(x)/I0(x) - sign(x), exact also where it is near 0.
func BesselLogI0e(x *Node) *Node { return apply(logI0eOp, x) }

var logI0eOp, logI0eSlopeOp *Op

func init() {
	logI0eOp = Unary{
		Name:   "bessel_log_i0e",
		CPU:    special.LogI0e,
		CUDA:   "eu_log_i0e(x)",
		Helper: special.CUDABesselIe + special.CUDALogI0e,
		VJP:    func(g, _, x *Node) *Node { return Mul(g, apply(logI0eSlopeOp, x)) },
		Domain: Interval{0.2, 30},
	}.Define()
	logI0eSlopeOp = Unary{
		Name:   "bessel_log_i0e_slope",
		CPU:    special.LogI0eSlope,
		CUDA:   "eu_log_i0e_slope(x)",
		Helper: special.CUDABesselIe + special.CUDALogI0e,
		Double: true, // I1/I0 - 1 cancels
		VJP: func(g, y, x *Node) *Node { // 2b - b^2 - (1-b)/|x| for b = |y|
			b := Abs(y)
			rest := perX(Sub(Scalar(1), b), Abs(x), 0.5)
			return Mul(g, Sub(Mul(b, Sub(Scalar(2), b)), rest))
		},
		Domain: Interval{0.2, 30},
	}.Define()
}
