// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package dist

import (
	"math"

	ad "github.com/euryale-dev/euryale/autodiff"
)

// NegBinomial2 is the distribution of counts with mean mu and variance mu + mu^2/phi:
// Poisson with a Gamma-distributed rate. A large phi gives Poisson(mu).
//
//	log P = log C(k+phi-1, k) + phi log(phi/(mu+phi)) + k log(mu/(mu+phi))
func NegBinomial2(mu, phi any) Dist {
	p := Nodes(mu, phi)
	d := negBinomialOf(p[1], func() *ad.Node { return ad.Log(p[0]) }, func(p []float64) float64 { return p[0] })
	d.Name, d.Params = "negbinomial2", p
	// At mu = 0, where all probability is at 0, the derivative of the logarithm of P(0) is -1.
	none := func(x *ad.Node) *ad.Node { return ad.Where(x, minusInfinity, ad.Neg(p[0])) }
	d.LogProbOf = func(x *ad.Node) *ad.Node {
		return aboveZero(p[0], none(x), func(mu *ad.Node) *ad.Node { return ad.NegBinomialLogProb(x, ad.Log(mu), p[1]) })
	}
	d.LogCDFOf = func(x *ad.Node) *ad.Node {
		return aboveZero(p[0], ad.Where(x, zero, ad.Neg(p[0])), func(mu *ad.Node) *ad.Node {
			return logBetaI(p[1], ad.Shift(x, 1), ad.Sub(ad.Log(p[1]), ad.Log(mu)))
		})
	}
	d.LogCCDFOf = func(x *ad.Node) *ad.Node {
		return aboveZero(p[0], minusInfinity, func(mu *ad.Node) *ad.Node {
			return logBetaI(ad.Shift(x, 1), p[1], ad.Sub(ad.Log(mu), ad.Log(p[1])))
		})
	}
	return d
}

// NegBinomial2Log is NegBinomial2 given the logarithm eta of its mean.
func NegBinomial2Log(eta, phi any) Dist {
	p := Nodes(eta, phi)
	d := negBinomialOf(p[1], func() *ad.Node { return p[0] }, func(p []float64) float64 { return math.Exp(p[0]) })
	d.Name, d.Params = "negbinomial2log", p
	d.CDFOf = func(x float64, p []float64) float64 { return lowerBeta(p[1], x+1, math.Log(p[1])-p[0]) }
	return d
}

// NegBinomial2LogGLM is NegBinomial2Log with the linear predictor alpha + x beta:
// regression of overdispersed counts with a design matrix x (observations, predictors).
func NegBinomial2LogGLM(x, alpha, beta, phi any) Dist {
	return NegBinomial2Log(linear(x, alpha, beta), phi)
}

func negBinomialOf(phi *ad.Node, logMu func() *ad.Node, at func(p []float64) float64) Dist {
	odds := func() *ad.Node { return ad.Sub(ad.Log(phi), logMu()) } // logit of phi/(mu+phi)
	return Dist{Support: Counts, Discrete: true,
		LogProbOf: func(x *ad.Node) *ad.Node { return ad.NegBinomialLogProb(x, logMu(), phi) },
		LogCDFOf:  func(x *ad.Node) *ad.Node { return logBetaI(phi, ad.Shift(x, 1), odds()) },
		LogCCDFOf: func(x *ad.Node) *ad.Node { return logBetaI(ad.Shift(x, 1), phi, ad.Neg(odds())) },
		RandOf: func(src Source, p []float64) float64 {
			return poissonRand(src, at(p)*math.Exp(logGamma(src, p[1])-math.Log(p[1])))
		},
		CDFOf:  func(x float64, p []float64) float64 { return lowerBeta(p[1], x+1, math.Log(p[1])-math.Log(at(p))) },
		MeanOf: at,
		VarianceOf: func(p []float64) float64 {
			m := at(p)
			return m + m*m/p[1]
		},
	}
}

func init() {
	register(Family{Name: "negbinomial2", Params: []string{"mu", "phi"}, Want: []Support{NonNegative, Positive}, Linked: "negbinomial2log",
		Make: func(p ...any) Dist { return NegBinomial2(p[0], p[1]) },
		At:   [][]float64{{4, 2}, {10, 0.7}}})
	register(Family{Name: "negbinomial2log", Params: []string{"eta", "phi"}, Want: []Support{logarithm, Positive},
		Make: func(p ...any) Dist { return NegBinomial2Log(p[0], p[1]) },
		At:   [][]float64{{1.2, 3}}})
}
