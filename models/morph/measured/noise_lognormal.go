// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package measured

import (
	"math"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/infer/dist"
)

func init() {
	register(noise{
		name:     "lognormal",
		about:    "Intensities with errors that are a share of them, which sigma says.",
		scale:    "sigma",
		positive: true, logarithm: true,
		residual: func(p *part, mean, scale *ad.Node) *ad.Node {
			return ad.Div(ad.Sub(ad.Log(mean), ad.Const(logarithms(p.values))), scale)
		},
		law: func(_ *part, mean, scale *ad.Node) dist.Dist { return dist.LogNormal(ad.Log(mean), scale) },
		logDensity: func(p *part, i int, mean, scale float64) float64 {
			z := math.Log(p.values[i]/mean) / scale
			return -z*z/2 - math.Log(scale*p.values[i]) - math.Log(2*math.Pi)/2
		},
		variance: func(_ *part, _ int, mean, scale float64) float64 { return scale * scale * mean * mean },
		score: func(p *part, i int, mean, scale, _ float64) float64 {
			return math.Log(p.values[i]/mean) / scale
		},
	})
}

func logarithms(x []float64) []float64 {
	out := make([]float64, len(x))
	for i, v := range x {
		out[i] = math.Log(v)
	}
	return out
}
