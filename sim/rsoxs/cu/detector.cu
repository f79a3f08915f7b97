// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

// Images of the views, and their mean over the angles of the electric field: see expose.go, average.go and
// warp.go. Images are images[group of views][pixel][image][view of the group]; where each turn has an
// image of its own (own), the images are those of the turns at hand, otherwise |E1|^2, |E2|^2 and Re E1 E2*.

// Lanes are the numbers of a group of views, whose rotations a thread does together, as they share the geometry.
template <int L> struct alignas(L > 1 ? 16 : 8) Lanes { double v[L]; };
template <int L> struct alignas(L) Marks { unsigned char v[L]; };

// find returns the element that pixel (y, x) reads from detector plane z.
static inline __device__ Site find(const Grid &g, int z, int y, int x) {
	int row = origin(y, g.n[1]), col = origin(x, g.n[2]);
	bool conj = 2 * col > g.n[2];
	if (conj) { row = row ? g.n[1] - row : 0; col = g.n[2] - col; }
	Site s;
	s.turn = conj ? -1 : 1;
	int m = plane_of(g, z, conj, &s.sign), k = row * (g.n[2] / 2 + 1) + col, e = g.start[k];
	while (g.plane[e] != m && e + 1 < g.start[k + 1]) e++;
	s.element = e;
	return s;
}

// expose fills images with the intensities or, given the sums of changes, with their derivatives.
extern "C" __global__ void expose(Grid g, const pair *sums, const pair *changes, const double *views, const double *turns, double *images, int lanes, int count, int own, int material) {
	int pixels = g.n[1] * g.n[2], i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i >= pixels) return;
	const double *v = views + (index_t)blockIdx.y * VIEW;
	double *out = images + slot(blockIdx.y, i, pixels, lanes) * count + blockIdx.y % lanes;
	int y = i / g.n[2], x = i % g.n[2], z;
	double part;
	bool ok = cut(g, v, y, x, &z, &part);
	for (int j = 0; j < count; j++) out[j * lanes] = ok ? 0 : not_a_number();
	for (int dz = 0; dz < 2; dz++) {
		double w = dz ? part : 1 - part, kappa[3], all, parallel;
		if (!ok || !(w > 0)) continue;
		Site s = find(g, z + dz, y, x);
		cplx n[6] = {}, d[6] = {}, a1[3], a2[3], d1[3], d2[3];
		dielectric(sums, g, s, v + CONTRASTS, n);
		polarization(n, v + E1, a1);
		polarization(n, v + E2, a2);
		if (changes) {
			dielectric(changes, g, s, v + CONTRASTS, d);
			dielectric(sums, g, s, v + CHANGES, d);
			polarization(d, v + E1, d1);
			polarization(d, v + E2, d2);
		}
		transfer(g, v, z + dz, y, x, kappa);
		factors(v, kappa, &all, &parallel);
		if (!own) {
			cplx p1 = along(a1, kappa), p2 = along(a2, kappa);
			if (!changes) {
				out[0] += w * (all * norm(a1) + parallel * abs2(p1));
				out[lanes] += w * (all * norm(a2) + parallel * abs2(p2));
				out[2 * lanes] += w * (all * inner(a1, a2) + parallel * (p1.x * p2.x + p1.y * p2.y));
			} else {
				cplx q1 = along(d1, kappa), q2 = along(d2, kappa);
				out[0] += 2 * w * (all * inner(a1, d1) + parallel * (p1.x * q1.x + p1.y * q1.y));
				out[lanes] += 2 * w * (all * inner(a2, d2) + parallel * (p2.x * q2.x + p2.y * q2.y));
				out[2 * lanes] += w * (all * (inner(a1, d2) + inner(d1, a2)) + parallel * (p1.x * q2.x + p1.y * q2.y + q1.x * p2.x + q1.y * p2.y));
			}
			continue;
		}
		for (int t = 0; t < count; t++) {
			cplx a[3], b[3];
			double to[3];
			blend(turns + t * TURN, a1, a2, a);
			turned(turns + t * TURN, material, kappa, to);
			cplx p = along(a, to);
			if (!changes) {
				out[t * lanes] += w * (all * norm(a) + parallel * abs2(p));
			} else {
				blend(turns + t * TURN, d1, d2, b);
				cplx q = along(b, to);
				out[t * lanes] += 2 * w * (all * inner(a, b) + parallel * (p.x * q.x + p.y * q.y));
			}
		}
	}
}

