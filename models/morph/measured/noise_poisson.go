// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package measured

import (
	"math"

	"gonum.org/v1/gonum/mathext"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/infer/dist"
	"github.com/euryale-dev/euryale/models/morph"
)

func init() {
	register(noise{
		name:     "poisson",
		about:    "Counts of photons, and sums of them in bins.",
		positive: true, whole: true, sums: true,
		residual: func(p *part, mean, _ *ad.Node) *ad.Node { return morph.DevianceResiduals(mean, ad.Const(p.values)) },
		law:      func(_ *part, mean, _ *ad.Node) dist.Dist { return dist.Poisson(mean) },
		logDensity: func(p *part, i int, mean, _ float64) float64 {
			l, _ := math.Lgamma(p.values[i] + 1)
			return p.values[i]*math.Log(mean) - mean - l
		},
		variance: func(_ *part, _ int, mean, _ float64) float64 { return mean },
		score: func(p *part, i int, mean, _, u float64) float64 {
			k, below := p.values[i], 0.0
			if k > 0 {
				below = mathext.GammaIncRegComp(k, mean)
			}
			return between(below, mathext.GammaIncRegComp(k+1, mean), u)
		},
	})
}
