// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package special

import (
	"math"

	"github.com/euryale-dev/euryale/internal/subnormal"
)

// LogPhiDiff works on the side where both tails are small; there, for a < b <= 0,
//
//	Phi(a)/Phi(b) = exp((b^2 - a^2)/2) erfcx(-a/sqrt 2)/erfcx(-b/sqrt 2)
//
// and narrow intervals are the density at the middle times the width.
func LogPhiDiff(a, b float64) float64 {
	switch {
	case a == b:
		return math.Inf(-1)
	case !(a < b):
		return math.NaN()
	case a+b > 0:
		a, b = -b, -a
	}
	if math.IsInf(a, -1) {
		return LogPhi(b)
	}
	h, m := (b-a)/2, (a+b)/2
	if t := h * (1 + math.Abs(m)); t < 1e-2 {
		q, m2 := h*h, m*m
		bend := q/6*(m2-1) + q*q/120*(m2*m2-6*m2+3) + q*q*q/5040*(m2*m2*m2-15*m2*m2+45*m2-15)
		return subnormal.Log(2*h) - m2/2 - 0.5*math.Log(2*math.Pi) + math.Log1p(bend)
	}
	if b > -1 {
		return LogPhi(b) + Log1mexp(LogPhi(a)-LogPhi(b))
	}
	r := 2*h*m + subnormal.Log(Erfcx(-a*math.Sqrt2/2)/Erfcx(-b*math.Sqrt2/2))
	return LogPhi(b) + Log1mexp(r)
}

const CUDALogPhiDiff = `
__device__ double eu_log_phi_diff(double a, double b) {
	if (a == b) return -INFINITY;
	if (!(a < b)) return NAN;
	if (a + b > 0.0) {
		double t = a; a = -b; b = -t;
	}
	if (isinf(a)) return eu_log_phi(b);
	double h = (b - a) / 2.0, m = (a + b) / 2.0, r;
	if (h * (1.0 + fabs(m)) < (sizeof(h) == 4 ? 0.25 : 1e-2)) {
		double q = h * h, m2 = m * m;
		double bend = q / 6.0 * (m2 - 1.0) + q * q / 120.0 * (m2 * m2 - 6.0 * m2 + 3.0) + q * q * q / 5040.0 * (m2 * m2 * m2 - 15.0 * m2 * m2 + 45.0 * m2 - 15.0);
		return log(2.0 * h) - m2 / 2.0 - 0.91893853320467274178 + log1p(bend);
	}
	if (b > -1.0) r = eu_log_phi(a) - eu_log_phi(b);
	else r = 2.0 * h * m + log(eu_erfcx(-a * 0.70710678118654752440) / eu_erfcx(-b * 0.70710678118654752440));
	return eu_log_phi(b) + (r > -0.69314718055994530942 ? log(-expm1(r)) : log1p(-exp(r)));
}
`
