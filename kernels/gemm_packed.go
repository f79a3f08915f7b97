// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package kernels

import "unsafe"

// PanelRows is the number of rows of a matrix that a packed panel holds, at every level: number p of row i is at p*PanelRows+i, as
// Transpose64 writes them. It is a multiple of the rows and of the columns of all tiles, so that a panel serves as the left and as
// the right factor of products.
const PanelRows = GemmColumns

// PanelProduct64 multiplies two panels of k numbers a row into C, (PanelRows, PanelRows) with rows ldc apart:
//
//	c[i*ldc+j] = sum over p of a[p*PanelRows+i] * b[p*PanelRows+j]
//
// With add it adds the sum to C. With upper, elements with j < i may be left as they are, since whoever multiplies a matrix by its own
// transpose has them on the other side. At levels with assembly the elements have the bits that Gemm64 gives products of matrices that are not vectors, and at every level
// depths that are multiples of 256 may be added one after the other without changing them.
func PanelProduct64(l Level, k int, a, b, c []float64, ldc int, add, upper bool) {
	panelProduct(tiles64[usable(l)], &one64, k, a, b, c, ldc, add, upper)
}

// PanelProduct32 is PanelProduct64 for float32.
func PanelProduct32(l Level, k int, a, b, c []float32, ldc int, add, upper bool) {
	panelProduct(tiles32[usable(l)], &one32, k, a, b, c, ldc, add, upper)
}

// The factor 1 of products, for assembly, which reads it from memory.
var (
	one64 float64 = 1
	one32 float32 = 1
)

func panelProduct[T float](t *tiles[T], one *T, k int, a, b, c []T, ldc int, add, upper bool) {
	switch {
	case k < 0:
		panic("kernels: PanelProduct was given a negative size")
	case len(a)/PanelRows < k || len(b)/PanelRows < k:
		panic("kernels: PanelProduct: a panel is shorter than k and PanelRows say")
	case ldc < PanelRows || len(c) < PanelRows || PanelRows-1 > (len(c)-PanelRows)/ldc: // products of sizes may overflow
		panic("kernels: PanelProduct: C is shorter than PanelRows and ldc say")
	}
	if !add && (t == nil || k == 0) {
		for i := range PanelRows {
			clear(c[i*ldc:][:PanelRows])
		}
	}
	for from := 0; from < k; from += kc {
		depth := min(kc, k-from)
		left, right := a[from*PanelRows:][:depth*PanelRows], b[from*PanelRows:][:depth*PanelRows]
		if t == nil {
			panelLoops(left, right, c, ldc, upper)
		} else {
			t.panels(one, depth, left, right, c, ldc, add || from > 0, upper)
		}
	}
}

// panels multiplies panels tile by tile.
func (t *tiles[T]) panels(one *T, depth int, a, b, c []T, ldc int, add, upper bool) {
	size, wide, keep := int(unsafe.Sizeof(*one)), t.vectors*t.lanes, 0
	if add {
		keep = 1
	}
	for j := 0; j < PanelRows; j += wide {
		for i := 0; i < PanelRows; i += t.rows {
			left := j // first column of the tile
			if upper && i > j {
				left = i / t.lanes * t.lanes
			}
			vectors := min(j+wide, PanelRows) - left
			if vectors <= 0 {
				break
			}
			vectors /= t.lanes
			t.tile[min(t.rows, PanelRows-i)-1][vectors-1](depth, &a[i], size, PanelRows*size, &b[left], PanelRows*size, &c[i*ldc+left], ldc*size, one, keep, 1<<t.lanes-1, 1, 0, nil, 0, 0)
		}
	}
}

// panelLoops adds a product of panels to C in pure Go.
func panelLoops[T float](a, b, c []T, ldc int, upper bool) {
	for i := range PanelRows {
		from := 0
		if upper {
			from = i
		}
		row := c[i*ldc+from : i*ldc+PanelRows]
		p := 0
		for ; p+4*PanelRows <= len(a); p += 4 * PanelRows {
			v0, v1, v2, v3 := a[p+i], a[p+PanelRows+i], a[p+2*PanelRows+i], a[p+3*PanelRows+i]
			b0, b1, b2, b3 := b[p+from:][:len(row)], b[p+PanelRows+from:][:len(row)], b[p+2*PanelRows+from:][:len(row)], b[p+3*PanelRows+from:][:len(row)]
			for j := range row {
				row[j] += v0*b0[j] + v1*b1[j] + v2*b2[j] + v3*b3[j]
			}
		}
		for ; p < len(a); p += PanelRows {
			v := a[p+i]
			for j, w := range b[p+from:][:len(row)] {
				row[j] += v * w
			}
		}
	}
}
