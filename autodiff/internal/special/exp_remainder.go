// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package special

import "math"

// ExpRemainder returns (e^x - sum of x^j/j! for j < k) / x^k, which is 1/k! at 0: by its series where the subtraction would
// cancel, and by the recurrence from expm1 elsewhere.
func ExpRemainder(k int, x float64) float64 {
	term := 1.0 // 1/k!
	for j := 2; j <= k; j++ {
		term /= float64(j)
	}
	if k > 0 && math.Abs(x) < 0.5+0.5*float64(k) {
		sum := term
		for j := 1; j < 60 && math.Abs(term) > 1e-18*math.Abs(sum); j++ {
			term *= x / float64(k+j)
			sum += term
		}
		return sum
	}
	if k == 0 {
		return math.Exp(x)
	}
	if math.IsInf(x, -1) {
		return 0
	}
	v, inverse := math.Expm1(x)/x, 1.0
	for j := 1; j < k; j++ {
		inverse /= float64(j) // 1/j!
		v = (v - inverse) / x
	}
	return v
}

// CUDAExpRemainder is ExpRemainder in C.
const CUDAExpRemainder = `__device__ double eu_exp_remainder(int k, double x) {
	double term = 1.0;
	for (int j = 2; j <= k; j++) term /= j;
	if (k > 0 && fabs(x) < 0.5 + 0.5 * k) {
		double sum = term;
		for (int j = 1; j < 60 && fabs(term) > 1e-18 * fabs(sum); j++) { term *= x / (k + j); sum += term; }
		return sum;
	}
	if (k == 0) return exp(x);
	if (x < 0.0 && x - x != 0.0) return 0.0;
	double v = expm1(x) / x, inverse = 1.0;
	for (int j = 1; j < k; j++) { inverse /= j; v = (v - inverse) / x; }
	return v;
}
`
