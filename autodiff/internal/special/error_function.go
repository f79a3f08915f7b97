// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package special

import "math"

const TwoOverSqrtPi = 2 / 1.772453850905516027298167483341145182798

// Erfcx is exp(x^2) erfc(x): the product while erfc is a normal number, with
// the rounding error of x^2 put back, then the asymptotic series.
func Erfcx(x float64) float64 {
	if x < -27 {
		return math.Inf(1)
	}
	if x > 25 {
		s, q := 1.0, 1/(2*x*x)
		for k := 11.0; k >= 1; k -= 2 {
			s = 1 - k*q*s
		}
		return s / (x * math.Sqrt(math.Pi))
	}
	q := x * x
	return math.Exp(q) * (1 + math.FMA(x, x, -q)) * math.Erfc(x)
}

// LogPhi uses erfcx left of -1 and log1p right of it.
func LogPhi(x float64) float64 {
	if x < -1 {
		return -x*x/2 + math.Log(Erfcx(-x*math.Sqrt2/2)/2)
	}
	return math.Log1p(-math.Erfc(x*math.Sqrt2/2) / 2)
}

// Lgamma returns log |Gamma(x)|.
func Lgamma(x float64) float64 {
	v, _ := math.Lgamma(x)
	return v
}

// BesselIe returns exp(-x) I_n(x) for x >= 0 and n = 0 or 1: the power series
// below 20, the asymptotic series above.
func BesselIe(n int, x float64) float64 {
	if x > 20 {
		mu, t, s := 4*float64(n*n), 1.0, 1.0
		for k := 1.0; k < 40 && math.Abs(t) > 1e-17; k++ {
			t *= -(mu - (2*k-1)*(2*k-1)) / (k * 8 * x)
			s += t
		}
		return s / math.Sqrt(2*math.Pi*x)
	}
	q, t := x*x/4, 1.0
	s := t
	for k := 1.0; t > 1e-17*s; k++ {
		t *= q / (k * (k + float64(n)))
		s += t
	}
	if n == 1 {
		s *= x / 2
	}
	return math.Exp(-x) * s
}
