// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package assembly

import (
	"cmp"
	"math"
	"slices"
)

// top returns the m largest of x in order; among equals the lower number comes first. Inputs are
// rounded, see rounded.
func top(x []float64, m int) []int32 {
	if m == 0 {
		return nil
	}
	if len(x) <= 1<<roundedBits {
		if order, ok := topByKeys(x, m); ok {
			return order
		}
	}
	best := make(heap, m)
	for j := range best {
		best[j] = entry{x[j], int32(j)}
	}
	for i := m/2 - 1; i >= 0; i-- {
		best.down(i)
	}
	least := best[0].x
	for j, v := range x[m:] {
		if v > least { // a later number loses to its equals
			best[0] = entry{v, int32(m + j)}
			best.down(0)
			least = best[0].x
		}
	}
	return best.numbers(len(x))
}

// entry is a neuron and its input.
type entry struct {
	x float64
	j int32
}

// entries returns neurons with their inputs.
func entries(x []float64, neurons []int32) []entry {
	list := make([]entry, len(neurons))
	for i, j := range neurons {
		list[i] = entry{x[j], j}
	}
	return list
}

func (a entry) worse(b entry) bool { return a.x < b.x || a.x == b.x && a.j > b.j }

// heap has the worst entry first.
type heap []entry

func (h heap) down(i int) {
	e := h[i]
	for {
		c := 2*i + 1
		if c >= len(h) {
			break
		}
		if c+1 < len(h) && h[c+1].worse(h[c]) {
			c++
		}
		if !h[c].worse(e) {
			break
		}
		h[i] = h[c]
		i = c
	}
	h[i] = e
}

// numbers returns the neurons of the heap in order; there are n neurons in the area.
func (h heap) numbers(n int) []int32 {
	slices.SortFunc(h, func(a, b entry) int {
		if c := cmp.Compare(b.x, a.x); c != 0 {
			return c
		}
		return int(a.j - b.j)
	})
	out := make([]int32, len(h))
	for i, e := range h {
		out[i] = e.j
	}
	return out
}

// topByKeys is top by integers: the last bits of rounded inputs are free to hold the number of the neuron. Whenever eight
// times as many as are wanted have come together, the least of them stay. It does not work for negative inputs.
func topByKeys(x []float64, m int) (order []int32, ok bool) {
	const free = 1<<roundedBits - 1
	keys, bound := make([]uint64, 0, min(8*m, len(x))), uint64(math.MaxUint64)
	var bits uint64
	for j, v := range x {
		b := math.Float64bits(v)
		bits |= b
		k := ^(b | uint64(len(x)-1-j)) // the largest input, and then the lowest number, is least
		if k > bound {
			continue
		}
		if len(keys) == cap(keys) {
			least(keys, m)
			keys = keys[:m]
			bound = slices.Max(keys)
		}
		keys = append(keys, k)
	}
	if bits&(1<<63|free) != 0 {
		return nil, false
	}
	least(keys, m)
	keys = keys[:m]
	slices.Sort(keys)
	order = make([]int32, m)
	for i, k := range keys {
		order[i] = int32(len(x) - 1 - int(^k&free))
	}
	return order, true
}

// least moves the m least keys, which are all distinct, to the front (quickselect).
func least(keys []uint64, m int) {
	for len(keys) > 24 && m > 0 && m < len(keys) {
		a, b, c := keys[0], keys[len(keys)/2], keys[len(keys)-1]
		pivot := max(min(a, b), min(max(a, b), c))
		i, j := 0, len(keys)-1
		for i <= j {
			for keys[i] < pivot {
				i++
			}
			for keys[j] > pivot {
				j--
			}
			if i <= j {
				keys[i], keys[j] = keys[j], keys[i]
				i, j = i+1, j-1
			}
		}
		switch {
		case m <= j+1:
			keys = keys[:j+1]
		case m >= i:
			keys, m = keys[i:], m-i
		default:
			return
		}
	}
	slices.Sort(keys)
}
