// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package special

import (
	"math"

	"github.com/euryale-dev/euryale/internal/subnormal"
)

// PowSlope returns the derivative of x^y of order n in x and m in y,
//
//	x^(y-n) sum_i (m choose i) p_i log(x)^(m-i), p_i the i-th derivative of y (y-1) ... (y-n+1)
//
// in which terms of p_i = 0 are 0, and so are those with a logarithm where x < 0, and where x = 0 unless x^(y-n) is
// infinite there.
func PowSlope(n, m int, x, y float64) float64 {
	p := make([]float64, m+1, 8)
	p[0] = 1
	for k := range n {
		f := y - float64(k)
		for i := m; i > 0; i-- {
			p[i] = p[i]*f + float64(i)*p[i-1]
		}
		p[0] *= f
	}
	e := y - float64(n)
	sum := p[m] // the term without a logarithm
	switch {
	case x > 0:
		sum = 0
		for i, log := 0, subnormal.Log(x); i <= m; i++ { // Horner's rule in the logarithm
			if i > 0 {
				sum *= log
			}
			sum += Binomial(m, i) * p[i]
		}
	case x == 0 && e < 0: // the highest power of the logarithm decides
		for i := 0; i < m; i++ {
			if p[i] != 0 {
				sum = p[i] * math.Pow(-1, float64(m-i))
				break
			}
		}
	}
	if v := math.Pow(x, e); v != 0 && sum != 0 {
		return sum * v
	}
	return 0
}

// CUDAPowSlope is PowSlope in C.
const CUDAPowSlope = `
__device__ double eu_pow_slope(int n, int m, double x, double y) {
	double p[8] = {1.0}, e = y - n, c = 1.0;
	if (m > 7) return NAN;
	for (int k = 0; k < n; k++) {
		for (int i = m; i > 0; i--) p[i] = p[i] * (y - k) + i * p[i - 1];
		p[0] *= y - k;
	}
	double sum = p[m];
	if (x > 0.0) {
		sum = 0.0;
		for (int i = 0; i <= m; i++) {
			if (i > 0) {
				sum *= log(x);
				c = c * (m - i + 1) / i;
			}
			sum += c * p[i];
		}
	} else if (x == 0.0 && e < 0.0) {
		for (int i = 0; i < m; i++)
			if (p[i] != 0.0) {
				sum = (m - i) % 2 ? -p[i] : p[i];
				break;
			}
	}
	double v = pow(x, e);
	return v != 0.0 && sum != 0.0 ? sum * v : 0.0;
}
`
