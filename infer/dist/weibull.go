// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package dist

import (
	"math"

	ad "github.com/euryale-dev/euryale/autodiff"
)

// Weibull is the distribution with shape k and scale lambda.
//
//	log p = log(k/lambda) + (k-1) log(x/lambda) - (x/lambda)^k, x >= 0
func Weibull(k, lambda any) Dist {
	p := Nodes(k, lambda)
	// The logarithm of (x/lambda)^k.
	u := func(x *ad.Node) *ad.Node { return ad.Mul(p[0], ad.Sub(ad.Log(x), ad.Log(p[1]))) }
	upper := func(x *ad.Node) *ad.Node { return ad.Neg(ad.Exp(u(x))) }
	return Dist{Name: "weibull", Params: p, Support: NonNegative,
		endsOf: atZero(ad.Equal(p[0], one), func(x *ad.Node) *ad.Node { return ad.Neg(ad.Add(ad.Div(x, p[1]), ad.Log(p[1]))) }),
		LogProbOf: func(x *ad.Node) *ad.Node {
			return ad.Add(ad.Add(u(x), upper(x)), ad.Sub(ad.Log(p[0]), ad.Log(x)))
		},
		LogCDFOf:   func(x *ad.Node) *ad.Node { return logDroppedExp(ad.Mul(p[0], logRatio(x, p[1]))) },
		LogCCDFOf:  func(x *ad.Node) *ad.Node { return ad.Neg(ad.Exp(ad.Mul(p[0], logRatio(x, p[1])))) },
		RandOf:     func(src Source, p []float64) float64 { return p[1] * math.Pow(exponential(src), 1/p[0]) },
		CDFOf:      func(x float64, p []float64) float64 { return -math.Expm1(-math.Pow(x/p[1], p[0])) },
		QuantileOf: func(u float64, p []float64) float64 { return p[1] * math.Pow(-math.Log1p(-u), 1/p[0]) },
		MeanOf:     func(p []float64) float64 { return p[1] * math.Gamma(1+1/p[0]) },
		VarianceOf: func(p []float64) float64 {
			m := math.Gamma(1 + 1/p[0])
			return p[1] * p[1] * (math.Gamma(1+2/p[0]) - m*m)
		},
	}
}

func init() {
	register(Family{Name: "weibull", Params: []string{"k", "lambda"}, Want: []Support{Positive, Positive},
		Make: func(p ...any) Dist { return Weibull(p[0], p[1]) },
		At:   [][]float64{{1.5, 2}, {0.8, 1}}})
}
