// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package dist

import (
	"math"

	ad "github.com/euryale-dev/euryale/autodiff"
)

// Beta is the distribution on [0, 1] with shapes a and b.
//
//	log p = (a-1) log x + (b-1) log(1-x) - log B(a, b)
func Beta(a, b any) Dist {
	p := Nodes(a, b)
	d := betaOf(p[0], p[1], func(p []float64) (a, b float64) { return p[0], p[1] })
	d.Name, d.Params = "beta", p
	return d
}

// BetaProportion is the Beta distribution with the given mean in (0, 1) and concentration
// kappa. Its shapes are mean kappa and (1-mean) kappa.
func BetaProportion(mean, kappa any) Dist {
	p := Nodes(mean, kappa)
	d := betaOf(ad.Mul(p[0], p[1]), ad.Mul(ad.Sub(one, p[0]), p[1]), func(p []float64) (a, b float64) {
		return p[0] * p[1], (1 - p[0]) * p[1]
	})
	d.Name, d.Params = "betaproportion", p
	return d
}

// betaOf is a Beta distribution whose shapes are computed from the parameters by shapes.
func betaOf(a, b *ad.Node, shapes func(p []float64) (a, b float64)) Dist {
	return Dist{Support: closedUnit,
		endsOf: unitEnds(a, b, func() (first, second *ad.Node) { return ad.Log(b), ad.Log(a) }),
		LogProbOf: func(x *ad.Node) *ad.Node {
			logX, logY := ad.Log(x), ad.Log1p(ad.Neg(x))
			return ad.Sub(betaCore(a, b, ad.Sub(logX, logY), logX, logY), ad.Add(logX, logY))
		},
		LogCDFOf:  func(x *ad.Node) *ad.Node { return ad.LogBetaI(a, b, logitNode(x)) },
		LogCCDFOf: func(x *ad.Node) *ad.Node { return ad.LogBetaI(b, a, ad.Neg(logitNode(x))) },
		RandOf: func(src Source, p []float64) float64 {
			a, b := shapes(p)
			return 1 / (1 + math.Exp(-logitBeta(src, a, b)))
		},
		CDFOf: func(x float64, p []float64) float64 {
			a, b := shapes(p)
			return lowerBeta(a, b, logit(x))
		},
		QuantileOf: func(u float64, p []float64) float64 {
			a, b := shapes(p)
			return betaQuantile(a, b, u)
		},
		MeanOf: func(p []float64) float64 { a, b := shapes(p); return a / (a + b) },
		VarianceOf: func(p []float64) float64 {
			a, b := shapes(p)
			return a / (a + b) * (b / (a + b)) / (a + b + 1)
		},
	}
}

// unitEnds returns the log densities of a distribution on [0, 1] at 0, which is finite if a = 1, and at 1, which is finite
// if b = 1. There it is log b + (b-1) log(1-x) and log a + (a-1) log x.
func unitEnds(a, b *ad.Node, logs func() (atZero, atOne *ad.Node)) func(x *ad.Node) []endpoint {
	return func(x *ad.Node) []endpoint {
		low, high := ad.LessEqual(x, zero), ad.GreaterEqual(x, one)
		first, second := logs()
		falling := ad.Mul(ad.Shift(b, -1), ad.Log1p(ad.Neg(ad.Where(low, x, zero))))
		rising := ad.Mul(ad.Shift(a, -1), ad.Log(ad.Where(high, x, one)))
		return []endpoint{{low, limitIf(ad.Equal(a, one), ad.Add(first, falling))}, {high, limitIf(ad.Equal(b, one), ad.Add(second, rising))}}
	}
}

func logitNode(x *ad.Node) *ad.Node { return ad.Sub(ad.Log(x), ad.Log1p(ad.Neg(x))) }

// betaCore returns the log density of the logit s of a Beta variable. For constant moderate shapes it takes the logarithms
// of the variable and of its complement, which the caller needs anyway.
func betaCore(a, b, s, logX, logY *ad.Node) *ad.Node {
	if moderate(a) && moderate(b) {
		norm := ad.Sub(ad.Add(ad.Lgamma(a), ad.Lgamma(b)), ad.Lgamma(ad.Add(a, b)))
		return ad.Sub(ad.Add(ad.Mul(a, logX), ad.Mul(b, logY)), norm)
	}
	return ad.LogBetaDensity(a, b, s)
}

func init() {
	register(Family{Name: "beta", Params: []string{"a", "b"}, Want: []Support{Positive, Positive},
		Make: func(p ...any) Dist { return Beta(p[0], p[1]) },
		At:   [][]float64{{2, 2}, {0.8, 3}}})
	register(Family{Name: "betaproportion", Params: []string{"mean", "kappa"}, Want: []Support{Unit, Positive},
		Make: func(p ...any) Dist { return BetaProportion(p[0], p[1]) },
		At:   [][]float64{{0.3, 10}}})
}
