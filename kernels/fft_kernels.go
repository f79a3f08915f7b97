// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package kernels

// fftKernels are the loops of one level. A block holds as many lines as a vector has lanes: element
// j of all lines is at j times 2 lanes, first the real parts and then the imaginary parts. Strides
// are in bytes, places in elements; no length is 0.
type fftKernels[T float] struct {
	lanes int
	line  []int // lane i holds line line[i] of the block
	first [9]fftFirst[T]
	pass  [9]fftPass[T]
	from  [9]fftFrom[T] // linesIn and first in one; nil if the level has no such kernel
	to    [9]fftTo[T]   // pass and linesOut in one; nil if the level has no such kernel
	odd   func(w, tw *T, l, n, p int, angles, tmp *T)

	linesIn  func(w, src *T, stride int, pos *int, n int)
	linesOut func(dst *T, stride int, w *T, n int)
	// linesOut of the products with factors laid out like a block, or with their conjugates
	linesOutTimes, linesOutOver func(dst *T, stride int, w, factors *T, n int)

	// copies of rows in pieces of 16 bytes
	rowsIn, realRowsIn   func(w, src *T, stride int, pos *int, pieces int)
	rowsOut, realRowsOut func(dst *T, stride int, w *T, pieces int)

	untangle       func(w, tw *T, m int)
	tangle         func(w, src, tw *T, pos *int, m int)
	mirror         func(w, src *T, pos *int, n int)
	scatterProduct func(w, src, factors *T, pos *int, n int)
}

type (
	fftFirst[T float] = func(w *T, n int)
	fftPass[T float]  = func(w, tw *T, l, n int)
	fftFrom[T float]  = func(w, src *T, stride int, starts *int, step, n int)
	fftTo[T float]    = func(dst *T, stride int, w, tw *T, l int)
)
