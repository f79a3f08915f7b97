// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package cuda

import "fmt"

// cubicText are the weights of a piecewise cubic function, and the cell of a shifted point among those of n knots, or -1.
const cubicText = `static inline __device__ void eu_cubic(int order, double t, double ratio, double *a, double *b, double *c, double *d) {
	double u = 1.0 - t;
	*a = order == 0 ? u : order == 1 ? -1.0 : 0.0;
	*b = order == 0 ? t : order == 1 ? 1.0 : 0.0;
	*c = order == 0 ? u * (u * u - 1.0) : order == 1 ? 1.0 - 3.0 * u * u : order == 2 ? 6.0 * u : -6.0;
	*d = ratio * (order == 0 ? t * (t * t - 1.0) : order == 1 ? 3.0 * t * t - 1.0 : order == 2 ? 6.0 * t : 6.0);
}
static inline __device__ index_t eu_cell(index_t first, double shift, index_t n) {
	if (!(shift > -1e15 && shift < 1e15)) return -1;
	index_t j = first + (index_t)floor(shift);
	return j < 0 || j > n - 2 ? -1 : j;
}
`

// Cubic evaluates a piecewise cubic function: a thread has a point. first are the cells before the points are shifted.
func Cubic(s *Step, first []int64) bool {
	n, knots := lengths(s, 0)
	s.Shared("cubic", cubicText)
	s.Elements(s.Size(), fmt.Sprintf(`		const index_t row = i / %[1]s, k = i %% %[1]s, *place = %[2]s + 5 * row;
		double a, b, c, d;
		index_t j = eu_cell((%[5]s)[k], in2[place[2] + k], %[3]s);
		eu_cubic(%[4]d, in3[place[3] + k], j < 0 ? R(0) : in4[j], &a, &b, &c, &d);
		const R *y = in0 + place[0] + j, *w = in1 + place[1] + j;
		out[i] = j < 0 ? R(NAN) : (R)(a * y[0] + b * y[1] + (c * w[0] + d * w[1]));`,
		number(n), rowTable(s, 1, 1, 1, 1, 1, 1), number(knots), s.Attr[0], s.Table(first)))
	return true
}

// CubicBack is the transpose of Cubic. If cells ascend, a thread has a knot and searches the points of both cells
// beside it; otherwise it has a row.
func CubicBack(s *Step, first []int64, ascending bool) bool {
	knots, n := lengths(s, 0)
	s.Shared("cubic", cubicText)
	rows := s.Size() / (2 * knots)
	head := fmt.Sprintf(`		const index_t knots = %[1]s, n = %[2]s, *first = %[3]s;
		const index_t row = i / %[4]s, *place = %[5]s + 4 * row;
		const R *g = in0 + place[0], *shift = in1 + place[1], *t = in2 + place[2];
		R *y = out + 2 * row * knots, *w = y + knots;
		double a, b, c, d;
`, number(knots), number(n), s.Table(first), number(pick(ascending, knots, 1)), rowTable(s, 2, 1, 1, 1, 1))
	if !ascending {
		s.Lines(rows, head+fmt.Sprintf(`		for (index_t e = 0; e < 2 * knots; e++) y[e] = R(0);
		for (index_t k = 0; k < n; k++) {
			index_t j = eu_cell(first[k], shift[k], knots);
			if (j < 0) continue;
			eu_cubic(%d, t[k], in3[j], &a, &b, &c, &d);
			y[j] += (R)(a * g[k]);
			y[j + 1] += (R)(b * g[k]);
			w[j] += (R)(c * g[k]);
			w[j + 1] += (R)(d * g[k]);
		}`, s.Attr[0]))
		return true
	}
	s.Elements(rows*knots, head+fmt.Sprintf(`		const index_t at = i %% knots;
		index_t lo = 0, hi = n;
		while (lo < hi) {
			index_t mid = (lo + hi) / 2;
			if (first[mid] + floor((double)shift[mid]) < at - 1) lo = mid + 1;
			else hi = mid;
		}
		double sumY = 0.0, sumW = 0.0;
		for (; lo < n; lo++) {
			double cell = first[lo] + floor((double)shift[lo]);
			if (cell > at) break;
			index_t j = eu_cell(first[lo], shift[lo], knots);
			if (j < 0) continue;
			eu_cubic(%d, t[lo], in3[j], &a, &b, &c, &d);
			sumY += (j == at ? a : b) * g[lo];
			sumW += (j == at ? c : d) * g[lo];
		}
		y[at] = (R)sumY;
		w[at] = (R)sumW;`, s.Attr[0]))
	return true
}
