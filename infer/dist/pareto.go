// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package dist

import (
	"math"

	ad "github.com/euryale-dev/euryale/autodiff"
)

// Pareto is the power-law distribution above xm with exponent alpha.
//
//	log p = log alpha + alpha log xm - (alpha+1) log x, x >= xm > 0
func Pareto(xm, alpha any) Dist {
	p := Nodes(xm, alpha)
	upper := func(x *ad.Node) *ad.Node { return ad.Neg(ad.Mul(p[1], logRatio(x, p[0]))) }
	return Dist{Name: "pareto", Params: p, Support: Support{Lower: p[0]},
		LogProbOf:  func(x *ad.Node) *ad.Node { return ad.Add(upper(x), ad.Sub(ad.Log(p[1]), ad.Log(x))) },
		LogCDFOf:   func(x *ad.Node) *ad.Node { return ad.Log1mExp(upper(x)) },
		LogCCDFOf:  upper,
		RandOf:     func(src Source, p []float64) float64 { return p[0] * math.Exp(exponential(src)/p[1]) },
		CDFOf:      func(x float64, p []float64) float64 { return -math.Expm1(-p[1] * math.Log(x/p[0])) },
		QuantileOf: func(u float64, p []float64) float64 { return p[0] * math.Exp(-math.Log1p(-u)/p[1]) },
		MeanOf:     func(p []float64) float64 { return finiteIf(p[1] > 1, p[0]*p[1]/(p[1]-1), math.Inf(1)) },
		VarianceOf: func(p []float64) float64 {
			m := p[0] / (p[1] - 1)
			return finiteIf(p[1] > 2, m*m*p[1]/(p[1]-2), math.Inf(1))
		},
	}
}

func init() {
	register(Family{Name: "pareto", Params: []string{"xm", "alpha"}, Want: []Support{Positive, Positive},
		Make: func(p ...any) Dist { return Pareto(p[0], p[1]) },
		At:   [][]float64{{1, 5}, {2, 2.5}}})
}
