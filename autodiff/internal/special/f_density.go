// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package special

import "math"

// LogFDensity is the log density of the logarithm t of a number with an F distribution of 2 a and 2 b degrees of freedom.
func LogFDensity(a, b, t float64) float64 { return LogBetaDensity(a, b, t+LogRatio(a, b)) }

// FShapeScore is the derivative of LogFDensity with respect to a.
func FShapeScore(a, b, t float64) float64 {
	if !(a > 0 && b > 0) || t != t {
		return math.NaN()
	}
	c := a + b
	rest := digammaRest(a) - digammaRest(c)
	z := b / c * math.Expm1(-t)
	switch {
	case z > 1e17: // z may overflow
		return rest - (math.Log(b/c) - t - 1)
	case z > -0.4 && z < 1:
		return rest - log1pmx(z) - z/(1+z)*z
	}
	v := a/c + b/c*math.Exp(-t) // 1 + z
	return rest - math.Log(v) + z/v
}

// CUDAFDensity is the same in C; it stands after CUDAIncompleteHazard.
const CUDAFDensity = `
__device__ double eu_log_f_density(double a, double b, double t) {
	double d = a - b, ratio = fabs(d) < 0.5 * b ? log1p(d / b) : log(a) - log(b);
	return eu_log_beta_density(a, b, t + ratio);
}
__device__ double eu_f_shape_score(double a, double b, double t) {
	if (!(a > 0.0 && b > 0.0) || isnan(t)) return NAN;
	double c = a + b, rest = eu_digamma_rest(a) - eu_digamma_rest(c), z = b / c * expm1(-t);
	if (z > 1e17) return rest - (log(b / c) - t - 1.0);
	if (z > -0.4 && z < 1.0) return rest - eu_log1pmx(z) - z / (1.0 + z) * z;
	double v = a / c + b / c * exp(-t);
	return rest - log(v) + z / v;
}
`
