package cuda

import (
	"fmt"

	"github.com/euryale-dev/euryale/tensor"
)

// Edge of the part of a product that a block computes, and of the strips that it reads at a time.
const (
	tile  = 64
	strip = 16
)

// MatMul multiplies matrices batch by batch. A block of 256 threads computes 64 x 64 elements of the
// result, 4 x 4 in each thread, from strips of 16 columns and rows in shared memory. Sums are in the
// precision of the program, in the order of the columns.
func MatMul(s *Step) bool {
	k := len(s.Value.Shape)
	as, bs := tensor.Shape(s.InShape(0)), tensor.Shape(s.InShape(1))
	m, n := s.Value.Shape[k-2], s.Value.Shape[k-1]
	ta, tb := s.Attr[0] == 1, s.Attr[1] == 1
	lda, ldb := as[len(as)-1], bs[len(bs)-1]
	depth := lda
	if ta {
		depth = as[len(as)-2]
	}
	batches := tensor.Shape(s.Value.Shape[:k-2]).Size()
	rows, columns := (m+tile-1)/tile, (n+tile-1)/tile
	l := Launch{Kernel: s.g.name("matmul"), Grid: max(1, min(rows*columns*batches, 1<<16)), Block: block}
	s.Shared("sa", fmt.Sprintf("__shared__ R sa[%[1]d][%[2]d], sb[%[1]d][%[2]d];\n", strip, tile+1))
	place := pairs(s, as[len(as)-2]*lda, bs[len(bs)-2]*ldb)
	s.Begin(l)
	at := func(transposed bool, row, column string, ld int) string {
		if transposed {
			row, column = column, row
		}
		return "(index_t)(" + row + ") * " + number(ld) + " + (" + column + ")"
	}
	s.Printf(`	const index_t *place = %[3]s;
	int ty = threadIdx.x / 16, tx = threadIdx.x %% 16;
	for (index_t part = blockIdx.x; part < %[4]s; part += gridDim.x) {
	index_t batch = part / %[5]s, i0 = part %% %[5]s / %[6]s * %[2]d, j0 = part %% %[6]s * %[2]d;
	const R *a = in0 + place[2 * batch], *b = in1 + place[2 * batch + 1];
	R sum[4][4] = {};
	for (int p0 = 0; p0 < %[7]s; p0 += %[1]d) {
		for (int e = threadIdx.x; e < %[1]d * %[2]d; e += %[8]d) {
			int p = %[9]s, q = %[10]s;
			sa[p][q] = i0 + q < %[11]s && p0 + p < %[7]s ? a[%[12]s] : R(0);
			p = %[13]s, q = %[14]s;
			sb[p][q] = j0 + q < %[15]s && p0 + p < %[7]s ? b[%[16]s] : R(0);
		}
		__syncthreads();
		for (int p = 0; p < %[1]d; p++) {
			R x[4], y[4];
			for (int r = 0; r < 4; r++) { x[r] = sa[p][ty + 16 * r]; y[r] = sb[p][tx + 16 * r]; }
			for (int r = 0; r < 4; r++)
				for (int c = 0; c < 4; c++) sum[r][c] = fma(x[r], y[c], sum[r][c]);
		}
		__syncthreads();
	}
	for (int r = 0; r < 4; r++)
		for (int c = 0; c < 4; c++) {
			index_t i = i0 + ty + 16 * r, j = j0 + tx + 16 * c;
			if (i < %[11]s && j < %[15]s) out[(batch * %[11]s + i) * %[15]s + j] = sum[r][c];
		}
	}
}

`, strip, tile, place, number(rows*columns*batches), number(rows*columns), number(columns), number(depth), block,
		pick(ta, "e / 64", "e % 16"), pick(ta, "e % 64", "e / 16"), number(m), at(ta, "i0 + q", "p0 + p", lda),
		pick(tb, "e % 16", "e / 64"), pick(tb, "e / 16", "e % 64"), number(n), at(tb, "p0 + p", "j0 + q", ldb))
	return true
}

func pick(first bool, a, b string) string {
	if first {
		return a
	}
	return b
}