// seen marks the pixels of views that see something.
extern "C" __global__ void seen(Grid g, const double *views, unsigned char *valid, int lanes) {
	int pixels = g.n[1] * g.n[2], i = blockIdx.x * blockDim.x + threadIdx.x, z;
	double part;
	if (i < pixels) valid[slot(blockIdx.y, i, pixels, lanes) + blockIdx.y % lanes] = cut(g, views + (index_t)blockIdx.y * VIEW, i / g.n[2], i % g.n[2], &z, &part);
}

// Corners are four pixels of an image, with their weights: see warp.sample.
struct Corners { int at[4]; double w[4]; };

static inline __device__ void split(double v, int *i, double *f) {
	const double snap = 1e-7;
	double b = floor(v);
	*i = (int)b;
	*f = v - b;
	if (*f < snap) *f = 0;
	else if (b + 1 - v < snap) { *i += 1; *f = 0; }
}

static inline __device__ bool corners(double x, double y, int ny, int nx, Corners *c) {
	int x0, y0;
	double fx, fy;
	split(x, &x0, &fx);
	split(y, &y0, &fy);
	int x1 = x0 + (fx > 0), y1 = y0 + (fy > 0);
	if (x0 < 0 || y0 < 0 || x1 >= nx || y1 >= ny) return false;
	c->at[0] = y0 * nx + x0; c->at[1] = y0 * nx + x1; c->at[2] = y1 * nx + x0; c->at[3] = y1 * nx + x1;
	c->w[0] = (1 - fy) * (1 - fx); c->w[1] = (1 - fy) * fx; c->w[2] = fy * (1 - fx); c->w[3] = fy * fx;
	return true;
}

// pixel_of gives the threads of a warp a tile of 8 x 4 pixels, as rotated images are read across rows.
static inline __device__ bool pixel_of(int ny, int nx, int *y, int *x) {
	int across = (nx + 15) / 16, t = threadIdx.x;
	*x = blockIdx.x % across * 16 + t / 32 % 2 * 8 + t % 8;
	*y = blockIdx.x / across * 8 + t / 64 * 4 + t % 32 / 8;
	return *x < nx && *y < ny;
}

// rotated adds to sum the rotated images of some turns, and to reached how many of them see each pixel. With the
// pixels that see something in the place of images, only the latter.
template <int L> static inline __device__ void rotated(const double *images, const unsigned char *valid, const double *turns, int count, int own, int ny, int nx, int views, double *sum, double *reached) {
	int pixels = ny * nx, y, x, from = blockIdx.y * L, each = own ? count : 3;
	if (!pixel_of(ny, nx, &y, &x)) return;
	double s[2][L] = {}, n[2][L] = {};
	const Lanes<L> *image = (const Lanes<L> *)images + (index_t)blockIdx.y * pixels * each;
	const Marks<L> *seen = (const Marks<L> *)valid + (index_t)blockIdx.y * pixels;
	for (int t = 0; t < count; t++) {
		const double *turn = turns + t * TURN;
#pragma unroll
		for (int k = 0; k < 2; k++) {
			double times = k ? turn[OPPOSITE] : turn[SAME], dx = (k ? nx - x : x) - nx / 2.0, dy = (k ? ny - y : y) - ny / 2.0;
			Corners c;
			if (times == 0 || !corners(turn[COS] * dx - turn[SIN] * dy + nx / 2.0, turn[SIN] * dx + turn[COS] * dy + ny / 2.0, ny, nx, &c)) continue;
			if (valid) {
				Marks<L> a = seen[c.at[0]], b = seen[c.at[1]], d = seen[c.at[2]], e = seen[c.at[3]];
#pragma unroll
				for (int l = 0; l < L; l++) n[k][l] += a.v[l] & b.v[l] & d.v[l] & e.v[l] ? times : 0;
				continue;
			}
			double v[L] = {};
#pragma unroll
			for (int j = 0; j < 4; j++) {
				const Lanes<L> *at = image + (index_t)c.at[j] * each;
				if (own) {
					Lanes<L> p = at[t];
#pragma unroll
					for (int l = 0; l < L; l++) v[l] += c.w[j] * p.v[l];
				} else {
					Lanes<L> p = at[0], q = at[1], r = at[2];
					double f0 = c.w[j] * turn[MIX], f1 = c.w[j] * turn[MIX + 1], f2 = c.w[j] * turn[MIX + 2];
#pragma unroll
					for (int l = 0; l < L; l++) v[l] += f0 * p.v[l] + f1 * q.v[l] + f2 * r.v[l];
				}
			}
#pragma unroll
			for (int l = 0; l < L; l++) {
				bool ok = v[l] == v[l];
				s[k][l] += ok ? times * v[l] : 0;
				n[k][l] += ok ? times : 0;
			}
		}
	}
#pragma unroll
	for (int l = 0; l < L; l++) {
		if (from + l >= views) break;
		index_t at = (index_t)(from + l) * pixels + y * nx + x;
		reached[at] += n[0][l] + n[1][l];
		if (sum) sum[at] += s[0][l] + s[1][l];
	}
}

