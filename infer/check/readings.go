// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package check

import (
	"fmt"
	"math"
	"slices"
)

// Kinds of flags about the readings themselves.
const (
	KindRepeated = "repeated rows"
	KindClipped  = "clipped values"
)

// Readings looks at observed values before any model: rows that repeat others in y and all other
// columns, which make every error too small, and values that end at a ceiling or a floor. It ignores
// values that repeat by their nature, such as counts, outcomes of 0 or 1, or rounded numbers. Columns of another length
// are left out.
func Readings(y []float64, others ...[]float64) (flags []Flag) {
	v := slices.Clone(y)
	slices.Sort(v)
	if f, ok := repeated(y, v, others); ok {
		flags = append(flags, f)
	}
	if f, ok := clipped(v); ok {
		flags = append(flags, f)
	}
	return flags
}

// fewestClipped is the smallest number of equal values that make a ceiling or a floor.
const fewestClipped = 3

// clipped looks at the ends of sorted values.
func clipped(v []float64) (Flag, bool) {
	whole := !slices.ContainsFunc(v, func(v float64) bool { return v != math.Trunc(v) })
	if len(v) < 3*fewestClipped || whole { // counts may well be 0 more than once
		return Flag{}, false
	}
	low, high, inside := 1, 1, 0
	for low < len(v) && v[low] == v[0] {
		low++
	}
	for high < len(v) && v[len(v)-1-high] == v[len(v)-1] {
		high++
	}
	if low+high >= len(v) {
		return Flag{}, false
	}
	for i := low + 1; i < len(v)-high; i++ {
		if v[i] == v[i-1] {
			inside++
		}
	}
	n, at, end := high, v[len(v)-1], "largest"
	if low > high {
		n, at, end = low, v[0], "smallest"
	}
	if n < fewestClipped || inside > (len(v)-low-high)/50 {
		return Flag{}, false
	}
	return Flag{Kind: KindClipped, Where: fmt.Sprintf("y = %.6g", at), Text: fmt.Sprintf("%d of %d values equal the %s value, %.6g, while the others differ from each other, so they look clipped", n, len(v), end, at),
		Remedy: "leave these points out, or use a censored distribution; check the range and the saturation of the instrument"}, true
}
