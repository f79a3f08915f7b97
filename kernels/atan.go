// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

//go:build (amd64 || arm64) && !purego

package kernels

import (
	"math"
	"unsafe"
)

// The assembly of atan2 stops before a vector with a point of extreme size. The function of PureGo does those points, the
// assembly the others, so that no result depends on its neighbours.

func angles[T float](dst, y, x *T, n, lanes int, vector func(dst, y, x *T, n int) int) {
	done := vector(dst, y, x, n)
	if done >= n {
		return
	}
	d, a, b := triple(dst, y, x, n)
	for done < n {
		var up, right [16]T
		block := d[done:min(done+lanes, n)]
		copy(up[:], a[done:done+len(block)])
		copy(right[:], b[done:done+len(block)])
		y, x := up, right
		for i := range block {
			if excluded(y[i], x[i]) {
				y[i], x[i] = 0, 0
			}
		}
		vector(&block[0], &y[0], &x[0], len(block))
		for i := range block {
			if excluded(up[i], right[i]) {
				block[i] = T(atan2(float64(up[i]), float64(right[i])))
			}
		}
		if done += len(block); done < n {
			done += vector(&d[done], &a[done], &b[done], n-done)
		}
	}
}

// excluded reports whether a point is left to the function of PureGo: one that is smaller or larger than the assembly computes, or
// not a number.
func excluded[T float](y, x T) bool {
	lo, hi := 0x1p-800, 0x1p1000
	if unsafe.Sizeof(x) == 4 {
		lo, hi = 0x1p-80, 0x1p100
	}
	size := max(math.Abs(float64(y)), math.Abs(float64(x)))
	return !(size <= hi) || size < lo && size != 0
}
