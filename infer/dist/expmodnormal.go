// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package dist

import (
	ad "github.com/euryale-dev/euryale/autodiff"
)

// ExpModNormal is the distribution of the sum of a Normal(mu, sigma) and an
// Exponential(lambda) number.
//
//	log p = log(lambda/2) + lambda (mu-x) + (lambda sigma)^2/2 + log erfc(w),
//	w = (lambda sigma - z)/sqrt 2, z = (x-mu)/sigma
//
// For w > 0 this is computed as log(lambda/2) - z^2/2 + log erfcx(w).
func ExpModNormal(mu, sigma, lambda any) Dist {
	p := Nodes(mu, sigma, lambda)
	z := func(x *ad.Node) *ad.Node { return standard(x, p[0], p[1]) }
	rate := func() *ad.Node { return ad.Mul(p[1], p[2]) }                      // rate in units of 1/sigma
	fall := func(x *ad.Node) *ad.Node { return ad.Mul(p[2], ad.Sub(x, p[0])) } // their product, which does not depend on sigma
	d := Dist{Name: "expmodnormal", Params: p, Support: Real,
		LogProbOf: func(x *ad.Node) *ad.Node { return ad.Add(ad.Log(p[2]), shifted(z(x), rate(), fall(x))) },
		LogCDFOf:  func(x *ad.Node) *ad.Node { l, u := expModTails(z(x), rate(), fall(x)); return exactTail(l, u) },
		LogCCDFOf: func(x *ad.Node) *ad.Node { l, u := expModTails(z(x), rate(), fall(x)); return exactTail(u, l) },
		RandOf: func(src Source, p []float64) float64 {
			return p[0] + p[1]*src.Normal() + exponential(src)/p[2]
		},
		MeanOf:     func(p []float64) float64 { return p[0] + 1/p[2] },
		VarianceOf: func(p []float64) float64 { return p[1]*p[1] + 1/(p[2]*p[2]) },
	}
	d.CDFOf = d.graphCDF()
	return d
}

// shifted returns log(exp(rate^2/2 - rate z) Phi(z - rate)).
func shifted(z, rate, fall *ad.Node) *ad.Node {
	d := ad.Sub(rate, z)
	left := ad.Greater(d, zero)
	near := ad.Add(ad.Scale(-0.5, ad.Square(ad.Where(left, z, zero))), logHalfErfcx(ad.Where(left, d, zero)))
	half := ad.Scale(0.5, ad.Square(ad.Where(left, zero, rate)))
	far := ad.Add(ad.LogPhi(ad.Neg(ad.Where(left, zero, d))), ad.Sub(half, ad.Where(left, zero, fall)))
	return ad.Where(left, near, far)
}

// expModTails returns the logarithms of both tails,
//
//	P(X > x) = Phi(-z) + exp(rate^2/2 - rate z) Phi(z - rate)
//
// The lower tail is computed by a difference, which is taken in units of Phi(z) for z <
// 0.
func expModTails(z, rate, fall *ad.Node) (lower, upper *ad.Node) {
	second := shifted(z, rate, fall)
	upper = ad.LogAddExp(ad.LogPhi(ad.Neg(z)), second)
	left := ad.Less(z, ad.Scalar(38)) // beyond, the probability above z of the normal part is 0
	safe := ad.Where(left, z, zero)
	near := ad.Add(ad.Shift(ad.Scale(-0.5, ad.Square(safe)), -halfLogTwoPi), ad.LogMillsDrop(ad.Neg(safe), rate))
	return ad.Where(left, near, ad.Log1mExp(ad.Where(left, minusOne, second))), upper
}

func init() {
	register(Family{Name: "expmodnormal", Params: []string{"mu", "sigma", "lambda"}, Want: []Support{Real, Positive, Positive},
		Make: func(p ...any) Dist { return ExpModNormal(p[0], p[1], p[2]) },
		At:   [][]float64{{0, 1, 0.5}, {1, 0.2, 30}}})
}
