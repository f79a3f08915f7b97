// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package special

import (
	"math"

	"gonum.org/v1/gonum/mathext"

	"github.com/euryale-dev/euryale/internal/subnormal"
)

// Digamma moves x up to 10 by psi(x) = psi(x+1) - 1/x, then uses the asymptotic
// series (Abramowitz & Stegun 6.3.18); negative x by reflection (6.3.7).
func Digamma(x float64) float64 {
	switch {
	case x == 0: // a pole whose sign is that of 0
		return math.Inf(int(-math.Copysign(1, x)))
	case x < 0 && x == math.Floor(x):
		return math.NaN()
	case x < 0:
		return Digamma(1-x) - math.Pi/math.Tan(math.Pi*sinceInteger(x))
	}
	s := 0.0
	for ; x < 10; x++ {
		s -= 1 / x
	}
	q := 1 / (x * x)
	tail := q * (1./12 - q*(1./120-q*(1./252-q*(1./240-q*(1./132-q*(691./32760-q/12))))))
	return s + subnormal.Log(x) - 0.5/x - tail
}

// sinceInteger returns what x has above the nearest integer: it is exact, so that poles are
// where they should be, which rounding of pi x moves.
func sinceInteger(x float64) float64 { return x - math.RoundToEven(x) }

// Polygamma is (-1)^(n+1) n! zeta(n+1, x) for x > 0 (A&S 6.4.10), and for x < 0 (A&S 6.4.7)
//
//	(-1)^n Polygamma(n, 1-x) - pi d^n/dx^n cot(pi x)
func Polygamma(n int, x float64) float64 {
	sign := float64(2*(n%2) - 1) // (-1)^(n+1)
	switch {
	case x == 0:
		return math.Inf(int(math.Pow(math.Copysign(1, x), float64(n+1)) * sign))
	case x < 0 && x == math.Floor(x): // a pole, of one sign for an odd n
		if n%2 == 1 {
			return math.Inf(1)
		}
		return math.NaN()
	case x < 0:
		return -sign*Polygamma(n, 1-x) - cotangentSlope(n, x)
	}
	return sign * math.Gamma(float64(n+1)) * mathext.Zeta(float64(n+1), x)
}

// cotangentSlope returns pi d^n/dx^n cot(pi x): cot' = -(1 + cot^2), so derivatives are polynomials of the cotangent.
func cotangentSlope(n int, x float64) float64 {
	c := 1 / math.Tan(math.Pi*sinceInteger(x))
	p := []float64{0, 1} // coefficients, lowest first
	scale := math.Pi
	for range n {
		next := make([]float64, len(p)+1)
		for i := 1; i < len(p); i++ {
			next[i-1] -= float64(i) * p[i]
			next[i+1] -= float64(i) * p[i]
		}
		p, scale = next, scale*math.Pi
	}
	sum := p[len(p)-1] // powers of c may be infinite
	for i := len(p) - 2; i >= 0; i-- {
		sum = sum*c + p[i]
	}
	return scale * sum
}
