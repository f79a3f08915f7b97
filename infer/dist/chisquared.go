// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package dist

import (
	"math"

	ad "github.com/euryale-dev/euryale/autodiff"
)

// ChiSquared is the distribution of the sum of squares of nu standard normal numbers,
// Gamma(nu/2, 1/2).
//
//	log p = (nu/2-1) log x - x/2 - nu/2 log 2 - log Gamma(nu/2), x >= 0
func ChiSquared(nu any) Dist {
	p := Nodes(nu)
	a := folded(p[0], ad.Scale(0.5, p[0]))
	t := func(x *ad.Node) *ad.Node { return ad.Scale(0.5, x) }
	logT := func(x *ad.Node) *ad.Node { return ad.Shift(ad.Log(x), -math.Ln2) }
	return Dist{Name: "chisquared", Params: p, Support: NonNegative,
		endsOf: atZero(ad.Equal(a, one), func(x *ad.Node) *ad.Node { return ad.Shift(ad.Scale(-0.5, x), -math.Ln2) }),
		LogProbOf: func(x *ad.Node) *ad.Node {
			return ad.Sub(gammaCore(a, t(x), logT(x)), ad.Log(x))
		},
		LogCDFOf:   func(x *ad.Node) *ad.Node { return logGammaP(a, t(x), logT(x)) },
		LogCCDFOf:  func(x *ad.Node) *ad.Node { return logGammaQ(a, t(x), logT(x)) },
		RandOf:     func(src Source, p []float64) float64 { return 2 * gammaRand(src, p[0]/2) },
		CDFOf:      func(x float64, p []float64) float64 { return lowerGamma(p[0]/2, x/2) },
		QuantileOf: func(u float64, p []float64) float64 { return 2 * gammaQuantile(p[0]/2, u) },
		MeanOf:     func(p []float64) float64 { return p[0] },
		VarianceOf: func(p []float64) float64 { return 2 * p[0] },
	}
}

func init() {
	register(Family{Name: "chisquared", Params: []string{"nu"}, Want: []Support{Positive},
		Make: func(p ...any) Dist { return ChiSquared(p[0]) },
		At:   [][]float64{{1}, {10}}})
}
