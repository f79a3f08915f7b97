// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package special

import "math"

// Sinc returns sin(x)/x, 1 at 0 and 0 at infinity.
func Sinc(x float64) float64 {
	switch {
	case x == 0:
		return 1
	case math.IsInf(x, 0):
		return 0
	}
	return math.Sin(x) / x
}

// SphericalJ returns the spherical Bessel function of the first kind of order n > 0: its power series where |x| is below
// n + 1/2, and otherwise the recurrence in the order, which is stable there.
func SphericalJ(n int, x float64) float64 {
	if math.IsInf(x, 0) {
		return 0
	}
	if math.Abs(x) < float64(n)+0.5 {
		term := 1.0
		for k := 1; k <= n; k++ {
			term *= x / float64(2*k+1)
		}
		q, sum := -x*x/2, term
		for k := 1.0; k < 60 && math.Abs(term) > 1e-18*math.Abs(sum); k++ {
			term *= q / (k * float64(2*n+1+2*int(k)))
			sum += term
		}
		return sum
	}
	before := math.Sin(x) / x
	j := (before - math.Cos(x)) / x
	for k := 1; k < n; k++ {
		before, j = j, float64(2*k+1)/x*j-before
	}
	return j
}

// CUDASphericalJ is SphericalJ in C.
const CUDASphericalJ = `
__device__ double eu_spherical_j(int n, double x) {
	if (isinf(x)) return 0.0;
	if (fabs(x) < n + 0.5) {
		double term = 1.0, least = sizeof(x) == 4 ? 1e-9 : 1e-18;
		for (int k = 1; k <= n; k++) term *= x / (2 * k + 1);
		double q = -x * x / 2.0, sum = term;
		for (int k = 1; k < 60 && fabs(term) > least * fabs(sum); k++) {
			term *= q / (k * (2.0 * n + 1.0 + 2.0 * k));
			sum += term;
		}
		return sum;
	}
	double before = sin(x) / x, j = (before - cos(x)) / x;
	for (int k = 1; k < n; k++) {
		double next = (2.0 * k + 1.0) / x * j - before;
		before = j;
		j = next;
	}
	return j;
}
`

// InverseHypot1 returns 1/sqrt(1 + x^2), also where x^2 has no number.
func InverseHypot1(x float64) float64 {
	if a := math.Abs(x); a > 1e15 {
		return 1 / a
	}
	return 1 / math.Sqrt(1+x*x)
}
