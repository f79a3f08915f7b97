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

// Keep makes the products that follow read their factor B as it was packed by the first product with f, until Keep(nil).
// They must have the same B, sizes and transpositions. It is for recurrences, which multiply by the same weights again and again.
func (ws *Workspace) Keep(f *Factor) {
	if ws.w64.kept, ws.w32.kept = nil, nil; f != nil {
		ws.w64.kept, ws.w32.kept = &f.w64, &f.w32
	}
}

// Factor is a factor B of products in the order in which they read it. The zero value is empty.
type Factor struct {
	w64 packedB[float64]
	w32 packedB[float32]
}

// Forget empties f, whose next product packs its B again.
func (f *Factor) Forget() { f.w64.known, f.w32.known = false, false }

// packedB holds the packed blocks of op(B): depth after depth, and in each the columns in order.
type packedB[T float] struct {
	b     []T
	known bool // whether b has been filled
}

// panels holds packed blocks of op(A) and op(B), a block of C, a vector with unit stride, and a copy
// of alpha that assembly can read.
type panels[T float] struct {
	a, b, c, v []T
	alpha      T
	kept       *packedB[T] // nil unless products share B
}

// grown returns at least n elements, keeping s when it is long enough.
func grown[T float](s []T, n int) []T {
	if len(s) < n {
		s = make([]T, n)
		inLargePages(s)
	}
	return s
}
