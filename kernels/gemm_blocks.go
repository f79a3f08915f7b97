// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package kernels

import "unsafe"

// tile adds k products to each of count tiles of C above each other: alpha*A*B, plus the old values if keep is not 0. Strides are
// in bytes; mask selects the lanes of the last vector of a row; down is from the A of a tile to that of the next one. A large tile also
// brings fetch rows as long as its own into the second-level cache, from next on and ns bytes apart, and the next tile brings those
// below. For that, k must be larger than the number of lines that these rows and those of the tile have.
type tile[T float] = func(k int, a *T, ars, acs int, b *T, bs int, c *T, cs int, alpha *T, keep, mask, count, down int, next *T, ns, fetch int)

// tiles are the assembly kernels of one level.
type tiles[T float] struct {
	rows, vectors, lanes int
	masks                bool          // whether the last vector of a tile's rows may be masked
	tile                 [8][3]tile[T] // kernels by [rows-1][vectors-1]
	row                  tile[T]       // kernel of one row by eight vectors
	inner, inner4        func(n int, a *T, as int, x *T, dst *T, ds int)
	transpose            func(dst *T, ds int, src *T, ss, n int)
	group                int                                               // rows and columns that one call of transpose handles
	copyRows             func(rows, n int, dst *T, ds int, src *T, ss int) // nil: a loop in Go
}

// Block sizes. An element of C is the sum over blocks of depth kc, each summed from 0 in order; no
// other block size changes its bits.
const (
	kc      = 256     // depth of a block
	deep    = 2 * kc  // of blocks that are packed together, so that C is still in the second-level cache for the second one
	bytesA  = 540672  // of a packed block of A, which stays in the second-level cache
	bytesB  = 8 << 20 // of a packed block of B
	nearB   = 300000  // bytes of a B that is read where it stands
	tilesB  = 8       // tiles above each other that B is not packed for
	nearA   = 1024    // bytes of a row of a transposed A that is read where it stands if B is narrow
	tallest = 8       // rows of the tallest tile
	// maxTileColumns is at least the columns of the largest tile: 1 by 8 vectors of 8 float64, or 3
	// vectors of 16 float32.
	maxTileColumns = 64
)

// strip is the columns of C whose tiles read the same panel of B.
type strip struct {
	j, width, vectors int  // first column, number of columns, and of vectors
	packed            bool // whether the panel is a packed one
}

// blocks computes rows i0 to i1 and columns j0 to j1 of C tile by tile, packing what is used often. Several blocks of rows, of about
// the same size, share the packed panels of B, which a single one packs one by one, just before it uses them.
func (g *product[T]) blocks(i0, i1, j0, j1 int) {
	t, size := g.tiles, int(unsafe.Sizeof(g.alpha))
	columns := t.vectors * t.lanes
	g.packedA = j1-j0 > columns && g.transA && g.lda*size > nearA || j1-j0 >= 4*columns
	g.kept = g.ws.kept != nil && j0 == 0 && j1 == g.n && (g.transB || i1-i0 > 2*t.rows)
	packB := g.kept || g.transB || i1-i0 > tilesB*t.rows && g.k*g.ldb*size > nearB
	depth := min(deep, g.k)
	mc := parts(i1-i0, bytesA/(depth*size), t.rows)
	nc, room := j1-j0, 0 // room is for the panels of B
	if packB && i1-i0 > mc {
		nc = min(bytesB/(depth*size*columns)*columns, j1-j0)
		room = nc
	}
	g.ws.b = grown(g.ws.b, depth*(room+maxTileColumns))
	for g.top = 0; g.top < g.k; g.top += deep {
		g.bottom = min(g.top+deep, g.k)
		for jc := j0; jc < j1; jc += nc {
			je := min(jc+nc, j1)
			for ic := i0; ic < i1; ic += mc {
				ie := min(ic+mc, i1)
				if g.packedA && (jc == j0 || i1-i0 > mc) {
					g.packA(ic, ie)
				}
				for jr := jc; jr < je; {
					s := g.strip(ie-ic, jr, je, packB)
					g.multiply(ic, ie, s, min(jr-jc, room)*(g.bottom-g.top), ic == i0 || !packB)
					jr += s.width
				}
			}
		}
	}
	if g.kept {
		g.ws.kept.known = true
	}
}

// parts returns the size of the parts into which n is divided: multiples of unit, about the same, and not much above most.
func parts(n, most, unit int) int {
	number := (n + most - 1) / most
	return ((n+number-1)/number + unit - 1) / unit * unit
}

// strip chooses the next of the columns from j to end, and whether B is packed for them.
func (g *product[T]) strip(rows, j, end int, packB bool) strip {
	t, n := g.tiles, end-j
	full := n / t.lanes
	if rows == 1 && !packB && full >= 8 {
		return strip{j, 8 * t.lanes, 8, false}
	}
	vectors := min(t.vectors, (n+t.lanes-1)/t.lanes)
	if vectors == 3 && n > 3*t.lanes && n <= 4*t.lanes {
		vectors = 2 // twice, since a single vector takes as many loads as two
	}
	if !packB && !t.masks {
		if full == 0 {
			return strip{j, n, 1, true}
		}
		vectors = min(vectors, full)
	}
	return strip{j, min(n, vectors*t.lanes), vectors, packB}
}

