// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package dist

import (
	"math"

	ad "github.com/euryale-dev/euryale/autodiff"
)

// LogUniform is the distribution of a number whose logarithm is uniform between log low
// and log high, so that every order of magnitude has the same probability.
//
//	log p = -log x - log(log(high/low)), 0 < low <= x <= high
func LogUniform(low, high any) Dist {
	p := Nodes(low, high)
	width := func() *ad.Node { return ad.Sub(ad.Log(p[1]), ad.Log(p[0])) }
	left := func(x *ad.Node) *ad.Node { return ad.Div(ad.Sub(ad.Log(x), ad.Log(p[0])), width()) }
	right := func(x *ad.Node) *ad.Node { return ad.Div(ad.Sub(ad.Log(p[1]), ad.Log(x)), width()) }
	return Dist{Name: "loguniform", Params: p, Support: Support{Lower: p[0], Upper: p[1]},
		LogProbOf: func(x *ad.Node) *ad.Node { return ad.Neg(ad.Add(ad.Log(x), ad.Log(width()))) },
		LogCDFOf:  func(x *ad.Node) *ad.Node { return logOf(left(x), right(x)) },
		LogCCDFOf: func(x *ad.Node) *ad.Node { return logOf(right(x), left(x)) },
		RandOf:    func(src Source, p []float64) float64 { return logUniformQuantile(open(src), p) },
		CDFOf: func(x float64, p []float64) float64 {
			return (math.Log(x) - math.Log(p[0])) / (math.Log(p[1]) - math.Log(p[0]))
		},
		QuantileOf: logUniformQuantile,
		MeanOf:     func(p []float64) float64 { return (p[1] - p[0]) / math.Log(p[1]/p[0]) },
		VarianceOf: func(p []float64) float64 {
			w := math.Log(p[1] / p[0])
			m := (p[1] - p[0]) / w
			return (p[1]*p[1]-p[0]*p[0])/(2*w) - m*m
		},
	}
}

func logUniformQuantile(u float64, p []float64) float64 {
	x := math.Exp(math.Log(p[0]) + u*(math.Log(p[1])-math.Log(p[0])))
	return min(max(x, p[0]), p[1])
}

func init() {
	register(Family{Name: "loguniform", Params: []string{"low", "high"}, Want: []Support{Positive, Positive}, Order: []Order{{Low: "low", High: "high"}},
		Make: func(p ...any) Dist { return LogUniform(p[0], p[1]) },
		At:   [][]float64{{1, 10}, {1e-3, 1e2}}})
}
