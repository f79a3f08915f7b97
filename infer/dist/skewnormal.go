// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package dist

import (
	"math"

	ad "github.com/euryale-dev/euryale/autodiff"
)

// SkewNormal is Azzalini's distribution with location xi, scale omega and slant alpha.
// alpha = 0 gives Normal(xi, omega).
//
//	log p = log 2 - log omega + log phi(z) + log Phi(alpha z), z = (x-xi)/omega
func SkewNormal(xi, omega, alpha any) Dist {
	p := Nodes(xi, omega, alpha)
	z := func(x *ad.Node) *ad.Node { return standard(x, p[0], p[1]) }
	return Dist{Name: "skewnormal", Params: p, Support: Real,
		LogProbOf: func(x *ad.Node) *ad.Node {
			return ad.Add(ad.Shift(normalLog(z(x), p[1]), math.Ln2), ad.LogPhi(ad.Mul(p[2], z(x))))
		},
		LogCDFOf:  func(x *ad.Node) *ad.Node { return ad.SkewNormalLogCDF(z(x), p[2]) },
		LogCCDFOf: func(x *ad.Node) *ad.Node { return ad.SkewNormalLogCDF(ad.Neg(z(x)), ad.Neg(p[2])) },
		RandOf: func(src Source, p []float64) float64 {
			d := p[2] / math.Hypot(1, p[2])
			return p[0] + p[1]*(d*math.Abs(src.Normal())+src.Normal()/math.Hypot(1, p[2]))
		},
		CDFOf:  func(x float64, p []float64) float64 { return math.Exp(skewCDF.Eval((x-p[0])/p[1], p[2])) },
		MeanOf: func(p []float64) float64 { return p[0] + p[1]*skewMean(p) },
		VarianceOf: func(p []float64) float64 {
			m := skewMean(p)
			return p[1] * p[1] * (1 - m*m)
		},
	}
}

var skewCDF = ad.SkewNormalLogCDF(zero, zero).Op()

func skewMean(p []float64) float64 { return math.Sqrt(2/math.Pi) * p[2] / math.Hypot(1, p[2]) }

func init() {
	register(Family{Name: "skewnormal", Params: []string{"xi", "omega", "alpha"}, Want: []Support{Real, Positive, Real},
		Make: func(p ...any) Dist { return SkewNormal(p[0], p[1], p[2]) },
		At:   [][]float64{{0, 1, 4}, {1, 2, -3}}})
}
