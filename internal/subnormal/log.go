// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

// Package subnormal has logarithms that are right for subnormal numbers too, which those of package math on amd64 are not.
package subnormal

import "math"

const (
	smallestNormal = 0x1p-1022
	// lift makes a subnormal number normal; it is 2^liftBits.
	lift, liftBits = 0x1p54, 54
)

// Log is math.Log with correct results for subnormal numbers, which math.Log takes for the smallest normal one on amd64.
func Log(x float64) float64 {
	if x > 0 && x < smallestNormal {
		return math.Log(x*lift) - liftBits*math.Ln2
	}
	return math.Log(x)
}

// Log10 is math.Log10 with correct results for subnormal numbers; see Log.
func Log10(x float64) float64 {
	if x > 0 && x < smallestNormal {
		return math.Log10(x*lift) - liftBits*(math.Ln2/math.Ln10)
	}
	return math.Log10(x)
}
