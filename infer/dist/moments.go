// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package dist

import "math"

// numericMoments returns mean and variance as integrals over quantiles. If an end of the
// support is infinite, it first checks that the moments of the base are finite, and
// otherwise returns those.
func (d Dist) numericMoments(base Dist, p, q []float64) (mean, variance float64) {
	lo, hi := d.ends(p)
	if math.IsInf(lo, 0) || math.IsInf(hi, 0) {
		// The moments of the base are not finite.
		if m, v := base.Mean(q), base.Var(q); math.IsNaN(m-m) || math.IsNaN(v-v) {
			return m, v
		}
	}
	average := d.overQuantiles(p)
	mean = average(func(x float64) float64 { return x })
	return mean, average(func(x float64) float64 { return (x - mean) * (x - mean) })
}

// overQuantiles returns a function that averages f(x) over the distribution, by summation
// for discrete distributions and by tanh-sinh quadrature over probabilities for others.
func (d Dist) overQuantiles(p []float64) func(f func(x float64) float64) float64 {
	var x, w []float64
	if d.Discrete {
		last, from := 0.0, d.Quantile(1e-15, p)
		for k := from; k <= d.Quantile(1-1e-15, p) && k < from+1e6; k++ {
			now := d.CDF(k, p)
			x, w, last = append(x, k), append(w, now-last), now
		}
	} else {
		const h = 1. / 16
		for k := -60; k <= 60; k++ {
			s := math.Pi / 2 * math.Sinh(float64(k)*h)
			u := 1 / (1 + math.Exp(-2*s))
			if u > 1e-15 && u < 1-1e-15 {
				c := math.Cosh(s)
				x, w = append(x, d.Quantile(u, p)), append(w, h*math.Pi/4*math.Cosh(float64(k)*h)/(c*c))
			}
		}
	}
	return func(f func(x float64) float64) (sum float64) {
		for i, v := range x {
			sum += w[i] * f(v)
		}
		return sum
	}
}
