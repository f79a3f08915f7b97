// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package kernels

import "unsafe"

// slidingTile is a tile for which row p of B begins at b[rows[p]].
type slidingTile[T float] = func(k int, a *T, ars, acs int, b *T, rows *int, c *T, cs int, alpha *T, keep, mask int)

// weighted adds weighted rows of x, from x[offs[p]] on, to rows of dst, for lists of p; strides are in bytes.
type weighted[T float] = func(lists int, end *int, w *T, offs *int, x *T, xs int, dst *T, at *int, ds int)

// imageKernels are the kernels of images of one level.
type imageKernels[T float] struct {
	rows, vectors, lanes int                  // of the largest sliding tile, and of a vector
	slide                [8][3]slidingTile[T] // by [rows-1][vectors-1]
	weighted             [3][3]weighted[T]    // likewise

	// Those of AVX-512; nil: a loop in Go.
	nonzero       func(rows, n int, x *T, at *int, w *T, where, end *int)
	largestOfFour func(rows, n int, x *T, down, width int, at *int64)
	copyRows      func(rows, n int, dst *T, ds int, src *T, ss int)
}

// Room is the number of elements beyond the ends of rows that Slide64, WeightedRows64, Nonzero64
// and their float32 versions may read and write, because they work on whole vectors.
const Room = 15

// Slide64 computes C = A*B for an m by k matrix A with rows of lda elements. The rows of B may
// overlap: row p is b[rows[p]:][:n], which is how filters slide over the planes of an image. The
// rows of C, which are ldc elements apart, and those of B must be followed by Room elements.
func Slide64(l Level, m, n, k int, a []float64, lda int, b []float64, rows []int, c []float64, ldc int) {
	slide(images64[usable(l)], &unit64, m, n, k, a, lda, b, rows, c, ldc)
}

// Slide32 is Slide64 for float32.
func Slide32(l Level, m, n, k int, a []float32, lda int, b []float32, rows []int, c []float32, ldc int) {
	slide(images32[usable(l)], &unit32, m, n, k, a, lda, b, rows, c, ldc)
}

// Factors of products that assembly reads.
var (
	unit64 float64 = 1
	unit32 float32 = 1
)

func slide[T float](t *imageKernels[T], unit *T, m, n, k int, a []T, lda int, b []T, rows []int, c []T, ldc int) {
	if m == 0 || n == 0 || k == 0 {
		return
	}
	if t == nil {
		slideLoops(m, n, k, a, lda, b, rows, c, ldc)
		return
	}
	size := int(unsafe.Sizeof(*unit))
	for j := 0; j < n; {
		vectors := min(t.vectors, (n-j+t.lanes-1)/t.lanes)
		for i := 0; i < m; i += t.rows {
			f := t.slide[min(t.rows, m-i)-1][vectors-1]
			f(k, &a[i*lda], lda*size, size, &b[j], &rows[0], &c[i*ldc+j], ldc*size, unit, 0, 1<<t.lanes-1)
		}
		j += vectors * t.lanes
	}
}

func slideLoops[T float](m, n, k int, a []T, lda int, b []T, rows []int, c []T, ldc int) {
	for i := range m {
		row := c[i*ldc:][:n]
		clear(row)
		for p, w := range a[i*lda:][:k] {
			for j, v := range b[rows[p]:][:n] {
				row[j] += w * v
			}
		}
	}
}

// CopyRows64 copies rows of n elements, which are ds elements apart in dst and ss in src.
func CopyRows64(l Level, rows, n int, dst []float64, ds int, src []float64, ss int) {
	copyRows(images64[usable(l)], rows, n, dst, ds, src, ss)
}

// CopyRows32 is CopyRows64 for float32.
func CopyRows32(l Level, rows, n int, dst []float32, ds int, src []float32, ss int) {
	copyRows(images32[usable(l)], rows, n, dst, ds, src, ss)
}

func copyRows[T float](t *imageKernels[T], rows, n int, dst []T, ds int, src []T, ss int) {
	if rows == 0 || n == 0 {
		return
	}
	if t != nil && t.copyRows != nil && n < 256 { // rows that are longer take no time to begin
		size := int(unsafe.Sizeof(dst[0]))
		_, _ = dst[(rows-1)*ds+n-1], src[(rows-1)*ss+n-1]
		t.copyRows(rows, n, &dst[0], ds*size, &src[0], ss*size)
		return
	}
	for i := range rows {
		copy(dst[i*ds:][:n], src[i*ss:][:n])
	}
}
