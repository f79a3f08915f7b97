// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package special

import "math"

// ExpRemainder returns (e^x - sum of x^j/j! for j < k) / x^k, which is 1/k! at 0.
func ExpRemainder(k int, x float64) float64 { return ExpRemainderSlope(k, 0, x) }

// ExpRemainderSlope returns the m-th derivative of ExpRemainder: by its series where the subtractions would cancel,
// and elsewhere by the recurrence
//
//	D(k, 0) = (D(k-1, 0) - 1/(k-1)!)/x, D(k, m) = (D(k-1, m) - m D(k, m-1))/x, D(0, m) = e^x
//
// Far right only the derivative of e^x/x^k is left.
func ExpRemainderSlope(k, m int, x float64) float64 {
	switch {
	case k == 0:
		return math.Exp(x)
	case math.Abs(x) < 0.5+0.5*float64(k)+float64(m):
		return expRemainderSeries(k, m, x)
	case math.IsInf(x, -1):
		return 0
	case x > 100:
		return expRemainderFar(k, m, x)
	}
	d := make([]float64, m+1, 8) // derivatives of order k-1, then k
	for i := range d {
		d[i] = math.Exp(x)
	}
	inverse := 1.0 // 1/(j-1)!
	for j := 1; j <= k; j++ {
		if d[0] -= inverse; j == 1 {
			d[0] = math.Expm1(x)
		}
		d[0] /= x
		for i := 1; i <= m; i++ {
			d[i] = (d[i] - float64(i)*d[i-1]) / x
		}
		inverse /= float64(j)
	}
	return d[m]
}

// expRemainderSeries is the sum of (j+m)!/(j! (k+j+m)!) x^j.
func expRemainderSeries(k, m int, x float64) float64 {
	term := 1.0 // m!/(k+m)!
	for j := m + 1; j <= k+m; j++ {
		term /= float64(j)
	}
	sum := term
	for j := 1; j < 80 && math.Abs(term) > 1e-18*math.Abs(sum); j++ {
		term *= x * float64(j+m) / float64(j*(k+j+m))
		sum += term
	}
	return sum
}

// expRemainderFar is the m-th derivative of e^x/x^k.
func expRemainderFar(k, m int, x float64) float64 {
	term, sum := 1.0, 1.0
	for i := range m {
		term *= -float64((m-i)*(k+i)) / (float64(i+1) * x)
		sum += term
	}
	if x > 1500 {
		return math.Inf(1)
	}
	half := math.Exp(x / 2)
	return sum * half * math.Pow(x, -float64(k)) * half
}

// CUDAExpRemainder is ExpRemainderSlope in C.
const CUDAExpRemainder = `
__device__ double eu_exp_remainder(int k, int m, double x) {
	if (k == 0) return exp(x);
	if (fabs(x) < 0.5 + 0.5 * k + m) {
		double term = 1.0;
		for (int j = m + 1; j <= k + m; j++) term /= j;
		double sum = term;
		for (int j = 1; j < 80 && fabs(term) > 1e-18 * fabs(sum); j++) {
			term *= x * (j + m) / (j * (k + j + m));
			sum += term;
		}
		return sum;
	}
	if (isinf(x) && x < 0.0) return 0.0;
	if (x > (sizeof(x) == 4 ? 60.0 : 100.0)) {
		double term = 1.0, sum = 1.0, half = exp(x / 2.0);
		for (int i = 0; i < m; i++) {
			term *= -1.0 * (m - i) * (k + i) / ((i + 1) * x);
			sum += term;
		}
		return x > 1500.0 ? INFINITY : sum * half * pow(x, -1.0 * k) * half;
	}
	double d[8], inverse = 1.0;
	if (m > 7) return NAN;
	for (int i = 0; i <= m; i++) d[i] = exp(x);
	for (int j = 1; j <= k; j++) {
		d[0] = (j == 1 ? expm1(x) : d[0] - inverse) / x;
		for (int i = 1; i <= m; i++) d[i] = (d[i] - i * d[i - 1]) / x;
		inverse /= j;
	}
	return d[m];
}
`
