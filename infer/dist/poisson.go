// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package dist

import (
	"math"

	ad "github.com/euryale-dev/euryale/autodiff"
	"gonum.org/v1/gonum/stat/distuv"
)

// Poisson is the distribution of counts with the given rate, which is their mean.
//
//	log P = k log rate - rate - log k!
func Poisson(rate any) Dist {
	p := Nodes(rate)
	d := poissonOf(func(p []float64) float64 { return p[0] })
	d.Name, d.Params = "poisson", p
	// At rate 0, where all probability is at 0, the derivative of the logarithm of P(0) is -1.
	d.LogCDFOf = func(x *ad.Node) *ad.Node {
		return aboveZero(p[0], ad.Where(x, zero, ad.Neg(p[0])), func(rate *ad.Node) *ad.Node { return ad.LogGammaQ(ad.Shift(x, 1), rate) })
	}
	d.LogCCDFOf = func(x *ad.Node) *ad.Node {
		return aboveZero(p[0], minusInfinity, func(rate *ad.Node) *ad.Node { return ad.LogGammaP(ad.Shift(x, 1), rate) })
	}
	d.LogProbOf = func(x *ad.Node) *ad.Node {
		return ad.Neg(ad.Add(ad.PoissonDeviance(x, p[0]), ad.LogFactorialRest(x)))
	}
	return d
}

// PoissonLog is Poisson given the logarithm eta of its rate.
//
//	log P = k eta - exp(eta) - log k!
func PoissonLog(eta any) Dist {
	p := Nodes(eta)
	d := poissonOf(func(p []float64) float64 { return math.Exp(p[0]) })
	d.Name, d.Params = "poissonlog", p
	d.LogProbOf = func(x *ad.Node) *ad.Node {
		return ad.Sub(ad.Sub(ad.Where(x, ad.Mul(x, p[0]), zero), ad.Exp(p[0])), ad.Lgamma(ad.Shift(x, 1)))
	}
	d.LogCDFOf = func(x *ad.Node) *ad.Node { return logGammaQ(ad.Shift(x, 1), ad.Exp(p[0]), p[0]) }
	d.LogCCDFOf = func(x *ad.Node) *ad.Node { return logGammaP(ad.Shift(x, 1), ad.Exp(finitePower(p[0])), p[0]) }
	return d
}

// PoissonLogGLM is PoissonLog with the linear predictor alpha + x beta: log-linear
// regression of counts with a design matrix x (observations, predictors).
func PoissonLogGLM(x, alpha, beta any) Dist { return PoissonLog(linear(x, alpha, beta)) }

func poissonOf(at func(p []float64) float64) Dist {
	return Dist{Support: Counts, Discrete: true,
		RandOf:     func(src Source, p []float64) float64 { return poissonRand(src, at(p)) },
		CDFOf:      func(x float64, p []float64) float64 { return upperGamma(x+1, at(p)) },
		MeanOf:     at,
		VarianceOf: at,
	}
}

// aboveZero returns f(p) where p is above 0 and the given value elsewhere.
func aboveZero(p, atZero *ad.Node, f func(p *ad.Node) *ad.Node) *ad.Node {
	if spanOf(p).positive() {
		return f(p)
	}
	above := ad.Greater(p, zero)
	return ad.Where(above, f(ad.Where(above, p, one)), atZero)
}

func poissonRand(src Source, rate float64) float64 {
	switch {
	case !(rate >= 0) || math.IsInf(rate, 1):
		return math.NaN()
	case rate == 0:
		return 0
	case rate > 1e15: // the spacing of float64 numbers exceeds the skewness of the distribution
		return math.Round(rate + math.Sqrt(rate)*src.Normal())
	}
	return distuv.Poisson{Lambda: rate, Src: words{src}}.Rand()
}

func init() {
	register(Family{Name: "poisson", Params: []string{"rate"}, Want: []Support{NonNegative}, Linked: "poissonlog",
		Make: func(p ...any) Dist { return Poisson(p[0]) },
		At:   [][]float64{{3}, {0.2}, {55}}})
	register(Family{Name: "poissonlog", Params: []string{"eta"}, Want: []Support{logarithm},
		Make: func(p ...any) Dist { return PoissonLog(p[0]) },
		At:   [][]float64{{2.5}, {-1}}})
}
