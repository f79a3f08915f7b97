// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package special

import (
	"math"

	"github.com/euryale-dev/euryale/internal/subnormal"
)

// skewSum is S in F = exp(-z^2 (1+alpha^2)/2) S/(pi sqrt(1+alpha^2)) for z <= 0 and alpha >= 0: with x = sinh(w) in
//
//	F = 1/pi integral over x > alpha of exp(-z^2 (1+x^2)/2)/(1+x^2)
//
// the integrand is log-concave and nothing is subtracted. Far out it is normal about alpha.
func skewSum(z, alpha float64) float64 {
	if z = math.Abs(z); z > 1e8 {
		width := z * math.Hypot(1, math.Sqrt2*alpha)
		return millsRatio(z*alpha*(math.Hypot(1, alpha)*z/width)) / width
	}
	e := flank{kind: skewTail, right: true, k: z * z, c: math.Asinh(alpha)}
	var sum [maxOrder + 1][maxOrder + 1]float64
	e.moments(math.Inf(1), 0, 0, 0, 0, &sum)
	return sum[0][0]
}

// millsRatio is (1 - Phi(t))/phi(t).
func millsRatio(t float64) float64 { return math.Sqrt(math.Pi/2) * Erfcx(t/math.Sqrt2) }

// skewFarTail is log F for z <= 0 and alpha >= 0.
func skewFarTail(z, alpha float64) float64 {
	return -z*z/2*(1+alpha*alpha) - math.Log(math.Pi) - 0.5*math.Log1p(alpha*alpha) + subnormal.Log(skewSum(z, alpha))
}

// skewRest is F/Phi(z) for z <= 0 and alpha < 0, as F(z, alpha) + F(z, -alpha) = 2 Phi(z).
func skewRest(z, alpha float64) float64 {
	fall := math.Exp(-(z * alpha) * (z * alpha) / 2)
	return 2 - fall*skewSum(z, -alpha)*math.Sqrt(2/math.Pi)/(math.Hypot(1, alpha)*millsRatio(-z))
}

// skewMiddle is F for z >= 0 and alpha > 0.
func skewMiddle(z, alpha float64) float64 {
	return math.Erf(z*math.Sqrt2/2) + math.Exp(skewFarTail(-z, alpha))
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
	case z <= 0:
		if z > -1 {
			if rest := skewMiddle(-z, -alpha); rest < 0.5 {
				return math.Log1p(-rest)
			}
		}
		return LogPhi(z) + subnormal.Log(skewRest(z, alpha))
	case alpha > 0:
		if low := skewMiddle(z, alpha); low < 0.5 {
			return subnormal.Log(low)
		}
	}
	return math.Log1p(-math.Exp(SkewNormalLogCDF(-z, -alpha)))
}

// SkewNormalHazard is its derivative with respect to z.
func SkewNormalHazard(z, alpha float64) float64 {
	switch {
	case z != z || alpha != alpha:
		return math.NaN()
	case math.IsInf(z, 0):
		return math.Max(-z, 0)
	case z <= 0 && alpha >= 0:
		return millsRatio(-alpha*z) * math.Hypot(1, alpha) / skewSum(z, alpha)
	case z <= 0:
		return math.Erfc(-z*alpha*math.Sqrt2/2) / (millsRatio(-z) * skewRest(z, alpha))
	}
	return math.Sqrt(2/math.Pi) * math.Exp(LogPhi(alpha*z)-z*z/2-SkewNormalLogCDF(z, alpha))
}

// SkewNormalSlope is its derivative with respect to alpha.
func SkewNormalSlope(z, alpha float64) float64 {
	c := math.Hypot(1, alpha)
	switch {
	case z != z || alpha != alpha:
		return math.NaN()
	case math.IsInf(z, 0):
		return 0
	case z <= 0 && alpha >= 0:
		return -1 / (c * skewSum(z, alpha))
	case z <= 0:
		fall := math.Exp(-(z * alpha) * (z * alpha) / 2)
		return -math.Sqrt(2/math.Pi) * fall / (c * c * millsRatio(-z) * skewRest(z, alpha))
	}
	return -math.Exp(-z*z/2*(1+alpha*alpha)-SkewNormalLogCDF(z, alpha)) / (math.Pi * c * c)
}

