// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package dist

import (
	"math"

	ad "github.com/euryale-dev/euryale/autodiff"
)

// Chi is the distribution of the length of a vector of nu standard normal numbers. nu = 2
// gives the Rayleigh and nu = 3 the Maxwell distribution.
//
//	log p = (nu-1) log x - x^2/2 - (nu/2-1) log 2 - log Gamma(nu/2), x >= 0
func Chi(nu any) Dist {
	p := Nodes(nu)
	a := folded(p[0], ad.Scale(0.5, p[0]))
	t := func(x *ad.Node) *ad.Node { return ad.Scale(0.5, ad.Square(x)) }
	logT := func(x *ad.Node) *ad.Node { return ad.Shift(ad.Scale(2, ad.Log(x)), -math.Ln2) }
	return Dist{Name: "chi", Params: p, Support: NonNegative,
		endsOf: atZero(ad.Equal(p[0], one), func(x *ad.Node) *ad.Node {
			return ad.Shift(ad.Scale(-0.5, ad.Square(x)), math.Ln2-halfLogTwoPi)
		}),
		LogProbOf: func(x *ad.Node) *ad.Node {
			return ad.Sub(ad.Shift(gammaCore(a, t(x), logT(x)), math.Ln2), ad.Log(x))
		},
		LogCDFOf:   func(x *ad.Node) *ad.Node { return logGammaP(a, t(x), logT(x)) },
		LogCCDFOf:  func(x *ad.Node) *ad.Node { return logGammaQ(a, t(x), logT(x)) },
		RandOf:     func(src Source, p []float64) float64 { return math.Exp(0.5 * (math.Ln2 + logGamma(src, p[0]/2))) },
		CDFOf:      func(x float64, p []float64) float64 { return lowerGamma(p[0]/2, x*x/2) },
		QuantileOf: func(u float64, p []float64) float64 { return math.Sqrt(2 * gammaQuantile(p[0]/2, u)) },
		MeanOf:     chiMean,
		VarianceOf: func(p []float64) float64 { m := chiMean(p); return p[0] - m*m },
	}
}

func chiMean(p []float64) float64 {
	a, _ := math.Lgamma((p[0] + 1) / 2)
	b, _ := math.Lgamma(p[0] / 2)
	return math.Sqrt2 * math.Exp(a-b)
}

func init() {
	register(Family{Name: "chi", Params: []string{"nu"}, Want: []Support{Positive},
		Make: func(p ...any) Dist { return Chi(p[0]) },
		At:   [][]float64{{1.5}, {7}}})
}