extern "C" __global__ __launch_bounds__(128) void rotate_1(const double *images, const unsigned char *valid, const double *turns, int count, int own, int ny, int nx, int views, double *sum, double *reached) {
	rotated<1>(images, valid, turns, count, own, ny, nx, views, sum, reached);
}
extern "C" __global__ __launch_bounds__(128) void rotate_4(const double *images, const unsigned char *valid, const double *turns, int count, int own, int ny, int nx, int views, double *sum, double *reached) {
	rotated<4>(images, valid, turns, count, own, ny, nx, views, sum, reached);
}

// unmoved is rotate for the only angle 0: times is how often it occurs.
extern "C" __global__ void unmoved(const double *images, const unsigned char *valid, double times, index_t n, double *sum, double *reached) {
	index_t i = blockIdx.x * (index_t)blockDim.x + threadIdx.x;
	if (i >= n) return;
	bool ok = valid ? valid[i] != 0 : images[i] == images[i];
	reached[i] = ok ? times : 0;
	if (sum) sum[i] = ok ? times * images[i] : 0;
}

static inline __device__ bool counts(double reached, double angles, int masked) { return masked || reached >= angles; }

// finish divides sums by the number of angles that reached them.
extern "C" __global__ void finish(double *sum, const double *reached, double angles, int masked, index_t n) {
	index_t i = blockIdx.x * (index_t)blockDim.x + threadIdx.x;
	if (i >= n) return;
	double c = reached[i];
	if (!counts(c, angles, masked)) sum[i] = not_a_number();
	else if (c > 0) sum[i] /= c;
}

// finish_back is its transpose, for derivatives g, and puts views side by side; pixels that do not count have none.
extern "C" __global__ void finish_back(const double *g, const double *reached, double angles, int masked, index_t n, int pixels, int lanes, double *out) {
	index_t i = blockIdx.x * (index_t)blockDim.x + threadIdx.x;
	if (i >= n) return;
	double c = reached[i], v = g[i];
	int view = (int)(i / pixels);
	out[slot(view, (int)(i % pixels), pixels, lanes) + view % lanes] = c == 0 || !counts(c, angles, masked) || v != v ? 0 : v / c;
}

// tilt resamples means onto the plane of the detector through an affine map.
extern "C" __global__ void tilt(const double *from, double *to, double a, double b, double c, double d, int masked, int ny, int nx) {
	int pixels = ny * nx, i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i >= pixels) return;
	double dx = i % nx - nx / 2.0, dy = i / nx - ny / 2.0, v = masked ? 0 : not_a_number();
	from += (index_t)blockIdx.y * pixels;
	Corners k;
	if (corners(a * dx + b * dy + nx / 2.0, c * dx + d * dy + ny / 2.0, ny, nx, &k))
		v = k.w[0] * from[k.at[0]] + k.w[1] * from[k.at[1]] + k.w[2] * from[k.at[2]] + k.w[3] * from[k.at[3]];
	to[(index_t)blockIdx.y * pixels + i] = v;
}

// Reach is the range of result pixels that may read a pixel: the map of its surroundings.
struct Reach { int x0, x1, y0, y1; };

static inline __device__ Reach reach(double x, double y, double wide, double high, int rows, int cols) {
	Reach r = {max(0, (int)ceil(x - wide)), min(cols - 1, (int)floor(x + wide)), max(0, (int)ceil(y - high)), min(rows - 1, (int)floor(y + high))};
	return r;
}

static inline __device__ double weight(const Corners &c, int me) {
	double w = 0;
	for (int j = 0; j < 4; j++) w += c.at[j] == me ? c.w[j] : 0;
	return w;
}

