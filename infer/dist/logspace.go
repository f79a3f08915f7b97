// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package dist

import (
	"math"

	ad "github.com/euryale-dev/euryale/autodiff"
)

// Functions of numbers that may underflow, given with their logarithms. Below the logarithm deep, the first terms of the
// power series are exact to rounding, and no step of it underflows in 32 bits before.
const deep = -40

// logDropped returns log(1 - exp(-t)) for t >= 0.
func logDropped(t, logT *ad.Node) *ad.Node {
	return ad.Where(far(logT), ad.Sub(logT, ad.Scale(0.5, t)), ad.Log1mExp(ad.Neg(ad.Where(far(logT), one, t))))
}

func far(logT *ad.Node) *ad.Node { return ad.Less(logT, ad.Scalar(deep)) }

// logDroppedExp is logDropped for t = exp(logT).
func logDroppedExp(logT *ad.Node) *ad.Node {
	return logDropped(ad.Exp(ad.Minimum(logT, ad.Scalar(80))), logT) // beyond, it is 0
}

// finitePower returns the logarithm of a size, or 700 above that, so that the size is finite. It is for functions that do
// not change there any more: a derivative of 0 stays one, which it would not times that of an infinite size.
func finitePower(logT *ad.Node) *ad.Node { return ad.Minimum(logT, ad.Scalar(700)) }

// logErf returns log erf(t) for t >= 0.
func logErf(t, logT *ad.Node) *ad.Node {
	safe := ad.Where(far(logT), one, t)
	near := logOf(ad.Erf(safe), ad.Erfc(safe))
	return ad.Where(far(logT), ad.Shift(logT, math.Log(2/math.Sqrt(math.Pi))), near)
}

// logGammaP returns the logarithm of the regularised lower incomplete Gamma function P(a, t), which is close to
// t^a exp(-t)/Gamma(a+1) (1 + t/(a+1)) for small t.
func logGammaP(a, t, logT *ad.Node) *ad.Node {
	series := ad.Sub(ad.Sub(ad.Mul(a, logT), lgamma1p(a)), ad.Mul(t, ad.Div(a, ad.Shift(a, 1))))
	return ad.Where(far(logT), series, ad.LogGammaP(a, ad.Where(far(logT), one, t)))
}

// lgamma1p returns log Gamma(1 + a) for a > 0, without the rounding of 1 + a where a is small.
func lgamma1p(a *ad.Node) *ad.Node {
	small := ad.Less(a, half)
	s := ad.Where(small, a, half)
	near := ad.Add(ad.LogFactorialRest(s), ad.Mul(s, ad.Shift(ad.Log(s), -1)))
	return ad.Where(small, near, ad.Lgamma(ad.Shift(ad.Where(small, one, a), 1)))
}

// logGammaQ returns the logarithm of Q(a, t) = 1 - P(a, t).
func logGammaQ(a, t, logT *ad.Node) *ad.Node {
	low := logGammaP(a, ad.Where(far(logT), t, one), ad.Where(far(logT), logT, ad.Scalar(2*deep)))
	return ad.Where(far(logT), ad.Log1mExp(low), ad.LogGammaQ(a, ad.Where(far(logT), one, t)))
}

// logBetaI returns the logarithm of the regularised incomplete beta function at the logit s. Far out it is that of the
// first term of the power series in x or 1-x.
func logBetaI(a, b, s *ad.Node) *ad.Node {
	norm := logBeta(a, b)
	beyond := func(a, b, s *ad.Node) *ad.Node { // for shapes that leave the power away from 1
		return ad.Mul(ad.Less(ad.Add(s, ad.Log1p(b)), ad.Scalar(2*deep)), ad.Greater(a, ad.Scalar(1e-3)))
	}
	tail := func(far, a, s *ad.Node) *ad.Node {
		return ad.Sub(ad.Mul(a, ad.Where(far, s, ad.Scalar(2*deep))), ad.Add(ad.Log(a), norm))
	}
	low, high := beyond(a, b, s), beyond(b, a, ad.Neg(s))
	near := ad.LogBetaI(a, b, ad.Where(ad.Maximum(low, high), zero, s))
	rest := ad.Where(high, tail(high, b, ad.Neg(s)), minusOne)
	return ad.Where(low, tail(low, a, s), ad.Where(high, ad.Log1mExp(rest), near))
}

