// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package dist

import (
	ad "github.com/euryale-dev/euryale/autodiff"
)

// ZeroInflatedPoisson is the distribution of a number that is 0 with probability pi and
// otherwise a Poisson count, which may be 0 too. For other distributions see Mixture with
// PointMass.
//
//	log P = log(pi + (1-pi) exp(-rate)) at 0, log(1-pi) + log Poisson(k | rate) above
func ZeroInflatedPoisson(pi, rate any) Dist {
	p := Nodes(pi, rate)
	count := Poisson(p[1])
	shares := []*ad.Node{p[0], ad.Sub(one, p[0])}
	logRest := func() *ad.Node { // -Inf with a gradient of 0 at pi = 1
		some := ad.Less(p[0], one)
		return ad.Where(some, ad.Log1p(ad.Neg(ad.Where(some, p[0], half))), minusInfinity)
	}
	return Dist{Name: "zeroinflatedpoisson", Params: p, Support: Counts, Discrete: true,
		LogProbOf: func(x *ad.Node) *ad.Node {
			nothing := weighted(shares, []*ad.Node{zero, ad.Neg(p[1])})
			return ad.Where(x, ad.Add(logRest(), count.LogProbOf(x)), nothing)
		},
		LogCDFOf: func(x *ad.Node) *ad.Node {
			lower := weighted(shares, []*ad.Node{zero, count.LogCDFOf(x)})
			return exactTail(lower, ad.Add(logRest(), count.LogCCDFOf(x)))
		},
		LogCCDFOf: func(x *ad.Node) *ad.Node { return ad.Add(logRest(), count.LogCCDFOf(x)) },
		RandOf: func(src Source, p []float64) float64 {
			if chance(src, p[0]) {
				return 0
			}
			return poissonRand(src, p[1])
		},
		CDFOf:      func(x float64, p []float64) float64 { return p[0] + (1-p[0])*upperGamma(x+1, p[1]) },
		MeanOf:     func(p []float64) float64 { return (1 - p[0]) * p[1] },
		VarianceOf: func(p []float64) float64 { return (1 - p[0]) * p[1] * (1 + p[0]*p[1]) },
	}
}

func init() {
	register(Family{Name: "zeroinflatedpoisson", Params: []string{"pi", "rate"}, Want: []Support{closedUnit, NonNegative},
		Make: func(p ...any) Dist { return ZeroInflatedPoisson(p[0], p[1]) },
		At:   [][]float64{{0.2, 3}, {0.7, 0.5}}})
}
