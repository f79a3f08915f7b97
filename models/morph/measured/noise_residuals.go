// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package measured

import (
	"math"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/infer/dist"
)

// tailFreedom are the degrees of freedom of residuals whose errors differ in ways that are not known.
const tailFreedom = 4

func init() {
	four := ad.Scalar(tailFreedom)
	register(noise{
		name:  "residuals",
		about: "Numbers without errors, such as A(q): one width, noise, which is found from the residuals and varies as counting errors do, with tails for those that scatter more.",
		scale: "noise",
		residual: func(p *part, mean, scale *ad.Node) *ad.Node {
			return studentResidual(ad.Div(ad.Sub(mean, ad.Const(p.values)), p.widths(scale)), four)
		},
		law: func(p *part, mean, scale *ad.Node) dist.Dist { return dist.StudentT(four, mean, p.widths(scale)) },
		logDensity: func(p *part, i int, mean, scale float64) float64 {
			width := scale * at(p.relative, i, 1)
			z := (p.values[i] - mean) / width
			return -(tailFreedom+1)/2.0*math.Log1p(z*z/tailFreedom) - math.Log(width)
		},
		variance: func(p *part, i int, _, scale float64) float64 {
			width := scale * at(p.relative, i, 1)
			return studentVariance(tailFreedom) * width * width
		},
		score: func(p *part, i int, mean, scale, _ float64) float64 {
			return studentScore((p.values[i]-mean)/(scale*at(p.relative, i, 1)), tailFreedom)
		},
	})
}
