// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package dist

import (
	"math"

	ad "github.com/euryale-dev/euryale/autodiff"
)

// Geometric is the distribution of the number of failures before the first success, which
// has probability p in each trial.
//
//	log P = k log(1-p) + log p, k = 0, 1, ...
func Geometric(p any) Dist {
	q := Nodes(p)
	upper := func(x, p *ad.Node) *ad.Node { return ad.Mul(ad.Shift(x, 1), ad.Log1p(ad.Neg(p))) }
	inner := func() (in, p *ad.Node) { // p where it is below 1
		in = ad.Less(q[0], one)
		return in, ad.Where(in, q[0], half)
	}
	return Dist{Name: "geometric", Params: q, Support: Counts, Discrete: true,
		LogProbOf: func(x *ad.Node) *ad.Node { return ad.BernoulliLogLik(one, x, q[0]) },
		LogCDFOf: func(x *ad.Node) *ad.Node { // 0 at p = 1, with the derivative 1 at x = 0
			in, p := inner()
			return ad.Where(in, ad.Log1mExp(upper(x, p)), ad.Where(x, zero, ad.Shift(q[0], -1)))
		},
		LogCCDFOf: func(x *ad.Node) *ad.Node {
			in, p := inner()
			return ad.Where(in, upper(x, p), minusInfinity)
		},
		RandOf:     func(src Source, p []float64) float64 { return math.Floor(exponential(src) / -math.Log1p(-p[0])) },
		CDFOf:      func(x float64, p []float64) float64 { return -math.Expm1((x + 1) * math.Log1p(-p[0])) },
		MeanOf:     func(p []float64) float64 { return (1 - p[0]) / p[0] },
		VarianceOf: func(p []float64) float64 { return (1 - p[0]) / (p[0] * p[0]) },
	}
}

func init() {
	register(Family{Name: "geometric", Params: []string{"p"}, Want: []Support{unitAbove0},
		Make: func(p ...any) Dist { return Geometric(p[0]) },
		At:   [][]float64{{0.3}, {0.02}}})
}
