// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package dist

import (
	"math"

	ad "github.com/euryale-dev/euryale/autodiff"
)

// InverseGaussian (Wald) is the distribution of the time at which Brownian motion with
// drift first reaches a level, with mean mu and shape lambda.
//
//	log p = log(lambda/(2 pi x^3))/2 - lambda (x-mu)^2/(2 mu^2 x), x > 0
func InverseGaussian(mu, lambda any) Dist {
	p := Nodes(mu, lambda)
	return Dist{Name: "inversegaussian", Params: p, Support: Positive,
		LogProbOf: func(x *ad.Node) *ad.Node {
			r := ad.Shift(ad.Div(x, p[0]), -1) // r^2 may overflow, but r/x r does not
			fall := ad.Scale(-0.5, ad.Mul(p[1], ad.Mul(ad.Div(r, x), r)))
			return ad.Add(ad.Shift(fall, -halfLogTwoPi), ad.Sub(ad.Scale(0.5, ad.Log(p[1])), ad.Scale(1.5, ad.Log(x))))
		},
		LogCDFOf:  func(x *ad.Node) *ad.Node { l, u := waldTails(x, p[0], p[1]); return exactTail(l, u) },
		LogCCDFOf: func(x *ad.Node) *ad.Node { l, u := waldTails(x, p[0], p[1]); return exactTail(u, l) },
		RandOf:    waldRand,
		CDFOf: func(x float64, p []float64) float64 {
			r := math.Sqrt(p[1] / x)
			a, b := r*(x/p[0]-1), r*(x/p[0]+1)
			return phi(a) + math.Exp(-a*a/2)*erfcx.Eval(b*math.Sqrt2/2)/2
		},
		MeanOf:     func(p []float64) float64 { return p[0] },
		VarianceOf: func(p []float64) float64 { return p[0] * p[0] * p[0] / p[1] },
	}
}

var erfcx = ad.Erfcx(zero).Op()

// waldTails returns the logarithms of both tails. With r = sqrt(lambda/x),
// a = r (x/mu - 1) and b = r (x/mu + 1), where (b^2 - a^2)/2 = 2 lambda/mu,
//
//	P(X <= x) = Phi(a) + exp(2 lambda/mu) Phi(-b) = Phi(a) + exp(-a^2/2) erfcx(b/sqrt 2)/2
//	P(X > x) = exp(-a^2/2) (erfcx(a/sqrt 2) - erfcx(b/sqrt 2))/2
func waldTails(x, mu, lambda *ad.Node) (lower, upper *ad.Node) {
	r := ad.Sqrt(ad.Div(lambda, x))
	a := ad.Mul(r, ad.Div(ad.Sub(x, mu), mu))
	b := ad.Mul(r, ad.Div(ad.Add(x, mu), mu))
	fall := ad.Scale(-0.5, ad.Square(a))
	second := logHalfErfcx(b)
	lower = ad.LogAddExp(ad.LogPhi(a), ad.Add(fall, second))
	right := ad.Greater(a, ad.Scalar(-1))
	upper = ad.Shift(ad.Add(fall, ad.LogMillsDrop(ad.Where(right, a, zero), ad.Scale(2, r))), -halfLogTwoPi)
	return lower, ad.Where(right, upper, ad.Log1mExp(ad.Where(right, ad.Scalar(-1), lower)))
}

// waldRand solves a quadratic equation with a chi-squared coefficient and returns the
// smaller or the larger root at random.
//
// Reference: Michael, Schucany and Haas, doi 10.1080/00031305.1976.10479147.
func waldRand(src Source, p []float64) float64 {
	y := src.Normal()
	h := p[0] * y * y / (2 * p[1])
	x := p[0] / (1 + h + math.Sqrt(h*(h+2))) // the smaller root, without cancellation
	if chance(src, p[0]/(p[0]+x)) {
		return x
	}
	return p[0] * (p[0] / x)
}

func init() {
	register(Family{Name: "inversegaussian", Params: []string{"mu", "lambda"}, Want: []Support{Positive, Positive},
		Make: func(p ...any) Dist { return InverseGaussian(p[0], p[1]) },
		At:   [][]float64{{1, 1}, {3, 2.5}}})
}
