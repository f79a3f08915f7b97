// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package special

import (
	"math"

	"github.com/euryale-dev/euryale/internal/subnormal"
)

// PoissonDeviance returns k log(k/m) - k + m, without cancelling near k = m.
func PoissonDeviance(k, m float64) float64 {
	switch d := m - k; {
	case k == 0 || math.IsInf(m, 1):
		return m
	case math.Abs(d) < 0.4*k:
		return -k * log1pmx(d/k)
	default:
		return k*(subnormal.Log(k)-subnormal.Log(m)) + d
	}
}

// LogFactorialRest returns log Gamma(k+1) - (k log k - k).
func LogFactorialRest(k float64) float64 {
	switch {
	case k == 0:
		return 0
	case k < 1e-3: // Stirling's error would be large, and k+1 rounded: the power series of log Gamma(1+k)
		series := 0.0
		for i := len(logGammaSeries) - 1; i >= 0; i-- {
			series = k * (logGammaSeries[i] - series)
		}
		return k * (oneLessEuler - subnormal.Log(k) + series)
	}
	return StirlingError(0, k) + 0.5*subnormal.Log(2*math.Pi*k)
}

// logGammaSeries holds zeta(n)/n, n = 2...: log Gamma(1+k) = -gamma k + zeta(2)/2 k^2 - zeta(3)/3 k^3 + ...
var logGammaSeries = [...]float64{0.822467033424113218, 0.400685634386531428, 0.270580808427784548, 0.207385551028673985, 0.169557176997408190, 0.144049896768846118}

// oneLessEuler is 1 less Euler's constant.
const oneLessEuler = 0.422784335098467139

const CUDALog1pmx = `
__device__ double eu_log1pmx(double y) {
	if (fabs(y) > 0.4) return log1p(y) - y;
	double z = y / (2.0 + y), q = z * z, s = 0.0;
	for (double k = 27.0; k >= 3.0; k -= 2.0) s = s * q + 1.0 / k;
	return 2.0 * z * q * s - y * z;
}
`

const CUDALogRatio = `
__device__ double eu_log_ratio(double x, double a) {
	double d = (x - a) / a;
	return fabs(d) < 0.5 ? log1p(d) : log(x) - log(a);
}
`

const CUDAPoissonDeviance = `
__device__ double eu_poisson_deviance(double k, double m) {
	double d = m - k;
	if (k == 0.0 || m == INFINITY) return m;
	if (fabs(d) < 0.4 * k) return -k * eu_log1pmx(d / k);
	double r = k / m;
	return k * (r > 1e-30 && r < 1e30 ? log(r) : log(k) - log(m)) + d;
}
`

// CUDAFactorialRest is LogFactorialRest in C, with the power series of log Gamma(1+k) where k is small.
const CUDAFactorialRest = `
__device__ double eu_log_factorial_rest(double k) {
	if (k == 0.0) return 0.0;
	if (k < (sizeof(k) == 4 ? 0.1 : 1e-3)) {
		double zeta[6] = {0.822467033424113218, 0.400685634386531428, 0.270580808427784548, 0.207385551028673985, 0.169557176997408190, 0.144049896768846118}, s = 0.0;
		for (int i = 5; i >= 0; i--) s = k * (zeta[i] - s);
		return k * (0.422784335098467139 - log(k) + s);
	}
	return eu_stirling_error(0, k) + 0.5 * log(6.28318530717958647693 * k);
}
`
