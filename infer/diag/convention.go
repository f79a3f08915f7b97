// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package diag

import (
	"math"
	"slices"
)

// Convention chooses between two packages where their definitions differ.
//
//	                        Posterior                    ArviZ
//	constant draws          NaN                          the number of draws
//	infinite draws          NaN                          those of their ranks
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
func (c Convention) ESSBulk(x [][]float64) float64 { return c.essBulk(newSample(x)) }

func (c Convention) essBulk(s *sample) float64 { return c.ess(s, s.splitScores) }

// ESSTail returns the smaller effective sample size of the quantiles p and 1-p.
func (c Convention) ESSTail(x [][]float64, p float64) float64 { return c.essTail(newSample(x), p) }

func (c Convention) essTail(s *sample, p float64) float64 {
	return math.Min(c.essQuantile(s, p), c.essQuantile(s, 1-p))
}

// ESSMean returns the effective sample size for the mean.
func (c Convention) ESSMean(x [][]float64) float64 { return c.essMean(newSample(x)) }

func (c Convention) essMean(s *sample) float64 {
	return c.ess(s, func() [][]float64 { return Split(s.x) })
}

// ESSIdentity returns the effective sample size of the chains as they are.
func (c Convention) ESSIdentity(x [][]float64) float64 {
	return c.ess(newSample(x), func() [][]float64 { return x })
}

// ESSFolded returns the effective sample size of the normal scores of
// |x - median|.
func (c Convention) ESSFolded(x [][]float64) float64 {
	s := newSample(x)
	return c.ess(s, func() [][]float64 { return s.folded().splitScores() })
}

// ESSSD returns the effective sample size for the standard deviation.
func (c Convention) ESSSD(x [][]float64) float64 { return c.essSD(newSample(x)) }

func (c Convention) essSD(s *sample) float64 {
	return c.ess(s, func() [][]float64 {
		all := centre(s.all)
		x, m := chainsOf(all, s.x), Mean(all)
		if c == ArviZ {
			return Split(apply(x, func(v float64) float64 { return (v - m) * (v - m) }))
		}
		return Split(apply(x, func(v float64) float64 { return math.Abs(v - m) }))
	})
}

// ESSQuantile returns the effective sample size for the quantile of probability
// p: that of the indicator of draws not above it.
func (c Convention) ESSQuantile(x [][]float64, p float64) float64 {
	return c.essQuantile(newSample(x), p)
}

func (c Convention) essQuantile(s *sample, p float64) float64 {
	return c.ess(s, func() [][]float64 { return Split(s.between(math.Inf(-1), s.quantile(p))) })
}

// ESSLocal returns the effective sample size for the probability between two
// quantiles.
func (c Convention) ESSLocal(x [][]float64, low, high float64) float64 {
	return c.essLocal(newSample(x), low, high)
}

func (c Convention) essLocal(s *sample, low, high float64) float64 {
	return c.ess(s, func() [][]float64 { return Split(s.between(s.quantile(low), s.quantile(high))) })
}

// ESSGrowth returns ESSBulk and the ESSTail of the 5 % and 95 % quantiles of the first k/points of
// every chain, for k from 1 to points. It sorts the draws once for all of them.
func (c Convention) ESSGrowth(x [][]float64, points int) (bulk, tail []float64) {
	s := newSample(x)
	s.order()
	bulk, tail = make([]float64, points), make([]float64, points)
	each(points, func(i int) {
		part := s.beginning(i+1, points)
		bulk[i], tail[i] = c.essBulk(part), c.essTail(part, 0.05)
	})
	return bulk, tail
}

// ESSSlices returns the ESSLocal of each of n slices of equal probability. It sorts the draws once
// for all of them.
func (c Convention) ESSSlices(x [][]float64, n int) []float64 {
	s, out := newSample(x), make([]float64, n)
	for k := range out {
		out[k] = c.essLocal(s, float64(k)/float64(n), float64(k+1)/float64(n))
	}
	return out
}

// ESSMAD returns the effective sample size for the median absolute deviation.
func (c Convention) ESSMAD(x [][]float64) float64 {
	s := newSample(x)
	return c.ess(s, func() [][]float64 {
		f := s.folded()
		return Split(f.between(math.Inf(-1), f.quantile(0.5)))
	})
}

// MCSEMean returns the Monte Carlo standard error of the mean.
func (c Convention) MCSEMean(x [][]float64) float64 {
	return c.mcseMean(newSample(x), SD(Flatten(x)))
}

func (c Convention) mcseMean(s *sample, sd float64) float64 { return sd / math.Sqrt(c.essMean(s)) }

// MCSESD returns the Monte Carlo standard error of the standard deviation, from
// the variance of (x - mean)^2 by the delta method.
func (c Convention) MCSESD(x [][]float64) float64 { return c.mcseSD(newSample(x)) }

func (c Convention) mcseSD(s *sample) float64 {
	var ess float64
	if c == Posterior {
		ess = ArviZ.essSD(s)
	} else {
		ess = c.essMean(s)
	}
	all := slices.Clone(centre(s.all))
	m := Mean(all)
	for i, v := range all {
		all[i] = (v - m) * (v - m)
	}
	v := Mean(all)
	for i, s := range all {
		all[i] = s * s
	}
	return math.Sqrt((Mean(all) - float64(v*v)) / ess / v / 4)
}

// MCSEQuantile returns the Monte Carlo standard error of a quantile.
func (c Convention) MCSEQuantile(x [][]float64, p float64) float64 {
	s := newSample(x)
	if s.nan {
		return math.NaN()
	}
	return quantileError(s.sorted(), c.essQuantile(s, p), p)
}

// ess returns NaN for too few draws and for draws with NaN, and handles constant draws, before it
// computes the effective sample size.
func (c Convention) ess(s *sample, transformed func() [][]float64) float64 {
	if !s.usable(1, 4) || c == Posterior && (s.width == 0 || s.endless) {
		return math.NaN()
	}
	y := transformed()
	if !usable(y, 1, 1) {
		return math.NaN()
	}
	return essCore(y)
}
