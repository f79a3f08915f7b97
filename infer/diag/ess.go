// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package diag

import (
	"math"
	"slices"
)

// resolution is the span below which draws count as constant.
const resolution = 1e-15

// ESSBulk returns the effective sample size of the rank-normalised draws: how
// well the centre of the distribution is known, also without moments.
func ESSBulk(x [][]float64) float64 { return Posterior.ESSBulk(x) }

// ESSTail returns the smaller effective sample size of the 5 % and 95 %
// quantiles.
func ESSTail(x [][]float64) float64 { return Posterior.ESSTail(x, 0.05) }

// ESSMean returns the effective sample size for the mean.
func ESSMean(x [][]float64) float64 { return Posterior.ESSMean(x) }

// ESSSD returns the effective sample size for the standard deviation.
func ESSSD(x [][]float64) float64 { return Posterior.ESSSD(x) }

// ESSQuantile returns the effective sample size for the quantile of probability
// p.
func ESSQuantile(x [][]float64, p float64) float64 { return Posterior.ESSQuantile(x, p) }

// ESSMedian returns the effective sample size for the median.
func ESSMedian(x [][]float64) float64 { return Posterior.ESSQuantile(x, 0.5) }

// ESSMAD returns the effective sample size for the median absolute deviation.
func ESSMAD(x [][]float64) float64 { return Posterior.ESSMAD(x) }

// ESSLocal returns the effective sample size for the probability between the
// quantiles low and high: how well the chains explore that part.
func ESSLocal(x [][]float64, low, high float64) float64 { return Posterior.ESSLocal(x, low, high) }

// essCore estimates the effective sample size of chains as they are (Geyer's
// initial monotone sequence over the average autocorrelation of the chains).
//
//	rho_t = 1 - (W - mean acov_t) / var+,   ESS = C N / tau,   tau = -1 + 2 sum rho
func essCore(x [][]float64) float64 {
	chains, n := size(x)
	total := float64(chains * n)
	if span(x) < resolution {
		return total
	}
	y := centreChains(x)
	var rho []float64
	last := 0
	for known, done := 16, false; !done; known *= 8 { // most chains forget within a few lags
		known = min(known, n)
		if rho = autocorrelation(y, known); slices.ContainsFunc(rho, math.IsNaN) {
			return math.NaN()
		}
		last, done = positivePairs(rho, known)
	}
	makeMonotone(rho, last)
	tau := -1 + rho[last+1]
	for _, r := range rho[:last+1] {
		tau += 2 * r
	}
	return total / math.Max(tau, 1/math.Log10(total))
}

// autocorrelation combines the autocovariances of the chains at the first known
// lags; it has room for all of them and one more.
func autocorrelation(x [][]float64, known int) []float64 {
	chains, n := size(x)
	mean := make([]float64, n)
	centres := make([]float64, chains)
	k := newCorrelator(n, known)
	for c, v := range x {
		centres[c] = Mean(v)
		for t, a := range k.autocov(v[:n]) {
			mean[t] += a / float64(chains)
		}
	}
	w := mean[0] * float64(n) / float64(n-1)
	total := mean[0]
	if chains > 1 {
		total += Variance(centres)
	}
	rho := make([]float64, n+1)
	rho[0] = 1
	for t := 1; t < known; t++ {
		rho[t] = 1 - (w-mean[t])/total
	}
	return rho
}

// positivePairs keeps rho up to the last even lag before the first negative sum
// of an even and the following odd lag, clears the rest, and returns the last
// lag that counts twice. A positive even lag after it counts once. It is not done
// if that takes more than the first known lags.
func positivePairs(rho []float64, known int) (last int, done bool) {
	n := len(rho) - 1
	even, odd, t := rho[0], rho[1], 1
	keep := 1
	for t < n-3 && even+odd > 0 {
		if t+2 >= known {
			return 0, false
		}
		even, odd = rho[t+1], rho[t+2]
		if even+odd >= 0 {
			keep = t + 2
		}
		t += 2
	}
	last = max(t-2, 0)
	if t == 1 {
		last = -1
	}
	for i := keep + 1; i < len(rho); i++ {
		rho[i] = 0
	}
	if even > 0 {
		rho[last+1] = even
	}
	return last, true
}

// makeMonotone lets no pair sum exceed the one before it.
func makeMonotone(rho []float64, last int) {
	for t := 1; t <= last-2; t += 2 {
		if before := rho[t-1] + rho[t]; rho[t+1]+rho[t+2] > before {
			rho[t+1], rho[t+2] = before/2, before/2
		}
	}
}
