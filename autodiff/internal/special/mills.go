// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package special

import (
	"math"

	"github.com/euryale-dev/euryale/internal/subnormal"
)

// Differences of Mills' ratio R(a) = (1 - Phi(a))/phi(a) are integrals of a positive function,
//
//	R(a) - R(a+h) = integral of exp(-a t - t^2/2) (1 - exp(-h t)) over t > 0
//	(Phi(a+w) - Phi(a))/phi(a)/w = integral of exp(-a w u - w^2 u^2/2) over u from 0 to 1
//
// which Gauss-Legendre panels give from the peak outwards, so that nothing cancels however small h or w is. Derivatives
// are ratios of the same integrals with powers of t.

// millsIntegral returns the integral of t^n exp(-a t - t^2/2) over t from 0 to end, times 1 - exp(-h t) if h > 0, in units of
// exp(max(0, -a)^2/2).
func millsIntegral(n int, a, h, end float64) float64 {
	peak, up := math.Max(0, -a), math.Max(0, a)
	if math.IsInf(a, 0) || a != a {
		return math.NaN()
	}
	reach := 120 / (up + math.Sqrt(up*up+120)) // 60 nepers
	if h*reach > 20 {                          // the factor is no longer smooth, and the difference does not cancel
		b := a + h
		more := math.Exp((math.Max(0, -b) - peak) * (math.Max(0, -b) + peak) / 2)
		return millsIntegral(n, a, 0, end) - more*millsIntegral(n, b, 0, end)
	}
	sum := 0.0
	for side := -1.0; side <= 1; side += 2 {
		most := math.Min(reach, end-peak)
		if side < 0 {
			most = math.Min(peak, 11)
		}
		const panels = 5
		half := most / (2 * panels)
		for i := 0; i < panels && most > 0; i++ {
			for k, node := range legendreNodes {
				for sign := -1.0; sign <= 1; sign += 2 {
					u := half * (float64(2*i+1) + sign*node)
					t := peak + side*u
					v := half * legendreWeights[k] * math.Exp(-u*(up+u/2))
					for range n {
						v *= t
					}
					if h > 0 {
						v *= -math.Expm1(-h * t)
					}
					sum += v
				}
			}
		}
	}
	return sum
}

// LogMillsDrop returns log(R(a) - R(a+h)) for h > 0.
func LogMillsDrop(a, h float64) float64 {
	switch {
	case h == 0 || math.IsInf(a, 1) && h >= 0:
		return math.Inf(-1)
	case !(h > 0):
		return math.NaN()
	}
	peak := math.Max(0, -a)
	return peak*peak/2 + subnormal.Log(millsIntegral(0, a, h, math.Inf(1)))
}

// narrowest stands for an h of 0 in quotients of integrals, which do not depend on one as small as that.
const narrowest = 1e-200

// MillsDropMoment returns the integral of t^n exp(-a t - t^2/2) (1 - exp(-h t)) over that without t^n, or its limit at h = 0.
func MillsDropMoment(n int, a, h float64) float64 {
	switch {
	case h == 0:
		h = narrowest
	case !(h > 0):
		return math.NaN()
	}
	return millsIntegral(n, a, h, math.Inf(1)) / millsIntegral(0, a, h, math.Inf(1))
}

// MillsDropRise returns the integral of t^n exp(-(a+h) t - t^2/2) over that of exp(-a t - t^2/2) (1 - exp(-h t)),
// which is infinite at h = 0.
func MillsDropRise(n int, a, h float64) float64 {
	switch {
	case h == 0 && !math.IsInf(a, 0):
		return math.Inf(1)
	case !(h > 0):
		return math.NaN()
	}
	b := a + h
	p, q := math.Max(0, -b), math.Max(0, -a)
	return math.Exp((p-q)*(p+q)/2) * millsIntegral(n, b, 0, math.Inf(1)) / millsIntegral(0, a, h, math.Inf(1))
}

// millsMean returns the mean of u^n exp(-a w u - w^2 u^2/2) over 0 < u < 1, and for n = -1 what that of n = 0 exceeds 1 by,
// if the interval is narrow. Where w is large, a must be 0 or more.
func millsMean(n int, a, w float64) float64 {
	switch {
	case !(w >= 0) || a != a:
		return math.NaN()
	case (math.Abs(a)+w)*w < 8:
		sum := 0.0
		for k, node := range legendreNodes {
			for sign := -1.0; sign <= 1; sign += 2 {
				u := (1 + sign*node) / 2
				v, fall := legendreWeights[k]/2, -w*u*(a+w*u/2)
				if n < 0 {
					v *= math.Expm1(fall)
				} else {
					v *= math.Exp(fall)
				}
				for range n {
					v *= u
				}
				sum += v
			}
		}
		return sum
	case a < 0:
		return math.NaN()
	}
	v := millsIntegral(n, a, 0, w)
	for range n + 1 {
		v /= w
	}
	return v
}

// LogMillsMean returns log((Phi(a+w) - Phi(a))/phi(a)/w) for a >= 0 or narrow intervals. Where the mean is close to 1, it is
// summed without the 1.
func LogMillsMean(a, w float64) float64 {
	if w >= 0 && (math.Abs(a)+w)*w < 0.5 {
		return math.Log1p(millsMean(-1, a, w))
	}
	return subnormal.Log(millsMean(0, a, w))
}

// LogMillsPart returns log((Phi(a+w) - Phi(a))/phi(a)), likewise.
func LogMillsPart(a, w float64) float64 {
	if a >= 0 && w >= 1 { // w may be infinite
		return subnormal.Log(millsIntegral(0, a, 0, w))
	}
	return subnormal.Log(w) + subnormal.Log(millsMean(0, a, w))
}

