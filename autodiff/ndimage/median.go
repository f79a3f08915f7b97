// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package ndimage

import (
	ad "github.com/euryale-dev/euryale/autodiff"
)

// mostCompared is the number of elements of a box up to which they are sorted by comparisons of whole arrays.
const mostCompared = 49

// Median returns the median over a box around each element; of an even number of elements it takes
// the upper of the two in the middle. Along an axis where the box has k elements, it begins k/2
// (rounded down) elements before the element. If a box holds a NaN, the result is not specified.
// Gradient: that of the element chosen.
func Median(x *ad.Node, s BoxSettings) *ad.Node {
	size, mode, bad := s.check("median", x)
	if bad != nil {
		return bad
	}
	shape, total := x.Shape(), 1
	if x.Size() == 0 {
		return x
	}
	for axis, k := range size {
		total *= k
		x = mode.extend(x, axis, k/2, k-1-k/2, s.CVal)
	}
	if x.Err() != nil || total == 1 {
		return x
	}
	box := []*ad.Node{x}
	for axis, k := range size {
		var next []*ad.Node
		for _, part := range box {
			for d := range k {
				next = append(next, ad.Slice(part, axis, d, d+shape[axis]))
			}
		}
		box = next
	}
	if total > mostCompared {
		return ad.Index(ad.Sort(ad.Stack(0, box...), 0, false), 0, total/2)
	}
	exchange(box)
	return box[total/2]
}

// exchange sorts arrays of equal shape, element by element, by Batcher's merge exchange: the comparisons do not
// depend on the values. Knuth, The Art of Computer Programming, volume 3, algorithm 5.2.2M.
func exchange(x []*ad.Node) {
	top := 1
	for 2*top < len(x) {
		top *= 2
	}
	for p := top; p > 0; p /= 2 {
		r, d := 0, p
		for q := top; ; q /= 2 {
			for i := 0; i < len(x)-d; i++ {
				if i&p == r {
					x[i], x[i+d] = ad.Minimum(x[i], x[i+d]), ad.Maximum(x[i], x[i+d])
				}
			}
			if q == p {
				break
			}
			d, r = q-p, p
		}
	}
}
