// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package diag

import "math"

// Mean returns the average of v with a compensated sum; NaN if v is empty.
func Mean(v []float64) float64 {
	var sum, lost float64
	for _, x := range v {
		t := sum + x
		if math.Abs(sum) >= math.Abs(x) {
			lost += (sum - t) + x
		} else {
			lost += (x - t) + sum
		}
		sum = t
	}
	if !math.IsNaN(lost) && !math.IsInf(lost, 0) {
		sum += lost
	}
	return sum / float64(len(v))
}

// Variance returns the sample variance, with n-1 in the denominator; NaN for
// fewer than two numbers.
func Variance(v []float64) float64 {
	if len(v) < 2 {
		return math.NaN()
	}
	c := centre(v)
	return sumSquares(c, Mean(c)) / float64(len(v)-1)
}

// SD returns the sample standard deviation, with n-1 in the denominator.
func SD(v []float64) float64 { return math.Sqrt(Variance(v)) }

// MAD returns the median absolute deviation from the median, unscaled.
func MAD(v []float64) float64 {
	m := Median(v)
	d := make([]float64, len(v))
	for i, x := range v {
		d[i] = math.Abs(x - m)
	}
	return Median(d)
}

// centre returns v minus its first number if that removes a large offset, so that rounding the mean
// costs no digits of the deviations, and else v.
func centre(v []float64) []float64 {
	shifted := centreChains([][]float64{v})
	return shifted[0]
}

// centreChains is centre with one offset for all chains.
func centreChains(x [][]float64) [][]float64 {
	if len(x) == 0 || len(x[0]) == 0 || !(span(x) < math.Abs(x[0][0])) {
		return x
	}
	offset := x[0][0]
	return apply(x, func(v float64) float64 { return v - offset })
}

func sumSquares(v []float64, mean float64) (s float64) {
	for _, x := range v {
		s += (x - mean) * (x - mean)
	}
	return s
}
