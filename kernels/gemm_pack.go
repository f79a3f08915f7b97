// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package kernels

import "unsafe"

// packA copies rows i0 to i1 of the columns of op(A) in use into panels with as many rows as a
// tile, depth by depth: element (i, p) of a panel is at p*h + i for tiles of h rows. Rows past the end keep their old contents; no
// tile reads them.
func (g *product[T]) packA(i0, i1 int) {
	h := g.tiles.rows
	panels := (i1 - i0 + h - 1) / h
	g.ws.a = grown(g.ws.a, panels*h*(g.bottom-g.top)+tallest)
	for pc := g.top; pc < g.bottom; pc += kc {
		depth, dst := min(kc, g.bottom-pc), g.ws.a[panels*h*(pc-g.top):]
		if g.transA {
			g.copyA(dst, i0, i1, pc, depth)
			continue
		}
		for i := i0; i < i1; i += h {
			// Whole groups are transposed at once: with six rows to a tile the two rows after it come along, and are overwritten.
			rows := min(h, i1-i)
			if i1-i >= tallest {
				rows = tallest
			}
			transpose(g.tiles, dst[(i-i0)*depth:], h, g.a[i*g.lda+pc:], g.lda, rows, depth)
		}
	}
}

// copyA packs one depth of a transposed A, few columns at a time, so that lines which panels share are still in the first-level cache.
func (g *product[T]) copyA(dst []T, i0, i1, pc, depth int) {
	const few = 16
	h := g.tiles.rows
	for p := 0; p < depth; p += few {
		for i := i0; i < i1; i += h {
			copyBlock(g.tiles, min(few, depth-p), min(h, i1-i), dst[(i-i0)*depth+p*h:], h, g.a[(pc+p)*g.lda+i:], g.lda)
		}
	}
}

// copyBlock copies rows of n elements, which are ds elements apart in dst and ss in src.
func copyBlock[T float](t *tiles[T], rows, n int, dst []T, ds int, src []T, ss int) {
	_, _ = dst[(rows-1)*ds+n-1], src[(rows-1)*ss+n-1]
	switch {
	case t.copyRows != nil:
		size := int(unsafe.Sizeof(dst[0]))
		t.copyRows(rows, n, &dst[0], ds*size, &src[0], ss*size)
	case n == 6: // a call of copy would take longer, as it would for 8 and 16
		for r := range rows {
			*(*[6]T)(dst[r*ds:]) = [6]T(src[r*ss:])
		}
	case n == 8:
		for r := range rows {
			*(*[8]T)(dst[r*ds:]) = [8]T(src[r*ss:])
		}
	case n == 16:
		for r := range rows {
			*(*[16]T)(dst[r*ds:]) = [16]T(src[r*ss:])
		}
	default:
		for r := range rows {
			copy(dst[r*ds:][:n], src[r*ss:])
		}
	}
}

// packB copies the panel of a strip, columns of op(B), into rows of whole vectors, padded with zeros, at a place in the room for B. Only
// the first rows of a product do so, and where products share B, only the first of them does; it tells whether it did.
func (g *product[T]) packB(s strip, at int, first bool) bool {
	pc, depth, length := g.pc, g.depth, s.vectors*g.tiles.lanes
	if g.kept {
		k, all := g.ws.kept, (g.n+g.tiles.lanes-1)/g.tiles.lanes*g.tiles.lanes
		k.b = grown(k.b, g.k*all)
		g.panel = k.b[pc*all+depth*s.j:][:depth*length]
		first = first && !k.known
	} else {
		g.panel = g.ws.b[at : at+depth*length]
	}
	if !first {
		return false
	}
	if s.width < length {
		clear(g.panel)
	}
	if g.transB {
		transpose(g.tiles, g.panel, length, g.b[s.j*g.ldb+pc:], g.ldb, s.width, depth)
	} else {
		copyBlock(g.tiles, depth, s.width, g.panel, length, g.b[pc*g.ldb+s.j:], g.ldb)
	}
	return true
}

// transpose sets dst[p*ds+i] = src[i*ss+p] for rows i and columns p; t is nil for pure Go. If columns of dst overlap, because ds is less
// than the number of rows, which is a multiple of t.group then, their first elements stay.
func transpose[T float](t *tiles[T], dst []T, ds int, src []T, ss, rows, columns int) {
	size, i := int(unsafe.Sizeof(src[0])), 0
	if rows <= 0 || columns <= 0 {
		return
	}
	_, _ = dst[(columns-1)*ds+rows-1], src[(rows-1)*ss+columns-1]
	if t != nil {
		whole, end := columns&^(t.group-1), rows&^(t.group-1)
		for i = end - t.group; i >= 0; i -= t.group {
			if whole > 0 {
				t.transpose(&dst[i], ds*size, &src[i*ss], ss*size, whole)
			}
			for r := i + t.group - 1; r >= i; r-- {
				for p := whole; p < columns; p++ {
					dst[p*ds+r] = src[r*ss+p]
				}
			}
		}
		i = end
	}
	for ; i < rows; i++ {
		for p, v := range src[i*ss : i*ss+columns] {
			dst[p*ds+i] = v
		}
	}
}

// Transpose64 sets dst[p*ds+i] = src[i*ss+p] for rows i and columns p of src.
func Transpose64(l Level, dst []float64, ds int, src []float64, ss, rows, columns int) {
	transpose(tiles64[usable(l)], dst, ds, src, ss, rows, columns)
}

// Transpose32 is Transpose64 for float32.
func Transpose32(l Level, dst []float32, ds int, src []float32, ss, rows, columns int) {
	transpose(tiles32[usable(l)], dst, ds, src, ss, rows, columns)
}
