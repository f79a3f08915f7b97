// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package stat

import "math"

// NaNMean returns the mean of the elements that are not NaN, or NaN if there are none.
func NaNMean(x []float64) float64 {
	sum, n := 0.0, 0
	for _, v := range x {
		if !math.IsNaN(v) {
			sum += v
			n++
		}
	}
	return sum / float64(n)
}

// NaNMin returns the smallest element that is not NaN, or NaN if there is none.
func NaNMin(x []float64) float64 { return extreme(x, func(a, b float64) bool { return a < b }) }

// NaNMax returns the largest element that is not NaN, or NaN if there is none.
func NaNMax(x []float64) float64 { return extreme(x, func(a, b float64) bool { return a > b }) }

func extreme(x []float64, better func(a, b float64) bool) float64 {
	best := math.NaN()
	for _, v := range x {
		if better(v, best) || math.IsNaN(best) {
			best = v
		}
	}
	return best
}

// NaNMeanAlong returns the means along an axis of an array of the given shape, ignoring NaN.
func NaNMeanAlong(x []float64, shape []int, axis int) []float64 {
	return along(x, shape, axis, 1, func(v []float64) []float64 { return []float64{NaNMean(v)} })
}

// NaNToNum returns a copy of x in which NaN, +Inf and -Inf are replaced by the given numbers. To do
// what NumPy does by default, pass 0 and plus and minus [math.MaxFloat64].
func NaNToNum(x []float64, nan, posInf, negInf float64) []float64 {
	out := make([]float64, len(x))
	for i, v := range x {
		switch {
		case math.IsNaN(v):
			v = nan
		case math.IsInf(v, 1):
			v = posInf
		case math.IsInf(v, -1):
			v = negInf
		}
		out[i] = v
	}
	return out
}
