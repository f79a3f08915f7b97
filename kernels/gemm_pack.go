// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package kernels

import "unsafe"

// packA copies rows i0 to i1 and columns pc to pc+depth of op(A) into panels with as many rows as a
// tile: element (i, p) of a panel is at p*panelA + i. Rows past the end keep their old contents; no
// tile reads them.
func (g *product[T]) packA(i0, i1, pc, depth int) {
	h := g.tiles.rows
	panels := (i1 - i0 + h - 1) / h
	g.ws.a = grown(g.ws.a, panels*panelA*depth)
	for i := i0; i < i1; i += h {
		dst := g.ws.a[(i-i0)/h*panelA*depth:][:panelA*depth]
		if g.transA {
			for p := range depth {
				if from := g.a[(pc+p)*g.lda+i:]; len(from) >= panelA { // a call of copy would take longer
					*(*[panelA]T)(dst[p*panelA:]) = [panelA]T(from)
				} else {
					copy(dst[p*panelA:], from)
				}
			}
			continue
		}
		// Whole groups are transposed at once; with six rows to a tile the two rows after it come along.
		transpose(g.tiles, dst, panelA, g.a[i*g.lda+pc:], g.lda, min(panelA, i1-i), depth)
	}
}

// packB copies width columns of op(B) from column j on, rows pc to pc+depth, into rows of the given
// length, padded with zeros, at a place in the room for B. Only the first rows of a product do so, and where products share B, only the first of them does.
func (g *product[T]) packB(at, pc, depth, j, width, length int, first bool) {
	if g.kept {
		k, all := g.ws.kept, (g.n+g.tiles.lanes-1)/g.tiles.lanes*g.tiles.lanes
		k.b = grown(k.b, g.k*all)
		g.panel = k.b[pc*all+depth*j:][:depth*length]
		first = first && !k.known
	} else {
		g.panel = g.ws.b[at : at+depth*length]
	}
	if !first {
		return
	}
	dst := g.panel
	if g.transB {
		if width < length {
			clear(dst)
		}
		transpose(g.tiles, dst, length, g.b[j*g.ldb+pc:], g.ldb, width, depth)
		return
	}
	for p := range depth {
		row := dst[p*length : p*length+length]
		if copy(row[:width], g.b[(pc+p)*g.ldb+j:]); width < length {
			clear(row[width:])
		}
	}
}

// transpose sets dst[p*ds+i] = src[i*ss+p] for rows i and columns p; t is nil for pure Go.
func transpose[T float](t *tiles[T], dst []T, ds int, src []T, ss, rows, columns int) {
	size, i := int(unsafe.Sizeof(src[0])), 0
	if t != nil {
		whole := columns &^ (t.group - 1)
		for ; i+t.group <= rows; i += t.group {
			if whole > 0 {
				t.transpose(&dst[i], ds*size, &src[i*ss], ss*size, whole)
			}
			for r := i; r < i+t.group; r++ {
				for p := whole; p < columns; p++ {
					dst[p*ds+r] = src[r*ss+p]
				}
			}
		}
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
