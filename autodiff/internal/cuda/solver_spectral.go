// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package cuda

import device "github.com/euryale-dev/euryale/kernels/cuda"

// eigenBySolver is EigenSymmetric by cuSOLVER; a thread has a vector.
func eigenBySolver(s *Step, count, n int) bool {
	return bySolver(s, count, n, n*n+n, func(x *solver) {
		a := x.loadFinite(n * n)
		w := x.take(x.count * n)
		x.call("cuSOLVER", true, func(l *device.Libraries, on *device.Stream, info device.Part, part func(array, size int) device.Part) error {
			return l.Eigh(on, device.Float64, n, part(a, n*n), part(w, n), info)
		})
		x.lines(n, x.text(`		const double *v = <V> + e;
		R *to = out + matrix * <SIZE> + e;
		if (info[m] != 0) <REFUSE>
		double best = 0.0, sign = 1.0;
		for (int r = 0; r < <N>; r++)
			if (fabs(v[r * <N>]) > best) { best = fabs(v[r * <N>]); sign = v[r * <N>] < 0.0 ? -1.0 : 1.0; }
		to[0] = (R)<W>[e];
		for (int r = 0; r < <N>; r++) to[(r + 1) * <N>] = (R)(sign * v[r * <N>]);`,
			"V", x.at(a, n*n), "W", x.at(w, n), "N", n, "SIZE", n*(n+1), "REFUSE", x.refuse(FaultNoConvergence, false)))
	})
}

// svdBySolver is SVD by cuSOLVER; a thread has a pair of vectors.
func svdBySolver(s *Step, count, m, n int) bool {
	k := min(m, n)
	return bySolver(s, count, max(m, n), m*n+m*k+k+k*n, func(x *solver) {
		a := x.loadFinite(m * n)
		u, w, vt := x.take(x.count*m*k), x.take(x.count*k), x.take(x.count*k*n)
		x.call("cuSOLVER", true, func(l *device.Libraries, on *device.Stream, info device.Part, part func(array, size int) device.Part) error {
			return l.SVD(on, device.Float64, m, n, part(a, m*n), part(u, m*k), part(w, k), part(vt, k*n), info)
		})
		x.lines(k, x.text(`		const double *u = <U> + e, *v = <V> + e * <COLUMNS>;
		R *to = out + matrix * <SIZE> + e;
		if (info[m] != 0) <REFUSE>
		double best = 0.0, sign = 1.0;
		for (int r = 0; r < <COLUMNS>; r++)
			if (fabs(v[r]) > best) { best = fabs(v[r]); sign = v[r] < 0.0 ? -1.0 : 1.0; }
		for (int r = 0; r < <ROWS>; r++, to += <K>) *to = (R)(sign * u[r * <K>]);
		*to = (R)<W>[e];
		for (int r = 0; r < <COLUMNS>; r++) *(to += <K>) = (R)(sign * v[r]);`,
			"U", x.at(u, m*k), "V", x.at(vt, k*n), "W", x.at(w, k), "ROWS", m, "COLUMNS", n, "K", k, "SIZE", (m+1+n)*k, "REFUSE", x.refuse(FaultNoConvergence, false)))
	})
}

// qrBySolver is QR by cuSOLVER.
func qrBySolver(s *Step, count, m, n int) bool {
	return bySolver(s, count, max(m, n), m*n+n*n, func(x *solver) {
		a := x.load(m*n, x.text("in0[matrix * <SIZE> + e]", "SIZE", m*n))
		r := x.take(x.count * n * n)
		x.call("cuSOLVER", true, func(l *device.Libraries, on *device.Stream, info device.Part, part func(array, size int) device.Part) error {
			return l.QR(on, device.Float64, m, n, part(a, m*n), part(a, m*n), part(r, n*n), info)
		})
		x.elements(m*n, x.text("\t\tout[matrix * <SIZE> + e] = (R)(<R>[e % <N> * (<N> + 1)] < 0.0 ? -<A>[e] : <A>[e]);", "SIZE", (m+n)*n, "A", x.at(a, m*n), "R", x.at(r, n*n), "N", n))
		x.elements(n*n, x.text(`		index_t row = e / <N>, column = e % <N>;
		out[matrix * <SIZE> + <BEFORE> + e] = (R)(column < row ? 0.0 : <R>[row * (<N> + 1)] < 0.0 ? -<R>[e] : <R>[e]);`, "SIZE", (m+n)*n, "BEFORE", m*n, "R", x.at(r, n*n), "N", n))
	})
}
