// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package kernels

// loops computes the product in pure Go: rows of C accumulate multiples of rows of B, or are inner
// products if B is transposed.
func (g *product[T]) loops(i0, i1, j0, j1 int) {
	g.scaled(i0, i1, j0, j1)
	if g.k == 0 || g.alpha == 0 {
		return
	}
	for i := i0; i < i1; i++ {
		row := g.c[i*g.ldc+j0 : i*g.ldc+j1]
		if g.transB {
			for j := range row {
				row[j] += g.alpha * g.inner(i, j0+j)
			}
			continue
		}
		p := 0
		for ; p+4 <= g.k; p += 4 {
			v0, v1, v2, v3 := g.alpha*g.left(i, p), g.alpha*g.left(i, p+1), g.alpha*g.left(i, p+2), g.alpha*g.left(i, p+3)
			b0, b1, b2, b3 := g.row(p, j0, j1), g.row(p+1, j0, j1), g.row(p+2, j0, j1), g.row(p+3, j0, j1)
			for j := range row {
				row[j] += v0*b0[j] + v1*b1[j] + v2*b2[j] + v3*b3[j]
			}
		}
		for ; p < g.k; p++ {
			v := g.alpha * g.left(i, p)
			for j, w := range g.row(p, j0, j1) {
				row[j] += v * w
			}
		}
	}
}

// row returns row p of the stored B, columns j0 to j1.
func (g *product[T]) row(p, j0, j1 int) []T { return g.b[p*g.ldb+j0 : p*g.ldb+j1][: j1-j0 : j1-j0] }

func (g *product[T]) left(i, p int) T {
	if g.transA {
		return g.a[p*g.lda+i]
	}
	return g.a[i*g.lda+p]
}

// inner returns the inner product of row i of op(A) with row j of the stored B.
func (g *product[T]) inner(i, j int) T {
	var s T
	for p, w := range g.b[j*g.ldb : j*g.ldb+g.k] {
		s += g.left(i, p) * w
	}
	return s
}
