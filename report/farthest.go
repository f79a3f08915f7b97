// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"
	"slices"
)

// mostOfCurve is the largest number of points in a picture of a curve, of which more would only hide each other, and extremeRuns the number of runs whose
// extremes are among them.
const (
	mostOfCurve = 10_000
	extremeRuns = 500
)

// farthest thins a long list of points evenly, but for the lowest and the highest of each run, by a height such as that above a curve, and says so for the picture.
func farthest(order []int, height func(i int) float64) (kept []int, note string) {
	n := len(order)
	if n <= mostOfCurve {
		return order, ""
	}
	const even = mostOfCurve - 2*extremeRuns
	at := make([]int, 0, mostOfCurve)
	for k := range even {
		at = append(at, k*n/even)
	}
	for r := range extremeRuns {
		low, high := r*n/extremeRuns, r*n/extremeRuns
		for k := low; k < (r+1)*n/extremeRuns; k++ {
			if height(order[k]) < height(order[low]) {
				low = k
			}
			if height(order[k]) > height(order[high]) {
				high = k
			}
		}
		at = append(at, low, high)
	}
	slices.Sort(at)
	for _, k := range slices.Compact(at) {
		kept = append(kept, order[k])
	}
	return kept, fmt.Sprintf("%d of %d points", len(kept), n)
}
