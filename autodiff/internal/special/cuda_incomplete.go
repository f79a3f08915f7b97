// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package special

// CUDAIncomplete is op_incomplete.go in C; it stands after cudaStirling,
// cudaPolygamma and cudaLog1pmx.
const CUDAIncomplete = `
typedef struct { int kind, right; double k, c, p, q; } eu_flank;
typedef struct { int kind; double a, b, over, peak, lx, ly; eu_flank left, right; } eu_cut;
__device__ double eu_expm1mx(double v) {
	if (fabs(v) > 0.5) return expm1(v) - v;
	double s = 1.0;
	for (double k = 16.0; k >= 3.0; k -= 1.0) s = 1.0 + v / k * s;
	return v * v / 2.0 * s;
}
__device__ double eu_bernoulli(double p, double q, double v) {
	if (v < 0.5 && p <= q) return p * eu_expm1mx(-v) + eu_log1pmx(p * expm1(-v));
	if (v < 0.5) return q * eu_expm1mx(v) + eu_log1pmx(q * expm1(v));
	if (p <= q) return log1p(p * expm1(-v)) + p * v;
	if (v < 700.0) return log1p(q * expm1(v)) - q * v;
	return log(q + p * exp(-v)) + p * v;
}
__device__ double eu_flank_at(const eu_flank *e, double v, double *d, double *x, double *y) {
	*y = *x = 0.0;
	if (e->kind == 3) {
		double w = e->c + v;
		*d = -e->k / 2.0 * sinh(2.0 * w) - tanh(w);
		return -e->k / 2.0 * sinh(v) * sinh(e->c + w) - v - log1p(expm1(-2.0 * v) / (1.0 + exp(2.0 * e->c)));
	}
	if (e->kind == 4) {
		double u = e->right ? v : -v, w = e->c + u, h = 1.0 / cosh(w);
		double r = fabs(u) + log1p(expm1(-2.0 * fabs(u)) / (1.0 + exp(u > 0.0 ? 2.0 * e->c : -2.0 * e->c)));
		*d = -e->p * tanh(w) + e->q * h * h;
		if (!e->right) *d = -*d;
		return -e->p * r + e->q * sinh(u) * h / cosh(e->c);
	}
	if (e->kind == 5) {
		double u = e->right ? v : -v, grow = expm1(u), w = e->c * grow;
		*x = u;
		*y = grow;
		*d = (e->right ? -1.0 : 1.0) * (e->p * grow + w * (e->c + w));
		return -e->p * eu_expm1mx(u) - w * w / 2.0;
	}
	if (e->kind) {
		*x = e->right ? v : -v;
		*d = e->right ? e->k - e->c * expm1(v) : -e->k + e->c * expm1(-v);
		return e->right ? e->k * v - e->c * eu_expm1mx(v) : -e->k * v - e->c * eu_expm1mx(-v);
	}
	double k = e->right ? -e->k : e->k, r = eu_bernoulli(e->p, e->q, v);
	*d = -k + e->c * e->p * e->q * expm1(-v) / (e->q + e->p * exp(-v));
	*x = e->right ? e->p * v - r : -e->q * v - r;
	*y = e->right ? -e->q * v - r : e->p * v - r;
	return -k * v - e->c * r;
}
__device__ double eu_reach(const eu_flank *e, double limit) {
	double v = fmin(1.0, limit), d, x, y;
	if (e->kind == 5 && e->c > 10.0) v = 10.0 / e->c;
	for (int i = 0; i < 1100 && v < limit && !(eu_flank_at(e, v, &d, &x, &y) < -40.0); i++) v = fmin(2.0 * v, limit);
	for (int i = 0; i < 200; i++) {
		double f = eu_flank_at(e, v, &d, &x, &y);
		if (f > -44.0) break;
		double next = fmax(v - (f + 40.0) / d, -40.0 / d);
		if (!(next < v)) break;
		v = isinf(f) || e->kind >= 4 ? (f < -1e4 ? 0.7 : 0.95) * v : next;
	}
	return v;
}
__device__ void eu_moments(const eu_flank *e, double limit, double mx, double my, int m, int n, double sum[7][7]) {
	const double node[10] = {0.0765265211334973338, 0.227785851141645078, 0.373706088715419561, 0.510867001950827098, 0.636053680726515025, 0.746331906460150793, 0.839116971822218823, 0.912234428251325906, 0.963971927277913791, 0.993128599185094925};
	const double weight[10] = {0.152753387130725851, 0.149172986472603747, 0.142096109318382051, 0.131688638449176627, 0.118194531961518417, 0.101930119817240435, 0.0832767415767047487, 0.0626720483341090636, 0.0406014298003869413, 0.0176140071391521183};
	double end = eu_reach(e, limit), base = fmin(end / 3.0, e->kind == 5 ? 1.0 : 2.0), at = 0.0, size = base, d, x, y;
	if (isnan(eu_flank_at(e, end, &d, &x, &y)) || isinf(end)) {
		sum[0][0] = NAN;
		return;
	}
	while (at < end) {
		if (at >= 4.0) {
			double before;
			eu_flank_at(e, at, &before, &x, &y);
			for (size *= 2.0; size > base; size /= 2.0) {
				eu_flank_at(e, at + size, &d, &x, &y);
				if (-d * size <= 14.0 && (size <= 4.0 || fabs(before - d) * size <= 1e-6)) break;
			}
			size = fmax(size, base);
		}
		double half = fmin(size, end - at) / 2.0;
		for (int i = 0; i < 10; i++)
			for (double sign = -1.0; sign <= 1.0; sign += 2.0) {
				double f = eu_flank_at(e, at + half * (1.0 + sign * node[i]), &d, &x, &y);
				double w = half * weight[i] * exp(f);
				for (int a = 0; a <= m; a++, w *= x - mx) {
					double u = w;
					for (int b = 0; b <= n; b++, u *= y - my) sum[a][b] += u;
				}
			}
		at += size;
		if (half < size / 2.0) break;
	}
}
__device__ double eu_digamma_rest(double a) {
	return 0.5 / a - eu_stirling_error(1, a);
}
__device__ eu_cut eu_cut_gamma(int kind, double a, double x) {
	double t = a, r = 0.0, d = (x - a) / a;
	double away = fabs(d) < 0.5 ? log1p(d) : log(x) - log(a);
	eu_cut w = {kind, a, 1.0, fabs(away)};
	if ((x > a) == (kind == 2)) {
		t = x; r = away; w.over = 0.0;
	}
	eu_flank l = {kind, 0, a - t, t, 0.0, 0.0};
	w.left = l;
	w.right = l;
	w.right.right = 1;
	w.peak = fabs(r) < 0.3 ? a * eu_log1pmx((t - a) / a) : a * r - (t - a);
	w.peak += 0.5 * log(a / 6.28318530717958647693) - eu_stirling_error(0, a);
	w.lx = r + eu_digamma_rest(a);
	w.ly = 0.0;
	return w;
}
__device__ double eu_softplus(double x) {
	return log1p(exp(-fabs(x))) + fmax(x, 0.0);
}
__device__ eu_cut eu_cut_beta(double a, double b, double s) {
	double c = a + b, mode = log(a / b), p = a / c, q = b / c, peak = mode;
	eu_cut w = {0, a, b};
	if (s < mode) {
		p = 1.0 / (1.0 + exp(-s)); q = 1.0 / (1.0 + exp(s)); peak = s;
	}
	w.over = s - peak;
	double k = a * q - b * p, e = expm1(s - mode);
	if (s < mode && s > mode - 0.5) k = -a / c * b * e / (1.0 + a / c * e);
	if (s >= mode) k = 0.0;
	double dx = -k / a, dy = k / b;
	eu_flank l = {0, 0, k, c, p, q}, r = {0, 1, k, c, q, p};
	w.left = l;
	w.right = r;
	double lx = -eu_softplus(-peak) + eu_softplus(-mode), ly = -eu_softplus(peak) + eu_softplus(mode);
	if (fabs(dx) < 0.3 && fabs(dy) < 0.3) {
		w.peak = a * eu_log1pmx(dx) + b * eu_log1pmx(dy);
		lx = log1p(dx); ly = log1p(dy);
	} else w.peak = a * lx + b * ly;
	w.peak += 0.5 * log(a / c * b / 6.28318530717958647693) + eu_stirling_error(0, c) - eu_stirling_error(0, a) - eu_stirling_error(0, b);
	w.lx = lx + eu_digamma_rest(a) - eu_digamma_rest(c);
	w.ly = ly + eu_digamma_rest(b) - eu_digamma_rest(c);
	return w;
}
__device__ void eu_cut_moments(const eu_cut *w, double mx, double my, int m, int n, double sum[7][7]) {
	for (int i = 0; i < 7; i++) for (int j = 0; j < 7; j++) sum[i][j] = 0.0;
	double l = w->kind == 2 ? w->over : INFINITY, r = w->kind == 2 ? INFINITY : w->over;
	if (l > 0.0) eu_moments(&w->left, l, mx, my, m, n, sum);
	if (r > 0.0) eu_moments(&w->right, r, mx, my, m, n, sum);
}
__device__ double eu_binomial(int n, int k) {
	double c = 1.0;
	if (k < 0 || k > n) return 0.0;
	for (int i = 1; i <= k; i++) c = c * (n - k + i) / i;
	return c;
}
__device__ double eu_cumulant(double sum[7][7], int m, int n) {
	double k[7][7];
	for (int i = 0; i <= m; i++)
		for (int j = 0; j <= n; j++) {
			k[i][j] = i + j < 2 ? 0.0 : sum[i][j] / sum[0][0];
			for (int p = 0; p <= i; p++)
				for (int q = 0; q <= j; q++) {
					if (i + j < 2 || p + q < 2 || p + q == i + j) continue;
					double c = i ? eu_binomial(i - 1, p - 1) * eu_binomial(j, q) : eu_binomial(j - 1, q - 1);
					k[i][j] -= c * k[p][q] * sum[i - p][j - q] / sum[0][0];
				}
		}
	return k[m][n];
}
__device__ double eu_cut_direct(const eu_cut *w, int m, int n) {
	double sum[7][7];
	eu_cut_moments(w, 0.0, 0.0, m > 0, n > 0, sum);
	if (m + n == 0) return w->peak + log(sum[0][0]);
	double mx = sum[1][0] / sum[0][0], my = sum[0][1] / sum[0][0];
	if (m + n == 1) return m * (w->lx + mx) + n * (w->ly + my);
	eu_cut_moments(w, mx, my, m, n, sum);
	double k = eu_cumulant(sum, m, n);
	if (w->kind == 0) k += eu_polygamma_pos(m + n - 1, w->a + w->b);
	if (n == 0) k -= eu_polygamma_pos(m - 1, w->a);
	if (m == 0) k -= eu_polygamma_pos(n - 1, w->b);
	return k;
}
__device__ double eu_incomplete(int kind, int m, int n, double a, double b, double x) {
	double first = kind ? 5e-324 : -1.7976931348623157e308;
	if (!(a > 0.0 && b > 0.0) || isnan(x) || m > 6 || n > 6 || (kind && x < 0.0)) return NAN;
	if (x < first || x > 1.7976931348623157e308) {
		if ((x < first) != (kind != 2) || n > 0 || m > 1) return 0.0;
		return m == 1 && kind == 2 ? INFINITY : -INFINITY;
	}
	eu_cut w = kind ? eu_cut_gamma(kind, a, x) : eu_cut_beta(a, b, x);
	if (m + n > 1 || (w.over == 0.0 && (a > 0.3 || eu_cut_direct(&w, 0, 0) < -0.7))) return eu_cut_direct(&w, m, n);
	eu_cut v = kind ? eu_cut_gamma(3 - kind, a, x) : eu_cut_beta(b, a, -x);
	double rest = eu_cut_direct(&v, 0, 0);
	if (rest > -0.7) return eu_cut_direct(&w, m, n);
	double value = log1p(-exp(rest));
	if (m + n == 0) return value;
	return -exp(rest - value) * (kind ? eu_cut_direct(&v, m, n) : eu_cut_direct(&v, n, m));
}
`

