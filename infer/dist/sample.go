// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package dist

import "math"

// exponential draws from the exponential distribution with rate 1.
func exponential(src Source) float64 { return -math.Log(open(src)) }

// logGamma draws the logarithm of a Gamma variable with shape a and rate 1. For small
// shapes the variable itself would be far below the smallest positive float64.
//
// Reference: Marsaglia and Tsang, doi 10.1145/358407.358414. For a shape below 1, a
// variable with shape a+1 is multiplied by a uniform number to the power of 1/a.
func logGamma(src Source, a float64) float64 {
	switch {
	case !(a > 0):
		return math.NaN()
	case a > 1e30: // the relative width of the distribution is below rounding
		return math.Log(a)
	case a < 1:
		return logGamma(src, a+1) - exponential(src)/a
	}
	d := a - 1./3
	c := 1 / math.Sqrt(9*d)
	for {
		x := src.Normal()
		v := 1 + c*x
		if v <= 0 {
			continue
		}
		v *= v * v
		if math.Log(open(src)) < x*x/2+d-d*v+d*math.Log(v) {
			return math.Log(d) + math.Log(v)
		}
	}
}

// gammaRand draws from the Gamma distribution with shape a and rate 1.
func gammaRand(src Source, a float64) float64 { return math.Exp(logGamma(src, a)) }

// logitBeta draws the logit of a Beta variable.
func logitBeta(src Source, a, b float64) float64 { return logGamma(src, a) - logGamma(src, b) }

// chance returns true with probability p.
func chance(src Source, p float64) bool { return src.Float64() < p }

// words produces random 64-bit words from a Source, for gonum's samplers.
type words struct{ src Source }

// Uint64 returns 64 random bits, taken from src if it provides them and otherwise made
// from two of its numbers.
func (w words) Uint64() uint64 {
	if u, ok := w.src.(interface{ Uint64() uint64 }); ok {
		return u.Uint64()
	}
	return uint64(w.src.Float64()*(1<<32))<<32 | uint64(w.src.Float64()*(1<<32))
}
