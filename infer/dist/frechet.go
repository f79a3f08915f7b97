// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package dist

import (
	"math"

	ad "github.com/euryale-dev/euryale/autodiff"
)

// Frechet is the distribution of extremes with a heavy tail, with shape alpha and scale
// s.
//
//	log p = log(alpha/s) - (1+alpha) log(x/s) - (x/s)^-alpha, x > 0
func Frechet(alpha, s any) Dist {
	p := Nodes(alpha, s)
	// The logarithm of (x/s)^-alpha.
	u := func(x *ad.Node) *ad.Node { return ad.Mul(p[0], ad.Sub(ad.Log(p[1]), ad.Log(x))) }
	lower := func(x *ad.Node) *ad.Node { return ad.Neg(ad.Exp(u(x))) }
	return Dist{Name: "frechet", Params: p, Support: Positive,
		LogProbOf: func(x *ad.Node) *ad.Node {
			return ad.Add(ad.Add(u(x), lower(x)), ad.Sub(ad.Log(p[0]), ad.Log(x)))
		},
		LogCDFOf:   func(x *ad.Node) *ad.Node { return ad.Neg(ad.Exp(ad.Mul(p[0], logRatio(p[1], x)))) },
		LogCCDFOf:  func(x *ad.Node) *ad.Node { return logDroppedExp(ad.Mul(p[0], logRatio(p[1], x))) },
		RandOf:     func(src Source, p []float64) float64 { return p[1] * math.Pow(exponential(src), -1/p[0]) },
		CDFOf:      func(x float64, p []float64) float64 { return math.Exp(-math.Pow(x/p[1], -p[0])) },
		QuantileOf: func(u float64, p []float64) float64 { return p[1] * math.Pow(-math.Log(u), -1/p[0]) },
		MeanOf:     func(p []float64) float64 { return finiteIf(p[0] > 1, p[1]*math.Gamma(1-1/p[0]), math.Inf(1)) },
		VarianceOf: func(p []float64) float64 {
			m := math.Gamma(1 - 1/p[0])
			return finiteIf(p[0] > 2, p[1]*p[1]*(math.Gamma(1-2/p[0])-m*m), math.Inf(1))
		},
	}
}

func init() {
	register(Family{Name: "frechet", Params: []string{"alpha", "s"}, Want: []Support{Positive, Positive},
		Make: func(p ...any) Dist { return Frechet(p[0], p[1]) },
		At:   [][]float64{{5, 1}, {2.5, 2}}})
}
