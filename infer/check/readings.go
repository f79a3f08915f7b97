// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package check

import (
	"encoding/binary"
	"fmt"
	"hash/fnv"
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
// values that repeat by their nature, such as counts or rounded numbers. Columns of another length
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

// repeated compares rows; sorted holds y in order.
func repeated(y, sorted []float64, others [][]float64) (Flag, bool) {
	fewest := max(3, len(y)/20)
	if equals(sorted) < fewest { // no more rows repeat than values do
		return Flag{}, false
	}
	rows, values := map[uint64]bool{}, map[float64]bool{}
	b := make([]byte, 8)
	for i, v := range y {
		h := fnv.New64a()
		put := func(v float64) {
			binary.LittleEndian.PutUint64(b, math.Float64bits(v))
			h.Write(b)
		}
		put(v)
		for _, o := range others {
			if len(o) == len(y) {
				put(o[i])
			}
		}
		rows[h.Sum64()], values[v] = true, true
	}
	again := len(y) - len(rows)
	if again < fewest || 10*len(values) < 9*len(rows) {
		return Flag{}, false
	}
	return Flag{Kind: KindRepeated, Text: fmt.Sprintf("%d of %d rows repeat others exactly: if they are the same readings, all errors are about %.3g times too small", again, len(y), math.Sqrt(float64(len(y))/float64(len(rows)))),
		Remedy: "check whether files were read twice, and keep each reading only once"}, true
}

// equals returns how many of sorted values equal an earlier one.
func equals(v []float64) (n int) {
	for i := 1; i < len(v); i++ {
		if v[i] == v[i-1] {
			n++
		}
	}
	return n
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
