// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package geometry

import "slices"

// middle returns the median, and sorts x.
func middle(x []float64) float64 {
	if len(x) == 0 {
		return 0
	}
	slices.Sort(x)
	return (x[(len(x)-1)/2] + x[len(x)/2]) / 2
}
