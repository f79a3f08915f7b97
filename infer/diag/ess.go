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
	m := newMemory(x)
	var rho []float64
	last := 0
	for known, done := 16, false; !done; known = 2 * len(m.autocov) { // most chains forget within a few lags
		if rho = m.autocorrelation(known); slices.ContainsFunc(rho, math.IsNaN) {
			return math.NaN()
		}
		last, done = positivePairs(rho, len(m.autocov))
	}
	makeMonotone(rho, last)
	tau := -1 + rho[last+1]
	for _, r := range rho[:last+1] {
		tau += 2 * r
	}
	return total / math.Max(tau, 1/math.Log10(total))
}

// memory is what chains remember: their autocovariance, at as many lags as were asked for.
type memory struct {
	correlator
	deviations [][]float64 // deviations of each chain from its mean
	between    float64     // variance of the means of the chains; 0 for a single chain
	autocov    []float64   // average autocovariance of the chains, at the first lags
}

// newMemory returns the memory of chains, of which only the draws up to the shortest chain's number count.
func newMemory(x [][]float64) *memory {
	chains, n := size(x)
	m := &memory{correlator: correlator{n: n}}
	y := centreChains(x)
	means := make([]float64, chains)
	for c, v := range y {
		means[c] = Mean(v)
		m.deviations = append(m.deviations, deviations(v[:n]))
	}
	if chains > 1 {
		m.between = Variance(means)
	}
	return m
}

// autocorrelation returns the autocorrelation of the chains together at the known first lags, with
// zeros for all other lags and one more. It may find more lags than it was asked for.
func (m *memory) autocorrelation(known int) []float64 {
	if known > len(m.autocov) {
		m.autocov = m.extended(m.autocov, m.deviations, known)
	}
	w := m.autocov[0] * float64(m.n) / float64(m.n-1)
	total := m.autocov[0] + m.between
	rho := make([]float64, m.n+1)
	rho[0] = 1
	for t := 1; t < len(m.autocov); t++ {
		rho[t] = 1 - (w-m.autocov[t])/total
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
