// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package kernels

import "unsafe"

// Nonzero64 finds the elements that are not 0 in rows of n elements. It writes these elements to w,
// the numbers at the same places of at to where, and the number of elements found by the end of
// each row to end. at must be followed by Room elements; w and where must hold all elements and
// Room more.
func Nonzero64(l Level, n int, x []float64, at []int, w []float64, where, end []int) {
	nonzero(images64[usable(l)], n, x, at, w, where, end)
}

// Nonzero32 is Nonzero64 for float32.
func Nonzero32(l Level, n int, x []float32, at []int, w []float32, where, end []int) {
	nonzero(images32[usable(l)], n, x, at, w, where, end)
}

func nonzero[T float](t *imageKernels[T], n int, x []T, at []int, w []T, where, end []int) {
	if n == 0 || len(end) == 0 {
		clear(end)
		return
	}
	if t != nil && t.nonzero != nil {
		t.nonzero(len(end), n, &x[0], &at[0], &w[0], &where[0], &end[0])
		return
	}
	k := 0
	for row := range end {
		for i, v := range x[row*n : (row+1)*n] {
			w[k], where[k] = v, at[i]
			k += bit(v != 0)
		}
		end[row] = k
	}
}

// WeightedRows64 adds weighted rows of n elements to rows of dst, for each list in turn:
//
//	dst[at[l]+i*ds+j] += sum over p in list l of w[p] x[offs[p]+i*xs+j] for i < rows, j < n
//
// List l ends before end[l] and begins where the one before ended. Rows of x and of dst must be
// followed by Room elements: elements beyond the rows of x may be added to those beyond the rows of
// dst. In this way a sparse matrix is multiplied by a matrix whose rows may overlap.
func WeightedRows64(l Level, rows, n int, end []int, w []float64, offs []int, x []float64, xs int, dst []float64, at []int, ds int) {
	weightedRows(images64[usable(l)], rows, n, end, w, offs, x, xs, dst, at, ds)
}

// WeightedRows32 is WeightedRows64 for float32.
func WeightedRows32(l Level, rows, n int, end []int, w []float32, offs []int, x []float32, xs int, dst []float32, at []int, ds int) {
	weightedRows(images32[usable(l)], rows, n, end, w, offs, x, xs, dst, at, ds)
}

func weightedRows[T float](t *imageKernels[T], rows, n int, end []int, w []T, offs []int, x []T, xs int, dst []T, at []int, ds int) {
	if len(end) == 0 || end[len(end)-1] == 0 || n == 0 {
		return
	}
	if t == nil {
		weightedLoops(rows, n, end, w, offs, x, xs, dst, at, ds)
		return
	}
	size, vectors := int(unsafe.Sizeof(w[0])), (n+t.lanes-1)/t.lanes
	calls := (vectors + len(t.weighted[0]) - 1) / len(t.weighted[0])
	for i := 0; i < rows; i += len(t.weighted) {
		for k := range calls { // vectors as evenly as they go
			from, to := k*vectors/calls, (k+1)*vectors/calls
			f := t.weighted[min(len(t.weighted), rows-i)-1][to-from-1]
			f(len(end), &end[0], &w[0], &offs[0], &x[i*xs+from*t.lanes], xs*size, &dst[i*ds+from*t.lanes], &at[0], ds*size)
		}
	}
}

func weightedLoops[T float](rows, n int, end []int, w []T, offs []int, x []T, xs int, dst []T, at []int, ds int) {
	for i := range rows {
		p := 0
		for l, e := range end {
			to := dst[at[l]+i*ds:][:n]
			for ; p < e; p++ {
				for j, u := range x[offs[p]+i*xs:][:n] {
					to[j] += w[p] * u
				}
			}
		}
	}
}
