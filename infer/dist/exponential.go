// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package dist

import (
	"math"

	ad "github.com/euryale-dev/euryale/autodiff"
)

// Exponential is the distribution with the given rate (mean 1/rate).
//
//	log p = log rate - rate x, x >= 0
func Exponential(rate any) Dist {
	p := Nodes(rate)
	return Dist{Name: "exponential", Params: p, Support: NonNegative,
		LogProbOf: func(x *ad.Node) *ad.Node { return ad.Sub(ad.Log(p[0]), ad.Mul(p[0], x)) },
		LogCDFOf: func(x *ad.Node) *ad.Node {
			return logDropped(ad.Mul(p[0], x), ad.Add(ad.Log(p[0]), ad.Log(x)))
		},
		LogCCDFOf:  func(x *ad.Node) *ad.Node { return ad.Neg(ad.Mul(p[0], x)) },
		RandOf:     func(src Source, p []float64) float64 { return exponential(src) / p[0] },
		CDFOf:      func(x float64, p []float64) float64 { return -math.Expm1(-p[0] * x) },
		QuantileOf: func(u float64, p []float64) float64 { return -math.Log1p(-u) / p[0] },
		MeanOf:     func(p []float64) float64 { return 1 / p[0] },
		VarianceOf: func(p []float64) float64 { return 1 / (p[0] * p[0]) },
	}
}

func init() {
	register(Family{Name: "exponential", Params: []string{"rate"}, Want: []Support{Positive},
		Make: func(p ...any) Dist { return Exponential(p[0]) },
		At:   [][]float64{{1}, {0.1}}})
}
