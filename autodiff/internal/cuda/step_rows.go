// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package cuda

import (
	"fmt"

	"github.com/euryale-dev/euryale/autodiff/internal/compiler"
	"github.com/euryale-dev/euryale/tensor"
)

// rowTable returns the C expression of a table that holds, for each row of the result, where the row of each input
// begins. A row is the last axes, as many as out says of the result and in says of the inputs; the others broadcast.
func rowTable(s *Step, out int, in ...int) string {
	lead := tensor.Shape(s.Value.Shape[:len(s.Value.Shape)-out])
	var table []int64
	var strides [][]int
	var sizes []int
	for i, k := range in {
		shape := tensor.Shape(s.InShape(i))
		own := shape[:len(shape)-k]
		strides = append(strides, compiler.AlignedStrides(own, own.Strides(), lead))
		sizes = append(sizes, shape[len(shape)-k:].Size())
	}
	compiler.Walk(lead, func(idx []int, _ int) {
		for i := range in {
			at := 0
			for axis, x := range idx {
				at += x * strides[i][axis]
			}
			table = append(table, int64(at*sizes[i]))
		}
	})
	return s.Table(table)
}

// lengths returns the last axis of the result and of input k.
func lengths(s *Step, k int) (out, in int) {
	x := s.InShape(k)
	return s.Value.Shape[len(s.Value.Shape)-1], x[len(x)-1]
}

// BandedMatVec multiplies by banded matrices: a thread has an element of a product.
func BandedMatVec(s *Step) bool {
	n, _ := lengths(s, 0)
	shape := s.InShape(0)
	diagonals := shape[len(shape)-2]
	from, element := "i + d", "o * (index_t)n + i"
	if s.Attr[0] == 1 {
		from, element = "i - d", "o * (index_t)n + i - d"
	}
	s.Elements(s.Size(), fmt.Sprintf(`		const int n = %[1]s, diagonals = %[2]d;
		const index_t row = i / n, *place = %[3]s + 2 * row;
		const R *band = in0 + place[0], *x = in1 + place[1];
		const index_t whole = i;
		double sum = 0.0;
		{ const index_t i = whole %% n;
		for (int o = 0; o < diagonals; o++) {
			int d = o - diagonals / 2;
			index_t from = %[4]s;
			if (from >= 0 && from < n) sum += (double)band[%[5]s] * x[from];
		} }
		out[whole] = (R)sum;`, number(n), diagonals, rowTable(s, 1, 2, 1), from, element))
	return true
}

// BandedOuter makes the band of an outer product.
func BandedOuter(s *Step) bool {
	k := len(s.Value.Shape)
	n, diagonals := s.Value.Shape[k-1], s.Value.Shape[k-2]
	s.Elements(s.Size(), fmt.Sprintf(`		const int n = %[1]s, diagonals = %[2]d;
		const index_t row = i / ((index_t)n * diagonals), o = i / n %% diagonals, at = i %% n, to = at + o - diagonals / 2, *place = %[3]s + 2 * row;
		out[i] = to >= 0 && to < n ? in0[place[0] + at] * in1[place[1] + to] : R(0);`, number(n), diagonals, rowTable(s, 2, 1, 1)))
	return true
}

// Convolve convolves rows with kernels; the attribute says whether these are reversed (1). A thread has an element.
func Convolve(s *Step) bool {
	n, taps := lengths(s, 1)
	s.Elements(s.Size(), fmt.Sprintf(`		const int n = %[1]s, taps = %[2]d;
		const index_t row = i / n, at = i %% n, *place = %[3]s + 2 * row;
		const R *x = in0 + place[0], *w = in1 + place[1];
		double sum = 0.0;
		for (int j = 0; j < taps; j++) {
			index_t from = at + %[4]s;
			if (from >= 0 && from < n && w[j] != R(0)) sum += (double)w[j] * x[from];
		}
		out[i] = (R)sum;`, number(n), taps, rowTable(s, 1, 1, 1), pick(s.Attr[0]&1 == 1, "j - taps / 2", "taps / 2 - j")))
	return true
}

