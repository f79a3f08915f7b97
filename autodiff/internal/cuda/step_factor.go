// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package cuda

import "fmt"

// QR gives the reduced factors of m x n matrices, m >= n, one above the other, by reflections; the diagonal of
// the second is positive. A thread has a column.
func QR(s *Step) bool {
	shape := s.InShape(0)
	m, n := shape[len(shape)-2], shape[len(shape)-1]
	if qrBySolver(s, s.Value.In[0].Size()/(m*n), m, n) {
		return true
	}
	return dense(s, s.Value.In[0].Size()/(m*n), 2*m*n, max(m, n), fmt.Sprintf(`	const int m = %[1]d, n = %[2]d;
	double *a = work, *q = work + m * n;
	for (int e = tid; e < m * n; e += threads) { a[e] = in0[matrix * m * n + e]; q[e] = e / n == e %% n ? 1.0 : 0.0; }
	__syncthreads();
	for (int k = 0; k < n; k++) { // the reflection 1 - tau v v^T, v = 1 and what stands below the diagonal
		double top = 0.0, sum = 0.0;
		for (int i = k + 1 + tid; i < m; i += threads) top = eu_max(top, fabs(a[i * n + k]));
		top = eu_max(eu_largest(top), fabs(a[k * n + k]));
		double scale = top > 0.0 && !isinf(top) ? 1.0 / top : 1.0;
		for (int i = k + 1 + tid; i < m; i += threads) { double v = a[i * n + k] * scale; sum += v * v; }
		sum = eu_total(sum);
		double alpha = a[k * n + k], first = alpha * scale, beta = alpha, tau = 0.0;
		if (sum != 0.0) {
			beta = sqrt(first * first + sum) / scale;
			if (alpha >= 0.0) beta = -beta;
			tau = (beta - alpha) / beta;
			for (int i = k + 1 + tid; i < m; i += threads) a[i * n + k] /= alpha - beta;
		}
		__syncthreads();
		if (tid == 0) { a[k * n + k] = beta; diagonal[k] = tau; }
		for (int j = k + 1 + tid; j < n; j += threads) {
			double w = a[k * n + j];
			for (int i = k + 1; i < m; i++) w += a[i * n + k] * a[i * n + j];
			w *= tau;
			a[k * n + j] -= w;
			for (int i = k + 1; i < m; i++) a[i * n + j] -= w * a[i * n + k];
		}
		__syncthreads();
	}
	for (int j = tid; j < n; j += threads)
		for (int k = n - 1; k >= 0; k--) {
			double w = q[k * n + j];
			for (int i = k + 1; i < m; i++) w += a[i * n + k] * q[i * n + j];
			w *= diagonal[k];
			q[k * n + j] -= w;
			for (int i = k + 1; i < m; i++) q[i * n + j] -= w * a[i * n + k];
		}
	__syncthreads();
	R *to = out + matrix * (m + n) * n;
	for (int e = tid; e < m * n; e += threads) to[e] = (R)(a[e %% n * (n + 1)] < 0.0 ? -q[e] : q[e]);
	for (int e = tid; e < n * n; e += threads) {
		int i = e / n, j = e %% n;
		to[m * n + e] = (R)(j < i ? 0.0 : a[i * (n + 1)] < 0.0 ? -a[e] : a[e]);
	}`, m, n))
}

