// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package check

import "math"

// mostDecimals is the number of significant digits from which numbers count as not rounded.
const mostDecimals = 12

// StepOf returns the smallest power of ten of which all values are multiples, to rounding errors: 0.1 for 1.5, 2 and 0.3. It is a part in 1e12 of the largest value where there is none above.
func StepOf(values []float64) float64 {
	largest := 0.0
	for _, v := range values {
		largest = max(largest, math.Abs(v))
	}
	if largest == 0 || math.IsInf(largest, 0) {
		return 0
	}
	top := math.Floor(math.Log10(largest))
	for k := 0; k < mostDecimals; k++ {
		step := math.Pow(10, top-float64(k))
		if step == 0 {
			return 0
		}
		whole := true
		for _, v := range values {
			n := v / step
			whole = whole && math.Abs(n-math.Round(n)) <= 1e-15*math.Abs(n)+1e-3*math.Pow(10, float64(k-mostDecimals))
		}
		if whole {
			return step
		}
	}
	return math.Pow(10, top-mostDecimals)
}
