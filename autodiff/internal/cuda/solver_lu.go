// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package cuda

import device "github.com/euryale-dev/euryale/kernels/cuda"

// factorsBySolver lets cuSOLVER factor the matrices at a, with n pivots for each.
func (x *solver) factorsBySolver(a, n int) (pivots int) {
	half := (n + 1) / 2
	pivots = x.take(x.count * half)
	x.call("cuSOLVER", true, func(l *device.Libraries, on *device.Stream, info device.Part, part func(array, size int) device.Part) error {
		return l.LU(on, device.Float64, n, part(a, n*n), part(pivots, half), info)
	})
	return pivots
}

// solvedBySolver is Solve by cuSOLVER.
func solvedBySolver(s *Step, count, n, k int) bool {
	left := "in0[<PLACE>[2 * matrix] + e]"
	if s.Attr[0] == 1 {
		left = "in0[<PLACE>[2 * matrix] + e % <N> * <N> + e / <N>]"
	}
	return solveBySolver(s, count, n, k, func(x *solver) (string, string) {
		place := pairs(s, n*n, n*k)
		return x.text(left, "PLACE", place, "N", n), x.text("in1[<PLACE>[2 * matrix + 1] + e]", "PLACE", place)
	})
}

// invertedBySolver is Inverse by cuSOLVER.
func invertedBySolver(s *Step, count, n int) bool {
	return solveBySolver(s, count, n, n, func(x *solver) (string, string) {
		return x.text("in0[matrix * <SIZE> + e]", "SIZE", n*n), x.text("e / <N> == e % <N> ? 1.0 : 0.0", "N", n)
	})
}

// solveBySolver solves a x = b by cuSOLVER for matrices whose elements e sides tells.
func solveBySolver(s *Step, count, n, k int, sides func(x *solver) (left, right string)) bool {
	return bySolver(s, count, n, n*n+n*k, func(x *solver) {
		left, right := sides(x)
		a, b := x.load(n*n, left), x.load(n*k, right)
		pivots := x.factorsBySolver(a, n)
		x.elements(n, x.text(`		double pivot = <A>[e * (<N> + 1)];
		if (info[m] != 0 || pivot == 0.0 || pivot != pivot) <REFUSE>`, "A", x.at(a, n*n), "N", n, "REFUSE", x.refuse(FaultSingular, x.g.isolate)))
		// What is said about the factors has been read, so that the solution may say there what it likes.
		x.call("cuSOLVER", true, func(l *device.Libraries, on *device.Stream, info device.Part, part func(array, size int) device.Part) error {
			return l.LUSolve(on, device.Float64, n, k, part(a, n*n), part(pivots, (n+1)/2), part(b, n*k), info)
		})
		x.elements(n*k, x.text("\t\tout[matrix * <SIZE> + e] = (R)(bad[m] != 0.0 ? NAN : <B>[e]);", "SIZE", n*k, "B", x.at(b, n*k)))
	})
}

// determinantBySolver is determinant by cuSOLVER: text sees the factors a of one matrix and the sign of their
// permutation.
func determinantBySolver(s *Step, count, n int, text string) bool {
	return bySolver(s, count, n, n*n, func(x *solver) {
		a := x.load(n*n, x.text("in0[matrix * <SIZE> + e]", "SIZE", n*n))
		pivots := x.factorsBySolver(a, n)
		x.lines(1, x.text(`		const double *a = <A>;
		const int *pivots = (const int *)<PIVOTS>;
		double sign = 1.0;
		for (int k = 0; k < <N>; k++)
			if (pivots[k] != k + 1) sign = -sign;
		`, "A", x.at(a, n*n), "PIVOTS", x.at(pivots, (n+1)/2), "N", n)+text)
	})
}
