// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package special

import "math"

// SquareFall is nu log(1 + z^2/nu).
func SquareFall(nu, z float64) float64 {
	r := z / math.Sqrt(nu)
	if math.Abs(r) < 1e-8 {
		return z * z
	}
	return nu * Log1psq(r)
}

// SquareFallSlope is its derivative with respect to nu.
func SquareFallSlope(nu, z float64) float64 {
	r := z / math.Sqrt(nu)
	w := r * r
	if w < 1 {
		return log1pmx(w) + w*(w/(1+w))
	}
	return Log1psq(r) - 1/(1+1/w)
}

// CUDASquareFall is the same in C.
const CUDASquareFall = `
__device__ double eu_square_fall(double nu, double z) {
	double r = z / sqrt(nu);
	if (fabs(r) < 1e-8) return z * z;
	return nu * (fabs(r) > 1e8 ? 2.0 * log(fabs(r)) : log1p(r * r));
}
__device__ double eu_square_fall_slope(double nu, double z) {
	double r = z / sqrt(nu), w = r * r;
	if (w < 1.0) return eu_log1pmx(w) + w * (w / (1.0 + w));
	return (fabs(r) > 1e8 ? 2.0 * log(fabs(r)) : log1p(w)) - 1.0 / (1.0 + 1.0 / w);
}
`
