// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package special

import (
	"math"

	"github.com/euryale-dev/euryale/internal/subnormal"
)

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

// ErfcxDerivative returns the n-th derivative of Erfcx. With Mills' ratio R(t) = sqrt(pi/2) erfcx(t/sqrt 2), which is
// 1/(t + d1), derivatives are products that do not cancel:
//
//	R' = -d1 R, (R')' = d1 d2 R, and so on, with dk = k/(t + d(k+1))
//
// Left of where this continued fraction converges quickly, the recurrence
//
//	y(n+1) = 2 x y(n) + 2 n y(n-1)
//
// does not cancel much. Source: https://dlmf.nist.gov/7.18, the repeated integrals of erfc.
func ErfcxDerivative(n int, x float64) float64 {
	v := Erfcx(x)
	if t := math.Sqrt2 * x; t > millsFraction {
		tail, product := 0.0, 1.0
		for k := millsTerms + n; k >= 1; k-- {
			if tail = float64(k) / (t + tail); k <= n {
				product *= -math.Sqrt2 * tail
			}
		}
		return v * product
	}
	before, next := 0.0, 2*x*v-TwoOverSqrtPi
	for k := range n {
		if k > 0 {
			next = 2 * (x*v + float64(k)*before)
		}
		before, v = v, next
	}
	return v
}

// Right of millsFraction, millsTerms terms of the continued fraction of Mills' ratio leave an error of 1e-17.
const millsFraction, millsTerms = 3, 72

// LogPhiSlope returns phi(x)/Phi(x), the derivative of LogPhi.
func LogPhiSlope(x float64) float64 {
	if x < -1e9 { // where erfcx leaves the range
		return -x
	}
	return TwoOverSqrtPi / math.Sqrt2 / Erfcx(-x*math.Sqrt2/2)
}

// LogPhiCurve returns the second derivative of LogPhi, -m (x + m) with m its slope. In the left tail x + m is the
// fraction d1 of ErfcxDerivative, and does not cancel.
func LogPhiCurve(x float64) float64 {
	switch {
	case math.IsInf(x, -1):
		return -1
	case x < -millsFraction:
		d := 0.0
		for k := millsTerms; k >= 1; k-- {
			d = float64(k) / (d - x)
		}
		return -(d - x) * d
	case x > 10:
		return -densityTimes(x, x)
	}
	m := LogPhiSlope(x)
	return -m * (x + m)
}

// densityTimes returns f times the density of the normal distribution at x, also where that density alone is too small.
func densityTimes(f, x float64) float64 {
	if x > 40 {
		return 0
	}
	q := x * x
	root := math.Exp(-q / 4)
	return f * TwoOverSqrtPi / (2 * math.Sqrt2) * root * (1 - math.FMA(x, x, -q)/2) * root
}

// LogPhiThird returns the third derivative of LogPhi, -(c (x+m) + m (1+c)) with m its slope and c its curve; in the left
// tail the fractions d1, d2, d3 of ErfcxDerivative make it d1^2 d2 m (d3 - d2).
func LogPhiThird(x float64) float64 {
	switch {
	case math.IsInf(x, -1):
		return 0
	case x < -2:
		var d [4]float64
		for k := 160; k >= 1; k-- {
			copy(d[2:], d[1:3])
			d[1] = float64(k) / (d[1] - x)
		}
		return d[1] * d[1] * d[2] * (d[1] - x) * (d[3] - d[2])
	case x > 10: // Phi is 1
		return densityTimes((x-1)*(x+1), x)
	}
	m, c := LogPhiSlope(x), LogPhiCurve(x)
	return -(c*(x+m) + m*(1+c))
}

// LogPhi uses erfcx left of -1 and log1p right of it.
func LogPhi(x float64) float64 {
	if x < -1 {
		return -x*x/2 + subnormal.Log(Erfcx(-x*math.Sqrt2/2)/2)
	}
	return math.Log1p(-math.Erfc(x*math.Sqrt2/2) / 2)
}

// Lgamma returns log |Gamma(x)|.
func Lgamma(x float64) float64 {
	if math.IsInf(x, -1) { // as in C, and between the poles nearby
		return math.Inf(1)
	}
	if math.Abs(x) < 0x1p-1022 {
		return -subnormal.Log(math.Abs(x))
	}
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
		return s / (math.Sqrt(2*math.Pi) * math.Sqrt(x))
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
