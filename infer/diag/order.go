// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package diag

import (
	"cmp"
	"math"
	"slices"
)

// keyed is a number as an integer of the same order, with its place.
type keyed struct {
	key   uint64
	place int
}

// keyOf returns an integer that grows with v. NaN counts as the largest number.
func keyOf(v float64) uint64 {
	if math.IsNaN(v) {
		return math.MaxUint64
	}
	const sign = 1 << 63
	if b := math.Float64bits(v); b&sign == 0 {
		return b | sign
	} else {
		return ^b
	}
}

const (
	digitBits   = 11   // bits that a pass of the radix sort looks at
	digitPasses = 6    // passes that cover 64 bits
	fewNumbers  = 2048 // length below which comparing is faster than counting digits
)

// argsort returns the places of v in ascending order of its numbers, NaN last; equal numbers keep
// their order. Its time is proportional to the length of v: long chains are sorted by their digits.
func argsort(v []float64) []int {
	a := make([]keyed, len(v))
	for i, x := range v {
		a[i] = keyed{keyOf(x), i}
	}
	if len(a) < fewNumbers {
		slices.SortStableFunc(a, func(x, y keyed) int { return cmp.Compare(x.key, y.key) })
	} else {
		a = radixSort(a)
	}
	out := make([]int, len(a))
	for i := range a {
		out[i] = a[i].place
	}
	return out
}

// radixSort sorts by the digits of the keys, the least significant first. It uses a.
func radixSort(a []keyed) []keyed {
	var count [digitPasses][1 << digitBits]int
	for i := range a {
		for d := range count {
			count[d][digit(a[i].key, d)]++
		}
	}
	b := make([]keyed, len(a))
	for d := range count {
		c := &count[d]
		if c[digit(a[0].key, d)] == len(a) { // all keys share this digit
			continue
		}
		next := 0
		for i, n := range c {
			c[i], next = next, next+n
		}
		for _, k := range a {
			at := &c[digit(k.key, d)]
			b[*at] = k
			*at++
		}
		a, b = b, a
	}
	return a
}

func digit(key uint64, d int) int { return int(key>>(digitBits*d)) & (1<<digitBits - 1) }
