// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package kernels

import "unsafe"

type (
	addScaledFn[T float] = func(dst, x *T, a T, n int)
	pairsFn[T float]     = func(c, s, x *T, at *int, weights *T, rows, n int)
)

// The kernels of the best level, chosen once: these calls are short.
var (
	addScaled64  = one(Best(), pureAddScaled[float64], addScaled64s)
	addScaled32  = one(Best(), pureAddScaled[float32], addScaled32s)
	pairSums64   = one(Best(), purePairSums[float64], pairSums64s)
	pairSums32   = one(Best(), purePairSums[float32], pairSums32s)
	spreadPair64 = one(Best(), pureSpreadPair[float64], spreadPair64s)
	spreadPair32 = one(Best(), pureSpreadPair[float32], spreadPair32s)
)

// AddScaled64 sets dst += a x. It panics if the slices have different lengths.
func AddScaled64(dst, x []float64, a float64) {
	if n := len(dst); sameLength(n, len(x), n) {
		addScaled64(&dst[0], &x[0], a, n)
	}
}

// AddScaled32 is AddScaled64 for float32.
func AddScaled32(dst, x []float32, a float32) {
	if n := len(dst); sameLength(n, len(x), n) {
		addScaled32(&dst[0], &x[0], a, n)
	}
}

// PairSums64 adds to c and to s, of n numbers each, two sums over rows of x, which are n numbers from at[j] on:
//
//	c += sum_j weights[2j] x_j,  s += sum_j weights[2j+1] x_j
//
// Rows are added one after another. It panics if c and s have different lengths, if a row is not within x, or if there
// are not two weights to a row. c, s and x must not overlap.
func PairSums64(c, s, x []float64, at []int, weights []float64) {
	if rowsWithin(len(c), len(s), len(x), at, len(weights)) {
		pairSums64(&c[0], &s[0], &x[0], &at[0], &weights[0], len(at), len(c))
	}
}

// PairSums32 is PairSums64 for float32.
func PairSums32(c, s, x []float32, at []int, weights []float32) {
	if rowsWithin(len(c), len(s), len(x), at, len(weights)) {
		pairSums32(&c[0], &s[0], &x[0], &at[0], &weights[0], len(at), len(c))
	}
}

// SpreadPair64 is the transpose of PairSums64, x_j += weights[2j] c + weights[2j+1] s, and panics in the same
// cases. Rows must not overlap.
func SpreadPair64(x, c, s []float64, at []int, weights []float64) {
	if rowsWithin(len(c), len(s), len(x), at, len(weights)) {
		spreadPair64(&c[0], &s[0], &x[0], &at[0], &weights[0], len(at), len(c))
	}
}

// SpreadPair32 is SpreadPair64 for float32.
func SpreadPair32(x, c, s []float32, at []int, weights []float32) {
	if rowsWithin(len(c), len(s), len(x), at, len(weights)) {
		spreadPair32(&c[0], &s[0], &x[0], &at[0], &weights[0], len(at), len(c))
	}
}

// rowsWithin panics unless rows of n numbers lie within size numbers, and reports whether there is anything to do.
func rowsWithin(n, m, size int, at []int, weights int) bool {
	if n != m || weights != 2*len(at) {
		panic("kernels: the slices have different lengths")
	}
	for _, from := range at {
		if from < 0 || from > size-n {
			panic("kernels: a row is not within the slice of all rows")
		}
	}
	return n > 0 && len(at) > 0
}

// sameLength panics unless the lengths are equal, and reports whether there is anything to do.
func sameLength(n, m, k int) bool {
	if n != m || n != k {
		panic("kernels: the slices have different lengths")
	}
	return n > 0
}

func pureAddScaled[T float](dst, x *T, a T, n int) {
	d, v := pair(dst, x, n)
	for i := range d {
		d[i] += a * v[i]
	}
}

func purePairSums[T float](c, s, x *T, at *int, weights *T, rows, n int) {
	p, q := pair(c, s, n)
	w := slice(weights, 2*rows)
	for j, from := range unsafe.Slice(at, rows) {
		a, b := w[2*j], w[2*j+1]
		for i, u := range slice(x, from+n)[from:] {
			p[i] += a * u
			q[i] += b * u
		}
	}
}

func pureSpreadPair[T float](c, s, x *T, at *int, weights *T, rows, n int) {
	p, q := pair(c, s, n)
	w := slice(weights, 2*rows)
	for j, from := range unsafe.Slice(at, rows) {
		a, b, d := w[2*j], w[2*j+1], slice(x, from+n)[from:]
		for i := range d {
			d[i] += a*p[i] + b*q[i]
		}
	}
}
