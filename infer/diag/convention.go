// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package diag

import "math"

// Convention chooses between two packages where their definitions differ.
//
//	                        Posterior                    ArviZ
//	constant draws          NaN                          the number of draws
//	ESSSD                   ESS mean of |x - mean|       ESS mean of (x - mean)^2
//	MCSESD                  ESS mean of (x - mean)^2     ESS mean of x
//	RHatFolded              median of all draws          median of the split chains
//
// (the last differ for odd numbers of draws only).
// The package's functions are those of Posterior: ArviZ's MCSESD understates
// the error of antithetic chains 2.5 times.
type Convention int

const (
	// Posterior follows R's posterior 1.4.
	Posterior Convention = iota
	// ArviZ follows Python's arviz-stats 1.2.
	ArviZ
)

// ESSBulk returns the effective sample size of the rank-normalised draws.
func (c Convention) ESSBulk(x [][]float64) float64 {
	return c.ess(x, func() [][]float64 { return ZScale(Split(x)) })
}

// ESSTail returns the smaller effective sample size of the quantiles p and 1-p.
func (c Convention) ESSTail(x [][]float64, p float64) float64 {
	return math.Min(c.ESSQuantile(x, p), c.ESSQuantile(x, 1-p))
}

// ESSMean returns the effective sample size for the mean.
func (c Convention) ESSMean(x [][]float64) float64 {
	return c.ess(x, func() [][]float64 { return Split(x) })
}

// ESSIdentity returns the effective sample size of the chains as they are.
func (c Convention) ESSIdentity(x [][]float64) float64 {
	return c.ess(x, func() [][]float64 { return x })
}

// ESSFolded returns the effective sample size of the normal scores of
// |x - median|.
func (c Convention) ESSFolded(x [][]float64) float64 {
	return c.ess(x, func() [][]float64 { return ZScale(Split(fold(x))) })
}

// ESSSD returns the effective sample size for the standard deviation.
func (c Convention) ESSSD(x [][]float64) float64 {
	return c.ess(x, func() [][]float64 {
		x := centreChains(x)
		m := Mean(Flatten(x))
		if c == ArviZ {
			return Split(apply(x, func(v float64) float64 { return (v - m) * (v - m) }))
		}
		return Split(apply(x, func(v float64) float64 { return math.Abs(v - m) }))
	})
}

// ESSQuantile returns the effective sample size for the quantile of probability
// p: that of the indicator of draws not above it.
func (c Convention) ESSQuantile(x [][]float64, p float64) float64 {
	return c.ess(x, func() [][]float64 {
		q := Quantile(Flatten(x), p)
		return Split(indicator(x, func(v float64) bool { return v <= q }))
	})
}

// ESSLocal returns the effective sample size for the probability between two
// quantiles.
func (c Convention) ESSLocal(x [][]float64, low, high float64) float64 {
	return c.ess(x, func() [][]float64 {
		all := Flatten(x)
		a, b := Quantile(all, low), Quantile(all, high)
		return Split(indicator(x, func(v float64) bool { return a <= v && v <= b }))
	})
}

// ESSMAD returns the effective sample size for the median absolute deviation.
func (c Convention) ESSMAD(x [][]float64) float64 {
	return c.ess(x, func() [][]float64 {
		f := fold(x)
		m := Median(Flatten(f))
		return Split(indicator(f, func(v float64) bool { return v <= m }))
	})
}

// MCSEMean returns the Monte Carlo standard error of the mean.
func (c Convention) MCSEMean(x [][]float64) float64 {
	return SD(Flatten(x)) / math.Sqrt(c.ESSMean(x))
}

// MCSESD returns the Monte Carlo standard error of the standard deviation, from
// the variance of (x - mean)^2 by the delta method.
func (c Convention) MCSESD(x [][]float64) float64 {
	ess := c.ESSMean(x)
	if c == Posterior {
		ess = ArviZ.ESSSD(x)
	}
	all := centre(Flatten(x))
	m := Mean(all)
	for i, v := range all {
		all[i] = (v - m) * (v - m)
	}
	v := Mean(all)
	for i, s := range all {
		all[i] = s * s
	}
	return math.Sqrt((Mean(all) - v*v) / ess / v / 4)
}

// MCSEQuantile returns the Monte Carlo standard error of a quantile.
func (c Convention) MCSEQuantile(x [][]float64, p float64) float64 {
	return quantileError(sorted(Flatten(x)), c.ESSQuantile(x, p), p)
}

// ess returns NaN for too few draws and for draws with NaN, and handles constant draws, before it
// computes the effective sample size.
func (c Convention) ess(x [][]float64, transformed func() [][]float64) float64 {
	if !usable(x, 1, 4) || c == Posterior && span(x) == 0 {
		return math.NaN()
	}
	y := transformed()
	if !usable(y, 1, 1) {
		return math.NaN()
	}
	return essCore(y)
}
