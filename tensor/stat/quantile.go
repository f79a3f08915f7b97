// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package stat

import (
	"fmt"
	"math"
	"slices"
)

// Method says what a quantile is that lies between two of n sorted numbers. With the position h = p (n-1) counted from
// 0, it lies between the numbers i = floor(h) and i+1.
type Method string

// Methods of quantiles.
const (
	LinearMethod   Method = "linear"   // on the line between the two
	LowerMethod    Method = "lower"    // the lower one
	HigherMethod   Method = "higher"   // the higher one
	NearestMethod  Method = "nearest"  // the nearer one, halfway that of the even i
	MidpointMethod Method = "midpoint" // the mean of the two
	HazenMethod    Method = "hazen"    // on the line, with the position h = p n - 1/2, within the numbers
)

// Percentile returns the percentiles q, each from 0 to 100, of x. It is NaN if x has a NaN or no element.
func Percentile(x, q []float64, m Method) []float64 { return percentile(slices.Clone(x), q, m) }

// NaNPercentile is Percentile of the elements that are not NaN.
func NaNPercentile(x, q []float64, m Method) []float64 { return percentile(numbers(x), q, m) }

// PercentileAlong returns percentiles along an axis of an array of some shape. The result has the shape of x without that
// axis for each of the percentiles, one after another.
func PercentileAlong(x []float64, shape []int, axis int, q []float64, m Method) []float64 {
	return along(x, shape, axis, len(q), func(v []float64) []float64 { return percentile(v, q, m) })
}

// NaNPercentileAlong is PercentileAlong of the elements that are not NaN.
func NaNPercentileAlong(x []float64, shape []int, axis int, q []float64, m Method) []float64 {
	return along(x, shape, axis, len(q), func(v []float64) []float64 { return percentile(numbers(v), q, m) })
}

// Median returns the middle of x, the mean of the two in the middle for an even number; NaN if x has a NaN or no element.
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
			panic(fmt.Sprintf("stat: percentile %g: want 0..100", v))
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
		panic(fmt.Sprintf("stat: unknown method %q of percentiles: want linear, lower, higher, nearest, midpoint or hazen", string(m)))
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
		panic(fmt.Sprintf("stat: %d numbers along axis %d of shape %v", len(x), axis, shape))
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
