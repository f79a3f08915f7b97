// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package dist

import (
	"math"

	ad "github.com/euryale-dev/euryale/autodiff"
)

// DiscreteUniform is the distribution that gives the integers lo..hi equal probability.
//
//	log P = -log(hi-lo+1)
func DiscreteUniform(lo, hi any) Dist {
	p := Nodes(lo, hi)
	count := func() *ad.Node { return ad.Shift(ad.Sub(p[1], p[0]), 1) }
	left := func(x *ad.Node) *ad.Node { return ad.Div(ad.Shift(ad.Sub(x, p[0]), 1), count()) }
	right := func(x *ad.Node) *ad.Node { return ad.Div(ad.Sub(p[1], x), count()) }
	return Dist{Name: "discreteuniform", Params: p, Support: wholes(p[0], p[1]), Discrete: true,
		LogProbOf:  func(*ad.Node) *ad.Node { return ad.Neg(ad.Log(count())) },
		LogCDFOf:   func(x *ad.Node) *ad.Node { return logOf(left(x), right(x)) },
		LogCCDFOf:  func(x *ad.Node) *ad.Node { return logOf(right(x), left(x)) },
		RandOf:     func(src Source, p []float64) float64 { return p[0] + math.Floor(src.Float64()*(p[1]-p[0]+1)) },
		CDFOf:      func(x float64, p []float64) float64 { return (x - p[0] + 1) / (p[1] - p[0] + 1) },
		MeanOf:     func(p []float64) float64 { return (p[0] + p[1]) / 2 },
		VarianceOf: func(p []float64) float64 { n := p[1] - p[0] + 1; return (n*n - 1) / 12 },
	}
}

func init() {
	whole := Support{Whole: true}
	register(Family{Name: "discreteuniform", Params: []string{"lo", "hi"}, Want: []Support{whole, whole},
		Order: []Order{{Low: "lo", High: "hi", Equal: true}},
		Make:  func(p ...any) Dist { return DiscreteUniform(p[0], p[1]) },
		At:    [][]float64{{1, 6}, {-3, 4}}})
}
