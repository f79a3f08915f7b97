// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

// Package median finds medians without sorting.
package median

import (
	"math"
	"slices"
)

// Of returns the middle of the values, the mean of two for an even number; NaN of none. There must be no NaN.
func Of(x []float64) float64 { return InPlace(slices.Clone(x)) }

// InPlace is Of, and reorders the values.
func InPlace(x []float64) float64 {
	n := len(x)
	if n == 0 {
		return math.NaN()
	}
	upper := Nth(x, n/2)
	if n%2 == 1 {
		return upper
	}
	return (slices.Max(x[:n/2]) + upper) / 2
}

// Nth moves the element that would be at position k after sorting there, with none that is larger
// before it and none that is smaller after it, and returns it (Hoare's selection). There must be no NaN.
func Nth(x []float64, k int) float64 {
	lo, hi := 0, len(x)-1
	for steps := 0; lo < hi; steps++ {
		if steps > 64 { // an order that defeats the choice of the pivot
			slices.Sort(x[lo : hi+1])
			break
		}
		pivot := x[lo+(hi-lo)/2]
		i, j := lo, hi
		for i <= j {
			for x[i] < pivot {
				i++
			}
			for x[j] > pivot {
				j--
			}
			if i <= j {
				x[i], x[j] = x[j], x[i]
				i++
				j--
			}
		}
		switch {
		case k <= j:
			hi = j
		case k >= i:
			lo = i
		default:
			return x[k]
		}
	}
	return x[k]
}
