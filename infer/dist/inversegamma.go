// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package dist

import (
	"math"

	ad "github.com/euryale-dev/euryale/autodiff"
)

// InverseGamma is the distribution of 1/x for a Gamma(alpha, beta) number x.
//
//	log p = alpha log beta - log Gamma(alpha) - (alpha+1) log x - beta/x, x > 0
func InverseGamma(alpha, beta any) Dist {
	p := Nodes(alpha, beta)
	t := func(x *ad.Node) *ad.Node { return ad.Div(p[1], x) }
	logT := func(x *ad.Node) *ad.Node { return ad.Sub(ad.Log(p[1]), ad.Log(x)) }
	return Dist{Name: "inversegamma", Params: p, Support: Positive,
		LogProbOf: func(x *ad.Node) *ad.Node {
			return ad.Sub(gammaCore(p[0], t(x), logT(x)), ad.Log(x))
		},
		LogCDFOf:  func(x *ad.Node) *ad.Node { return logGammaQ(p[0], t(x), logT(x)) },
		LogCCDFOf: func(x *ad.Node) *ad.Node { return logGammaP(p[0], t(x), logT(x)) },
		RandOf:    func(src Source, p []float64) float64 { return p[1] * math.Exp(-logGamma(src, p[0])) },
		CDFOf:     func(x float64, p []float64) float64 { return upperGamma(p[0], p[1]/x) },
		MeanOf:    func(p []float64) float64 { return finiteIf(p[0] > 1, p[1]/(p[0]-1), math.Inf(1)) },
		VarianceOf: func(p []float64) float64 {
			m := p[1] / (p[0] - 1)
			return finiteIf(p[0] > 2, m*m/(p[0]-2), math.Inf(1))
		},
	}
}

func init() {
	register(Family{Name: "inversegamma", Params: []string{"alpha", "beta"}, Want: []Support{Positive, Positive},
		Make: func(p ...any) Dist { return InverseGamma(p[0], p[1]) },
		At:   [][]float64{{3, 1}, {4, 2.5}}})
}
