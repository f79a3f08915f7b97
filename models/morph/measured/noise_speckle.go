// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package measured

import (
	"math"

	"gonum.org/v1/gonum/mathext"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/infer/dist"
)

// Coherent light makes speckle: the rate of a pixel is gamma-distributed with as many modes M as coherence areas and independent volumes it
// sees, and its counts are negative binomial, with the variance mu + mu^2/M.
func init() {
	register(noise{
		name:     "negative_binomial",
		about:    "Counts with speckle of a number of modes, which the parameter modes says.",
		scale:    "modes",
		positive: true, whole: true,
		residual: func(p *part, mean, modes *ad.Node) *ad.Node {
			k := ad.Const(p.values)
			d := ad.Sub(mean, k)
			// k log(k/mu) - (k + M) log((k + M)/(mu + M)) is the difference of two deviances of Poisson counts.
			half := ad.Sub(ad.PoissonDeviance(k, mean), ad.PoissonDeviance(ad.Add(k, modes), ad.Add(mean, modes)))
			near := ad.LessEqual(ad.Abs(d), ad.Scale(1e-6, mean))
			root := ad.Sqrt(ad.Where(near, ad.Scalar(1), ad.Maximum(ad.Scale(2, half), ad.Scalar(1e-300))))
			spread := ad.Sqrt(ad.Mul(mean, ad.Shift(ad.Div(mean, modes), 1)))
			return ad.Where(near, ad.Div(d, spread), ad.Mul(ad.Sign(d), root))
		},
		law: func(_ *part, mean, modes *ad.Node) dist.Dist { return dist.NegBinomial2(mean, modes) },
		logDensity: func(p *part, i int, mean, modes float64) float64 {
			k := p.values[i]
			a, _ := math.Lgamma(k + modes)
			b, _ := math.Lgamma(modes)
			c, _ := math.Lgamma(k + 1)
			return a - b - c - modes*math.Log1p(mean/modes) + k*math.Log(mean/(mean+modes))
		},
		variance: func(_ *part, _ int, mean, modes float64) float64 { return mean + mean*mean/modes },
		score: func(p *part, i int, mean, modes, u float64) float64 {
			upTo := func(k float64) float64 {
				if k < 0 {
					return 0
				}
				return mathext.RegIncBeta(modes, k+1, modes/(modes+mean))
			}
			return between(upTo(p.values[i]-1), upTo(p.values[i]), u)
		},
	})
}
