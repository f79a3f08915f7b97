// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package kernels

import "unsafe"

// inners adds alpha times the inner products of rows i0 to i1 of a with the vector x to elements of c. x has unit
// stride or the stride ldx.
func (g *product[T]) inners(a []T, lda int, x []T, ldx int, unit bool, c []T, ldc, i0, i1 int) {
	t, size := g.tiles, int(unsafe.Sizeof(g.alpha))
	if !unit && ldx != 1 {
		g.ws.v = grown(g.ws.v, g.k)
		for p := range g.k {
			g.ws.v[p] = x[p*ldx]
		}
		x = g.ws.v
	}
	g.ws.c = grown(g.ws.c, tallest*maxTileColumns)
	for i0 < i1 {
		rows := min(i1-i0, len(g.ws.c))
		i := 0
		for ; i+4 <= rows; i += 4 {
			t.inner4(g.k, &a[(i0+i)*lda], lda*size, &x[0], &g.ws.c[i], size)
		}
		for ; i < rows; i++ {
			t.inner(g.k, &a[(i0+i)*lda], lda*size, &x[0], &g.ws.c[i], size)
		}
		for i, v := range g.ws.c[:rows] {
			if g.beta == 0 {
				c[(i0+i)*ldc] = g.alpha * v
			} else {
				c[(i0+i)*ldc] += g.alpha * v
			}
		}
		i0 += rows
	}
}

// transposedVector computes elements i0 to i1 of C = A'x as the row x'A.
func (g *product[T]) transposedVector(i0, i1 int) {
	h := *g
	h.m, h.n = 1, g.m
	h.a, h.lda, h.transA = g.b, g.ldb, !g.transB
	if g.ldb == 1 { // a column without gaps is a row, which need not be packed
		h.lda, h.transA = g.k, false
	}
	h.b, h.ldb, h.transB = g.a, g.lda, false
	if g.ldc == 1 {
		h.ldc = g.m
		h.blocks(0, 1, i0, i1)
		return
	}
	g.ws.v = grown(g.ws.v, g.m)
	h.c, h.ldc = g.ws.v, g.m
	if g.beta != 0 {
		for i := i0; i < i1; i++ {
			h.c[i] = g.c[i*g.ldc]
		}
	}
	h.blocks(0, 1, i0, i1)
	for i := i0; i < i1; i++ {
		g.c[i*g.ldc] = h.c[i]
	}
}
