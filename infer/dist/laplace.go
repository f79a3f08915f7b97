// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package dist

import (
	"math"

	ad "github.com/euryale-dev/euryale/autodiff"
)

// Laplace is the two-sided exponential distribution with location mu and scale b.
//
//	log p = -|x-mu|/b - log(2b)
func Laplace(mu, b any) Dist {
	p := Nodes(mu, b)
	left := func(z *ad.Node) *ad.Node {
		return sided(z, func(size, _ *ad.Node) *ad.Node { return ad.Shift(ad.Neg(size), -math.Ln2) })
	}
	return Dist{Name: "laplace", Params: p, Support: Real,
		LogProbOf: func(x *ad.Node) *ad.Node {
			return ad.Neg(ad.Add(ad.Abs(standard(x, p[0], p[1])), ad.Log(ad.Scale(2, p[1]))))
		},
		LogCDFOf:  func(x *ad.Node) *ad.Node { return left(standard(x, p[0], p[1])) },
		LogCCDFOf: func(x *ad.Node) *ad.Node { return left(standard(p[0], x, p[1])) },
		RandOf:    func(src Source, p []float64) float64 { return laplaceQuantile(open(src), p) },
		CDFOf: func(x float64, p []float64) float64 {
			if z := (x - p[0]) / p[1]; z > 0 {
				return 0.5 - math.Expm1(-z)/2
			} else {
				return math.Exp(z) / 2
			}
		},
		QuantileOf: laplaceQuantile,
		MeanOf:     func(p []float64) float64 { return p[0] },
		VarianceOf: func(p []float64) float64 { return 2 * p[1] * p[1] },
	}
}

func laplaceQuantile(u float64, p []float64) float64 {
	if u < 0.5 {
		return p[0] + p[1]*math.Log(2*u)
	}
	return p[0] - p[1]*math.Log(2*(1-u))
}

func init() {
	register(Family{Name: "laplace", Params: []string{"mu", "b"}, Want: []Support{Real, Positive},
		Make: func(p ...any) Dist { return Laplace(p[0], p[1]) },
		At:   [][]float64{{0, 1}, {1, 0.4}}})
}
