// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package ccf

import (
	"cmp"
	"slices"
)

// morton returns keys by which points, rows of dim numbers, sort along a z-order curve: points that are near in all
// coordinates are mostly near on it, so that every n-th is an even sample. Coordinates count by their dense ranks,
// scaled to 0..1, of which as many bits are interleaved as an int64 holds.
func morton(points []float64, dim int) []int64 {
	count := len(points) / dim
	bits := min(64/dim, 52) // of a float64
	scale := float64(uint64(1) << bits)
	keys := make([]uint64, count)
	column := make([]float64, count)
	for k := range dim {
		for i := range column {
			column[i] = points[i*dim+k]
		}
		values := slices.Clone(column)
		slices.Sort(values)
		values = slices.Compact(values)
		for i, v := range column {
			rank, _ := slices.BinarySearch(values, v)
			x := uint64(min(float64(rank)/float64(max(len(values)-1, 1))*scale, scale-1))
			for b := range bits {
				keys[i] |= x >> b & 1 << (b*dim + k)
			}
		}
	}
	out := make([]int64, count)
	for i, v := range keys {
		out[i] = int64(v)
	}
	return out
}

// sample returns every n-th of the points along a z-order curve.
func sample(points []float64, dim, every int) []int {
	keys := morton(points, dim)
	order := make([]int, len(keys))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(keys[a], keys[b]) })
	var out []int
	for i := 0; i < len(order); i += every {
		out = append(out, order[i])
	}
	return out
}
