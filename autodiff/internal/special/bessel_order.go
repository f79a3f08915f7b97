// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package special

import (
	"math"

	"github.com/euryale-dev/euryale/internal/subnormal"
)

// LogBesselIScaled integrates, with t = tanh(w),
//
//	I_nu(x) = (x/2)^nu/(sqrt(pi) Gamma(nu+1/2)) integral of exp(x t) (1-t^2)^(nu-1/2)
//
// (https://dlmf.nist.gov/10.32.E2) from its peak to both sides. With h = nu + 1/2
// the value there is, by Stirling's error s, eta(h) + log(h/(pi^2 x))/2 - s(h).
func LogBesselIScaled(nu, x float64) float64 {
	switch {
	case !(nu >= 0 && x >= 0) || math.IsInf(x, 1):
		return math.NaN()
	case x == 0: // nu log(x/2) - log Gamma(nu+1) - eta
		return -LogFactorialRest(nu)
	}
	if w := math.Hypot(nu, x); w > manyOrders {
		s, _ := debye(nu, x, w)
		return math.Log1p(s) - 0.5*subnormal.Log(2*math.Pi*w)
	}
	h := nu + 0.5
	t := x / (h + math.Hypot(h, x)) // x (1 - t^2) = 2 h t
	e := flank{kind: besselPeak, c: math.Asinh(t / math.Sqrt(2*h*t/x)), p: 2 * h, q: x}
	var sum [maxOrder + 1][maxOrder + 1]float64
	e.moments(math.Inf(1), 0, 0, 0, 0, &sum)
	e.right = true
	e.moments(math.Inf(1), 0, 0, 0, 0, &sum)
	return etaStep(nu, 0.5, x) + 0.5*subnormal.Log(h/x) - math.Log(math.Pi) - StirlingError(0, h) + subnormal.Log(sum[0][0])
}

// manyOrders is where terms of Debye's expansion beyond the third are below rounding.
const manyOrders = 1e4

// debye returns the sum of u_k(t)/nu^k over k from 1 to 3 (https://dlmf.nist.gov/10.41.E3), with t = nu/w and
// w^2 = nu^2 + x^2, and its derivative with respect to x.
func debye(nu, x, w float64) (s, slope float64) {
	q := nu / w * (nu / w)
	a, b, c := (3-5*q)/24, (81-q*(462-385*q))/1152, (30375-q*(369603-q*(765765-425425*q)))/414720
	da, db, dc := -5.0/24, (-462+770*q)/1152, (-369603+q*(1531530-1276275*q))/414720
	s = (a + (b+c/w)/w) / w
	fall := (a + (2*b+3*c/w)/w) / w // -w ds/dw
	return s, -x / w / w * (fall + 2*q*(da+(db+dc/w)/w)/w)
}

// etaStep returns eta(nu + d) - eta(nu).
func etaStep(nu, d, x float64) float64 {
	w, v := math.Hypot(nu, x), math.Hypot(nu+d, x)
	dw := d * (2*nu + d) / (w + v)
	return dw + d*subnormal.Log(x/(nu+d+v)) - nu*math.Log1p((d+dw)/(nu+w))
}

// BesselSlope is the derivative of logBesselIScaled with respect to x.
func BesselSlope(nu, x float64) float64 {
	switch {
	case x == 0 && nu == 0: // I0 is flat, and eta is x
		return -1
	case x == 0 && nu > 0:
		return 0
	}
	if w := math.Hypot(nu, x); w > manyOrders {
		s, slope := debye(nu, x, w)
		return slope/(1+s) - x/w/w/2
	}
	ratio := math.Exp(LogBesselIScaled(nu+1, x) - LogBesselIScaled(nu, x) + etaStep(nu, 1, x))
	return ratio - x/(nu+math.Hypot(nu, x))
}

// bessel is at for besselPeak: -(2 nu + 1) log cosh(w) + x tanh(w), relative to the
// peak.
func (e *flank) bessel(v float64) (f, d float64) {
	u, side := v, 1.0
	if !e.right {
		u, side = -v, -1
	}
	w := e.c + u
	h := 1 / math.Cosh(w)
	r := v + math.Log1p(math.Expm1(-2*v)*Sigmoid(-2*side*e.c)) // log cosh(w)/cosh(c)
	return -e.p*r + e.q*math.Sinh(u)*h/math.Cosh(e.c), side * (-e.p*math.Tanh(w) + e.q*h*h)
}

const CUDABesselOrder = `
__device__ double eu_eta_step(double nu, double d, double x) {
	double w = hypot(nu, x), v = hypot(nu + d, x), dw = d * (2.0 * nu + d) / (w + v);
	return dw + d * log(x / (nu + d + v)) - nu * log1p((d + dw) / (nu + w));
}
__device__ double eu_debye(double nu, double x, double w, double *slope) {
	double q = nu / w * (nu / w);
	double a = (3.0 - 5.0 * q) / 24.0, b = (81.0 - q * (462.0 - 385.0 * q)) / 1152.0, c = (30375.0 - q * (369603.0 - q * (765765.0 - 425425.0 * q))) / 414720.0;
	double da = -5.0 / 24.0, db = (-462.0 + 770.0 * q) / 1152.0, dc = (-369603.0 + q * (1531530.0 - 1276275.0 * q)) / 414720.0;
	double fall = (a + (2.0 * b + 3.0 * c / w) / w) / w;
	*slope = -x / w / w * (fall + 2.0 * q * (da + (db + dc / w) / w) / w);
	return (a + (b + c / w) / w) / w;
}
__device__ double eu_log_bessel_i(double nu, double x) {
	if (!(nu >= 0.0 && x >= 0.0) || isinf(x)) return NAN;
	if (x == 0.0) return -eu_log_factorial_rest(nu);
	double size = hypot(nu, x), slope;
	if (size > 1e4) return log1p(eu_debye(nu, x, size, &slope)) - 0.5 * log(6.28318530717958647693 * size);
	double h = nu + 0.5, t = x / (h + hypot(h, x));
	eu_flank e = {4, 0, 0.0, asinh(t / sqrt(2.0 * h * t / x)), 2.0 * h, x};
	double sum[7][7] = {{0.0}};
	eu_moments(&e, INFINITY, 0.0, 0.0, 0, 0, sum);
	e.right = 1;
	eu_moments(&e, INFINITY, 0.0, 0.0, 0, 0, sum);
	return eu_eta_step(nu, 0.5, x) + 0.5 * log(h / x) - 1.1447298858494001741 - eu_stirling_error(0, h) + log(sum[0][0]);
}
__device__ double eu_bessel_slope(double nu, double x) {
	if (x == 0.0 && nu >= 0.0) return nu == 0.0 ? -1.0 : 0.0;
	double size = hypot(nu, x), slope;
	if (size > 1e4) {
		double s = eu_debye(nu, x, size, &slope);
		return slope / (1.0 + s) - x / size / size / 2.0;
	}
	double ratio = exp(eu_log_bessel_i(nu + 1.0, x) - eu_log_bessel_i(nu, x) + eu_eta_step(nu, 1.0, x));
	return ratio - x / (nu + hypot(nu, x));
}
`
