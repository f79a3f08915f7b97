// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package stat

import (
	"fmt"
	"math"
	"slices"
)

// Method says how a quantile is computed that falls between two of n sorted numbers. The position
// of the quantile p is h = p (n-1), counted from 0; it lies between the numbers i = floor(h) and
// i+1.
type Method string

// The methods for quantiles.
const (
	// LinearMethod interpolates linearly between the two numbers.
	LinearMethod Method = "linear"
	// LowerMethod takes the lower number.
	LowerMethod Method = "lower"
	// HigherMethod takes the higher number.
	HigherMethod Method = "higher"
	// NearestMethod takes the nearer number, and halfway between them the one with an even index.
	NearestMethod Method = "nearest"
	// MidpointMethod takes the mean of the two numbers.
	MidpointMethod Method = "midpoint"
	// HazenMethod interpolates linearly at the position h = p n - 1/2, limited to the range of the
	// numbers.
	HazenMethod Method = "hazen"
)

// Percentile returns the percentiles q, each from 0 to 100, of x. They are NaN if x is empty or
// contains a NaN.
func Percentile(x, q []float64, m Method) []float64 { return percentile(slices.Clone(x), q, m) }

// NaNPercentile is Percentile of the elements that are not NaN.
func NaNPercentile(x, q []float64, m Method) []float64 { return percentile(numbers(x), q, m) }

// PercentileAlong returns percentiles along an axis of an array of the given shape. The result
// holds, for one percentile after another, an array with the shape of x without that axis.
func PercentileAlong(x []float64, shape []int, axis int, q []float64, m Method) []float64 {
	return along(x, shape, axis, len(q), func(v []float64) []float64 { return percentile(v, q, m) })
}

// NaNPercentileAlong is PercentileAlong of the elements that are not NaN.
func NaNPercentileAlong(x []float64, shape []int, axis int, q []float64, m Method) []float64 {
	return along(x, shape, axis, len(q), func(v []float64) []float64 { return percentile(numbers(v), q, m) })
}

// Median returns the middle number of x, or the mean of the two middle ones if their number is
// even. It is NaN if x is empty or contains a NaN.
func Median(x []float64) float64 { return Percentile(x, []float64{50}, LinearMethod)[0] }

// NaNMedian is Median of the elements that are not NaN.
func NaNMedian(x []float64) float64 { return NaNPercentile(x, []float64{50}, LinearMethod)[0] }

// percentile sorts x.
func percentile(x, q []float64, m Method) []float64 {
	slices.Sort(x) // NaN come first
	out := make([]float64, len(q))
	for k, v := range q {
		switch {
		case !(v >= 0 && v <= 100):
			panic(fmt.Sprintf("stat: a percentile is %g: want 0 to 100", v))
		case len(x) == 0 || math.IsNaN(x[0]):
			out[k] = math.NaN()
		default:
			out[k] = between(x, v/100, m)
		}
	}
	return out
}

// between returns the quantile p of sorted numbers.
func between(x []float64, p float64, m Method) float64 {
	last := float64(len(x) - 1)
	h := p * last
	switch m {
	case LinearMethod:
	case LowerMethod:
		h = math.Floor(h)
	case HigherMethod:
		h = math.Ceil(h)
	case NearestMethod:
		h = math.RoundToEven(h)
	case MidpointMethod:
		if i := math.Floor(h); i != h {
			h = i + 0.5
		}
	case HazenMethod:
		h = min(max(float64(p*float64(len(x)))-0.5, 0), last)
	default:
		panic(fmt.Sprintf("stat: there is no method %q for percentiles: use linear, lower, higher, nearest, midpoint or hazen", string(m)))
	}
	i := int(h)
	a, b, t := x[i], x[min(i+1, len(x)-1)], h-math.Floor(h)
	if t == 0 {
		return a
	}
	d := b - a
	if t >= 0.5 {
		return b - float64(d*(1-t))
	}
	return a + float64(d*t)
}

// numbers returns the elements that are not NaN.
func numbers(x []float64) []float64 {
	out := make([]float64, 0, len(x))
	for _, v := range x {
		if !math.IsNaN(v) {
			out = append(out, v)
		}
	}
	return out
}

// along applies f, which returns k numbers and may reorder its argument, along an axis.
func along(x []float64, shape []int, axis, k int, f func(v []float64) []float64) []float64 {
	if axis < 0 {
		axis += len(shape)
	}
	size := 1
	for _, n := range shape {
		size *= n
	}
	if axis < 0 || axis >= len(shape) || size != len(x) {
		panic(fmt.Sprintf("stat: %d numbers do not make an array with axis %d and shape %v", len(x), axis, shape))
	}
	n, inner, outer := shape[axis], 1, 1
	for _, d := range shape[axis+1:] {
		inner *= d
	}
	for _, d := range shape[:axis] {
		outer *= d
	}
	out, v := make([]float64, k*outer*inner), make([]float64, n)
	for o := range outer {
		for j := range inner {
			for i := range v {
				v[i] = x[(o*n+i)*inner+j]
			}
			for p, y := range f(v) {
				out[(p*outer+o)*inner+j] = y
			}
		}
	}
	return out
}
