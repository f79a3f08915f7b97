// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package special

import "math"

// LogPartialMoment integrates over w = log y from the peak, y (y-m) = nu+1, to both
// sides.
func LogPartialMoment(n int, nu, m float64) float64 {
	if !(nu > -1) || math.IsNaN(m) || n > maxOrder {
		return math.NaN()
	}
	p := nu + 1
	y := (m + math.Hypot(m, 2*math.Sqrt(p))) / 2
	if m < 0 {
		y = 2 * p / (math.Hypot(m, 2*math.Sqrt(p)) - m)
	}
	e := flank{kind: PartialPeak, c: y, p: p, q: m}
	sums := func(mean float64, n int) (sum [maxOrder + 1][maxOrder + 1]float64) {
		e.right = false
		e.moments(math.Inf(1), mean, 0, n, 0, &sum)
		e.right = true
		e.moments(math.Inf(1), mean, 0, n, 0, &sum)
		return sum
	}
	if n == 0 {
		sum := sums(0, 0)
		return p*math.Log(y) - (y-m)*(y-m)/2 + math.Log(sum[0][0])
	}
	sum := sums(0, 1)
	mean := sum[1][0] / sum[0][0]
	if n == 1 {
		return math.Log(y) + mean
	}
	return cumulants(sums(mean, n), n, 0)
}

// partial is at for partialPeak: p log y - (y-m)^2/2, relative to the peak.
func (e *flank) partial(v float64) (f, d, x float64) {
	u, side := v, 1.0
	if !e.right {
		u, side = -v, -1
	}
	grow := math.Expm1(u)
	y := e.c * (1 + grow)
	return e.p*u - e.c*grow*(y+e.c-2*e.q)/2, side * (e.p - y*(y-e.q)), u
}

const CUDAPartialMoment = `
__device__ void eu_partial_sums(eu_flank *e, double mean, int n, double sum[7][7]) {
	for (int i = 0; i < 7; i++) for (int j = 0; j < 7; j++) sum[i][j] = 0.0;
	e->right = 0;
	eu_moments(e, INFINITY, mean, 0.0, n, 0, sum);
	e->right = 1;
	eu_moments(e, INFINITY, mean, 0.0, n, 0, sum);
}
__device__ double eu_partial_moment(int n, double nu, double m) {
	if (!(nu > -1.0) || isnan(m) || n > 6) return NAN;
	double p = nu + 1.0, h = hypot(m, 2.0 * sqrt(p));
	double y = m < 0.0 ? 2.0 * p / (h - m) : (m + h) / 2.0;
	eu_flank e = {5, 0, 0.0, y, p, m};
	double sum[7][7];
	eu_partial_sums(&e, 0.0, n > 0, sum);
	if (n == 0) return p * log(y) - (y - m) * (y - m) / 2.0 + log(sum[0][0]);
	double mean = sum[1][0] / sum[0][0];
	if (n == 1) return log(y) + mean;
	eu_partial_sums(&e, mean, n, sum);
	return eu_cumulant(sum, n, 0);
}
`
