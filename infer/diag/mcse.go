// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package diag

import (
	"math"

	"gonum.org/v1/gonum/mathext"
)

// MCSEMean returns the Monte Carlo standard error of the mean: the standard
// deviation over the square root of ESSMean.
func MCSEMean(x [][]float64) float64 { return Posterior.MCSEMean(x) }

// MCSESD returns the Monte Carlo standard error of the standard deviation.
func MCSESD(x [][]float64) float64 { return Posterior.MCSESD(x) }

// MCSEQuantile returns the Monte Carlo standard error of the quantile of
// probability p.
func MCSEQuantile(x [][]float64, p float64) float64 { return Posterior.MCSEQuantile(x, p) }

// MCSEMedian returns the Monte Carlo standard error of the median.
func MCSEMedian(x [][]float64) float64 { return Posterior.MCSEQuantile(x, 0.5) }

// quantileError returns half the distance between the order statistics that enclose the quantile
// with the probability of one standard deviation to either side.
func quantileError(s []float64, ess, p float64) float64 {
	if len(s) == 0 || math.IsNaN(ess) {
		return math.NaN()
	}
	const lo, hi = 0.1586553, 0.8413447 // normal probabilities below -1 and below +1
	a, b := ess*p+1, ess*(1-p)+1
	n := float64(len(s))
	i := math.Floor(mathext.InvRegIncBeta(a, b, lo)*n - 1)
	j := math.Ceil(mathext.InvRegIncBeta(a, b, hi)*n - 1)
	return (s[int(math.Min(j, n-1))] - s[int(math.Max(i, 0))]) / 2
}
