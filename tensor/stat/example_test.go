// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package stat_test

import (
	"fmt"
	"math"

	"github.com/euryale-dev/euryale/tensor/stat"
)

// Percentiles and a histogram of readings of which one is missing: the functions whose names begin with NaN ignore it.
func Example() {
	x := []float64{0.2, 0.4, 0.4, 0.7, math.NaN(), 0.9}
	fmt.Println(stat.Median(x), stat.NaNMedian(x))
	fmt.Printf("%.2f\n", stat.NaNPercentile(x, []float64{5, 50, 95}, stat.LinearMethod))

	edges := stat.Linspace(0, 1, 5)
	bins := stat.Digitize([]float64{0.2, 0.4, 0.4, 0.7, 0.9}, edges, false) // 1 for the first bin
	fmt.Println(edges, bins)
	fmt.Println(stat.Bincount(bins, len(edges))[1:])
	// Output:
	// NaN 0.4
	// [0.24 0.40 0.86]
	// [0 0.25 0.5 0.75 1] [1 2 2 3 4]
	// [1 2 1 1]
}
