// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package special

import "math"

// BesselJ1 is math.J1 with the sign of x also below 2^-27, where math.J1 loses it.
func BesselJ1(x float64) float64 {
	if math.Abs(x) < 0x1p-27 {
		return x / 2
	}
	return math.J1(x)
}

// BesselJ returns J_n(x) for n > 1: its power series where |x| is below n, and otherwise the recurrence in the order,
// which is stable there.
func BesselJ(n int, x float64) float64 {
	if math.IsInf(x, 0) {
		return 0
	}
	if math.Abs(x) < float64(n) {
		term := 1.0
		for k := 1; k <= n; k++ {
			term *= x / float64(2*k)
		}
		q, sum := -x*x/4, term
		for k := 1; k < 60 && math.Abs(term) > 1e-18*math.Abs(sum); k++ {
			term *= q / float64(k*(n+k))
			sum += term
		}
		return sum
	}
	before, j := math.J0(x), math.J1(x)
	for k := 1; k < n; k++ {
		before, j = j, float64(2*k)/x*j-before
	}
	return j
}

// CUDABesselJ is BesselJ in C.
const CUDABesselJ = `
__device__ double eu_bessel_j(int n, double x) {
	if (isinf(x)) return 0.0;
	if (fabs(x) < n) {
		double term = 1.0;
		for (int k = 1; k <= n; k++) term *= x / (2 * k);
		double q = -x * x / 4.0, sum = term;
		for (int k = 1; k < 60 && fabs(term) > 1e-18 * fabs(sum); k++) {
			term *= q / (k * (n + k));
			sum += term;
		}
		return sum;
	}
	double before = j0(x), j = j1(x);
	for (int k = 1; k < n; k++) {
		double next = 2.0 * k / x * j - before;
		before = j;
		j = next;
	}
	return j;
}
`
