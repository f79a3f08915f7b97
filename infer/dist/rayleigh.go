// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package dist

import (
	"math"

	ad "github.com/euryale-dev/euryale/autodiff"
)

// Rayleigh is the distribution of the length of a vector of two normal numbers with
// standard deviation sigma.
//
//	log p = log x - 2 log sigma - x^2/(2 sigma^2), x > 0
func Rayleigh(sigma any) Dist {
	p := Nodes(sigma)
	upper := func(x *ad.Node) *ad.Node { return ad.Scale(-0.5, ad.Square(ad.Div(x, p[0]))) }
	return Dist{Name: "rayleigh", Params: p, Support: Positive,
		LogProbOf: func(x *ad.Node) *ad.Node {
			return ad.Add(upper(x), ad.Sub(ad.Log(x), ad.Scale(2, ad.Log(p[0]))))
		},
		LogCDFOf: func(x *ad.Node) *ad.Node {
			return logDropped(ad.Neg(upper(x)), ad.Shift(ad.Scale(2, logRatio(x, p[0])), -math.Ln2))
		},
		LogCCDFOf:  upper,
		RandOf:     func(src Source, p []float64) float64 { return p[0] * math.Sqrt(2*exponential(src)) },
		CDFOf:      func(x float64, p []float64) float64 { return -math.Expm1(-x / p[0] * (x / p[0]) / 2) },
		QuantileOf: func(u float64, p []float64) float64 { return p[0] * math.Sqrt(-2*math.Log1p(-u)) },
		MeanOf:     func(p []float64) float64 { return p[0] * math.Sqrt(math.Pi/2) },
		VarianceOf: func(p []float64) float64 { return p[0] * p[0] * (2 - math.Pi/2) },
	}
}

func init() {
	register(Family{Name: "rayleigh", Params: []string{"sigma"}, Want: []Support{Positive},
		Make: func(p ...any) Dist { return Rayleigh(p[0]) },
		At:   [][]float64{{1}, {0.3}}})
}
