// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package measured

import (
	"math"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/infer/dist"
)

func init() {
	variance := func(p *part, i int, _, _ float64) float64 { return p.errors[i] * p.errors[i] }
	register(noise{
		name:   "gaussian",
		about:  "Numbers with standard deviations that are known.",
		errors: true,
		residual: func(p *part, mean, _ *ad.Node) *ad.Node {
			return ad.Div(ad.Sub(mean, ad.Const(p.values)), ad.Const(p.errors))
		},
		law: func(p *part, mean, _ *ad.Node) dist.Dist { return dist.Normal(mean, ad.Const(p.errors)) },
		logDensity: func(p *part, i int, mean, _ float64) float64 {
			z := (p.values[i] - mean) / p.errors[i]
			return -z*z/2 - math.Log(p.errors[i]) - math.Log(2*math.Pi)/2
		},
		variance: variance,
		score:    gaussianScore(variance),
	})
}