// EigenSymmetric gives the eigenvalues of symmetric matrices, ascending, and below them the eigenvectors as
// columns, by cyclic rotations of pairs of rows and columns that do not touch each other.
//
// Reference: Golub and Van Loan, Matrix Computations, section 8.5.
func EigenSymmetric(s *Step) bool {
	n := s.Value.Shape[len(s.Value.Shape)-1]
	if eigenBySolver(s, s.Size()/(n*(n+1)), n) {
		return true
	}
	return dense(s, s.Size()/(n*(n+1)), 2*n*n, n, pairsOfRounds(n)+fmt.Sprintf(`	double *a = work, *v = work + n * n;
	const R *from = in0 + matrix * n * n;
	double bad = 0.0, norm = 0.0;
	for (int e = tid; e < n * n; e += threads) {
		int i = e / n, j = e %% n;
		double x = from[j > i ? j * n + i : e];
		bad += 0.0 * (double)from[e];
		a[e] = x;
		v[e] = i == j ? 1.0 : 0.0;
		norm = eu_max(norm, fabs(x));
	}
	bad = eu_total(bad);
	norm = eu_largest(norm);
	if (bad != 0.0) { if (tid == 0) fail(%[2]d); continue; }
	bool done = n == 1 || norm == 0.0;
	for (int sweep = 0; sweep < %[3]d && !done; sweep++) {
		double turned = 0.0;
		for (int round = 0; round < rounds; round++) {
			for (int pair = tid; pair < rounds_pairs; pair += threads) {
				int p, q;
				eu_pair(teams, round, pair, &p, &q);
				double c = 1.0, z = 0.0;
				if (q < n) {
					double off = a[p * n + q];
					if (fabs(off) > norm * 1e-17) {
						double t = (a[q * n + q] - a[p * n + p]) / (2.0 * off);
						t = (t >= 0.0 ? 1.0 : -1.0) / (fabs(t) + sqrt(t * t + 1.0));
						c = 1.0 / sqrt(t * t + 1.0);
						z = t * c;
						turned = 1.0;
					}
				}
				diagonal[pair] = c;
				sine[pair] = z;
			}
			__syncthreads();
			for (int e = tid; e < rounds_pairs * n; e += threads) {
				int pair = e %% rounds_pairs, i = e / rounds_pairs, p, q;
				eu_pair(teams, round, pair, &p, &q);
				double c = diagonal[pair], z = sine[pair];
				if (q >= n || z == 0.0) continue;
				double x = a[i * n + p], y = a[i * n + q];
				a[i * n + p] = c * x - z * y;
				a[i * n + q] = z * x + c * y;
				x = v[i * n + p], y = v[i * n + q];
				v[i * n + p] = c * x - z * y;
				v[i * n + q] = z * x + c * y;
			}
			__syncthreads();
			for (int e = tid; e < rounds_pairs * n; e += threads) {
				int pair = e / n, j = e %% n, p, q;
				eu_pair(teams, round, pair, &p, &q);
				double c = diagonal[pair], z = sine[pair];
				if (q >= n || z == 0.0) continue;
				double x = a[p * n + j], y = a[q * n + j];
				a[p * n + j] = j == q ? 0.0 : c * x - z * y;
				a[q * n + j] = j == p ? 0.0 : z * x + c * y;
			}
			__syncthreads();
		}
		done = eu_largest(turned) == 0.0;
	}
	if (!done) { if (tid == 0) fail(%[2]d); continue; }
	R *to = out + matrix * n * (n + 1);
	for (int j = tid; j < n; j += threads) {
		double w = a[j * (n + 1)], best = 0.0, sign = 1.0;
		int rank = 0;
		for (int i = 0; i < n; i++) rank += a[i * (n + 1)] < w || (a[i * (n + 1)] == w && i < j);
		for (int i = 0; i < n; i++)
			if (fabs(v[i * n + j]) > best) { best = fabs(v[i * n + j]); sign = v[i * n + j] < 0.0 ? -1.0 : 1.0; }
		to[rank] = (R)w;
		for (int i = 0; i < n; i++) to[(1 + i) * n + rank] = (R)(sign * v[i * n + j]);
	}`, n, FaultNoConvergence, mostSweeps))
}

// mostSweeps is the number of times that rotations go over all pairs before they give up; ten suffice for
// matrices of some hundred rows.
const mostSweeps = 40

// pairsOfRounds declares the rounds in which each of n rows meets each other one once.
func pairsOfRounds(n int) string {
	teams := max(2, n+n%2)
	return fmt.Sprintf("\tconst int n = %d, teams = %d, rounds = %d, rounds_pairs = %d;\n", n, teams, teams-1, teams/2)
}

