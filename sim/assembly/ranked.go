// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package assembly

import (
	"cmp"
	"math"
	"math/bits"
	"slices"
)

// ranked finds the neurons of the largest inputs in lazy areas, where the lower rank comes first among equals.
type ranked struct {
	keys       []uint32 // rounded inputs, as integers of the same order
	candidates []int32
	sorted     []uint64
	list       []entry
}

// best returns the m largest inputs in order, rounded to single precision. They are valid until the next call.
func (r *ranked) best(x, ranks []float64, m int) []entry {
	if m == 0 {
		return nil
	}
	r.find(x, m)
	first := func(i, j int32) int { return cmp.Or(cmp.Compare(ranks[i], ranks[j]), cmp.Compare(i, j)) }
	width := bits.Len(uint(len(r.candidates)))
	scale := math.Ldexp(1, 32-width)
	r.sorted = r.sorted[:0]
	for i, j := range r.candidates {
		rank := uint64(max(0, min(ranks[j]*scale, scale-1)))
		r.sorted = append(r.sorted, uint64(^r.keys[j])<<32|rank<<width|uint64(i))
	}
	slices.Sort(r.sorted)
	list := slices.Grow(r.list[:0], len(r.sorted))[:len(r.sorted)]
	r.list = list
	for i, s := range r.sorted {
		j := r.candidates[s&(1<<width-1)]
		list[i] = entry{roundedTo(singleBits, x[j]), j}
		for k := i; k > 0 && s>>width == r.sorted[k-1]>>width && first(list[k].j, list[k-1].j) < 0; k-- {
			list[k], list[k-1] = list[k-1], list[k] // ranks that differ in bits that were left out
		}
	}
	return list[:m]
}

// find makes candidates of the m largest inputs and of few others, by counting inputs in intervals.
func (r *ranked) find(x []float64, m int) {
	const intervals = 2048
	r.keys = slices.Grow(r.keys[:0], len(x))[:len(x)]
	least, largest := uint32(math.MaxUint32), uint32(0)
	for j, v := range x {
		b := int64(math.Float64bits(roundedTo(singleBits, v) + 0)) // -0 becomes 0
		k := uint32(b>>32) ^ (uint32(b>>63) | 1<<31)
		r.keys[j] = k
		least, largest = min(least, k), max(largest, k)
	}
	shift := max(0, bits.Len32(largest-least)-bits.Len32(intervals-1))
	var count [intervals]int32
	for _, k := range r.keys {
		count[(k-least)>>(shift&31)%intervals]++
	}
	bound := intervals
	for n := 0; n < m; n += int(count[bound]) {
		bound--
	}
	below, n := int64(least)+int64(bound)<<shift-1, 0
	r.candidates = slices.Grow(r.candidates[:0], len(x))[:len(x)]
	for j, k := range r.keys {
		r.candidates[n] = int32(j)
		n += int(uint64(below-int64(k)) >> 63)
	}
	r.candidates = r.candidates[:n]
}
