// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package dist

import (
	"math"

	ad "github.com/euryale-dev/euryale/autodiff"
)

// Bernoulli is the distribution of a number that is 1 with probability p and otherwise 0.
// p may be 0 or 1.
//
//	log P = log p at 1, log(1-p) at 0
func Bernoulli(p any) Dist {
	q := Nodes(p)
	d := bernoulliOf(
		func() *ad.Node { return ad.Log1p(ad.Neg(q[0])) },
		func() *ad.Node { return ad.Log(q[0]) },
		func(p []float64) float64 { return p[0] })
	d.Name, d.Params = "bernoulli", q
	d.LogProbOf = func(x *ad.Node) *ad.Node { return ad.BernoulliLogLik(x, ad.Sub(one, x), q[0]) }
	return d
}

// BernoulliLogit is Bernoulli with p given by its logit l.
//
//	log P = -log(1 + exp(-(2x-1) l))
func BernoulliLogit(logit any) Dist {
	l := Nodes(logit)
	d := bernoulliOf(
		func() *ad.Node { return ad.LogSigmoid(ad.Neg(l[0])) },
		func() *ad.Node { return ad.LogSigmoid(l[0]) },
		func(p []float64) float64 { return 1 / (1 + math.Exp(-p[0])) })
	d.CDFOf = func(_ float64, p []float64) float64 { return 1 / (1 + math.Exp(p[0])) }
	d.Name, d.Params = "bernoullilogit", l
	d.LogProbOf = func(x *ad.Node) *ad.Node {
		return ad.Neg(ad.Softplus(ad.Mul(ad.Sub(one, ad.Scale(2, x)), l[0])))
	}
	return d
}

// BernoulliLogitGLM is BernoulliLogit with the linear predictor alpha + x beta: logistic
// regression with a design matrix x (observations, predictors).
func BernoulliLogitGLM(x, alpha, beta any) Dist { return BernoulliLogit(linear(x, alpha, beta)) }

func bernoulliOf(logNo, logYes func() *ad.Node, p func(p []float64) float64) Dist {
	return Dist{Support: wholes(zero, one), Discrete: true,
		LogProbOf: func(x *ad.Node) *ad.Node { return ad.Where(x, logYes(), logNo()) },
		LogCDFOf:  func(*ad.Node) *ad.Node { return logNo() },
		LogCCDFOf: func(*ad.Node) *ad.Node { return logYes() },
		RandOf: func(src Source, theta []float64) float64 {
			if chance(src, p(theta)) {
				return 1
			}
			return 0
		},
		CDFOf:      func(_ float64, theta []float64) float64 { return 1 - p(theta) },
		MeanOf:     p,
		VarianceOf: func(theta []float64) float64 { return p(theta) * (1 - p(theta)) },
	}
}

func init() {
	register(Family{Name: "bernoulli", Params: []string{"p"}, Want: []Support{closedUnit}, Linked: "bernoullilogit",
		Make: func(p ...any) Dist { return Bernoulli(p[0]) },
		At:   [][]float64{{0.3}}})
	register(Family{Name: "bernoullilogit", Params: []string{"logit"}, Want: []Support{extended},
		Make: func(p ...any) Dist { return BernoulliLogit(p[0]) },
		At:   [][]float64{{-0.7}}})
}