// SVD gives u, s and v of a = u diag(s) v^T one below the other: s descends, and the element of largest size
// in each column of v is positive. Rotations make the columns of a, or of its transpose if that is tall,
// orthogonal; a team of 32 threads has a pair of columns.
//
// Reference: Hestenes, doi:10.1137/0106005.
func SVD(s *Step) bool {
	shape := s.InShape(0)
	m, n := shape[len(shape)-2], shape[len(shape)-1]
	if svdBySolver(s, s.Value.In[0].Size()/(m*n), m, n) {
		return true
	}
	k, long := min(m, n), max(m, n)
	element := "from[i * n0 + j]"
	if m < n {
		element = "from[j * n0 + i]"
	}
	return dense(s, s.Value.In[0].Size()/(m*n), k*long+k*k, long, pairsOfRounds(k)+fmt.Sprintf(`	const int m = %[1]d, m0 = %[2]d, n0 = %[3]d, lane = tid %% 32, team = tid / 32;
	double *a = work, *v = work + n * m; // columns one after another
	const R *from = in0 + matrix * m * n;
	double bad = 0.0, top = 0.0;
	for (int e = tid; e < n * m; e += threads) {
		int j = e / m, i = e %% m;
		a[e] = %[4]s;
		bad += 0.0 * a[e];
		top = eu_max(top, fabs(a[e]));
	}
	for (int e = tid; e < n * n; e += threads) v[e] = e / n == e %% n ? 1.0 : 0.0;
	bad = eu_total(bad);
	top = eu_largest(top);
	if (bad != 0.0) { if (tid == 0) fail(%[5]d); continue; }
	const double scale = top > 0.0 ? top : 1.0;
	for (int e = tid; e < n * m; e += threads) a[e] /= scale;
	__syncthreads();
	bool done = n == 1 || top == 0.0;
	for (int sweep = 0; sweep < %[6]d && !done; sweep++) {
		double turned = 0.0;
		for (int round = 0; round < rounds; round++) {
			for (int pair = team; pair < rounds_pairs; pair += threads / 32) {
				int p, q;
				eu_pair(teams, round, pair, &p, &q);
				if (q >= n) continue;
				double *x = a + p * m, *y = a + q * m, xx = 0.0, yy = 0.0, xy = 0.0;
				for (int i = lane; i < m; i += 32) { xx += x[i] * x[i]; yy += y[i] * y[i]; xy += x[i] * y[i]; }
				xx = eu_warp_total(xx); yy = eu_warp_total(yy); xy = eu_warp_total(xy);
				// Columns that are nothing beside the largest stay: they are noise.
				if (fabs(xy) <= 1e-16 * sqrt(xx) * sqrt(yy) || fabs(xy) < 1e-36) continue;
				double t = (yy - xx) / (2.0 * xy);
				t = (t >= 0.0 ? 1.0 : -1.0) / (fabs(t) + sqrt(t * t + 1.0));
				double c = 1.0 / sqrt(t * t + 1.0), z = t * c;
				if (fabs(xy) > 4e-16 * sqrt(xx) * sqrt(yy)) turned = 1.0;
				for (int i = lane; i < m; i += 32) { double f = x[i], g = y[i]; x[i] = c * f - z * g; y[i] = z * f + c * g; }
				x = v + p * n; y = v + q * n;
				for (int i = lane; i < n; i += 32) { double f = x[i], g = y[i]; x[i] = c * f - z * g; y[i] = z * f + c * g; }
			}
			__syncthreads();
		}
		done = eu_largest(turned) == 0.0;
	}
	if (!done) { if (tid == 0) fail(%[5]d); continue; }
	for (int j = team; j < n; j += threads / 32) {
		double xx = 0.0;
		for (int i = lane; i < m; i += 32) xx += a[j * m + i] * a[j * m + i];
		xx = sqrt(eu_warp_total(xx));
		if (lane == 0) diagonal[j] = xx;
		for (int i = lane; i < m; i += 32) a[j * m + i] = xx > 1e-15 ? a[j * m + i] / xx : 0.0;
	}
	__syncthreads();
	for (int j = 0; j < n; j++) { // a value of 0 leaves its vector open: take any orthogonal to the others
		if (diagonal[j] > 1e-15) continue;
		double best = -1.0;
		int at = 0;
		for (int i = tid; i < m; i += threads) {
			double left = 1.0;
			for (int q = 0; q < n; q++) left -= a[q * m + i] * a[q * m + i];
			if (left > best) { best = left; at = i; }
		}
		room[tid] = best; where[tid] = at;
		__syncthreads();
		for (int t = 0; t < threads; t++)
			if (room[t] > best || (room[t] == best && where[t] < at)) { best = room[t]; at = where[t]; }
		__syncthreads();
		for (int i = tid; i < m; i += threads) a[j * m + i] = i == at ? 1.0 : 0.0;
		__syncthreads();
		for (int again = 0; again < 2; again++)
			for (int q = 0; q < n; q++) {
				if (q == j) continue;
				double xy = 0.0;
				for (int i = tid; i < m; i += threads) xy += a[q * m + i] * a[j * m + i];
				xy = eu_total(xy);
				for (int i = tid; i < m; i += threads) a[j * m + i] -= xy * a[q * m + i];
				__syncthreads();
			}
		double xx = 0.0;
		for (int i = tid; i < m; i += threads) xx += a[j * m + i] * a[j * m + i];
		xx = sqrt(eu_total(xx));
		for (int i = tid; i < m; i += threads) a[j * m + i] /= xx;
		__syncthreads();
	}
	R *to = out + matrix * (m0 + 1 + n0) * n;
	double *left = %[7]s, *right = %[8]s;
	for (int j = tid; j < n; j += threads) {
		double w = diagonal[j], best = 0.0, sign = 1.0;
		int rank = 0;
		for (int i = 0; i < n; i++) rank += diagonal[i] > w || (diagonal[i] == w && i < j);
		for (int i = 0; i < n0; i++)
			if (fabs(right[j * n0 + i]) > best) { best = fabs(right[j * n0 + i]); sign = right[j * n0 + i] < 0.0 ? -1.0 : 1.0; }
		for (int i = 0; i < m0; i++) to[i * n + rank] = (R)(sign * left[j * m0 + i]);
		to[m0 * n + rank] = (R)(w * scale);
		for (int i = 0; i < n0; i++) to[(m0 + 1 + i) * n + rank] = (R)(sign * right[j * n0 + i]);
	}`, long, m, n, element, FaultNoConvergence, mostSweeps, pick(m < n, "v", "a"), pick(m < n, "a", "v")))
}
