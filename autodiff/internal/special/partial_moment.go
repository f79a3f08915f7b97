// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package special

import (
	"math"

	"github.com/euryale-dev/euryale/internal/subnormal"
)

// LogPartialMoment integrates over w = log y from the peak, y (y-m) = nu+1, to both
// sides.
func LogPartialMoment(n int, nu, m float64) float64 {
	if !(nu > -1) || math.IsNaN(m) || n > maxOrder {
		return math.NaN()
	}
	e := partialFlank(nu, m)
	p, y := e.p, e.c
	sums := func(mean float64, n int) [maxOrder + 1][maxOrder + 1]float64 { return e.partialSums(mean, n, 0) }
	if n == 0 {
		sum := sums(0, 0)
		return p*subnormal.Log(y) - (y-m)*(y-m)/2 + subnormal.Log(sum[0][0])
	}
	sum := sums(0, 1)
	mean := sum[1][0] / sum[0][0]
	if n == 1 {
		return subnormal.Log(y) + mean
	}
	return cumulants(sums(mean, n), n, 0)
}

// partialFlank returns the flanks of the integrand about its peak c, where c (c-m) = nu+1.
func partialFlank(nu, m float64) flank {
	p := nu + 1
	y := (m + math.Hypot(m, 2*math.Sqrt(p))) / 2
	if m < 0 {
		y = 2 * p / (math.Hypot(m, 2*math.Sqrt(p)) - m)
	}
	return flank{kind: PartialPeak, c: y, p: p, q: m}
}

// partialSums returns moments of w less its value at the peak, and of y/c - 1.
func (e flank) partialSums(mean float64, n, m int) (sum [maxOrder + 1][maxOrder + 1]float64) {
	e.right = false
	e.moments(math.Inf(1), mean, 0, n, m, &sum)
	e.right = true
	e.moments(math.Inf(1), mean, 0, n, m, &sum)
	return sum
}

// PartialGain is the difference of LogPartialMoment of order 0 between m and 0, without those of large numbers. With
// c = sqrt(nu+1) e^A, A = asinh(m/(2 sqrt(nu+1))), that of the peaks is (nu+1) (A + (1 - e^(-2A))/2).
func PartialGain(nu, m float64) float64 {
	if !(nu > -1) || math.IsNaN(m) {
		return math.NaN()
	}
	p, shift := nu+1, partialShift(nu, m)
	a, b := partialFlank(nu, m).partialSums(0, 0, 0), partialFlank(nu, 0).partialSums(0, 0, 0)
	return p*(shift-math.Expm1(-2*shift)/2) + subnormal.Log(a[0][0]/b[0][0])
}

func partialShift(nu, m float64) float64 { return math.Asinh(m / (2 * math.Sqrt(nu+1))) }

// PartialGainSlope is its derivative with respect to nu, the difference of means of log y.
func PartialGainSlope(nu, m float64) float64 {
	if !(nu > -1) || math.IsNaN(m) {
		return math.NaN()
	}
	a, b := partialFlank(nu, m).partialSums(0, 1, 0), partialFlank(nu, 0).partialSums(0, 1, 0)
	return partialShift(nu, m) + a[1][0]/a[0][0] - b[1][0]/b[0][0]
}

// PartialExcess is the derivative with respect to m, the mean of y - m, which is nu times that of 1/y.
func PartialExcess(nu, m float64) float64 {
	if !(nu > -1) || math.IsNaN(m) {
		return math.NaN()
	}
	e := partialFlank(nu, m)
	if m > 1e3 { // 1/y = exp(-u)/c, where u is small
		s := e.partialSums(0, 4, 0)
		return nu / e.c * (1 - (s[1][0]-(s[2][0]-(s[3][0]-s[4][0]/4)/3)/2)/s[0][0])
	}
	s := e.partialSums(0, 0, 1)
	return e.p/e.c + e.c*s[0][1]/s[0][0]
}

// partial is at for partialPeak: p log y - (y-m)^2/2, relative to the peak, where its derivative is 0. It returns log y and
// y/c - 1 too.
func (e *flank) partial(v float64) (f, d, x, y float64) {
	u, side := v, 1.0
	if !e.right {
		u, side = -v, -1
	}
	grow := math.Expm1(u)
	w := e.c * grow
	return -e.p*expm1mx(u) - w*w/2, -side * (e.p*grow + w*(e.c+w)), u, grow
}

const CUDAPartialMoment = `
__device__ void eu_partial_sums(eu_flank *e, double mean, int n, int m, double sum[7][7]) {
	for (int i = 0; i < 7; i++) for (int j = 0; j < 7; j++) sum[i][j] = 0.0;
	e->right = 0;
	eu_moments(e, INFINITY, mean, 0.0, n, m, sum);
	e->right = 1;
	eu_moments(e, INFINITY, mean, 0.0, n, m, sum);
}
__device__ eu_flank eu_partial_flank(double nu, double m) {
	double p = nu + 1.0, h = hypot(m, 2.0 * sqrt(p));
	eu_flank e = {5, 0, 0.0, m < 0.0 ? 2.0 * p / (h - m) : (m + h) / 2.0, p, m};
	return e;
}
__device__ double eu_partial_moment(int n, double nu, double m) {
	if (!(nu > -1.0) || isnan(m) || n > 6) return NAN;
	eu_flank e = eu_partial_flank(nu, m);
	double sum[7][7], p = e.p, y = e.c;
	eu_partial_sums(&e, 0.0, n > 0, 0, sum);
	if (n == 0) return p * log(y) - (y - m) * (y - m) / 2.0 + log(sum[0][0]);
	double mean = sum[1][0] / sum[0][0];
	if (n == 1) return log(y) + mean;
	eu_partial_sums(&e, mean, n, 0, sum);
	return eu_cumulant(sum, n, 0);
}
__device__ double eu_partial_gain(int slope, double nu, double m) {
	if (!(nu > -1.0) || isnan(m)) return NAN;
	eu_flank e = eu_partial_flank(nu, m), o = eu_partial_flank(nu, 0.0);
	double a[7][7], b[7][7], p = nu + 1.0, shift = asinh(m / (2.0 * sqrt(p)));
	eu_partial_sums(&e, 0.0, slope, 0, a);
	eu_partial_sums(&o, 0.0, slope, 0, b);
	if (slope) return shift + a[1][0] / a[0][0] - b[1][0] / b[0][0];
	return p * (shift - expm1(-2.0 * shift) / 2.0) + log(a[0][0] / b[0][0]);
}
__device__ double eu_partial_excess(double nu, double m) {
	if (!(nu > -1.0) || isnan(m)) return NAN;
	eu_flank e = eu_partial_flank(nu, m);
	double s[7][7];
	if (m > 1e3) {
		eu_partial_sums(&e, 0.0, 4, 0, s);
		return nu / e.c * (1.0 - (s[1][0] - (s[2][0] - (s[3][0] - s[4][0] / 4.0) / 3.0) / 2.0) / s[0][0]);
	}
	eu_partial_sums(&e, 0.0, 0, 1, s);
	return e.p / e.c + e.c * s[0][1] / s[0][0];
}
`
