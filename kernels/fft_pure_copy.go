// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package kernels

import "unsafe"

// row returns the n elements that start the given number of bytes after p.
func row[T float](p *T, bytes, n int) []T {
	return unsafe.Slice((*T)(unsafe.Add(unsafe.Pointer(p), bytes)), n)
}

func pureLinesIn[T float](w, src *T, stride int, pos *int, n int) {
	for j, p := range unsafe.Slice(pos, n) {
		x, y := row(src, j*stride, 2*pureLanes), &elements(w, p+1)[p]
		for i := range pureLanes {
			y.re[i], y.im[i] = x[2*i], x[2*i+1]
		}
	}
}

func pureLinesOut[T float](dst *T, stride int, w *T, n int) {
	for j := range elements(w, n) {
		x, y := row(dst, j*stride, 2*pureLanes), &elements(w, n)[j]
		for i := range pureLanes {
			x[2*i], x[2*i+1] = y.re[i], y.im[i]
		}
	}
}

func pureLinesOutTimes[T float](dst *T, stride int, w, factors *T, n int) {
	for j := range elements(w, n) {
		x, y, f := row(dst, j*stride, 2*pureLanes), &elements(w, n)[j], &elements(factors, n)[j]
		for i, re := range y.re {
			im, c, s := y.im[i], f.re[i], f.im[i]
			x[2*i], x[2*i+1] = re*c-im*s, im*c+re*s
		}
	}
}

func pureLinesOutOver[T float](dst *T, stride int, w, factors *T, n int) {
	for j := range elements(w, n) {
		x, y, f := row(dst, j*stride, 2*pureLanes), &elements(w, n)[j], &elements(factors, n)[j]
		for i, re := range y.re {
			im, c, s := y.im[i], f.re[i], f.im[i]
			x[2*i], x[2*i+1] = re*c+im*s, im*c-re*s
		}
	}
}

func pureRowsIn[T float](w, src *T, stride int, pos *int, pieces int) {
	n := pieces * pieceLength[T]()
	for i := range pureLanes {
		x := row(src, i*stride, 2*n)
		for j, p := range unsafe.Slice(pos, n) {
			y := &elements(w, p+1)[p]
			y.re[i], y.im[i] = x[2*j], x[2*j+1]
		}
	}
}

func pureRowsOut[T float](dst *T, stride int, w *T, pieces int) {
	n := pieces * pieceLength[T]()
	for i := range pureLanes {
		x := row(dst, i*stride, 2*n)
		for j := range n {
			y := &elements(w, n)[j]
			x[2*j], x[2*j+1] = y.re[i], y.im[i]
		}
	}
}

func pureRealRowsIn[T float](w, src *T, stride int, pos *int, pieces int) {
	n := pieces * 2 * pieceLength[T]()
	for i := range pureLanes {
		x := row(src, i*stride, n)
		for j, p := range unsafe.Slice(pos, n) {
			y := &elements(w, p+1)[p]
			y.re[i], y.im[i] = x[j], 0
		}
	}
}

func pureRealRowsOut[T float](dst *T, stride int, w *T, pieces int) {
	n := pieces * 2 * pieceLength[T]()
	for i := range pureLanes {
		x := row(dst, i*stride, n)
		for j := range x {
			x[j] = elements(w, n)[j].re[i]
		}
	}
}
