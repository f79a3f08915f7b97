package special

import "math"

// PoissonDeviance returns k log(k/m) - k + m, without cancelling near k = m.
func PoissonDeviance(k, m float64) float64 {
	switch d := m - k; {
	case k == 0 || math.IsInf(m, 1):
		return m
	case math.Abs(d) < 0.4*k:
		return -k * log1pmx(d/k)
	default:
		return k*(math.Log(k)-math.Log(m)) + d
	}
}

// LogFactorialRest returns log Gamma(k+1) - (k log k - k).
func LogFactorialRest(k float64) float64 {
	if k < 1e-3 { // Stirling's error would be large
		if k == 0 {
			return 0
		}
		return Lgamma(k+1) - k*math.Log(k) + k
	}
	return StirlingError(0, k) + 0.5*math.Log(2*math.Pi*k)
}

const CUDALog1pmx = `
__device__ double eu_log1pmx(double y) {
	if (fabs(y) > 0.4) return log1p(y) - y;
	double z = y / (2.0 + y), q = z * z, s = 0.0;
	for (double k = 27.0; k >= 3.0; k -= 2.0) s = s * q + 1.0 / k;
	return 2.0 * z * q * s - y * z;
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

const CUDAFactorialRest = `
__device__ double eu_log_factorial_rest(double k) {
	if (k < 1e-3) return k == 0.0 ? 0.0 : lgamma(k + 1.0) - k * log(k) + k;
	return eu_stirling_error(0, k) + 0.5 * log(6.28318530717958647693 * k);
}
`
