// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

// The way back from derivatives by the images to those by the sums over slices and by the contrasts: see
// expose_back.go.

// Threads of a block.
enum { THREADS = 128 };

// reflect adds the derivatives by the images of some views to those by the sums, to. A thread has an element and
// takes all pixels that read it, so nothing is added by two threads. Derivatives by the contrasts are summed over a
// block, into partial[view][number][block].
extern "C" __global__ __launch_bounds__(THREADS) void reflect(Grid g, const pair *sums, pair *to, const double *views, int count, const double *turns, int turned_by, int own, int material,
	const double *images, int lanes, double *partial) {
	__shared__ double room[THREADS / 32][6 * MATERIALS];
	int e = blockIdx.x * blockDim.x + threadIdx.x, pixels = g.n[1] * g.n[2], cols = g.n[2] / 2 + 1, each = own ? turned_by : 3;
	bool mine = e < g.size;
	int k = mine ? g.place[e] : 0, m = mine ? g.plane[e] : 0, row = k / cols, col = k % cols;
	int both = mine ? (col == 0 || 2 * col == g.n[2] ? 1 : 2) : 0;
	double by[FIELDS][4] = {};
	for (int view = 0; view < count; view++) {
		const double *v = views + (index_t)view * VIEW;
		double c[6 * MATERIALS] = {};
		for (int p = 0; p < both; p++) {
			int y = origin(p ? g.n[1] - row : row, g.n[1]), x = origin(p ? g.n[2] - col : col, g.n[2]), z;
			double part;
			if (!cut(g, v, y, x, &z, &part)) continue;
			const double *d = images + slot(view, y * g.n[2] + x, pixels, lanes) * each + view % lanes;
			bool any = false;
			for (int j = 0; j < each; j++) any = any || d[j * lanes] != 0;
			for (int dz = 0; any && dz < 2; dz++) {
				double w = dz ? part : 1 - part, kappa[3], all, parallel;
				Site s;
				s.element = e;
				s.turn = p ? -1 : 1;
				if (w == 0 || plane_of(g, z + dz, p, &s.sign) != m) continue;
				cplx n[6] = {}, a1[3], a2[3], b1[3] = {}, b2[3] = {}, b[6];
				dielectric(sums, g, s, v + CONTRASTS, n);
				polarization(n, v + E1, a1);
				polarization(n, v + E2, a2);
				transfer(g, v, z + dz, y, x, kappa);
				factors(v, kappa, &all, &parallel);
				if (!own) {
					cplx p1 = along(a1, kappa), p2 = along(a2, kappa);
					for (int i = 0; i < 3; i++) {
						cplx t1 = all * a1[i] + parallel * kappa[i] * p1, t2 = all * a2[i] + parallel * kappa[i] * p2;
						b1[i] = 2 * w * d[0] * t1 + w * d[2 * lanes] * t2;
						b2[i] = 2 * w * d[lanes] * t2 + w * d[2 * lanes] * t1;
					}
				}
				for (int t = 0; own && t < each; t++) {
					const double *turn = turns + t * TURN;
					cplx a[3];
					double at[3];
					blend(turn, a1, a2, a);
					turned(turn, material, kappa, at);
					cplx q = along(a, at);
					for (int i = 0; i < 3; i++) {
						cplx u = 2 * w * d[t * lanes] * (all * a[i] + parallel * at[i] * q);
						b1[i] += turn[COS] * u;
						b2[i] += turn[SIN] * u;
					}
				}
				const double f = 0.07957747154594767; // 1/(4 pi)
				const double *e1 = v + E1, *e2 = v + E2;
				b[0] = f * (e1[0] * b1[0] + e2[0] * b2[0]);
				b[1] = f * (e1[1] * b1[0] + e1[0] * b1[1] + e2[1] * b2[0] + e2[0] * b2[1]);
				b[2] = f * (e1[2] * b1[0] + e1[0] * b1[2] + e2[2] * b2[0] + e2[0] * b2[2]);
				b[3] = f * (e1[1] * b1[1] + e2[1] * b2[1]);
				b[4] = f * (e1[2] * b1[1] + e1[1] * b1[2] + e2[2] * b2[1] + e2[1] * b2[2]);
				b[5] = f * (e1[2] * b1[2] + e2[2] * b2[2]);
				cplx iso = b[0] + b[3] + b[5];
				const cplx *contrast = (const cplx *)(v + CONTRASTS);
				cplx *to_contrast = (cplx *)c;
#define ADD_FIELD(field, number) { \
					cplx u = number; \
					u.y *= s.turn; \
					by[field][0] += u.x; by[field][1] += u.y; by[field][2] -= s.sign * u.y; by[field][3] += s.sign * u.x; \
				}
#define BACK_MATERIAL(i, first, fields) { \
					cplx h = contrast[3 * i], axial = contrast[3 * i + 1], t = contrast[3 * i + 2]; \
					to_contrast[3 * i] += mul_conj(iso, value(sums, g, s, first)); \
					ADD_FIELD(first, mul_conj(iso, h)) \
					if (fields > 1) { \
						cplx pa = value(sums, g, s, first + 1), xx = value(sums, g, s, first + 2), yy = value(sums, g, s, first + 5); \
						cplx xy = value(sums, g, s, first + 3), xz = value(sums, g, s, first + 4), yz = value(sums, g, s, first + 6); \
						to_contrast[3 * i + 1] += mul_conj(iso, pa); \
						to_contrast[3 * i + 2] += mul_conj(b[0], xx) + mul_conj(b[1], xy) + mul_conj(b[2], xz) + mul_conj(b[3], yy) + mul_conj(b[4], yz) + mul_conj(b[5], pa - xx - yy); \
						ADD_FIELD(first + (fields > 1 ? 1 : 0), mul_conj(iso, axial) + mul_conj(b[5], t)) \
						ADD_FIELD(first + (fields > 1 ? 2 : 0), mul_conj(b[0] - b[5], t)) \
						ADD_FIELD(first + (fields > 1 ? 3 : 0), mul_conj(b[1], t)) \
						ADD_FIELD(first + (fields > 1 ? 4 : 0), mul_conj(b[2], t)) \
						ADD_FIELD(first + (fields > 1 ? 5 : 0), mul_conj(b[3] - b[5], t)) \
						ADD_FIELD(first + (fields > 1 ? 6 : 0), mul_conj(b[4], t)) \
					} \
				}
				EACH_MATERIAL(BACK_MATERIAL)
			}
		}
		for (int j = 0; j < 6 * MATERIALS; j++) {
			double u = c[j];
			for (int o = 16; o; o >>= 1) u += __shfl_down_sync(0xffffffffu, u, o);
			if (threadIdx.x % 32 == 0) room[threadIdx.x / 32][j] = u;
		}
		__syncthreads();
		for (int j = threadIdx.x; j < 6 * MATERIALS; j += THREADS) {
			double u = 0;
			for (int i = 0; i < THREADS / 32; i++) u += room[i][j];
			partial[((index_t)view * 6 * MATERIALS + j) * gridDim.x + blockIdx.x] = u;
		}
		__syncthreads();
	}
	if (!mine) return;
#pragma unroll
	for (int field = 0; field < FIELDS; field++) {
		pair *at = to + (index_t)(2 * field) * g.size + e;
		at[0].x = (R)(at[0].x + by[field][0]); at[0].y = (R)(at[0].y + by[field][1]);
		at[g.size].x = (R)(at[g.size].x + by[field][2]); at[g.size].y = (R)(at[g.size].y + by[field][3]);
	}
}

// total sums n partial results for each number, in a fixed order, and adds them to out.
extern "C" __global__ void total(const double *partial, double *out, int n) {
	__shared__ double room[THREADS];
	const double *from = partial + (index_t)blockIdx.x * n;
	double u = 0;
	for (int i = threadIdx.x; i < n; i += THREADS) u += from[i];
	room[threadIdx.x] = u;
	__syncthreads();
	for (int half = THREADS / 2; half; half /= 2) {
		if (threadIdx.x < half) room[threadIdx.x] += room[threadIdx.x + half];
		__syncthreads();
	}
	if (threadIdx.x == 0) out[blockIdx.x] += room[0];
}
