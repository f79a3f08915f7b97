// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package special

import (
	"math"

	"gonum.org/v1/gonum/mathext"
)

// Digamma moves x up to 10 by psi(x) = psi(x+1) - 1/x, then uses the asymptotic
// series (Abramowitz & Stegun 6.3.18); negative x by reflection (6.3.7).
func Digamma(x float64) float64 {
	if x <= 0 && x == math.Floor(x) {
		return math.NaN()
	}
	if x < 0 {
		return Digamma(1-x) - math.Pi/math.Tan(math.Pi*sinceInteger(x))
	}
	s := 0.0
	for ; x < 10; x++ {
		s -= 1 / x
	}
	q := 1 / (x * x)
	tail := q * (1./12 - q*(1./120-q*(1./252-q*(1./240-q*(1./132-q*(691./32760-q/12))))))
	return s + math.Log(x) - 0.5/x - tail
}

// sinceInteger returns what x has above the nearest integer: it is exact, so that poles are
// where they should be, which rounding of pi x moves.
func sinceInteger(x float64) float64 { return x - math.RoundToEven(x) }

// Polygamma is (-1)^(n+1) n! zeta(n+1, x) for x > 0 (A&S 6.4.10); trigamma of
// negative x by reflection (6.4.7).
func Polygamma(n int, x float64) float64 {
	if x <= 0 {
		if n == 1 && x != math.Floor(x) {
			s := math.Sin(math.Pi * sinceInteger(x))
			return math.Pi*math.Pi/(s*s) - Polygamma(1, 1-x)
		}
		return math.NaN()
	}
	v := math.Gamma(float64(n+1)) * mathext.Zeta(float64(n+1), x)
	if n%2 == 0 {
		return -v
	}
	return v
}
