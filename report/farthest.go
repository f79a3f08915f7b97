// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package report

import "fmt"

// mostOfCurve is the largest number of points in a picture, of which more would only hide each other.
const mostOfCurve = 10_000

// farthest keeps of a long list of points the lowest and the highest of each run, by a height such as that above a curve, and says so for the picture.
func farthest(order []int, height func(i int) float64) (kept []int, note string) {
	if len(order) <= mostOfCurve {
		return order, ""
	}
	const runs = mostOfCurve / 2
	for r := range runs {
		run := order[r*len(order)/runs : (r+1)*len(order)/runs]
		low, high := 0, 0
		for k, i := range run {
			if height(i) < height(run[low]) {
				low = k
			}
			if height(i) > height(run[high]) {
				high = k
			}
		}
		kept = append(kept, run[min(low, high)])
		if low != high {
			kept = append(kept, run[max(low, high)])
		}
	}
	return kept, fmt.Sprintf("%d of %d points: of each run along the axis those farthest out", len(kept), len(order))
}
