// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package special

import (
	"math"

	"github.com/euryale-dev/euryale/internal/subnormal"
)

// StirlingError is the n-th derivative: it moves x up to 10 by
//
//	s(x) = s(x+1) + (x + 1/2) log(1 + 1/x) - 1
//
// then uses the asymptotic series (Abramowitz & Stegun 6.1.41).
func StirlingError(n int, x float64) float64 {
	if !(x > 0) {
		if x == 0 {
			return math.Inf(1 - 2*(n%2))
		}
		return math.NaN()
	}
	if x < 1e-30 { // -log(x)/2 and its derivatives
		if n == 0 {
			return -0.5 * (subnormal.Log(x) + math.Log(2*math.Pi))
		}
		v := 0.5
		for i := range n {
			v *= -float64(max(i, 1)) / x
		}
		return v
	}
	moved := 0.0
	for enough := 10 + 2*float64(n); x < enough; x++ {
		moved += stirlingStep(n, x)
	}
	sum := 0.0
	for k := len(stirlingSeries) - 1; k >= 0; k-- {
		c := stirlingSeries[k]
		for i := range n { // derivatives of x^-m multiply by -m/x, -(m+1)/x, ...
			c *= -float64(2*k+1+i) / x
		}
		sum = sum/(x*x) + c
	}
	return moved + sum/x
}

// stirlingStep is the n-th derivative of (x + 1/2) log(1 + 1/x) - 1.
func stirlingStep(n int, x float64) float64 {
	switch {
	case n > 0 && x >= 1: // the series z^2/3 + z^4/5 + ... of z = 1/(2x+1), as in CUDAStirling
		z, t, s := 1/(2*x+1), 1.0, 0.0
		for range n {
			t *= -2 * z
		}
		for k, u := 2.0, math.Inf(1); math.Abs(u) > 1e-17*math.Abs(s); k += 2 {
			t *= z * z
			u = t / (k + 1)
			for i := range n {
				u *= k + float64(i)
			}
			s += u
		}
		return s
	case n == 0:
		return (x+0.5)*math.Log1p(1/x) - 1
	case n == 1:
		return math.Log1p(1/x) - (x+0.5)/(x*(x+1))
	}
	// The m-th derivative of log(1 + 1/x) is l(m) = (-1)^(m-1) (m-1)! ((x+1)^-m - x^-m).
	p, q := 1/(x+1), 1/x
	for i := 1; i < n-1; i++ {
		p, q = -p*float64(i)/(x+1), -q*float64(i)/x
	}
	before := p - q // l(n-1)
	return float64(n)*before - (x+0.5)*float64(n-1)*(p/(x+1)-q/x)
}

// stirlingSeries holds B(2k)/(2k (2k-1)), k = 1...
var stirlingSeries = [...]float64{1. / 12, -1. / 360, 1. / 1260, -1. / 1680, 1. / 1188, -691. / 360360, 1. / 156, -3617. / 122400}

// CUDAStirling is StirlingError in C. The step is, for x from 1 on, where float would lose digits, the series
// z^2/3 + z^4/5 + ... of z = 1/(2x+1), whose n-th derivative multiplies z^k by (-2z)^n k (k+1) ... (k+n-1).
const CUDAStirling = `
__device__ double eu_stirling_step(int n, double x) {
	if (x >= 1.0) {
		double z = 1.0 / (2.0 * x + 1.0), t = 1.0, s = 0.0, least = sizeof(x) == 4 ? 1e-9 : 1e-17;
		for (int i = 0; i < n; i++) t *= -2.0 * z;
		for (double k = 2.0, u = INFINITY; fabs(u) > least * fabs(s); k += 2.0) {
			t *= z * z;
			u = t / (k + 1.0);
			for (int i = 0; i < n; i++) u *= k + i;
			s += u;
		}
		return s;
	}
	if (n == 0) return (x + 0.5) * log1p(1.0 / x) - 1.0;
	if (n == 1) return log1p(1.0 / x) - (x + 0.5) / (x * (x + 1.0));
	double p = 1.0 / (x + 1.0), q = 1.0 / x;
	for (int i = 1; i < n - 1; i++) {
		p = -p * i / (x + 1.0);
		q = -q * i / x;
	}
	return n * (p - q) - (x + 0.5) * (n - 1) * (p / (x + 1.0) - q / x);
}
__device__ double eu_stirling_error(int n, double x) {
	if (!(x > 0.0)) return x == 0.0 ? (n % 2 ? -INFINITY : INFINITY) : NAN;
	if (x < 1e-30) {
		double v = 0.5;
		if (n == 0) return -0.5 * (log(x) + 1.83787706640934548356);
		for (int i = 0; i < n; i++) v *= -(i > 1 ? i : 1.0) / x;
		return v;
	}
	double moved = 0.0, sum = 0.0, enough = sizeof(x) == 4 && n < 6 ? 4.0 + n : 10.0 + 2.0 * n;
	for (; x < enough; x += 1.0) moved += eu_stirling_step(n, x);
	double b[8] = {1. / 12, -1. / 360, 1. / 1260, -1. / 1680, 1. / 1188, -691. / 360360, 1. / 156, -3617. / 122400};
	for (int k = 7; k >= 0; k--) {
		double c = b[k];
		for (int i = 0; i < n; i++) c *= -(2.0 * k + 1.0 + i) / x;
		sum = sum / (x * x) + c;
	}
	return moved + sum / x;
}
`
