// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package kernels

import "unsafe"

type (
	philoxFn   = func(dst *uint64, block, stream, seed uint64, n int) (done int)
	quantileFn = func(dst, words *float64, n int) (done int)
)

// Philox writes the output of Philox4x32-10 for the counters (block, stream), (block+1, stream) and
// so on, two numbers for each, the first word in the low half. stream is the high half of the
// counters, and seed is the key. It writes whole vectors only and returns how many numbers it has
// written, an even number: in pure Go none.
func Philox(l Level, dst []uint64, block, stream, seed uint64) (done int) {
	f := philoxes[usable(l)]
	if f == nil || len(dst) == 0 {
		return 0
	}
	return f(&dst[0], block, stream, seed, len(dst))
}

// NormalQuantiles writes a standard normal number for each word: the top bit is the sign, and the
// other 63 bits w are the probability (w + 1/2) 2^-64 of a larger one. It stops before the first
// vector with a probability below 2^-36, writes whole vectors only, and returns how many numbers it
// has written: in pure Go none. It panics if dst is shorter than words.
//
// Reference: Wichura, algorithm AS 241 (PPND16), doi 10.2307/2347330.
func NormalQuantiles(l Level, dst []float64, words []uint64) (done int) {
	f := normalQuantiles[usable(l)]
	if f == nil || len(words) == 0 {
		return 0
	}
	return f(&dst[:len(words)][0], (*float64)(unsafe.Pointer(&words[0])), len(words))
}
