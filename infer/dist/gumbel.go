// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package dist

import (
	"math"

	ad "github.com/euryale-dev/euryale/autodiff"
)

// Gumbel is the distribution of largest values with location mu and scale beta.
//
//	log p = -log beta - z - exp(-z), z = (x-mu)/beta
func Gumbel(mu, beta any) Dist {
	p := Nodes(mu, beta)
	z := func(x *ad.Node) *ad.Node { // clipped so that z + exp(-z) is infinite, not NaN
		return ad.Maximum(standard(x, p[0], p[1]), ad.Scalar(-math.MaxFloat64))
	}
	lower := func(x *ad.Node) *ad.Node { return ad.Neg(ad.Exp(ad.Neg(z(x)))) }
	return Dist{Name: "gumbel", Params: p, Support: Real,
		LogProbOf:  func(x *ad.Node) *ad.Node { return ad.Sub(lower(x), ad.Add(z(x), ad.Log(p[1]))) },
		LogCDFOf:   lower,
		LogCCDFOf:  func(x *ad.Node) *ad.Node { return logDroppedExp(ad.Neg(z(x))) },
		RandOf:     func(src Source, p []float64) float64 { return p[0] - p[1]*math.Log(exponential(src)) },
		CDFOf:      func(x float64, p []float64) float64 { return math.Exp(-math.Exp((p[0] - x) / p[1])) },
		QuantileOf: func(u float64, p []float64) float64 { return p[0] - p[1]*math.Log(-math.Log(u)) },
		MeanOf:     func(p []float64) float64 { return p[0] + p[1]*0.57721566490153286 },
		VarianceOf: func(p []float64) float64 { return p[1] * p[1] * math.Pi * math.Pi / 6 },
	}
}

func init() {
	register(Family{Name: "gumbel", Params: []string{"mu", "beta"}, Want: []Support{Real, Positive},
		Make: func(p ...any) Dist { return Gumbel(p[0], p[1]) },
		At:   [][]float64{{0, 1}, {2, 3}}})
}