// MillsMeanMoment returns the mean of u^n with the weight exp(-a w u - w^2 u^2/2) over 0 < u < 1.
func MillsMeanMoment(n int, a, w float64) float64 { return millsMean(n, a, w) / millsMean(0, a, w) }

// CUDAMills is the same in C.
const CUDAMills = `
__device__ double eu_mills_integral(int n, double a, double h, double end) {
	const double node[10] = {0.0765265211334973338, 0.227785851141645078, 0.373706088715419561, 0.510867001950827098, 0.636053680726515025, 0.746331906460150793, 0.839116971822218823, 0.912234428251325906, 0.963971927277913791, 0.993128599185094925};
	const double weight[10] = {0.152753387130725851, 0.149172986472603747, 0.142096109318382051, 0.131688638449176627, 0.118194531961518417, 0.101930119817240435, 0.0832767415767047487, 0.0626720483341090636, 0.0406014298003869413, 0.0176140071391521183};
	double total = 0.0, scale = 1.0, top = fmax(0.0, -a);
	if (isinf(a) || isnan(a)) return NAN;
	for (int pass = 0; pass < 2; pass++) { // the second for a + h, if h is large
		double peak = fmax(0.0, -a), up = fmax(0.0, a), reach = 120.0 / (up + sqrt(up * up + 120.0)), sum = 0.0;
		int rough = h * reach > 20.0;
		for (double side = -1.0; side <= 1.0; side += 2.0) {
			double most = side < 0.0 ? fmin(peak, 11.0) : fmin(reach, end - peak), half = most / 10.0;
			for (int i = 0; i < 5 && most > 0.0; i++)
				for (int k = 0; k < 10; k++)
					for (double sign = -1.0; sign <= 1.0; sign += 2.0) {
						double u = half * (2 * i + 1 + sign * node[k]), t = peak + side * u;
						double v = half * weight[k] * exp(-u * (up + u / 2.0));
						for (int j = 0; j < n; j++) v *= t;
						if (h > 0.0 && !rough) v *= -expm1(-h * t);
						sum += v;
					}
		}
		total += scale * sum;
		if (!rough) break;
		a += h;
		h = 0.0;
		scale = -exp((fmax(0.0, -a) - top) * (fmax(0.0, -a) + top) / 2.0);
	}
	return total;
}
__device__ double eu_log_mills_drop(double a, double h) {
	if (h == 0.0 || (isinf(a) && a > 0.0 && h >= 0.0)) return -INFINITY;
	if (!(h > 0.0)) return NAN;
	double peak = fmax(0.0, -a);
	return peak * peak / 2.0 + log(eu_mills_integral(0, a, h, INFINITY));
}
__device__ double eu_mills_drop_moment(int n, double a, double h) {
	if (h == 0.0) h = 1e-200;
	return h > 0.0 ? eu_mills_integral(n, a, h, INFINITY) / eu_mills_integral(0, a, h, INFINITY) : NAN;
}
__device__ double eu_mills_drop_rise(int n, double a, double h) {
	if (h == 0.0 && isfinite(a)) return INFINITY;
	double p = fmax(0.0, -a - h), q = fmax(0.0, -a);
	return h > 0.0 ? exp((p - q) * (p + q) / 2.0) * eu_mills_integral(n, a + h, 0.0, INFINITY) / eu_mills_integral(0, a, h, INFINITY) : NAN;
}
__device__ double eu_mills_mean(int n, double a, double w) {
	const double node[10] = {0.0765265211334973338, 0.227785851141645078, 0.373706088715419561, 0.510867001950827098, 0.636053680726515025, 0.746331906460150793, 0.839116971822218823, 0.912234428251325906, 0.963971927277913791, 0.993128599185094925};
	const double weight[10] = {0.152753387130725851, 0.149172986472603747, 0.142096109318382051, 0.131688638449176627, 0.118194531961518417, 0.101930119817240435, 0.0832767415767047487, 0.0626720483341090636, 0.0406014298003869413, 0.0176140071391521183};
	double sum = 0.0;
	if (!(w >= 0.0) || isnan(a)) return NAN;
	if ((fabs(a) + w) * w < 8.0) {
		for (int k = 0; k < 10; k++)
			for (double sign = -1.0; sign <= 1.0; sign += 2.0) {
				double u = (1.0 + sign * node[k]) / 2.0, fall = -w * u * (a + w * u / 2.0), v = weight[k] / 2.0 * (n < 0 ? expm1(fall) : exp(fall));
				for (int j = 0; j < n; j++) v *= u;
				sum += v;
			}
		return sum;
	}
	if (a < 0.0) return NAN;
	sum = eu_mills_integral(n, a, 0.0, w);
	for (int j = 0; j <= n; j++) sum /= w;
	return sum;
}
__device__ double eu_log_mills_mean(double a, double w) {
	return w >= 0.0 && (fabs(a) + w) * w < 0.5 ? log1p(eu_mills_mean(-1, a, w)) : log(eu_mills_mean(0, a, w));
}
__device__ double eu_log_mills_part(double a, double w) {
	return a >= 0.0 && w >= 1.0 ? log(eu_mills_integral(0, a, 0.0, w)) : log(w) + log(eu_mills_mean(0, a, w));
}
__device__ double eu_mills_mean_moment(int n, double a, double w) {
	return eu_mills_mean(n, a, w) / eu_mills_mean(0, a, w);
}
`
