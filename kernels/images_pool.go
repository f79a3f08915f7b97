// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package kernels

// LargestOfFour64 writes the positions, in a plane with rows of width elements, of the largest
// elements of windows of 2 x 2. There are rows of n windows side by side; the first begins at the
// first element, and each row of windows lies down elements after the one above. Of equal elements
// the first counts, and a NaN counts as larger than all numbers.
func LargestOfFour64(l Level, rows, n int, plane []float64, down, width int, at []int64) {
	largestOfFour(images64[usable(l)], rows, n, plane, down, width, at)
}

// LargestOfFour32 is LargestOfFour64 for float32.
func LargestOfFour32(l Level, rows, n int, plane []float32, down, width int, at []int64) {
	largestOfFour(images32[usable(l)], rows, n, plane, down, width, at)
}

func largestOfFour[T float](t *imageKernels[T], rows, n int, plane []T, down, width int, at []int64) {
	if rows == 0 || n == 0 {
		return
	}
	if t != nil && t.largestOfFour != nil && len(plane) < 1<<31 { // float32 counts in 32 bits
		t.largestOfFour(rows, n, &plane[0], down, width, &at[0])
		return
	}
	for row := range rows {
		first := row * down
		top, bottom := plane[first:], plane[first+width:]
		for q := range n {
			e := 2 * q
			a, b, c, d := top[e], top[e+1], bottom[e], bottom[e+1]
			if sum := a + b + c + d; sum != sum { // a NaN, or infinities
				at[row*n+q] = int64(first + largestOfSome(e, width, a, b, c, d))
				continue
			}
			i, j := e+bit(b > a), e+bit(d > c) // without branches, which would be as good as random
			at[row*n+q] = int64(first + i + bit(bottom[j] > top[i])*(j+width-i))
		}
	}
}

// largestOfSome is the case of a window at e that may have NaNs.
func largestOfSome[T float](e, width int, a, b, c, d T) int {
	best, where := a, e
	for i, u := range [...]T{b, c, d} {
		if best == best && !(u <= best) {
			best, where = u, [...]int{e + 1, e + width, e + width + 1}[i]
		}
	}
	return where
}

// bit returns 1 if is is true. It compiles to no branch.
func bit(is bool) int {
	if is {
		return 1
	}
	return 0
}
