// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package dist

import (
	"math"

	ad "github.com/euryale-dev/euryale/autodiff"
)

// Cauchy is the distribution with location loc and the given scale. It has no mean.
//
//	log p = -log(1 + ((x-loc)/scale)^2) - log scale - log pi
func Cauchy(loc, scale any) Dist {
	p := Nodes(loc, scale)
	return Dist{Name: "cauchy", Params: p, Support: Real,
		LogProbOf: func(x *ad.Node) *ad.Node {
			return ad.Neg(ad.Add(ad.Log1pSquare(standard(x, p[0], p[1])), ad.Shift(ad.Log(p[1]), math.Log(math.Pi))))
		},
		LogCDFOf:   func(x *ad.Node) *ad.Node { return cauchyTail(ad.Sub(p[0], x), p[1]) },
		LogCCDFOf:  func(x *ad.Node) *ad.Node { return cauchyTail(ad.Sub(x, p[0]), p[1]) },
		RandOf:     func(src Source, p []float64) float64 { return cauchyQuantile(open(src), p) },
		CDFOf:      func(x float64, p []float64) float64 { return math.Atan2(p[1], p[0]-x) / math.Pi },
		QuantileOf: cauchyQuantile,
	}
}

// cauchyTail returns the logarithm of the probability beyond a distance.
func cauchyTail(distance, scale *ad.Node) *ad.Node {
	angle := func(d *ad.Node) *ad.Node { return ad.Scale(1/math.Pi, ad.Atan2(scale, d)) }
	return logOf(angle(distance), angle(ad.Neg(distance)))
}

func cauchyQuantile(u float64, p []float64) float64 {
	if u < 0.25 {
		return p[0] - p[1]/math.Tan(math.Pi*u)
	}
	return p[0] + p[1]*math.Tan(math.Pi*(u-0.5))
}

func init() {
	register(Family{Name: "cauchy", Params: []string{"loc", "scale"}, Want: []Support{Real, Positive},
		Make: func(p ...any) Dist { return Cauchy(p[0], p[1]) },
		At:   [][]float64{{0, 1}, {2, 0.5}}})
}
