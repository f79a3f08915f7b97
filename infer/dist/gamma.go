// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package dist

import (
	ad "github.com/euryale-dev/euryale/autodiff"
)

// Gamma is the distribution with shape alpha and rate beta (mean alpha/beta).
//
//	log p = alpha log beta - log Gamma(alpha) + (alpha-1) log x - beta x, x >= 0
func Gamma(alpha, beta any) Dist {
	p := Nodes(alpha, beta)
	t := func(x *ad.Node) *ad.Node { return ad.Mul(p[1], x) }
	logT := func(x *ad.Node) *ad.Node { return ad.Add(ad.Log(p[1]), ad.Log(x)) }
	return Dist{Name: "gamma", Params: p, Support: NonNegative,
		endsOf: atZero(ad.Equal(p[0], one), func(x *ad.Node) *ad.Node { return ad.Sub(ad.Log(p[1]), ad.Mul(p[1], x)) }),
		LogProbOf: func(x *ad.Node) *ad.Node {
			return ad.Sub(gammaCore(p[0], t(x), logT(x)), ad.Log(x))
		},
		LogCDFOf:   func(x *ad.Node) *ad.Node { return logGammaP(p[0], t(x), logT(x)) },
		LogCCDFOf:  func(x *ad.Node) *ad.Node { return logGammaQ(p[0], t(x), logT(x)) },
		RandOf:     func(src Source, p []float64) float64 { return gammaRand(src, p[0]) / p[1] },
		CDFOf:      func(x float64, p []float64) float64 { return lowerGamma(p[0], p[1]*x) },
		QuantileOf: func(u float64, p []float64) float64 { return gammaQuantile(p[0], u) / p[1] },
		MeanOf:     func(p []float64) float64 { return p[0] / p[1] },
		VarianceOf: func(p []float64) float64 { return p[0] / (p[1] * p[1]) },
	}
}

// gammaCore returns the log density of log t for a Gamma variable t with shape a and rate
// 1,
//
//	a log t - t - log Gamma(a) = -d(a, t) + log(a/(2 pi))/2 - s(a)
//
// with the deviance d and the Stirling error s, which stay small for large a. If a is a
// known constant and not large, it uses the plain formula.
func gammaCore(a, t, logT *ad.Node) *ad.Node {
	if moderate(a) {
		return ad.Sub(ad.Sub(ad.Mul(a, logT), t), ad.Lgamma(a))
	}
	norm := ad.Shift(ad.Sub(ad.Scale(0.5, ad.Log(a)), ad.StirlingError(a)), -halfLogTwoPi)
	return ad.Sub(norm, ad.PoissonDeviance(a, t))
}

// moderate reports whether n is constant and small enough for the plain formulas with
// Gamma functions to lose no accuracy.
func moderate(n *ad.Node) bool {
	v, ok := constant(n)
	for _, x := range v {
		ok = ok && x > 0 && x <= 20
	}
	return ok
}

func init() {
	register(Family{Name: "gamma", Params: []string{"alpha", "beta"}, Want: []Support{Positive, Positive},
		Make: func(p ...any) Dist { return Gamma(p[0], p[1]) },
		At:   [][]float64{{2, 1}, {3.5, 0.5}, {0.3, 2}}})
}
