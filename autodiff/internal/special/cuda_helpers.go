// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package special

// Helpers are C functions of double. In programs in float32 the generator of kernels makes them functions of float,
// unless their operation says Double: where the two types need different numbers, sizeof(x) tells them apart.

const CUDAFloorMod = `
__device__ double eu_floor_mod(double x, double y) {
	double r = fmod(x, y);
	if (r != 0.0 && (r < 0.0) != (y < 0.0)) return r + y;
	return r == 0.0 ? copysign(0.0, y) : r;
}
`

const CUDAErfcx = `
__device__ double eu_erfcx(double x) {
	if (x < -27.0) return INFINITY;
	if (x > (sizeof(x) == 4 ? 8.0 : 25.0)) { // exp(x^2) has no number in float above 9.4
		double s = 1.0, q = 1.0 / x / (2.0 * x);
		for (double k = 11.0; k >= 1.0; k -= 2.0) s = 1.0 - k * q * s;
		return s / (x * 1.7724538509055160273);
	}
	double q = x * x;
	return exp(q) * (1.0 + fma(x, x, -q)) * erfc(x);
}
`

// CUDAErfcxDerivative is ErfcxDerivative in C; it stands after CUDAErfcx.
const CUDAErfcxDerivative = `
__device__ double eu_erfcx_derivative(int n, double x) {
	double v = eu_erfcx(x), t = 1.41421356237309504880 * x;
	if (t > 3.0) {
		double tail = 0.0, product = 1.0;
		for (int k = 72 + n; k >= 1; k--) {
			tail = k / (t + tail);
			if (k <= n) product *= -1.41421356237309504880 * tail;
		}
		return v * product;
	}
	double before = 0.0, next = 2.0 * x * v - 1.12837916709551257390;
	for (int k = 0; k < n; k++) {
		if (k > 0) next = 2.0 * (x * v + k * before);
		before = v;
		v = next;
	}
	return v;
}
`

// CUDALogPhiSlope is LogPhiSlope, LogPhiCurve and LogPhiThird in C; it stands after CUDAErfcx.
const CUDALogPhiSlope = `
__device__ double eu_log_phi_slope(double x) {
	return x < -1e9 ? -x : 0.79788456080286535588 / eu_erfcx(-x * 0.70710678118654752440);
}
__device__ double eu_density_times(double f, double x) {
	if (x > 40.0) return 0.0;
	double q = x * x, root = exp(-q / 4.0);
	return f * 0.39894228040143267794 * root * (1.0 - fma(x, x, -q) / 2.0) * root;
}
__device__ double eu_log_phi_curve(double x) {
	if (isinf(x) && x < 0.0) return -1.0;
	if (x < -3.0) {
		double d = 0.0;
		for (int k = 72; k >= 1; k--) d = k / (d - x);
		return -(d - x) * d;
	}
	if (x > 10.0) return -eu_density_times(x, x);
	double m = eu_log_phi_slope(x);
	return -m * (x + m);
}
__device__ double eu_log_phi_third(double x) {
	if (isinf(x) && x < 0.0) return 0.0;
	if (x < -2.0) {
		double a = 0.0, b = 0.0, c = 0.0;
		for (int k = 160; k >= 1; k--) {
			c = b;
			b = a;
			a = k / (a - x);
		}
		return a * a * b * (a - x) * (c - b);
	}
	if (x > 10.0) return eu_density_times((x - 1.0) * (x + 1.0), x);
	double m = eu_log_phi_slope(x), c = eu_log_phi_curve(x);
	return -(c * (x + m) + m * (1.0 + c));
}
`

const CUDALogPhi = `
__device__ double eu_log_phi(double x) {
	if (x < -1.0) return -x * x / 2.0 + log(eu_erfcx(-x * 0.70710678118654752440) / 2.0);
	return log1p(-erfc(x * 0.70710678118654752440) / 2.0);
}
`

