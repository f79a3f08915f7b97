package kernels

// loops is the product in pure Go: rows of C gather multiples of rows of B, or inner products if B is transposed.
func (g *product[T]) loops(i0, i1, j0, j1 int) {
	g.scaled(i0, i1, j0, j1)
	for i := i0; i < i1; i++ {
		row := g.c[i*g.ldc+j0 : i*g.ldc+j1]
		if g.transB {
			for j := range row {
				row[j] += g.alpha * g.inner(i, j0+j)
			}
			continue
		}
		for p := 0; p < g.k; p++ {
			v := g.alpha * g.left(i, p)
			for j, w := range g.b[p*g.ldb+j0 : p*g.ldb+j1] {
				row[j] += v * w
			}
		}
	}
}

func (g *product[T]) left(i, p int) T {
	if g.transA {
		return g.a[p*g.lda+i]
	}
	return g.a[i*g.lda+p]
}

// inner is the inner product of row i of op(A) with row j of the stored B.
func (g *product[T]) inner(i, j int) T {
	var s T
	for p, w := range g.b[j*g.ldb : j*g.ldb+g.k] {
		s += g.left(i, p) * w
	}
	return s
}
