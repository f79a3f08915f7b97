// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package kernels

// Workspace holds the packing buffers of Gemm64 and Gemm32. The zero value is ready to use; a
// Workspace grows to the largest product so far and then allocates nothing. It must not be used by
// two goroutines at once.
type Workspace struct {
	w64 panels[float64]
	w32 panels[float32]
}

// panels holds packed blocks of op(A) and op(B), a block of C, a vector with unit stride, and a copy
// of alpha that assembly can read.
type panels[T float] struct {
	a, b, c, v []T
	alpha      T
}

// grown returns at least n elements, keeping s when it is long enough.
func grown[T float](s []T, n int) []T {
	if len(s) < n {
		return make([]T, n)
	}
	return s
}