// untilt is the transpose of tilt: each pixel gathers what read it, in a fixed order. e, f, h, k is the inverse map.
extern "C" __global__ void untilt(const double *from, double *to, const double *reached, double angles, int masked,
	double a, double b, double c, double d, double e, double f, double h, double k, int ny, int nx) {
	int pixels = ny * nx, i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i >= pixels) return;
	index_t at = (index_t)blockIdx.y * pixels;
	double dx = i % nx - nx / 2.0, dy = i / nx - ny / 2.0, sum = 0;
	Reach r = reach(e * dx + f * dy + nx / 2.0, h * dx + k * dy + ny / 2.0, fabs(e) + fabs(f) + 1e-5 * (fabs(e) + fabs(f)), fabs(h) + fabs(k) + 1e-5 * (fabs(h) + fabs(k)), ny, nx);
	for (int y = r.y0; y <= r.y1; y++) {
		for (int x = r.x0; x <= r.x1; x++) {
			double ox = x - nx / 2.0, oy = y - ny / 2.0;
			Corners q;
			if (!corners(a * ox + b * oy + nx / 2.0, c * ox + d * oy + ny / 2.0, ny, nx, &q)) continue;
			double w = weight(q, i);
			bool ok = w != 0;
			for (int j = 0; ok && j < 4; j++) ok = counts(reached[at + q.at[j]], angles, masked);
			if (ok) sum += w * from[at + y * nx + x];
		}
	}
	to[at + i] = sum;
}

// unrotated is the transpose of rotated: derivatives by the images of some turns from those by the sums.
template <int L> static inline __device__ void unrotated(const double *by, const unsigned char *valid, const double *turns, int count, int own, int ny, int nx, int rows, int cols, double *images) {
	int pixels = ny * nx, px, py, each = own ? count : 3;
	if (!pixel_of(ny, nx, &py, &px)) return;
	const Lanes<L> *g = (const Lanes<L> *)by + (index_t)blockIdx.y * pixels;
	const Marks<L> *seen = (const Marks<L> *)valid + (index_t)blockIdx.y * pixels;
	Lanes<L> *to = (Lanes<L> *)images + ((index_t)blockIdx.y * pixels + py * nx + px) * each;
	double dx = px - nx / 2.0, dy = py - ny / 2.0, out[3][L] = {};
	for (int t = 0; t < count; t++) {
		const double *turn = turns + t * TURN;
		double c = turn[COS], s = turn[SIN], wide = fabs(c) + fabs(s) + 1e-5;
		Lanes<L> sum = {};
		Reach r = reach(c * dx + s * dy + nx / 2.0, c * dy - s * dx + ny / 2.0, wide, wide, rows, cols);
		for (int y = r.y0; y <= r.y1; y++) {
			for (int x = r.x0; x <= r.x1; x++) {
				double ox = x - nx / 2.0, oy = y - ny / 2.0;
				Corners q;
				if (!corners(c * ox - s * oy + nx / 2.0, s * ox + c * oy + ny / 2.0, ny, nx, &q)) continue;
				double w = weight(q, py * nx + px);
				if (w == 0) continue;
				bool same = y < ny && x < nx, opposite = turn[OPPOSITE] > 0 && y > 0 && x > 0;
				Marks<L> a = seen[q.at[0]], b = seen[q.at[1]], d = seen[q.at[2]], e = seen[q.at[3]];
				Lanes<L> u = {}, v = {};
				if (same) u = g[y * nx + x];
				if (opposite) v = g[(ny - y) * nx + nx - x];
#pragma unroll
				for (int l = 0; l < L; l++) {
					double f = turn[SAME] * u.v[l];
					if (opposite) f += turn[OPPOSITE] * v.v[l];
					sum.v[l] += a.v[l] & b.v[l] & d.v[l] & e.v[l] ? w * f : 0;
				}
			}
		}
		if (own) to[t] = sum;
#pragma unroll
		for (int l = 0; l < L; l++)
			for (int j = 0; j < 3; j++) out[j][l] += turn[MIX + j] * sum.v[l];
	}
	for (int j = 0; j < 3 && !own; j++) {
		Lanes<L> sum;
#pragma unroll
		for (int l = 0; l < L; l++) sum.v[l] = out[j][l];
		to[j] = sum;
	}
}

extern "C" __global__ __launch_bounds__(128) void unrotate_1(const double *by, const unsigned char *valid, const double *turns, int count, int own, int ny, int nx, int rows, int cols, double *images) {
	unrotated<1>(by, valid, turns, count, own, ny, nx, rows, cols, images);
}
extern "C" __global__ __launch_bounds__(128) void unrotate_4(const double *by, const unsigned char *valid, const double *turns, int count, int own, int ny, int nx, int rows, int cols, double *images) {
	unrotated<4>(by, valid, turns, count, own, ny, nx, rows, cols, images);
}

// narrow copies a pattern to the numbers of a program, and widen the other way.
extern "C" __global__ void narrow(const double *from, float *to, index_t n) {
	index_t i = blockIdx.x * (index_t)blockDim.x + threadIdx.x;
	if (i < n) to[i] = (float)from[i];
}
extern "C" __global__ void widen(const float *from, double *to, index_t n) {
	index_t i = blockIdx.x * (index_t)blockDim.x + threadIdx.x;
	if (i < n) to[i] = from[i];
}
