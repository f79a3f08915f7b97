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

// skewNormalHazardOp and skewNormalSlopeOp are its derivatives with respect to z and alpha, h and a below.
var skewNormalOp, skewNormalHazardOp, skewNormalSlopeOp *Op

func init() {
	define := func(name, text string, f func(z, alpha float64) float64, vjp func(g, y, z, alpha *Node) (dz, da *Node)) *Op {
		return Binary{
			Name:   name,
			CPU:    f,
			CUDA:   text,
			Helper: special.CUDAErfcx + special.CUDALogPhi + special.CUDAStirling + special.CUDAPolygamma + special.CUDALog1pmx + special.CUDAIncomplete + special.CUDASkewNormal,
			Double: true,
			VJP:    vjp,
			Domain: Interval{-2.5, 2.5},
		}.Define()
	}
	skewNormalOp = define("skew_normal_log_cdf", "eu_skew_normal(x, y)", special.SkewNormalLogCDF, func(g, _, z, alpha *Node) (dz, da *Node) {
		return Mul(g, apply(skewNormalHazardOp, z, alpha)), Mul(g, apply(skewNormalSlopeOp, z, alpha))
	})
	// dh/dz = h (k - h), where k is the slope of the log density; dh/dalpha = da/dz = -a (z (1+alpha^2) + h).
	mixed := func(h, a, z, alpha *Node) *Node { return Neg(Mul(a, Add(Mul(z, Shift(Square(alpha), 1)), h))) }
	skewNormalHazardOp = define("skew_normal_hazard", "eu_skew_hazard(x, y)", special.SkewNormalHazard, func(g, h, z, alpha *Node) (dz, da *Node) {
		t := Mul(alpha, z)
		k := Sub(Mul(alpha, Div(Scalar(math.Sqrt(2/math.Pi)), Erfcx(Scale(-math.Sqrt2/2, t)))), z)
		return Mul(g, Mul(h, Sub(k, h))), Mul(g, mixed(h, apply(skewNormalSlopeOp, z, alpha), z, alpha))
	})
	skewNormalSlopeOp = define("skew_normal_slope", "eu_skew_slope(x, y)", special.SkewNormalSlope, func(g, a, z, alpha *Node) (dz, da *Node) {
		c := Shift(Square(alpha), 1)
		own := Neg(Add(Mul(Mul(z, z), alpha), Add(Scale(2, Div(alpha, c)), a)))
		return Mul(g, mixed(apply(skewNormalHazardOp, z, alpha), a, z, alpha)), Mul(g, Mul(a, own))
	})
}
