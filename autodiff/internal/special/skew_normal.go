// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package special

import "math"

// skewFarTail is log F for z <= 0 and alpha >= 0: with x = sinh(w) in
//
//	F = 1/pi integral over x > alpha of exp(-z^2 (1+x^2)/2)/(1+x^2)
//
// the integrand is log-concave and nothing is subtracted.
func skewFarTail(z, alpha float64) float64 {
	e := flank{kind: skewTail, right: true, k: z * z, c: math.Asinh(alpha)}
	var sum [maxOrder + 1][maxOrder + 1]float64
	e.moments(math.Inf(1), 0, 0, 0, 0, &sum)
	return -z*z/2*(1+alpha*alpha) - math.Log(math.Pi) - 0.5*math.Log1p(alpha*alpha) + math.Log(sum[0][0])
}

// SkewNormalLogCDF returns the logarithm of the distribution function of the skew normal distribution.
func SkewNormalLogCDF(z, alpha float64) float64 {
	switch {
	case z != z || alpha != alpha:
		return math.NaN()
	case math.IsInf(z, -1):
		return z
	case math.IsInf(z, 1):
		return 0
	case z <= 0 && alpha >= 0:
		return skewFarTail(z, alpha)
	case z <= 0: // F(z, alpha) + F(z, -alpha) = 2 Phi(z)
		phi := LogPhi(z)
		return phi + math.Log1p(-math.Expm1(skewFarTail(z, -alpha)-phi))
	case alpha > 0:
		if low := math.Erf(z*math.Sqrt2/2) + math.Exp(skewFarTail(-z, alpha)); low < 0.5 {
			return math.Log(low)
		}
	}
	return math.Log1p(-math.Exp(SkewNormalLogCDF(-z, -alpha)))
}

const CUDASkewNormal = `
__device__ double eu_skew_far_tail(double z, double alpha) {
	eu_flank e = {3, 1, z * z, asinh(alpha), 0.0, 0.0};
	double sum[7][7] = {{0.0}};
	eu_moments(&e, INFINITY, 0.0, 0.0, 0, 0, sum);
	return -z * z / 2.0 * (1.0 + alpha * alpha) - 1.1447298858494001741 - 0.5 * log1p(alpha * alpha) + log(sum[0][0]);
}
__device__ double eu_skew_lower(double z, double alpha) {
	if (alpha >= 0.0) return eu_skew_far_tail(z, alpha);
	double phi = eu_log_phi(z);
	return phi + log1p(-expm1(eu_skew_far_tail(z, -alpha) - phi));
}
__device__ double eu_skew_normal(double z, double alpha) {
	if (isnan(z) || isnan(alpha)) return NAN;
	if (isinf(z)) return z < 0.0 ? z : 0.0;
	if (z <= 0.0) return eu_skew_lower(z, alpha);
	if (alpha > 0.0) {
		double low = erf(z * 0.70710678118654752440) + exp(eu_skew_far_tail(-z, alpha));
		if (low < 0.5) return log(low);
	}
	return log1p(-exp(eu_skew_lower(-z, -alpha)));
}
`
