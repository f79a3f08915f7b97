// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package kernels

import "unsafe"

// tile adds k products to a tile of C: alpha*A*B, plus the old values if keep is not 0. Strides are
// in bytes; mask selects the lanes of the last vector of a row.
type tile[T float] = func(k int, a *T, ars, acs int, b *T, bs int, c *T, cs int, alpha *T, keep, mask int)

// tiles are the assembly kernels of one level.
type tiles[T float] struct {
	rows, vectors, lanes int
	masks                bool          // whether the last vector of a tile's rows may be masked
	tile                 [8][3]tile[T] // kernels by [rows-1][vectors-1]
	row                  tile[T]       // kernel of one row by eight vectors
	inner, inner4        func(n int, a *T, as int, x *T, dst *T, ds int)
	transpose            func(dst *T, ds int, src *T, ss, n int)
	group                int // rows and columns that one call of transpose handles
}

// Block sizes. An element of C is the sum over blocks of depth kc, each summed from 0 in order; no
// other block size changes its bits.
const (
	kc     = 256     // depth of a block
	bytesA = 540672  // of a packed block of A, which stays in the second-level cache
	bytesB = 4 << 20 // of a packed block of B
	nearB  = 300000  // bytes of a B that is read where it stands
	tilesB = 6       // tiles above each other that B is not packed for
	panelA = 8       // elements between the columns of a packed panel of A
	// maxTileColumns is at least the columns of the largest tile: 1 by 8 vectors of 8 float64, or 3
	// vectors of 16 float32.
	maxTileColumns = 64
)

// blocks computes rows i0 to i1 and columns j0 to j1 of C tile by tile, packing what is used often. Several blocks of rows share the packed panels of B, which
// a single one packs one by one, just before it uses them.
func (g *product[T]) blocks(i0, i1, j0, j1 int) {
	t, size := g.tiles, int(unsafe.Sizeof(g.alpha))
	columns := t.vectors * t.lanes
	packA := j1-j0 > columns && g.transA || j1-j0 >= 4*columns
	g.kept = g.ws.kept != nil && j0 == 0 && j1 == g.n && (g.transB || i1-i0 > 2*t.rows)
	packB := g.kept || g.transB || i1-i0 > tilesB*t.rows && g.k*g.ldb*size > nearB
	mc := bytesA / (kc * size) / t.rows * t.rows
	nc, room := columns, 0 // room is for the panels of B
	switch {
	case !packB:
		nc = j1 - j0
	case i1-i0 > mc:
		nc = min(bytesB/(kc*size*columns)*columns, j1-j0)
		room = nc
	}
	g.ws.b = grown(g.ws.b, kc*(room+maxTileColumns))
	for pc := 0; pc < g.k; pc += kc {
		depth := min(kc, g.k-pc)
		for jc := j0; jc < j1; jc += nc {
			je := min(jc+nc, j1)
			for ic := i0; ic < i1; ic += mc {
				ie := min(ic+mc, i1)
				if packA && (jc == j0 || i1-i0 > mc) {
					g.packA(ic, ie, pc, depth)
				}
				for jr := jc; jr < je; {
					width, vectors, packed := g.columns(ie-ic, je-jr, packB)
					if packed {
						g.packB(min(jr-jc, room)*depth, pc, depth, jr, width, vectors*t.lanes, ic == i0 || !packB)
					}
					for ir := ic; ir < ie; ir += t.rows {
						g.oneTile(ir, min(t.rows, ie-ir), jr, width, vectors, pc, depth, (ir-ic)/t.rows, packA, packed)
					}
					jr += width
				}
			}
		}
	}
	if g.kept {
		g.ws.kept.known = true
	}
}

// columns chooses the next columns: how many of the n left, in how many vectors, and whether B is packed for them.
func (g *product[T]) columns(rows, n int, packB bool) (width, vectors int, packed bool) {
	t := g.tiles
	full := n / t.lanes
	if rows == 1 && !packB && full >= 8 {
		return 8 * t.lanes, 8, false
	}
	vectors = min(t.vectors, (n+t.lanes-1)/t.lanes)
	if !packB && !t.masks {
		if full == 0 {
			return n, 1, true
		}
		vectors = min(vectors, full)
	}
	return min(n, vectors*t.lanes), vectors, packB
}

// oneTile computes rows by width elements of C at (i, j). It reads A from its packed panel or from A
// itself, and B likewise.
func (g *product[T]) oneTile(i, rows, j, width, vectors, pc, depth, panel int, packedA, packedB bool) {
	t, size := g.tiles, int(unsafe.Sizeof(g.alpha))
	var a, b *T
	var ars, acs, bs int
	switch {
	case packedA:
		a, ars, acs = &g.ws.a[panel*panelA*depth], size, panelA*size
	case g.transA:
		a, ars, acs = &g.a[pc*g.lda+i], size, g.lda*size
	default:
		a, ars, acs = &g.a[i*g.lda+pc], g.lda*size, size
	}
	if packedB {
		b, bs = &g.panel[0], vectors*t.lanes*size
	} else {
		b, bs = &g.b[pc*g.ldb+j], g.ldb*size
	}
	keep := 1
	if pc == 0 && g.beta == 0 {
		keep = 0
	}
	last := width - (vectors-1)*t.lanes
	f := t.row
	if vectors < 8 {
		f = t.tile[rows-1][vectors-1]
	}
	if t.masks || last == t.lanes {
		f(depth, a, ars, acs, b, bs, &g.c[i*g.ldc+j], g.ldc*size, &g.ws.alpha, keep, 1<<last-1)
		return
	}
	w := vectors * t.lanes
	g.ws.c = grown(g.ws.c, panelA*maxTileColumns)
	if keep != 0 {
		for r := range rows {
			copy(g.ws.c[r*w:r*w+width], g.c[(i+r)*g.ldc+j:])
		}
	}
	f(depth, a, ars, acs, b, bs, &g.ws.c[0], w*size, &g.ws.alpha, keep, 0)
	for r := range rows {
		copy(g.c[(i+r)*g.ldc+j:], g.ws.c[r*w:r*w+width])
	}
}
