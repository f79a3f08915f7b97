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
	d := poissonOf(func() *ad.Node { return p[0] }, func(p []float64) float64 { return p[0] })
	d.Name, d.Params = "poisson", p
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
	d := poissonOf(func() *ad.Node { return ad.Exp(p[0]) }, func(p []float64) float64 { return math.Exp(p[0]) })
	d.Name, d.Params = "poissonlog", p
	d.LogProbOf = func(x *ad.Node) *ad.Node {
		return ad.Sub(ad.Sub(ad.Mul(x, p[0]), ad.Exp(p[0])), ad.Lgamma(ad.Shift(x, 1)))
	}
	return d
}

// PoissonLogGLM is PoissonLog with the linear predictor alpha + x beta: log-linear
// regression of counts with a design matrix x (observations, predictors).
func PoissonLogGLM(x, alpha, beta any) Dist { return PoissonLog(linear(x, alpha, beta)) }

func poissonOf(rate func() *ad.Node, at func(p []float64) float64) Dist {
	return Dist{Support: Counts, Discrete: true,
		LogCDFOf:   func(x *ad.Node) *ad.Node { return ad.LogGammaQ(ad.Shift(x, 1), rate()) },
		LogCCDFOf:  func(x *ad.Node) *ad.Node { return ad.LogGammaP(ad.Shift(x, 1), rate()) },
		RandOf:     func(src Source, p []float64) float64 { return poissonRand(src, at(p)) },
		CDFOf:      func(x float64, p []float64) float64 { return upperGamma(x+1, at(p)) },
		MeanOf:     at,
		VarianceOf: at,
	}
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
