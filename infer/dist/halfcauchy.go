// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package dist

import (
	"math"

	ad "github.com/euryale-dev/euryale/autodiff"
)

// HalfCauchy is the distribution of |x| for a Cauchy number x with location 0. It has no
// mean.
//
//	log p = log(2/pi) - log scale - log(1 + (x/scale)^2), x >= 0
func HalfCauchy(scale any) Dist {
	p := Nodes(scale)
	part := func(y, x *ad.Node) *ad.Node { return ad.Scale(2/math.Pi, ad.Atan2(y, x)) }
	return Dist{Name: "halfcauchy", Params: p, Support: NonNegative,
		LogProbOf: func(x *ad.Node) *ad.Node {
			return ad.Neg(ad.Add(ad.Log1pSquare(ad.Div(x, p[0])), ad.Shift(ad.Log(p[0]), math.Log(math.Pi/2))))
		},
		LogCDFOf:   func(x *ad.Node) *ad.Node { return logOf(part(x, p[0]), part(p[0], x)) },
		LogCCDFOf:  func(x *ad.Node) *ad.Node { return logOf(part(p[0], x), part(x, p[0])) },
		RandOf:     func(src Source, p []float64) float64 { return p[0] * math.Tan(math.Pi/2*open(src)) },
		CDFOf:      func(x float64, p []float64) float64 { return 2 / math.Pi * math.Atan2(x, p[0]) },
		QuantileOf: func(u float64, p []float64) float64 { return p[0] * math.Tan(math.Pi/2*u) },
		MeanOf:     func([]float64) float64 { return math.Inf(1) },
		VarianceOf: func([]float64) float64 { return math.Inf(1) },
	}
}

func init() {
	register(Family{Name: "halfcauchy", Params: []string{"scale"}, Want: []Support{Positive},
		Make: func(p ...any) Dist { return HalfCauchy(p[0]) },
		At:   [][]float64{{1}, {5}}})
}