// logBeta returns log B(a, b), whose logarithms of Gamma functions cancel where a shape is large.
func logBeta(a, b *ad.Node) *ad.Node {
	c := ad.Add(a, b)
	powers := ad.Add(ad.Mul(a, ad.Log1p(ad.Div(b, a))), ad.Mul(b, ad.Log1p(ad.Div(a, b))))
	rest := ad.Sub(ad.Add(ad.StirlingError(a), ad.StirlingError(b)), ad.StirlingError(c))
	return ad.Sub(ad.Shift(rest, halfLogTwoPi), ad.Add(powers, ad.Scale(0.5, ad.Log(ad.Mul(a, ad.Div(b, c))))))
}

// logRatio returns log(a/b) for a and b above 0, without overflow or underflow of the ratio.
func logRatio(a, b *ad.Node) *ad.Node {
	r := ad.Div(a, b)
	near := ad.Mul(ad.Greater(r, ad.Scalar(1e-10)), ad.Less(r, ad.Scalar(1e10)))
	return ad.Where(near, ad.Log(ad.Where(near, r, one)), ad.Sub(ad.Log(a), ad.Log(b)))
}

// weighted returns log sum_k w_k exp(lp_k). The derivative with respect to a weight of 0 is exp(lp_k) over the sum, up to
// exp(80); where all terms are 0, the result is -Inf with a gradient of 0.
func weighted(w, lp []*ad.Node) *ad.Node {
	logW, positive, terms := make([]*ad.Node, len(w)), make([]*ad.Node, len(w)), make([]*ad.Node, len(w))
	for k := range w {
		positive[k], logW[k] = logWeight(w[k])
		terms[k] = choose(positive[k], ad.Add(logW[k], lp[k]), minusInfinity)
	}
	top, finite := highest(terms)
	for k := range w {
		d := ad.Where(finite, ad.Sub(lp[k], top), zero)
		terms[k] = choose(positive[k], ad.Exp(ad.Add(logW[k], d)), ad.Mul(w[k], ad.Exp(ad.Minimum(d, ad.Scalar(80)))))
	}
	return ad.Where(finite, ad.Add(top, ad.Log(ad.Where(finite, ad.AddN(terms...), one))), top)
}

// logSum returns log sum_k exp(lp_k); where all terms are 0, it is -Inf with a gradient of 0.
func logSum(lp []*ad.Node) *ad.Node {
	top, finite := highest(lp)
	terms := make([]*ad.Node, len(lp))
	for k := range lp {
		terms[k] = ad.Exp(ad.Where(finite, ad.Sub(lp[k], top), zero))
	}
	return ad.Where(finite, ad.Add(top, ad.Log(ad.AddN(terms...))), top)
}

// highest returns the largest of the terms, without a gradient, and 1 where it is finite.
func highest(terms []*ad.Node) (top, finite *ad.Node) {
	top = terms[0]
	for _, t := range terms[1:] {
		top = ad.Maximum(top, t)
	}
	top = ad.StopGradient(top)
	return top, ad.Less(ad.Abs(top), plusInfinity)
}

// logWeight returns 1 where a weight is above 0, and its logarithm there.
func logWeight(w *ad.Node) (positive, log *ad.Node) {
	if spanOf(w).positive() {
		return one, ad.Log(w)
	}
	positive = ad.Greater(w, zero)
	return positive, ad.Log(ad.Where(positive, w, one))
}

// weightedAxis is weighted for weights and log densities on the last axis.
func weightedAxis(w, lp *ad.Node) *ad.Node {
	positive, logW := logWeight(w)
	top := ad.StopGradient(ad.MaxAxes(choose(positive, ad.Add(logW, lp), minusInfinity), -1))
	finite := ad.Less(ad.Abs(top), plusInfinity)
	d := ad.Where(wide(finite, 1), ad.Sub(lp, wide(top, 1)), zero)
	terms := choose(positive, ad.Exp(ad.Add(logW, d)), ad.Mul(w, ad.Exp(ad.Minimum(d, ad.Scalar(80)))))
	sum := ad.Where(finite, each(terms), one)
	return ad.Where(finite, ad.Add(top, ad.Log(sum)), top)
}

// choose is Where, or a if the condition is known to hold.
func choose(condition, a, b *ad.Node) *ad.Node {
	if condition == one {
		return a
	}
	return ad.Where(condition, a, b)
}

var log1mExp = ad.Log1mExp(minusOne).Op()
