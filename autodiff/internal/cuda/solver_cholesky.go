// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package cuda

import device "github.com/euryale-dev/euryale/kernels/cuda"

// choleskyBySolver is Cholesky by cuSOLVER. What is not finite in a matrix shows in a pivot.
func choleskyBySolver(s *Step, count, n int, silent bool) bool {
	return bySolver(s, count, n, n*n, func(x *solver) {
		a := x.load(n*n, x.text("in0[matrix * <SIZE> + e]", "SIZE", n*n))
		x.call("cuSOLVER", true, func(l *device.Libraries, on *device.Stream, info device.Part, part func(array, size int) device.Part) error {
			return l.Cholesky(on, device.Float64, n, part(a, n*n), info)
		})
		x.elements(n, x.text(`		double pivot = <A>[e * (<N> + 1)];
		if (info[m] != 0 || !(pivot > 0.0) || isinf(pivot)) <REFUSE>`, "A", x.at(a, n*n), "N", n, "REFUSE", x.refuse(FaultNotPositive, silent)))
		x.elements(n*n, x.text(`		out[matrix * <SIZE> + e] = (R)(bad[m] != 0.0 ? NAN : e % <N> > e / <N> ? 0.0 : <A>[e]);`, "A", x.at(a, n*n), "N", n, "SIZE", n*n))
	})
}

// choleskyGradBySolver is CholeskyGrad by cuBLAS.
func choleskyGradBySolver(s *Step, count, n int) bool {
	size := n * n
	return bySolver(s, count, n, 3*size, func(x *solver) {
		l := x.load(size, x.text("e % <N> > e / <N> ? R(0) : in0[matrix * <SIZE> + e]", "N", n, "SIZE", size))
		g := x.load(size, x.text("e % <N> > e / <N> ? R(0) : in1[matrix * <SIZE> + e]", "N", n, "SIZE", size))
		p := x.take(x.count * size)
		x.call("cuBLAS", false, func(b *device.Libraries, on *device.Stream, _ device.Part, part func(array, size int) device.Part) error {
			return b.MatMul(on, device.MatMul{Type: device.Float64, M: n, N: n, K: n, TransA: true, A: part(l, size), B: part(g, size), C: part(p, size)})
		})
		x.elements(size, x.text(`		index_t row = e / <N>, column = e % <N>;
		<P>[e] = column > row ? 0.0 : column == row ? 0.5 * <P>[e] : <P>[e];`, "N", n, "P", x.at(p, size)))
		solve := func(array int) {
			x.call("cuBLAS", false, func(b *device.Libraries, on *device.Stream, _ device.Part, part func(array, size int) device.Part) error {
				return b.SolveTriangular(on, device.Float64, n, n, true, true, part(l, size), part(array, size))
			})
		}
		solve(p)
		x.elements(size, x.text("\t\t<G>[e % <N> * <N> + e / <N>] = <P>[e];", "N", n, "P", x.at(p, size), "G", x.at(g, size)))
		solve(g)
		x.elements(size, x.text(`		index_t row = e / <N>, column = e % <N>;
		const double *s = <G>;
		out[matrix * <SIZE> + e] = (R)(column > row ? 0.0 : column == row ? s[e] : s[e] + s[column * <N> + row]);`, "N", n, "SIZE", size, "G", x.at(g, size)))
	})
}

// triangularBySolver is SolveTriangular by cuBLAS.
func triangularBySolver(s *Step, n, k int, lower, transposed bool) bool {
	return bySolver(s, s.Size()/(n*k), n, n*n+n*k, func(x *solver) {
		place := pairs(s, n*n, n*k)
		a := x.load(n*n, "in0["+place+"[2 * matrix] + e]")
		b := x.load(n*k, "in1["+place+"[2 * matrix + 1] + e]")
		x.call("cuBLAS", false, func(l *device.Libraries, on *device.Stream, _ device.Part, part func(array, size int) device.Part) error {
			return l.SolveTriangular(on, device.Float64, n, k, lower, transposed, part(a, n*n), part(b, n*k))
		})
		x.elements(n*k, x.text("\t\tout[matrix * <SIZE> + e] = (R)<B>[e];", "SIZE", n*k, "B", x.at(b, n*k)))
	})
}