const CUDASkewNormal = `
__device__ double eu_mills_ratio(double t) { return 1.25331413731550025121 * eu_erfcx(t * 0.70710678118654752440); }
__device__ double eu_skew_sum(double z, double alpha) {
	z = fabs(z);
	if (z > 1e8) {
		double width = z * hypot(1.0, 1.41421356237309504880 * alpha);
		return eu_mills_ratio(z * alpha * (hypot(1.0, alpha) * z / width)) / width;
	}
	eu_flank e = {3, 1, z * z, asinh(alpha), 0.0, 0.0};
	double sum[7][7] = {{0.0}};
	eu_moments(&e, INFINITY, 0.0, 0.0, 0, 0, sum);
	return sum[0][0];
}
__device__ double eu_skew_far_tail(double z, double alpha) {
	return -z * z / 2.0 * (1.0 + alpha * alpha) - 1.1447298858494001741 - 0.5 * log1p(alpha * alpha) + log(eu_skew_sum(z, alpha));
}
__device__ double eu_skew_rest(double z, double alpha) {
	return 2.0 - exp(-(z * alpha) * (z * alpha) / 2.0) * eu_skew_sum(z, -alpha) * 0.79788456080286535588 / (hypot(1.0, alpha) * eu_mills_ratio(-z));
}
__device__ double eu_skew_middle(double z, double alpha) { return erf(z * 0.70710678118654752440) + exp(eu_skew_far_tail(-z, alpha)); }
__device__ double eu_skew_lower(double z, double alpha) {
	if (alpha >= 0.0) return eu_skew_far_tail(z, alpha);
	double rest = z > -1.0 ? eu_skew_middle(-z, -alpha) : 1.0;
	return rest < 0.5 ? log1p(-rest) : eu_log_phi(z) + log(eu_skew_rest(z, alpha));
}
__device__ double eu_skew_normal(double z, double alpha) {
	if (isnan(z) || isnan(alpha)) return NAN;
	if (isinf(z)) return z < 0.0 ? z : 0.0;
	if (z <= 0.0) return eu_skew_lower(z, alpha);
	if (alpha > 0.0) {
		double low = eu_skew_middle(z, alpha);
		if (low < 0.5) return log(low);
	}
	return log1p(-exp(eu_skew_lower(-z, -alpha)));
}
__device__ double eu_skew_hazard(double z, double alpha) {
	if (isnan(z) || isnan(alpha)) return NAN;
	if (isinf(z)) return fmax(-z, 0.0);
	if (z <= 0.0 && alpha >= 0.0) return eu_mills_ratio(-alpha * z) * hypot(1.0, alpha) / eu_skew_sum(z, alpha);
	if (z <= 0.0) return erfc(-z * alpha * 0.70710678118654752440) / (eu_mills_ratio(-z) * eu_skew_rest(z, alpha));
	return 0.79788456080286535588 * exp(eu_log_phi(alpha * z) - z * z / 2.0 - eu_skew_normal(z, alpha));
}
__device__ double eu_skew_slope(double z, double alpha) {
	double c = hypot(1.0, alpha);
	if (isnan(z) || isnan(alpha)) return NAN;
	if (isinf(z)) return 0.0;
	if (z <= 0.0 && alpha >= 0.0) return -1.0 / (c * eu_skew_sum(z, alpha));
	if (z <= 0.0) return -0.79788456080286535588 * exp(-(z * alpha) * (z * alpha) / 2.0) / (c * c * eu_mills_ratio(-z) * eu_skew_rest(z, alpha));
	return -exp(-z * z / 2.0 * (1.0 + alpha * alpha) - eu_skew_normal(z, alpha)) / (3.14159265358979323846 * c * c);
}
`