// ConvolveTaps is the gradient of Convolve by the kernel, of which zeros may be constants (2): a block sums each element.
func ConvolveTaps(s *Step) bool {
	taps, n := lengths(s, 0)
	return dense(s, s.Size(), 0, block, fmt.Sprintf(`	const int n = %[1]s, taps = %[2]d;
	const index_t row = matrix / taps, *place = %[3]s + 3 * row;
	const int j = (int)(matrix %% taps), d = %[4]s;
	const R *x = in0 + place[0], *g = in1 + place[1];
	double sum = 0.0;
	for (index_t e = tid; e < n && %[5]s; e += threads)
		if (e + d >= 0 && e + d < n) sum += (double)g[e] * x[e + d];
	sum = eu_total(sum);
	if (tid == 0) out[matrix] = (R)sum;`, number(n), taps, rowTable(s, 1, 1, 1, 1), pick(s.Attr[0]&1 == 1, "j - taps / 2", "taps / 2 - j"), pick(s.Attr[0]&2 == 2, "in2[place[2] + j] != R(0)", "true")))
}

// tridiagonalTile is the number of unknowns that a thread finds, besides those whose sweeps it begins early.
const tridiagonalTile = 32

// Tridiagonal solves with a factored tridiagonal matrix. Where sweeps soon forget where they began, a thread has a
// tile of a row, and begins its sweeps that much earlier; otherwise it has a row.
func Tridiagonal(s *Step) bool {
	n, _ := lengths(s, 0)
	reach := s.Attr[0]
	place := rowTable(s, 1, 1, 1, 1, 1)
	if reach == 0 || n < 2*tridiagonalTile {
		s.Lines(s.Size()/n, fmt.Sprintf(`		const int n = %[1]s;
		const R *b = in0 + (%[2]s)[4 * i];
		R *x = out + i * n;
		double y = 0.0;
		for (int k = 0; k < n; k++) { y = b[k] - (double)in1[k] * y; x[k] = (R)y; }
		double z = y * in2[n - 1];
		x[n - 1] = (R)z;
		for (int k = n - 2; k >= 0; k--) { z = (double)x[k] * in2[k] - (double)in3[k + 1] * z; x[k] = (R)z; }`, number(n), place))
		return true
	}
	tiles := (n + tridiagonalTile - 1) / tridiagonalTile
	s.Elements(s.Size()/n*tiles, fmt.Sprintf(`		const int n = %[1]s, tile = %[3]d, reach = %[4]d;
		const index_t row = i / %[5]d;
		const int from = (int)(i %% %[5]d) * tile, to = from + tile < n ? from + tile : n, end = to + reach < n ? to + reach : n;
		const R *b = in0 + (%[2]s)[4 * row];
		double y = 0.0, swept[%[6]d];
		for (int k = from - reach > 0 ? from - reach : 0; k < end; k++) {
			y = b[k] - (double)in1[k] * y;
			if (k >= from) swept[k - from] = y;
		}
		double z = 0.0;
		for (int k = end - 1; k >= from; k--) {
			z = swept[k - from] * in2[k] - (k + 1 < n ? (double)in3[k + 1] * z : 0.0);
			if (k < to) out[row * n + k] = (R)z;
		}`, number(n), place, tridiagonalTile, reach, tiles, tridiagonalTile+reach))
	return true
}

// SparseAlong multiplies with a matrix in compressed sparse rows along an axis: a thread has an element.
func SparseAlong(s *Step) bool {
	s.Converts()
	_, inner, rows := Around(s.Value.Shape, s.Attr[0])
	_, _, cols := Around(s.InShape(0), s.Attr[0])
	s.Elements(s.Size(), fmt.Sprintf(`		const index_t row = i / %[1]s %% %[2]s, end = in3[row + 1];
		const index_t base = i / %[3]s * %[4]s + i %% %[1]s;
		double sum = 0.0;
		for (index_t k = in3[row]; k < end; k++) sum += (double)in1[k] * in0[base + in2[k] * %[1]s];
		out[i] = (R)sum;`, number(inner), number(rows), number(rows*inner), number(cols*inner)))
	return true
}
