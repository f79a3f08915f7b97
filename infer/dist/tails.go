// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package dist

import (
	"math"

	ad "github.com/euryale-dev/euryale/autodiff"
	"gonum.org/v1/gonum/mathext"
)

// logOf returns the logarithm of a probability p. If p exceeds 1/2, it is computed from q
// = 1-p.
func logOf(p, q *ad.Node) *ad.Node {
	small := ad.Less(p, ad.Scalar(0.5))
	return ad.Where(small, ad.Log(ad.Where(small, p, one)), ad.Log1p(ad.Neg(ad.Where(small, zero, q))))
}

// exactTail returns own, the logarithm of a probability. If it is near 0, it is computed
// from the logarithm of the other tail.
func exactTail(own, other *ad.Node) *ad.Node {
	small := ad.Less(own, ad.Scalar(-math.Ln2))
	return ad.Where(small, own, ad.Log1mExp(ad.Where(small, ad.Scalar(-1), other)))
}

// exactTails does so for both tails. With respect to probabilities that sum to 1, gradients of the two differ by a
// constant, which does not change the derivatives along the simplex.
func exactTails(below, above func(x *ad.Node) *ad.Node) (cdf, ccdf func(x *ad.Node) *ad.Node) {
	return func(x *ad.Node) *ad.Node { return exactTail(below(x), above(x)) },
		func(x *ad.Node) *ad.Node { return exactTail(above(x), below(x)) }
}

// sided returns the logarithm of the probability below z for a distribution that is
// symmetric about 0; tail returns the logarithm of the probability beyond |z|, which is the result where left is 1.
func sided(z *ad.Node, tail func(size, left *ad.Node) *ad.Node) *ad.Node {
	left := ad.Less(z, zero)
	t := tail(ad.Where(left, ad.Neg(z), z), left)
	return ad.Where(left, t, ad.Log1mExp(t))
}

// smoothSided is sided for a tail that has no derivative at 0. Near 0 the probability is
// taken as 1/2 + z density, and tail is never called with 0.
func smoothSided(z, density *ad.Node, tail func(size, left *ad.Node) *ad.Node) *ad.Node {
	near := ad.Less(ad.Abs(z), ad.Scalar(1e-12))
	middle := ad.Log(ad.Shift(ad.Mul(ad.Where(near, z, zero), density), 0.5))
	return ad.Where(near, middle, sided(ad.Where(near, one, z), tail))
}

// logErfc returns log erfc(t) for t >= 0.
func logErfc(t *ad.Node) *ad.Node {
	near := ad.Less(t, ad.Scalar(0.4))
	far := ad.Shift(ad.LogPhi(ad.Scale(-math.Sqrt2, t)), math.Ln2)
	return ad.Where(near, ad.Log1p(ad.Neg(ad.Erf(ad.Where(near, t, zero)))), far)
}

// logHalfErfcx returns log(erfcx(x/sqrt 2)/2), which is log Phi(-x) without the factor
// exp(-x^2/2).
func logHalfErfcx(x *ad.Node) *ad.Node {
	return ad.Shift(ad.Log(ad.Erfcx(ad.Scale(math.Sqrt2/2, x))), -math.Ln2)
}

// lowerGamma, upperGamma and lowerBeta are the regularised incomplete functions
// P(a, x), Q(a, x) and I(a, b) at the logit s.
func lowerGamma(a, x float64) float64   { return math.Exp(gammaP.Eval(a, x)) }
func upperGamma(a, x float64) float64   { return math.Exp(gammaQ.Eval(a, x)) }
func lowerBeta(a, b, s float64) float64 { return math.Exp(betaI.Eval(a, b, s)) }

var (
	gammaP = ad.LogGammaP(one, one).Op()
	gammaQ = ad.LogGammaQ(one, one).Op()
	betaI  = ad.LogBetaI(one, one, zero).Op()
)

// phi is the standard normal distribution function; its inverse is
// mathext.NormalQuantile.
func phi(z float64) float64 { return math.Erfc(-z*math.Sqrt2/2) / 2 }

func logit(x float64) float64 { return math.Log(x) - math.Log1p(-x) }

// gammaQuantile and betaQuantile invert the incomplete functions. They use gonum's
// inverses at shapes that are neither tiny nor huge, where those are reliable.
func gammaQuantile(a, u float64) float64 {
	x := math.NaN()
	if a > 1e-2 && a < 1e5 {
		x = mathext.GammaIncRegInv(a, u)
	}
	return polish(x, u, func(x float64) float64 { return lowerGamma(a, x) }, 0, math.Inf(1))
}

func betaQuantile(a, b, u float64) float64 {
	x := math.NaN()
	if min(a, b) > 1e-2 && max(a, b) < 1e5 {
		x = mathext.InvRegIncBeta(a, b, u)
	}
	return polish(x, u, func(x float64) float64 { return lowerBeta(a, b, logit(x)) }, 0, 1)
}

// polish returns x if it is the u-quantile of cdf to a relative error of 1e-10 in
// probability, and otherwise searches for it.
func polish(x, u float64, cdf func(x float64) float64, lo, hi float64) float64 {
	if x > lo && x < hi && math.Abs(cdf(x)-u) <= 1e-10*min(u, 1-u) {
		return x
	}
	return bisect(u, cdf, lo, hi)
}
