// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package autodiff

import "github.com/euryale-dev/euryale/autodiff/internal/special"

// BesselRatio returns J_nu(x)/x^nu for a Bessel function of the first kind whose order nu is 0, 1/2, 1, 3/2 and so on:
// the Fourier transforms of profiles (1-x^2)^(nu-1/2). It is even in x and finite at 0. Accuracy: 1e-14, absolutely,
// times its value at 0.
//
// Gradient: -x J_(nu+1)(x)/x^(nu+1) for x (https://dlmf.nist.gov/10.6.E6); none for the order.
func BesselRatio(nu, x *Node) *Node { return apply(besselRatioOp, nu, x) }

var besselRatioOp *Op

func init() {
	besselRatioOp = Binary{
		Name: "bessel_ratio", CPU: special.BesselRatio, CUDA: "eu_bessel_ratio(floor(x + x) * 0.5, y)", Helper: special.CUDABesselRatio, Double: true, // a series with signs in turn
		VJP: func(g, _, nu, x *Node) (dnu, dx *Node) {
			return nil, Neg(Mul(g, Mul(x, BesselRatio(Shift(nu, 1), x))))
		},
		Domain: Interval{0, 12},
	}.Define()
	besselRatioOp.Sample = func(in Source) []*Node {
		return []*Node{BesselRatio(Const([]float64{0, 0.5, 1, 1.5, 3}), in(0, 7, 5)), BesselRatio(Const([]float64{0, 0.5, 1, 1.5, 2}), in(8.5, 30, 5))}
	}
}
