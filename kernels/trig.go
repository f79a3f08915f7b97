// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

//go:build (amd64 || arm64) && !purego

package kernels

import "unsafe"

// The assembly of sin and cos stops before a vector with an element beyond its reduction. Package math does those
// elements, the assembly the others, so that no result depends on its neighbours.

func trig[T float](dst, a *T, n, lanes int, vector func(dst, a *T, n int) int, scalar func(float64) float64) {
	done := vector(dst, a, n)
	if done >= n {
		return
	}
	limit := T(1 << 28)
	if unsafe.Sizeof(limit) == 4 {
		limit = 1 << 17
	}
	d, s := unsafe.Slice(dst, n), unsafe.Slice(a, n)
	for done < n {
		var large [16]T
		block := d[done:min(done+lanes, n)]
		for i, v := range s[done : done+len(block)] {
			large[i], block[i] = 0, v
			if !(v <= limit && v >= -limit) {
				large[i], block[i] = v, 0
			}
		}
		vector(&block[0], &block[0], len(block))
		for i := range block {
			if v := large[i]; v != 0 {
				block[i] = T(scalar(float64(v)))
			}
		}
		if done += len(block); done < n {
			done += vector(&d[done], &s[done], n-done)
		}
	}
}
