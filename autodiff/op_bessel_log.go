// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package autodiff

import "github.com/euryale-dev/euryale/autodiff/internal/special"

// BesselLogI0e returns log(exp(-|x|) I0(x)), the logarithm of the scaled modified
// Bessel function of order 0.
//
// Gradient: I1(x)/I0(x) - sign(x), exact also where it is near 0.
func BesselLogI0e(x *Node) *Node { return apply(logI0eOp, x) }

var (
	logI0eOp     *Op
	logI0eSlopes [4]*Op // derivatives 1 to 3
)

// logI0eSlope returns derivative n of BesselLogI0e.
func logI0eSlope(n int, x *Node) *Node { return apply(logI0eSlopes[n], x) }

func init() {
	logI0eOp = Unary{
		Name:   "bessel_log_i0e",
		CPU:    special.LogI0e,
		CUDA:   "eu_log_i0e(x)",
		Helper: special.CUDABesselIe + special.CUDALogI0e,
		VJP:    func(g, _, x *Node) *Node { return Mul(g, logI0eSlope(1, x)) },
		Domain: Interval{0.2, 30},
	}.Define()
	logI0eSlopes[1] = Unary{
		Name:   "bessel_log_i0e_slope",
		CPU:    special.LogI0eSlope,
		CUDA:   "eu_log_i0e_slope(x)",
		Helper: special.CUDABesselIe + special.CUDALogI0e,
		Double: true, // I1/I0 - 1 cancels
		VJP:    func(g, _, x *Node) *Node { return Mul(g, logI0eSlope(2, x)) },
		Domain: Interval{0.2, 30},
	}.Define()
	logI0eSlopes[2] = Unary{
		Name:   "bessel_log_i0e_curve",
		CPU:    func(x float64) float64 { return special.LogI0eCurve(2, x) },
		CUDA:   "eu_log_i0e_curve(2, x)",
		Helper: special.CUDALogI0eCurve,
		Double: true, // the series has numbers up to e^60
		VJP:    func(g, _, x *Node) *Node { return Mul(g, logI0eSlope(3, x)) },
		Domain: Interval{0.2, 30},
	}.Define()
	logI0eSlopes[3] = Unary{
		Name:   "bessel_log_i0e_third",
		CPU:    func(x float64) float64 { return special.LogI0eCurve(3, x) },
		CUDA:   "eu_log_i0e_curve(3, x)",
		Helper: special.CUDALogI0eCurve,
		Double: true,
		VJP: func(g, d, x *Node) *Node { // of c' = -c/x + r/x^2 - 2 r c, where r = I1/I0 and r' = c
			small := Less(Abs(x), Scalar(0.03)) // where differences cancel, and the power series needs three terms
			q := Square(Where(small, x, Scalar(0)))
			series := Shift(Mul(q, Shift(Scale(-0.3759765625, q), 0.625)), -0.375)
			x = Where(small, Scalar(1), x)
			r, c := Add(Sign(x), logI0eSlope(1, x)), logI0eSlope(2, x)
			falling := Div(Sub(Scale(2, Sub(c, Div(r, x))), Mul(d, x)), Square(x))
			return Mul(g, Where(small, series, Sub(falling, Scale(2, Add(Square(c), Mul(r, d))))))
		},
		Domain: Interval{0.2, 30},
	}.Define()
}
