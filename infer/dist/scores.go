// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package dist

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mathext"
)

// Scores writes to dst the quantile residual Phi^-1(F(x)) of each value of x, its
// position on the scale of a standard normal distribution. For Normal it is (x-mu)/sigma.
// Values of a discrete distribution, and values at the limits of a censored one, are
// placed within their probability at the fraction place(i) in [0, 1), which makes them
// random if place is. Shapes and p are those of Fill. Except for Normal, scores lie
// between -8.2 and 8.2. Distributions that are not scalar or have no CDF give an error.
//
// Reference: Dunn and Smyth 1996, doi 10.1080/10618600.1996.10474708.
func (d Dist) Scores(dst, x []float64, shape []int, p [][]float64, place func(i int) float64) error {
	if d.Event > 0 || d.CDFOf == nil {
		return fmt.Errorf("dist: %s has no CDF of single numbers, which quantile residuals need: use a scalar distribution that has one", d.Name)
	}
	return d.each(shape, p, func(i int, theta []float64) error {
		switch {
		case d.Name == "normal":
			dst[i] = (x[i] - theta[0]) / theta[1]
		case d.marks != nil && d.atMark(x[i], theta) != 0:
			dst[i] = score(d.placeAtMark(x[i], theta, place(i)))
		case d.Discrete:
			below, upTo := d.CDF(x[i]-1, theta), d.CDF(x[i], theta)
			dst[i] = score(below + place(i)*(upTo-below))
		default:
			dst[i] = score(d.CDF(x[i], theta))
		}
		return nil
	})
}

// atMark returns -1 if x was recorded at the lower limit of a censored distribution, 1 if
// at the upper limit, and 0 if between them.
func (d Dist) atMark(x float64, theta []float64) int {
	lo, hi := d.marks(theta)
	switch {
	case x <= lo:
		return -1
	case x >= hi:
		return 1
	}
	return 0
}

// placeAtMark places a censored value within the probability of its tail.
func (d Dist) placeAtMark(x float64, theta []float64, share float64) float64 {
	lo, hi := d.marks(theta)
	if d.atMark(x, theta) < 0 {
		return share * d.CDF(lo, theta)
	}
	if d.Discrete {
		hi--
	} else {
		hi = math.Nextafter(hi, math.Inf(-1)) // at the limit itself the CDF is 1
	}
	below := d.CDF(hi, theta)
	return below + share*(1-below)
}

// score returns the normal quantile of u, kept finite.
func score(u float64) float64 {
	const end = 1.1e-16
	return mathext.NormalQuantile(min(max(u, end), 1-end))
}

// MeansAndSDs writes the mean and the standard deviation of each value of an array, or
// NaN if the distribution has none. Shapes and p are those of Fill.
func (d Dist) MeansAndSDs(mean, sd []float64, shape []int, p [][]float64) error {
	return d.each(shape, p, func(i int, theta []float64) error {
		mean[i], sd[i] = d.Mean(theta), math.Sqrt(d.Var(theta))
		return nil
	})
}
