// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package autodiff

import "github.com/euryale-dev/euryale/autodiff/internal/special"

// LogBesselIScaled returns log I_nu(x) - eta for the modified Bessel function of order nu >= 0 at x
// >= 0, without its exponential growth or decay in either,
//
//	eta = w + nu log(x/(nu + w)), w = sqrt(nu^2 + x^2)
//
// (https://dlmf.nist.gov/10.41.E3): close to -log(2 pi w)/2.
//
// Gradient: I_(nu+1)/I_nu + (nu - w)/x for x; none for the order.
func LogBesselIScaled(nu, x *Node) *Node { return apply(besselIeOp, nu, x) }

var besselIeOp *Op

func init() {
	helpers := special.CUDAStirling + special.CUDAPolygamma + special.CUDALog1pmx + special.CUDAIncomplete + special.CUDAFactorialRest + special.CUDABesselOrder
	sample := func(op *Op) func(in Source) []*Node {
		return func(in Source) []*Node {
			return []*Node{apply(op, Const([]float64{0, 1, 2, 7}), in(0.2, 12, 4))}
		}
	}
	besselIeOp = Binary{
		Name: "log_bessel_i_scaled", CPU: special.LogBesselIScaled, CUDA: "eu_log_bessel_i(x, y)", Helper: helpers, Double: true,
		VJP: func(g, _, nu, x *Node) (dnu, dx *Node) {
			return nil, Mul(g, apply(besselSlopeOp, nu, x))
		},
		Domain: Interval{0.2, 12},
	}.Define()
	besselIeOp.Sample = sample(besselIeOp)
	besselSlopeOp = Binary{
		Name: "log_bessel_i_slope", CPU: special.BesselSlope, CUDA: "eu_bessel_slope(x, y)", Helper: helpers, Double: true,
		// With l = I'/I = slope + w/x: l' = 1 + nu^2/x^2 - l/x - l^2, and (w/x)' = -nu^2/(x^2 w).
		VJP: func(g, y, nu, x *Node) (dnu, dx *Node) {
			w := Hypot(nu, x)
			l := Add(y, Div(w, x))
			r := Square(Div(nu, x))
			second := Sub(Shift(r, 1), Add(Div(l, x), Square(l)))
			return nil, Mul(g, Add(second, Div(r, w)))
		},
		Domain: Interval{0.2, 12},
	}.Define()
	besselSlopeOp.Sample = sample(besselSlopeOp)
}

var besselSlopeOp *Op
