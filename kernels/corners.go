// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package kernels

import "unsafe"

// Corners says how to read one number: as the sum of the image at the four positions At, each
// multiplied by its Weight. If At[0] is negative, nothing is read.
type Corners struct {
	At     [4]int32
	Weight [4]float64
}

// addCornersFn takes pointers to the first numbers of the arrays of AddCorners.
type addCornersFn = func(sum, partial, full, image *float64, c *int32, times float64, n int)

// addCorners is the kernel of the best level available.
var addCorners = one(Best(), pureAddCorners, addCornerss)

// AddCorners reads a weighted sum of image for each of the corners, eight lanes at a time, and adds
// times multiplied by that sum to sum[i]. If no lane is NaN, it also adds times to full[i];
// otherwise it leaves out the lanes that are NaN and adds times to the other lanes of partial[i].
// All slices except image must have the same length and all positions must lie inside image, or
// AddCorners panics.
func AddCorners(sum, partial [][8]float64, full []float64, image [][8]float64, corners []Corners, times float64) {
	n := len(corners)
	if !sameLength(n, len(sum), len(partial)) || !sameLength(n, len(full), n) {
		return
	}
	for i := range corners {
		c := &corners[i]
		if a := c.At[0]; a >= 0 && max(uint32(a), uint32(c.At[1]), uint32(c.At[2]), uint32(c.At[3])) >= uint32(len(image)) {
			panic("kernels: corners lie outside the image")
		}
	}
	if len(image) > 0 {
		addCorners(&sum[0][0], &partial[0][0], &full[0], &image[0][0], &corners[0].At[0], times, n)
	}
}

func pureAddCorners(sum, partial, full, image *float64, c *int32, times float64, n int) {
	sums, partials, fulls := nthLanes(sum, n), nthLanes(partial, n), unsafe.Slice(full, n)
	list := unsafe.Slice((*Corners)(unsafe.Pointer(c)), n)
	for i := range list {
		if list[i].At[0] < 0 {
			continue
		}
		v, all := list[i].read(image)
		if all {
			for e := range v {
				sums[i][e] += float64(times * v[e])
			}
			fulls[i] += times
			continue
		}
		for e, x := range v {
			if x == x {
				sums[i][e] += float64(times * x)
				partials[i][e] += times
			}
		}
	}
}

// read returns the weighted sums, and whether none of them is NaN. Products are rounded before they
// are added.
func (c *Corners) read(image *float64) (v [8]float64, all bool) {
	places := nthLanes(image, int(max(c.At[0], c.At[1], c.At[2], c.At[3]))+1)
	p, q, r, s := &places[c.At[0]], &places[c.At[1]], &places[c.At[2]], &places[c.At[3]]
	all = true
	for e := range v {
		v[e] = float64(c.Weight[0]*p[e]) + float64(c.Weight[1]*q[e]) + float64(c.Weight[2]*r[e]) + float64(c.Weight[3]*s[e])
		all = all && v[e] == v[e]
	}
	return v, all
}

// nthLanes returns n places of eight numbers each, from the first on.
func nthLanes(first *float64, n int) [][8]float64 {
	return unsafe.Slice((*[8]float64)(unsafe.Pointer(first)), n)
}
