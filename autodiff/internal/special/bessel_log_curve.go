// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package special

import (
	"fmt"
	"math"
	"strings"
)

// LogI0eCurve returns derivative n = 2 or 3 of log I0(x), which are those of LogI0e too. Up to 30 it is a quotient of
// positive series,
//
//	(log I0)'' = sum t_k w_k / sum t_k, t_k = (2k)!/k!^4 (x/2)^(2k), w_k = 1/(2 (k+1)^2)
//
// from the products of I0 and I1 (https://dlmf.nist.gov/10.31.E3), in which 1 - r/x - r^2 with r = I1/I0 would cancel;
// and above it the asymptotic series of log I0.
func LogI0eCurve(n int, x float64) float64 {
	a := math.Abs(x)
	side := 1.0
	if n == 3 && x < 0 {
		side = -1
	}
	if a > 30 {
		sum := 0.0
		for k := len(logI0Series); k > 0; k-- {
			c := logI0Series[k-1] * float64(k*(k+1))
			if n == 3 {
				c *= float64(k + 2)
			}
			sum = (sum + c) / a
		}
		if n == 2 {
			return (0.5 + sum) / a / a
		}
		return -side * (1 + sum) / a / a / a
	}
	q, t := a*a/4, 1.0
	total, weighted, slope, slopeWeighted := 1.0, 0.5, 0.0, 0.0
	for k := 1.0; t > 1e-18*total; k++ {
		t *= 2 * (2*k - 1) / (k * k * k) * q
		w := 0.5 / ((k + 1) * (k + 1))
		total, weighted = total+t, weighted+t*w
		slope, slopeWeighted = slope+t*k, slopeWeighted+t*k*w
	}
	c := weighted / total
	switch {
	case n == 2:
		return c
	case a < 1e-9: // and where q is 0
		return side * -0.375 * a
	}
	return side * 2 / a * (slopeWeighted - c*slope) / total
}

// logI0Series holds c_k of log I0(x) = x - log(2 pi x)/2 + sum c_k x^-k: the logarithm of the asymptotic series
// https://dlmf.nist.gov/10.40.E1, in exact fractions.
var logI0Series = [...]float64{0.125, 0.0625, 0.06510416666666667, 0.1015625, 0.2095703125, 0.5364583333333334, 1.6380658830915178, 5.809814453125, 23.475127749972874, 106.467822265625, 535.640519510616, 2960.739786783854, 17837.279688947478, 116339.24666050503, 816737.8421910767, 6140798.86346674, 49232732.339998595, 419272864.964833, 3779795380.667541, 35961831603.669014, 360101552365.56555, 3785651810447.53, 41687986318546.49, 479892615938701}

// CUDALogI0eCurve is LogI0eCurve in C.
var CUDALogI0eCurve = fmt.Sprintf(`
__device__ double eu_log_i0e_curve(int n, double x) {
	double a = fabs(x), side = n == 3 && x < 0.0 ? -1.0 : 1.0;
	if (a > 30.0) {
		double series[%d] = {%s}, sum = 0.0;
		for (int k = %[1]d; k > 0; k--) sum = (sum + series[k - 1] * (k * (k + 1.0)) * (n == 3 ? k + 2.0 : 1.0)) / a;
		return n == 2 ? (0.5 + sum) / a / a : -side * (1.0 + sum) / a / a / a;
	}
	double q = a * a / 4.0, t = 1.0, total = 1.0, weighted = 0.5, slope = 0.0, slope_weighted = 0.0;
	for (double k = 1.0; t > 1e-18 * total; k += 1.0) {
		t *= 2.0 * (2.0 * k - 1.0) / (k * k * k) * q;
		double w = 0.5 / ((k + 1.0) * (k + 1.0));
		total += t;
		weighted += t * w;
		slope += t * k;
		slope_weighted += t * k * w;
	}
	double c = weighted / total;
	if (n == 2) return c;
	if (a < 1e-9) return side * -0.375 * a;
	return side * 2.0 / a * (slope_weighted - c * slope) / total;
}
`, len(logI0Series), strings.Trim(strings.ReplaceAll(fmt.Sprintf("%.17g", logI0Series), " ", ", "), "[]"))
