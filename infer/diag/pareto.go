// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package diag

import (
	"math"
	"slices"
)

// ParetoK returns the larger shape of the generalised Pareto distributions fitted to the two tails
// of the draws. From 1/2 on the variance does not exist, and from 1 on not even the mean, so that no
// number of draws makes the estimate converge. It is NaN for fewer than 25 draws, a constant tail,
// or a NaN.
//
// Reference: Vehtari, Simpson, Gelman, Yao and Gabry, Pareto smoothed
// importance sampling, JMLR 25 (2024) 72.
func ParetoK(x [][]float64) float64 {
	s := sorted(Flatten(x))
	return shapeOf(s, tailLength(float64(len(s)), ArviZ.ESSTail(x, 0.05)))
}

// shapeOf returns the larger shape of the two tails of n draws each of sorted draws, which it changes.
func shapeOf(s []float64, n int) float64 {
	if n < 5 {
		return math.NaN()
	}
	right := exceedances(s, n)
	slices.Reverse(s)
	for i := range s {
		s[i] = -s[i]
	}
	return math.Max(fitTail(right), fitTail(exceedances(s, n)))
}

// ParetoMinDraws returns the number of draws that make the estimate of the mean reliable if the
// tails have shape k: 10^(1/(1-max(0, k))), infinite from k = 1 on.
func ParetoMinDraws(k float64) float64 {
	if k >= 1 {
		return math.Inf(1)
	}
	return math.Pow(10, 1/(1-math.Max(0, k)))
}

// tailLength is the number of draws in each tail: it grows with the draws and
// shrinks with the effective sample size of the tails.
func tailLength(draws, ess float64) int {
	if draws > 225 && ess > 0 {
		return int(math.Min(3*draws/math.Sqrt(ess), draws/5))
	}
	return int(draws / 5)
}

// exceedances returns the differences between the n largest of sorted numbers and the next smaller
// one.
func exceedances(s []float64, n int) []float64 {
	at := len(s) - n - 1
	out := make([]float64, n)
	for i := range out {
		out[i] = s[at+1+i] - s[at]
	}
	return out
}

func fitTail(x []float64) float64 {
	if last := x[len(x)-1]; !(last-x[0] > 0) || math.IsInf(last, 0) {
		return math.NaN()
	}
	k, _ := GPDFit(x)
	return k
}

// GPDFit returns shape k and scale sigma of a generalised Pareto distribution
// of sorted positive exceedances: the posterior mean over a grid of theta =
// -k/sigma, shrunk as if 10 more exceedances had k = 1/2.
//
// Reference: Zhang and Stephens, doi 10.1198/tech.2009.08017.
func GPDFit(x []float64) (k, sigma float64) {
	const prior = 3.0
	n := len(x)
	grid := 30 + int(math.Sqrt(float64(n)))
	quartile := x[max(int(math.Floor(float64(n)/4+0.5))-1, 0)]
	theta, logLik := make([]float64, grid), make([]float64, grid)
	for j := range grid {
		theta[j] = 1/x[n-1] + (1-math.Sqrt(float64(grid)/(float64(j)+0.5)))/prior/quartile
		shape := meanLog1p(x, -theta[j])
		logLik[j] = float64(n) * (math.Log(-theta[j]/shape) - shape - 1)
	}
	t := weightedMean(theta, logLik)
	k = meanLog1p(x, -t)
	sigma = -k / t
	return (float64(n)*k + 5) / float64(n+10), sigma
}

// weightedMean weighs by exp(logw), without weights below 10 machine epsilons.
func weightedMean(v, logw []float64) float64 {
	top, total, sum, kept := slices.Max(logw), 0.0, 0.0, 0.0
	for _, l := range logw {
		total += math.Exp(l - top)
	}
	for i, l := range logw {
		if w := math.Exp(l-top) / total; w >= 10*0x1p-52 {
			sum, kept = sum+w*v[i], kept+w
		}
	}
	return sum / kept
}

func meanLog1p(x []float64, factor float64) float64 {
	s := 0.0
	for _, v := range x {
		s += math.Log1p(factor * v)
	}
	return s / float64(len(x))
}
