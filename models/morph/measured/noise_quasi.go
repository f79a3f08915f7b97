// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package measured

import (
	"math"

	"gonum.org/v1/gonum/mathext"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/models/morph"
)

// Numbers that follow from counts, but are none themselves, have a variance in proportion to their mean. They are compared by the deviance
// of Poisson counts over that proportion, which needs no more than mean and variance to be right, and no errors of single numbers.
//
// Reference: McCullagh and Nelder, Generalized Linear Models (1989), chapter 9.
func init() {
	// The reference variance is that at the value, as the extended quasi-likelihood has it.
	register(quasi("quasi", "noise", "Numbers without errors that follow from counts: the variance is noise^2 times the mean, found from the residuals."))
	register(quasi("scaled", "", "Means of bins whose variance follows from their mean: they are scaled to have the variance of counts."))
}

func quasi(name, scale, about string) noise {
	variance := func(_ *part, _ int, mean, scale float64) float64 { return scale * scale * mean }
	return noise{
		name: name, about: about, scale: scale, positive: true,
		residual: func(p *part, mean, scale *ad.Node) *ad.Node {
			r := morph.DevianceResiduals(mean, ad.Const(p.values))
			if scale == nil {
				return r
			}
			return ad.Div(r, scale)
		},
		logDensity: func(p *part, i int, mean, scale float64) float64 {
			d := (p.values[i] - mean) * (p.values[i] - mean) / mean // the deviance of numbers about 0 has another mean
			return -d/(2*scale*scale) - at(p.spread, i, 1)*math.Log(scale)
		},
		variance: variance,
		// Numbers over their dispersion have the mean and the variance of counts, and about their skewness.
		score: func(p *part, i int, mean, scale, u float64) float64 {
			dispersion := scale * scale * at(p.spread, i, 1)
			k, below := p.values[i]/dispersion, 0.0
			if k > 0 {
				below = mathext.GammaIncRegComp(k, mean/dispersion)
			}
			return between(below, mathext.GammaIncRegComp(k+1, mean/dispersion), u)
		},
	}
}