// Winitzki's approximation (a = 0.147) starts Halley steps on erf or erfc.
const CUDAErfinv = `
__device__ double eu_erfinv(double x) {
	double a = fabs(x);
	if (!(a < 1.0)) return a == 1.0 ? (x < 0.0 ? -INFINITY : INFINITY) : NAN;
	double l = log((1.0 - a) * (1.0 + a)), t = 4.3307467508 + 0.5 * l;
	double y = sqrt(sqrt(t * t - l / 0.147) - t);
	for (int i = 0; i < 4; i++) {
		double r = a < 0.5 ? erf(y) - a : (1.0 - a) - erfc(y);
		double d = r / (1.1283791670955125739 * exp(-y * y));
		y -= d / (1.0 + y * d);
	}
	return copysign(y, x);
}
`

const CUDADigamma = `
__device__ double eu_digamma_pos(double x) {
	double s = 0.0, enough = sizeof(x) == 4 ? 4.0 : 10.0;
	for (; x < enough; x += 1.0) s -= 1.0 / x;
	double q = 1.0 / (x * x);
	double tail = q * (1. / 12 - q * (1. / 120 - q * (1. / 252 - q * (1. / 240 - q * (1. / 132 - q * (691. / 32760 - q / 12))))));
	return s + log(x) - 0.5 / x - tail;
}
__device__ double eu_digamma(double x) {
	if (x == 0.0) return copysign(INFINITY, -x);
	if (x < 0.0 && x == floor(x)) return NAN;
	if (x < 0.0) return eu_digamma_pos(1.0 - x) - 3.14159265358979323846 / tan(3.14159265358979323846 * (x - rint(x)));
	return eu_digamma_pos(x);
}
`

// Euler-Maclaurin sum of the Hurwitz zeta function.
const CUDAPolygamma = `
__device__ double eu_polygamma_pos(int n, double x) {
	double s = n + 1.0, sum = 0.0, f = 1.0;
	for (int k = 2; k <= n; k++) f *= k;
	for (; x < 12.0; x += 1.0) sum += pow(x, -s);
	double b[8] = {1. / 12, -1. / 720, 1. / 30240, -1. / 1209600, 1. / 47900160, -691. / 1307674368000., 1. / 74724249600., -3617. / 10670622842880000.};
	double p = pow(x, 1.0 - s), t = s * p / (x * x);
	sum += p / (s - 1.0) + 0.5 * p / x;
	for (int k = 0; k < 8; k++) {
		sum += b[k] * t;
		t *= (s + 2.0 * k + 1.0) * (s + 2.0 * k + 2.0) / (x * x);
	}
	return (n % 2 ? 1.0 : -1.0) * f * sum;
}
__device__ double eu_polygamma(int n, double x) {
	double sign = n % 2 ? 1.0 : -1.0, pi = 3.14159265358979323846;
	if (x > 0.0) return eu_polygamma_pos(n, x);
	if (x == 0.0) return n % 2 ? INFINITY : copysign(INFINITY, -x);
	if (x == floor(x)) return n % 2 ? INFINITY : NAN;
	if (n > 14) return NAN;
	double c = 1.0 / tan(pi * (x - rint(x))), p[16] = {0.0, 1.0}, next[16];
	for (int k = 0; k < n; k++) {
		for (int i = 0; i < 16; i++) next[i] = 0.0;
		for (int i = 1; i < 15; i++) {
			next[i - 1] -= i * p[i];
			next[i + 1] -= i * p[i];
		}
		for (int i = 0; i < 16; i++) p[i] = pi * next[i];
	}
	double sum = p[n + 1]; // its powers may be infinite
	for (int i = n; i >= 0; i--) sum = sum * c + p[i];
	return -sign * eu_polygamma_pos(n, 1.0 - x) - pi * sum;
}
`

const CUDABesselIe = `
__device__ double eu_bessel_ie(int n, double x) {
	double t = 1.0, s = 1.0, least = sizeof(x) == 4 ? 1e-9 : 1e-17;
	if (x > 20.0) {
		for (double k = 1.0; k < 40.0 && fabs(t) > least; k += 1.0) {
			t *= -(4.0 * n * n - (2.0 * k - 1.0) * (2.0 * k - 1.0)) / (k * 8.0 * x);
			s += t;
		}
		return s / (2.50662827463100050242 * sqrt(x));
	}
	double q = x * x / 4.0;
	for (double k = 1.0; t > least * s; k += 1.0) {
		t *= q / (k * (k + n));
		s += t;
	}
	return exp(-x) * (n == 1 ? s * x / 2.0 : s);
}
`
