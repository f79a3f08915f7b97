// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package special

import "math"

// LogPhiDiffSlope returns phi(b)/(Phi(b) - Phi(a)), the derivative of LogPhiDiff with respect to b; that with respect to a
// is -LogPhiDiffSlope(-b, -a). Narrow intervals integrate
//
//	(Phi(b) - Phi(a))/phi(b) = integral of exp(b t - t^2/2) over t from 0 to b - a
//
// by Gauss-Legendre; others are Mills' ratios of the side where both tails are small.
func LogPhiDiffSlope(a, b float64) float64 {
	h := b - a
	mills := func(t float64) float64 { return math.Sqrt(math.Pi/2) * Erfcx(t*math.Sqrt2/2) }
	switch {
	case !(a <= b):
		return math.NaN()
	case math.IsInf(b, 1):
		return 0
	case math.IsInf(a, -1):
		return LogPhiSlope(b)
	case h*(1+math.Abs(a+b)/2) < 4:
		sum := 0.0
		for i, node := range legendreNodes {
			for sign := -1.0; sign <= 1; sign += 2 {
				t := h / 2 * (1 + sign*node)
				sum += h / 2 * legendreWeights[i] * math.Exp(t*(b-t/2))
			}
		}
		return 1 / sum
	case b <= 0:
		return 1 / (mills(-b) - math.Exp(h/2*(a+b))*mills(-a))
	case a >= 0:
		return 1 / (math.Exp(h/2*(a+b))*mills(a) - mills(b))
	}
	rest := math.Erfc(-a*math.Sqrt2/2)/2 + math.Erfc(b*math.Sqrt2/2)/2
	return math.Exp(-b*b/2) / math.Sqrt(2*math.Pi) / (1 - rest)
}

// CUDALogPhiDiffSlope is LogPhiDiffSlope in C; it stands after CUDAErfcx.
const CUDALogPhiDiffSlope = `
__device__ double eu_mills(double t) {
	return 1.25331413731550025121 * eu_erfcx(t * 0.70710678118654752440);
}
__device__ double eu_log_phi_diff_slope(double a, double b) {
	const double node[10] = {0.0765265211334973338, 0.227785851141645078, 0.373706088715419561, 0.510867001950827098, 0.636053680726515025, 0.746331906460150793, 0.839116971822218823, 0.912234428251325906, 0.963971927277913791, 0.993128599185094925};
	const double weight[10] = {0.152753387130725851, 0.149172986472603747, 0.142096109318382051, 0.131688638449176627, 0.118194531961518417, 0.101930119817240435, 0.0832767415767047487, 0.0626720483341090636, 0.0406014298003869413, 0.0176140071391521183};
	double h = b - a;
	if (!(a <= b)) return NAN;
	if (isinf(b) && b > 0.0) return 0.0;
	if (isinf(a)) return 0.79788456080286535588 / eu_erfcx(-b * 0.70710678118654752440);
	if (h * (1.0 + fabs(a + b) / 2.0) < 4.0) {
		double sum = 0.0;
		for (int i = 0; i < 10; i++)
			for (double sign = -1.0; sign <= 1.0; sign += 2.0) {
				double t = h / 2.0 * (1.0 + sign * node[i]);
				sum += h / 2.0 * weight[i] * exp(t * (b - t / 2.0));
			}
		return 1.0 / sum;
	}
	if (b <= 0.0) return 1.0 / (eu_mills(-b) - exp(h / 2.0 * (a + b)) * eu_mills(-a));
	if (a >= 0.0) return 1.0 / (exp(h / 2.0 * (a + b)) * eu_mills(a) - eu_mills(b));
	double rest = erfc(-a * 0.70710678118654752440) / 2.0 + erfc(b * 0.70710678118654752440) / 2.0;
	return exp(-b * b / 2.0) * 0.39894228040143267794 / (1.0 - rest);
}
`
