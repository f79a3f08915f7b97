// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package cuda

import (
	"fmt"

	"github.com/euryale-dev/euryale/autodiff/internal/compiler"
	"github.com/euryale-dev/euryale/tensor"
)

// mostMatrix is the edge of the largest matrix that a block factors or solves alone.
const mostMatrix = 512

// Cholesky factors symmetric positive definite matrices, in float64 as the processor does. One that is not is NaN
// if the attribute says so or lanes fail alone, and is reported otherwise.
func Cholesky(s *Step) bool {
	n := s.Value.Shape[len(s.Value.Shape)-1]
	if n == 0 {
		return false
	}
	report := fmt.Sprintf("fail(%d);", FaultNotPositive)
	if s.Attr[0] == 1 || s.g.isolate {
		report = ";"
	}
	if choleskyBySolver(s, s.Size()/(n*n), n, report == ";") {
		return true
	}
	work, room := "work", n*n
	if s.g.precision == 64 {
		work, room = "out + matrix * n * n", 0
	}
	return dense(s, s.Size()/(n*n), room, n, fmt.Sprintf(`	const int n = %[1]d;
	double *l = %[2]s;
	const R *from = in0 + matrix * n * n;
	R *to = out + matrix * n * n;
	for (int e = tid; e < n * n; e += threads) l[e] = from[e];
	__syncthreads();
	bool good = true;
	for (int j = 0; j < n; j++) {
		double pivot = l[j * n + j];
		__syncthreads();
		if (!(pivot > 0.0) || isinf(pivot)) { good = false; break; }
		double root = sqrt(pivot);
		for (int i = j + tid; i < n; i += threads) {
			diagonal[i] = i == j ? root : l[i * n + j] / root;
			l[i * n + j] = diagonal[i];
		}
		__syncthreads();
		for (int i = j + 1 + tid; i < n; i += threads)
			for (int k = j + 1; k <= i; k++) l[i * n + k] -= diagonal[i] * diagonal[k];
		__syncthreads();
	}
	if (!good && tid == 0) { %[3]s }
	for (int e = tid; e < n * n; e += threads) to[e] = (R)(!good ? NAN : e %% n > e / n ? 0.0 : l[e]);`, n, work, report))
}

// SolveTriangular solves a x = b for triangular a: attributes say whether a is lower and whether it is
// transposed. A thread has a column of b.
func SolveTriangular(s *Step) bool {
	k := len(s.Value.Shape)
	n, m := s.Value.Shape[k-2], s.Value.Shape[k-1]
	lower, transposed := s.Attr[0] == 1, s.Attr[1] == 1
	if triangularBySolver(s, n, m, lower, transposed) {
		return true
	}
	if n > mostMatrix {
		return false
	}
	offsets := pairs(s, n*n, n*m)
	// Forwards for a lower matrix that is not transposed, or an upper one that is.
	row, from, to := "t", "0", "r"
	if lower == transposed {
		row, from, to = fmt.Sprintf("%d - 1 - t", n), "r + 1", number(n)
	}
	element := "a[r * n + c]"
	if transposed {
		element = "a[c * n + r]"
	}
	s.Lines(s.Size()/n, fmt.Sprintf(`		const int n = %[1]d;
		const index_t *place = %[2]s;
		const R *a = in0 + place[2 * (i / %[3]s)], *b = in1 + place[2 * (i / %[3]s) + 1] + i %% %[3]s;
		R *x = out + i / %[3]s * %[4]s + i %% %[3]s;
		for (int t = 0; t < n; t++) {
			int r = %[5]s;
			double sum = b[r * (index_t)%[3]s];
			for (int c = %[6]s; c < %[7]s; c++) sum -= (double)%[8]s * x[c * (index_t)%[3]s];
			x[r * (index_t)%[3]s] = (R)(sum / a[r * n + r]);
		}`, n, offsets, number(m), number(n*m), row, from, to, element))
	return true
}

// pairs returns a table of pairTable.
func pairs(s *Step, sizeA, sizeB int) string { return s.Table(pairTable(s, sizeA, sizeB)) }

// pairTable returns the positions of the first and the second matrix for each matrix of the result.
func pairTable(s *Step, sizeA, sizeB int) []int64 {
	as, bs := tensor.Shape(s.InShape(0)), tensor.Shape(s.InShape(1))
	lead := tensor.Shape(s.Value.Shape[:len(s.Value.Shape)-2])
	a, b := as[:len(as)-2], bs[:len(bs)-2]
	sa, sb := compiler.AlignedStrides(a, a.Strides(), lead), compiler.AlignedStrides(b, b.Strides(), lead)
	var offsets []int64
	compiler.Walk(lead, func(idx []int, _ int) {
		oa, ob := 0, 0
		for i, x := range idx {
			oa, ob = oa+x*sa[i], ob+x*sb[i]
		}
		offsets = append(offsets, int64(oa*sizeA), int64(ob*sizeB))
	})
	return offsets
}