// CUDAIncompleteHazard is IncompleteHazard, LogBetaDensity and the scores in C; it stands after CUDAIncomplete.
const CUDAIncompleteHazard = `
__device__ double eu_incomplete_hazard(int kind, double a, double b, double x) {
	if (!(a > 0.0 && b > 0.0) || isnan(x) || (kind && x < 0.0)) return NAN;
	if (isinf(x) && x > 0.0) return kind == 2 ? 1.0 : 0.0;
	if (isinf(x)) return a;
	if (x == 0.0 && kind == 1) return INFINITY;
	if (x == 0.0 && kind == 2) return a < 1.0 ? INFINITY : a > 1.0 ? 0.0 : 1.0;
	eu_cut w = kind ? eu_cut_gamma(kind, a, x) : eu_cut_beta(a, b, x);
	double f = 0.0, d, dx, dy, sum[7][7];
	if (w.over > 0.0) f = eu_flank_at(kind == 2 ? &w.left : &w.right, w.over, &d, &dx, &dy);
	if (isinf(f)) return 0.0;
	eu_cut_moments(&w, 0.0, 0.0, 0, 0, sum);
	return exp(f) / sum[0][0] / (kind ? x : 1.0);
}
__device__ double eu_beta_shape_score(double a, double b, double s) {
	if (!(a > 0.0 && b > 0.0)) return NAN;
	double c = a + b, mode = log(a / b), d = s - mode, l = -eu_softplus(-s) + eu_softplus(-mode);
	if (fabs(d) < 0.5) l = a > b ? -log1p(b / c * expm1(-d)) : d - log1p(a / c * expm1(d));
	return l + eu_digamma_rest(a) - eu_digamma_rest(c);
}
__device__ double eu_log_beta_density(double a, double b, double s) {
	if (!(a > 0.0 && b > 0.0) || isnan(s)) return NAN;
	if (s > log(a / b)) {
		double t = a; a = b; b = t; s = -s;
	}
	if (isinf(s)) return -INFINITY;
	return eu_cut_beta(a, b, s).peak;
}
__device__ double eu_gamma_shape_score(double a, double x) {
	if (!(a > 0.0) || x < 0.0) return NAN;
	double d = (x - a) / a;
	return (fabs(d) < 0.5 ? log1p(d) : log(x) - log(a)) + eu_digamma_rest(a);
}
`
