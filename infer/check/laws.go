// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package check

import (
	"math"

	"gonum.org/v1/gonum/mathext"
)

// betaTail is the probability that a Beta(a, b) number exceeds x.
func betaTail(a, b, x float64) float64 {
	switch {
	case x <= 0:
		return 1
	case x >= 1:
		return 0
	}
	return mathext.RegIncBeta(b, a, 1-x)
}

// betaBetween is the two-sided tail probability of x under the beta distribution on [lo, hi]
// with the given mean and variance.
func betaBetween(x, lo, hi, mean, variance float64) float64 {
	width := hi - lo
	u, m, v := (x-lo)/width, (mean-lo)/width, variance/(width*width)
	if !(v > 0) || !(m > 0 && m < 1) {
		return 1
	}
	size := m*(1-m)/v - 1
	if !(size > 0) {
		return 1
	}
	upper := betaTail(m*size, (1-m)*size, u)
	lower := betaTail((1-m)*size, m*size, 1-u)
	return min(1, 2*min(upper, lower))
}

// normalTail is the probability that a standard normal number exceeds z.
func normalTail(z float64) float64 { return math.Erfc(z/math.Sqrt2) / 2 }

// chiSquaredTails returns the probabilities of less and of more than x with k degrees
// of freedom.
func chiSquaredTails(x, k float64) (below, above float64) {
	return mathext.GammaIncReg(k/2, x/2), mathext.GammaIncRegComp(k/2, x/2)
}

// chiSquaredQuantile inverts chiSquaredTails for the lower tail.
func chiSquaredQuantile(p, k float64) float64 { return 2 * mathext.GammaIncRegInv(k/2, p) }

// studentTail is the probability that |t| with k degrees of freedom exceeds t.
func studentTail(t, k float64) float64 { return mathext.RegIncBeta(k/2, 0.5, k/(k+t*t)) }
