// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package special

import (
	"math"

	"github.com/euryale-dev/euryale/internal/subnormal"
)

// LogFDensity is the log density of the logarithm t of a number with an F distribution of 2 a and 2 b degrees of freedom.
// By Stirling's errors s, with a <= b, c = a + b and z = a/c (exp(t) - 1), it is
//
//	log(a b/(2 pi c))/2 + s(c) - s(a) - s(b) - (c log(1+z) - a t)
//
// where the last bracket is c (log(1+z) - z) + a (exp(t) - 1 - t).
func LogFDensity(a, b, t float64) float64 {
	if !(a > 0 && b > 0) || math.IsInf(a+b, 1) || math.IsInf(t, 0) {
		return LogBetaDensity(a, b, t+LogRatio(a, b))
	}
	if a > b {
		a, b, t = b, a, -t
	}
	c := a + b
	z := a / c * math.Expm1(t)
	fall := c*math.Log1p(z) - a*t
	switch {
	case t > 700: // z may overflow
		fall = c*(t+subnormal.Log(a/c)+math.Log1p(b/a*math.Exp(-t))) - a*t
	case math.Abs(t) < 1:
		fall = c*log1pmx(z) + a*t*t*ExpRemainder(2, t)
	}
	return 0.5*subnormal.Log(a/c*b/(2*math.Pi)) + StirlingError(0, c) - StirlingError(0, a) - StirlingError(0, b) - fall
}

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
		return rest - (subnormal.Log(b/c) - t - 1)
	case z > -0.4 && z < 1:
		return rest - log1pmx(z) - z/(1+z)*z
	}
	v := a/c + b/c*math.Exp(-t) // 1 + z
	return rest - subnormal.Log(v) + z/v
}

// CUDAFDensity is the same in C; it stands after CUDAIncompleteHazard.
const CUDAFDensity = `
__device__ double eu_log_f_density(double a, double b, double t) {
	if (!(a > 0.0 && b > 0.0) || isinf(a + b) || isinf(t)) {
		double d = a - b, ratio = fabs(d) < 0.5 * b ? log1p(d / b) : log(a) - log(b);
		return eu_log_beta_density(a, b, t + ratio);
	}
	if (a > b) {
		double least = b;
		b = a;
		a = least;
		t = -t;
	}
	double c = a + b, z = a / c * expm1(t), fall = c * log1p(z) - a * t;
	if (t > 700.0) fall = c * (t + log(a / c) + log1p(b / a * exp(-t))) - a * t;
	else if (fabs(t) < 1.0) fall = c * eu_log1pmx(z) + a * t * t * eu_exp_remainder(2, 0, t);
	return 0.5 * log(a / c * b / 6.28318530717958647693) + eu_stirling_error(0, c) - eu_stirling_error(0, a) - eu_stirling_error(0, b) - fall;
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
