// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package dist

import (
	ad "github.com/euryale-dev/euryale/autodiff"
)

// Uniform is the distribution with constant density between low and high.
//
//	log p = -log(high - low)
func Uniform(low, high any) Dist {
	p := Nodes(low, high)
	left := func(x *ad.Node) *ad.Node { return ad.Div(ad.Sub(x, p[0]), ad.Sub(p[1], p[0])) }
	right := func(x *ad.Node) *ad.Node { return ad.Div(ad.Sub(p[1], x), ad.Sub(p[1], p[0])) }
	return Dist{Name: "uniform", Params: p, Support: Support{Lower: p[0], Upper: p[1]},
		LogProbOf:  func(x *ad.Node) *ad.Node { return ad.Neg(ad.Log(ad.Sub(p[1], p[0]))) },
		LogCDFOf:   func(x *ad.Node) *ad.Node { return logOf(left(x), right(x)) },
		LogCCDFOf:  func(x *ad.Node) *ad.Node { return logOf(right(x), left(x)) },
		RandOf:     func(src Source, p []float64) float64 { return p[0] + (p[1]-p[0])*open(src) },
		CDFOf:      func(x float64, p []float64) float64 { return (x - p[0]) / (p[1] - p[0]) },
		QuantileOf: func(u float64, p []float64) float64 { return p[0] + u*(p[1]-p[0]) },
		MeanOf:     func(p []float64) float64 { return p[0] + (p[1]-p[0])/2 },
		VarianceOf: func(p []float64) float64 { return (p[1] - p[0]) * (p[1] - p[0]) / 12 },
	}
}

func init() {
	register(Family{Name: "uniform", Params: []string{"low", "high"}, Want: []Support{Real, Real}, Order: []Order{{Low: "low", High: "high"}},
		Make: func(p ...any) Dist { return Uniform(p[0], p[1]) },
		At:   [][]float64{{0, 1}, {-2, 3}}})
}
