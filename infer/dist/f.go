// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package dist

import (
	"math"

	ad "github.com/euryale-dev/euryale/autodiff"
)

// F is Fisher's distribution of the ratio of two mean squares, of d1 and of d2 normal
// numbers.
//
//	log p = d1/2 log d1 + d2/2 log d2 + (d1/2-1) log x - (d1+d2)/2 log(d2 + d1 x)
//	        - log B(d1/2, d2/2), x >= 0
func F(d1, d2 any) Dist {
	p := Nodes(d1, d2)
	a, b := folded(p[0], ad.Scale(0.5, p[0])), folded(p[1], ad.Scale(0.5, p[1]))
	s := func(x *ad.Node) *ad.Node { return ad.Add(ad.Log(x), ad.Sub(ad.Log(p[0]), ad.Log(p[1]))) }
	return Dist{Name: "f", Params: p, Support: NonNegative,
		endsOf: atZero(ad.Equal(a, one), func(x *ad.Node) *ad.Node {
			return ad.Neg(ad.Mul(ad.Shift(b, 1), ad.Log1p(ad.Div(x, b))))
		}),
		LogProbOf: func(x *ad.Node) *ad.Node {
			// x d1/(d2 + d1 x) has a Beta distribution.
			return ad.Sub(ad.LogFDensity(a, b, ad.Log(x)), ad.Log(x))
		},
		LogCDFOf:  func(x *ad.Node) *ad.Node { return ad.LogBetaI(a, b, s(x)) },
		LogCCDFOf: func(x *ad.Node) *ad.Node { return ad.LogBetaI(b, a, ad.Neg(s(x))) },
		RandOf: func(src Source, p []float64) float64 {
			return p[1] / p[0] * math.Exp(logitBeta(src, p[0]/2, p[1]/2))
		},
		CDFOf: func(x float64, p []float64) float64 {
			return lowerBeta(p[0]/2, p[1]/2, math.Log(x)+math.Log(p[0])-math.Log(p[1]))
		},
		MeanOf: func(p []float64) float64 { return finiteIf(p[1] > 2, p[1]/(p[1]-2), math.Inf(1)) },
		VarianceOf: func(p []float64) float64 {
			m := p[1] / (p[1] - 2)
			return finiteIf(p[1] > 4, 2*m*m*(p[0]+p[1]-2)/(p[0]*(p[1]-4)), math.Inf(1))
		},
	}
}

func init() {
	register(Family{Name: "f", Params: []string{"d1", "d2"}, Want: []Support{Positive, Positive},
		Make: func(p ...any) Dist { return F(p[0], p[1]) },
		At:   [][]float64{{3, 7}, {10, 12}}})
}
