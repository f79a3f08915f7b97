// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package measured

import (
	"math"

	"gonum.org/v1/gonum/stat/distuv"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/infer/dist"
)

func init() {
	register(noise{
		name:   "student",
		about:  "Means of bins whose standard deviations were estimated from the scatter of n pixels: Student's t with n - 1 degrees of freedom.",
		errors: true, freedom: true,
		residual: func(p *part, mean, _ *ad.Node) *ad.Node {
			return studentResidual(ad.Div(ad.Sub(mean, ad.Const(p.values)), ad.Const(p.errors)), ad.Const(p.freedom))
		},
		law: func(p *part, mean, _ *ad.Node) dist.Dist {
			return dist.StudentT(ad.Const(p.freedom), mean, ad.Const(p.errors))
		},
		logDensity: func(p *part, i int, mean, _ float64) float64 {
			return distuv.StudentsT{Mu: mean, Sigma: p.errors[i], Nu: p.freedom[i]}.LogProb(p.values[i])
		},
		variance: func(p *part, i int, _, _ float64) float64 {
			return studentVariance(p.freedom[i]) * p.errors[i] * p.errors[i]
		},
		score: func(p *part, i int, mean, _, _ float64) float64 {
			return studentScore((p.values[i]-mean)/p.errors[i], p.freedom[i])
		},
	})
}

// studentResidual is the residual of Student's t with a freedom at z, whose square is twice how far its log density lies below the largest.
// Near 0 it is z times a factor.
func studentResidual(z, freedom *ad.Node) *ad.Node {
	square := ad.Square(z)
	small := ad.LessEqual(square, ad.Scalar(1e-12))
	root := ad.Sqrt(ad.Where(small, ad.Scalar(1), ad.Mul(ad.Shift(freedom, 1), ad.Log1p(ad.Div(square, freedom)))))
	near := ad.Mul(z, ad.Sqrt(ad.Div(ad.Shift(freedom, 1), freedom)))
	return ad.Where(small, near, ad.Mul(ad.Sign(z), root))
}

// studentVariance is the inverse of the information that a number has of the middle of Student's t, in units of the square of its width.
func studentVariance(freedom float64) float64 { return (freedom + 3) / (freedom + 1) }

// studentScore is the quantile residual of z.
func studentScore(z, freedom float64) float64 {
	p := distuv.StudentsT{Sigma: 1, Nu: freedom}.CDF(-math.Abs(z))
	return math.Copysign(between(p, p, 0), z)
}
