// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package autodiff

import (
	"math"

	"github.com/euryale-dev/euryale/autodiff/internal/special"
)

// SkewNormalLogCDF returns the logarithm of the distribution function of the skew
// normal distribution of slant alpha, whose density is 2 phi(z) Phi(alpha z); exact in both
// tails. The other tail is SkewNormalLogCDF(-z, -alpha).
//
//	F = Phi(z) - 2 T(z, alpha), with Owen's T
//
// Gradient: 2 phi(z) Phi(alpha z)/F for z, -exp(-z^2 (1+alpha^2)/2)/(pi (1+alpha^2) F)
// for alpha. Reference: Azzalini, Scand. J. Statist. 12, 171 (1985).
func SkewNormalLogCDF(z, alpha *Node) *Node { return apply(skewNormalOp, z, alpha) }

var skewNormalOp *Op

func init() {
	skewNormalOp = Binary{
		Name:   "skew_normal_log_cdf",
		CPU:    special.SkewNormalLogCDF,
		CUDA:   "eu_skew_normal(x, y)",
		Helper: special.CUDAErfcx + special.CUDALogPhi + special.CUDAStirling + special.CUDAPolygamma + special.CUDALog1pmx + special.CUDAIncomplete + special.CUDASkewNormal,
		Double: true,
		VJP: func(g, y, z, alpha *Node) (dz, da *Node) {
			q, a := Scale(-0.5, Square(z)), Shift(Square(alpha), 1)
			dz = Exp(Sub(Add(q, LogPhi(Mul(alpha, z))), y))
			return Mul(g, Scale(math.Sqrt(2/math.Pi), dz)), Mul(g, Div(Scale(-1/math.Pi, Exp(Sub(Mul(q, a), y))), a))
		},
		Domain: Interval{-2.5, 2.5},
	}.Define()
}
