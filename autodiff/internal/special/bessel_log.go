// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package special

import (
	"math"

	"github.com/euryale-dev/euryale/internal/subnormal"
)

// LogI0e returns log(exp(-|x|) I0(x)).
func LogI0e(x float64) float64 {
	if x = math.Abs(x); x > 1 {
		return subnormal.Log(BesselIe(0, x))
	}
	q := x * x / 4
	t, s := q, 0.0 // I0 - 1
	for k := 2.0; t > 1e-17*s; k++ {
		s += t
		t *= q / (k * k)
	}
	return math.Log1p(s) - x
}

// LogI0eSlope is the derivative; above 20 the asymptotic series of I0 and I1 are
// subtracted term by term. At the kink at 0 it is that on the right, as concentrations are not below 0.
func LogI0eSlope(x float64) float64 {
	a := math.Abs(x)
	if a <= 20 {
		return math.Copysign(BesselIe(1, a)/BesselIe(0, a)-1, -x)
	}
	t0, t1, i0, diff := 1.0, 1.0, 1.0, 0.0
	for k := 1.0; k < 40 && math.Abs(t0) > 1e-17; k++ {
		odd := (2*k - 1) * (2*k - 1)
		t0 *= odd / (k * 8 * a)
		t1 *= (odd - 4) / (k * 8 * a)
		i0 += t0
		diff += t0 - t1
	}
	return math.Copysign(diff/i0, -x)
}

const CUDALogI0e = `
__device__ double eu_log_i0e(double x) {
	x = fabs(x);
	if (x > 1.0) return log(eu_bessel_ie(0, x));
	double q = x * x / 4.0, t = q, s = 0.0;
	for (double k = 2.0; t > 1e-17 * s; k += 1.0) {
		s += t;
		t *= q / (k * k);
	}
	return log1p(s) - x;
}
__device__ double eu_log_i0e_slope(double x) {
	double a = fabs(x), t0 = 1.0, t1 = 1.0, i0 = 1.0, diff = 0.0;
	if (a <= 20.0) return copysign(eu_bessel_ie(1, a) / eu_bessel_ie(0, a) - 1.0, -x);
	for (double k = 1.0; k < 40.0 && fabs(t0) > 1e-17; k += 1.0) {
		double odd = (2.0 * k - 1.0) * (2.0 * k - 1.0);
		t0 *= odd / (k * 8.0 * a);
		t1 *= (odd - 4.0) / (k * 8.0 * a);
		i0 += t0;
		diff += t0 - t1;
	}
	return copysign(diff / i0, -x);
}
`
