// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package kernels

// Gemm64 computes C = alpha*op(A)*op(B) + beta*C for row-major matrices; op transposes A if transA
// is set, and B if transB is set. op(A) is m by k, op(B) is k by n and C is m by n; lda, ldb and
// ldc are the lengths of the stored rows in elements. With beta = 0 C is not read. A, B and C must
// not overlap.
func Gemm64(l Level, ws *Workspace, transA, transB bool, m, n, k int, alpha float64, a []float64, lda int, b []float64, ldb int, beta float64, c []float64, ldc int) {
	GemmPart64(l, ws, transA, transB, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc, 0, m, 0, n)
}

// Gemm32 is Gemm64 for float32.
func Gemm32(l Level, ws *Workspace, transA, transB bool, m, n, k int, alpha float32, a []float32, lda int, b []float32, ldb int, beta float32, c []float32, ldc int) {
	GemmPart32(l, ws, transA, transB, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc, 0, m, 0, n)
}

// GemmPart64 computes rows i0 <= i < i1 and columns j0 <= j < j1 of the product that Gemm64 with
// the same arguments computes, with the same bits, and touches nothing else of C. Parts may run at
// the same time, each with its own Workspace. Parts whose sizes are multiples of GemmRows and
// GemmColumns are the most efficient.
func GemmPart64(l Level, ws *Workspace, transA, transB bool, m, n, k int, alpha float64, a []float64, lda int, b []float64, ldb int, beta float64, c []float64, ldc int, i0, i1, j0, j1 int) {
	g := product[float64]{tiles: tiles64[usable(l)], ws: &ws.w64, transA: transA, transB: transB, m: m, n: n, k: k,
		alpha: alpha, a: a, lda: lda, b: b, ldb: ldb, beta: beta, c: c, ldc: ldc}
	g.check()
	g.part(i0, i1, j0, j1)
}

// GemmPart32 is GemmPart64 for float32.
func GemmPart32(l Level, ws *Workspace, transA, transB bool, m, n, k int, alpha float32, a []float32, lda int, b []float32, ldb int, beta float32, c []float32, ldc int, i0, i1, j0, j1 int) {
	g := product[float32]{tiles: tiles32[usable(l)], ws: &ws.w32, transA: transA, transB: transB, m: m, n: n, k: k,
		alpha: alpha, a: a, lda: lda, b: b, ldb: ldb, beta: beta, c: c, ldc: ldc}
	g.check()
	g.part(i0, i1, j0, j1)
}

// A product is best divided into parts whose numbers of rows and columns are multiples of these.
const (
	GemmRows    = 24
	GemmColumns = 48
)

// product is one call of Gemm64 or Gemm32.
type product[T float] struct {
	tiles          *tiles[T] // assembly kernels; nil for pure Go
	ws             *panels[T]
	transA, transB bool
	m, n, k        int
	alpha          T
	a              []T
	lda            int
	b              []T
	ldb            int
	beta           T
	c              []T
	ldc            int

	top, bottom int  // the columns of op(A) in use
	pc, depth   int  // those of them that are multiplied
	packedA     bool // whether their rows are packed
	panel       []T  // packed columns of op(B) in use
	kept        bool // whether they are those of ws.kept

	next         *T  // memory that the tiles of a strip fetch
	apart, fetch int // elements between its rows, and rows for each tile
}

// check panics if a matrix does not fit its slice.
func (g *product[T]) check() {
	if g.m < 0 || g.n < 0 || g.k < 0 {
		panic("kernels: Gemm was given a negative size")
	}
	fits := func(s []T, rows, columns, ld int) bool {
		return rows == 0 || columns == 0 || ld >= columns && len(s) >= columns && rows-1 <= (len(s)-columns)/ld
	}
	ar, ac, br, bc := g.m, g.k, g.k, g.n
	if g.transA {
		ar, ac = ac, ar
	}
	if g.transB {
		br, bc = bc, br
	}
	switch {
	case !fits(g.a, ar, ac, g.lda):
		panic("kernels: Gemm: A is shorter than its rows, columns and lda say")
	case !fits(g.b, br, bc, g.ldb):
		panic("kernels: Gemm: B is shorter than its rows, columns and ldb say")
	case !fits(g.c, g.m, g.n, g.ldc):
		panic("kernels: Gemm: C is shorter than its rows, columns and ldc say")
	}
}

// part computes a block of C. The algorithm depends on the whole product, never on the block.
func (g *product[T]) part(i0, i1, j0, j1 int) {
	if i0 >= i1 || j0 >= j1 {
		return
	}
	if i0 < 0 || i1 > g.m || j0 < 0 || j1 > g.n {
		panic("kernels: GemmPart was given rows or columns that the product does not have")
	}
	if g.tiles == nil {
		g.loops(i0, i1, j0, j1)
		return
	}
	if g.beta != 0 && g.beta != 1 || g.k == 0 || g.alpha == 0 {
		g.scaled(i0, i1, j0, j1)
	}
	if g.k == 0 || g.alpha == 0 {
		return
	}
	g.ws.alpha = g.alpha
	switch {
	case g.n == 1 && g.transA:
		g.transposedVector(i0, i1)
	case g.n == 1:
		g.inners(g.a, g.lda, g.b, g.ldb, g.transB, g.c, g.ldc, i0, i1)
	case g.m == 1 && g.transB:
		g.inners(g.b, g.ldb, g.a, g.lda, !g.transA, g.c, 1, j0, j1)
	default:
		g.blocks(i0, i1, j0, j1)
	}
}

// scaled multiplies a block of C by beta; beta = 0 overwrites it.
func (g *product[T]) scaled(i0, i1, j0, j1 int) {
	for i := i0; i < i1; i++ {
		row := g.c[i*g.ldc+j0 : i*g.ldc+j1]
		switch g.beta {
		case 0:
			clear(row)
		case 1:
			return
		default:
			for j := range row {
				row[j] *= g.beta
			}
		}
	}
}