// multiply computes rows i0 to i1 of a strip. Its panels of B are packed at a place in the room for B, if these rows are the first.
func (g *product[T]) multiply(i0, i1 int, s strip, at int, first bool) {
	tiles := (i1 - i0 + g.tiles.rows - 1) / g.tiles.rows
	for g.pc = g.top; g.pc < g.bottom; g.pc += kc {
		g.depth = min(kc, g.bottom-g.pc)
		fresh := s.packed && g.packB(s, at+(g.pc-g.top)*s.vectors*g.tiles.lanes, first)
		g.fetchAhead(i0, s, fresh, tiles)
		g.column(i0, i1, s, tiles*g.tiles.rows*(g.pc-g.top))
	}
}

// fetchAhead chooses what the tiles of a strip bring into the second-level cache: the panel of B behind theirs if it has been
// packed, otherwise the rows of B that it will be packed from or that the tiles will read. Many tiles that read A where it stands bring that of the next tile instead, if
// its rows follow each other.
func (g *product[T]) fetchAhead(i0 int, s strip, fresh bool, tiles int) {
	size, length, p, j := int(unsafe.Sizeof(g.alpha)), s.vectors*g.tiles.lanes, g.pc+kc, s.j
	if p >= g.bottom {
		p, j = g.top, s.j+s.width
	}
	g.next, g.apart, g.fetch = nil, 0, 0
	lines, wanted := length*size/64, (g.depth+tiles-1)/tiles
	if below := i0 + g.tiles.rows; !g.packedA && !g.transA && g.lda == g.depth && tiles > tilesB {
		g.next, g.apart = &g.a[below*g.lda], length
		wanted = (g.tiles.rows*g.lda + length - 1) / length
	} else if s.packed && !fresh {
		if behind := g.panel[len(g.panel):cap(g.panel)]; len(behind) > 0 {
			g.next, g.apart = &behind[0], length
		}
	} else if !g.transB && j < g.n {
		g.next, g.apart = &g.b[p*g.ldb+j], g.ldb
	}
	if g.next != nil && lines > 0 {
		g.fetch = max(0, min(wanted, (g.depth-1)/lines-g.tiles.rows))
	}
}

// column computes rows i to end of a strip for one depth. It reads A from its packed panels, of which the first is at a place in the room for A, or from A itself, and B likewise.
func (g *product[T]) column(i, end int, s strip, at int) {
	t, size := g.tiles, int(unsafe.Sizeof(g.alpha))
	b, bs := g.panel, s.vectors*t.lanes*size
	if !s.packed {
		b, bs = g.b[g.pc*g.ldb+s.j:], g.ldb*size
	}
	keep := 1
	if g.pc == 0 && g.beta == 0 {
		keep = 0
	}
	last := s.width - (s.vectors-1)*t.lanes
	for i < end {
		rows, count := min(t.rows, end-i), 1
		f := t.row
		if s.vectors < 8 {
			f = t.tile[rows-1][s.vectors-1]
		}
		var a *T
		var ars, acs, down int
		switch {
		case g.packedA:
			a, ars, acs, down = &g.ws.a[at], size, t.rows*size, t.rows*g.depth*size
		case g.transA:
			a, ars, acs, down = &g.a[g.pc*g.lda+i], size, g.lda*size, rows*size
		default:
			a, ars, acs, down = &g.a[i*g.lda+g.pc], g.lda*size, size, rows*g.lda*size
		}
		if t.masks || last == t.lanes {
			count = (end - i) / rows
			f(g.depth, a, ars, acs, &b[0], bs, &g.c[i*g.ldc+s.j], g.ldc*size, &g.ws.alpha, keep, 1<<last-1, count, down, g.next, g.apart*size, g.fetch)
		} else {
			c, ldc := g.tileOfC(i, rows, s, keep)
			f(g.depth, a, ars, acs, &b[0], bs, &c[0], ldc*size, &g.ws.alpha, keep, 0, 1, 0, nil, 0, 0)
			for r := range rows {
				copy(g.c[(i+r)*g.ldc+s.j:], c[r*ldc:][:s.width])
			}
		}
		i, at = i+rows*count, at+count*t.rows*g.depth
	}
}

// tileOfC returns room for a tile whose last vectors would go beyond the rows of C, with the values of C if they are kept, and the
// length of its rows.
func (g *product[T]) tileOfC(i, rows int, s strip, keep int) (c []T, ldc int) {
	ldc = s.vectors * g.tiles.lanes
	g.ws.c = grown(g.ws.c, tallest*maxTileColumns)
	if keep != 0 {
		for r := range rows {
			copy(g.ws.c[r*ldc:][:s.width], g.c[(i+r)*g.ldc+s.j:])
		}
	}
	return g.ws.c, ldc
}
