// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

// The fields of a morphology in real space: what each voxel contributes to the dielectric tensor, and the
// way back from derivatives by the fields to derivatives by the arrays. The text before this one, which
// device_text.go writes for the materials at hand, defines R, FIELDS, PAIRS, ARRAYS, the structs Arrays and
// Targets, and, after the functions of single materials below, make, change and unmake for all materials.
//
// Two fields are the real and the imaginary part of one array of complex numbers, so that one transform
// serves both. The value that a field has at the first voxel of a slice is subtracted from the slice and
// kept: a field that is constant has no rounding errors then, and others have smaller ones.

static inline __device__ void eu_sincos(float x, float *s, float *c) { sincosf(x, s, c); }
static inline __device__ void eu_sincos(double x, double *s, double *c) { sincos(x, s, c); }

static inline __device__ R load(const float *p, index_t i) { return (R)p[i]; }
static inline __device__ R load(const double *p, index_t i) { return (R)p[i]; }
static inline __device__ R load(const eu_f16 *p, index_t i) { return (R)(float)p[i]; }
// What changes by nothing has no array.
template <class T> static inline __device__ R load_change(const T *p, index_t i) { return p ? load(p, i) : R(0); }

static inline __device__ void products(R *f, R v, R pa, R x, R y, R z) {
	f[0] = v; f[1] = pa;
	f[2] = pa * x * x; f[3] = pa * x * y; f[4] = pa * x * z; f[5] = pa * y * y; f[6] = pa * y * z;
}

template <class V> static inline __device__ void isotropic(const V *v, index_t i, R *f) { f[0] = load(v, i); }

// A voxel without aligned material has no director, whatever its angles are.
template <class V, class S, class T, class P> static inline __device__ void euler(const V *vfrac, const S *order, const T *theta, const P *psi, index_t i, R *f) {
	R v = load(vfrac, i), s = load(order, i);
	if (s == R(0) || v == R(0)) {
		products(f, v, R(0), R(0), R(0), R(0));
		return;
	}
	R st, ct, sp, cp;
	eu_sincos(load(theta, i), &st, &ct);
	eu_sincos(load(psi, i), &sp, &cp);
	products(f, v, v * s, cp * st, sp * st, ct);
}

template <class A, class U> static inline __device__ void vectors(const A *align, const U *unaligned, index_t i, R *f) {
	R x = load(align, 3 * i), y = load(align, 3 * i + 1), z = load(align, 3 * i + 2), pa = x * x + y * y + z * z;
	products(f, load(unaligned, i) + pa, R(1), x, y, z);
	f[1] = pa;
}

// Changes of the fields along changes of the arrays.
static inline __device__ void products_change(R *f, R pa, R dpa, R x, R y, R z, R dx, R dy, R dz) {
	f[1] = dpa;
	f[2] = dpa * x * x + 2 * pa * x * dx; f[3] = dpa * x * y + pa * (x * dy + dx * y); f[4] = dpa * x * z + pa * (x * dz + dx * z);
	f[5] = dpa * y * y + 2 * pa * y * dy; f[6] = dpa * y * z + pa * (y * dz + dy * z);
}

template <class DV> static inline __device__ void isotropic_change(const DV *dv, index_t i, R *f) { f[0] = load_change(dv, i); }

template <class V, class S, class T, class P, class DV, class DS, class DT, class DP>
static inline __device__ void euler_change(const V *vfrac, const S *order, const T *theta, const P *psi, const DV *dvfrac, const DS *dorder, const DT *dtheta, const DP *dpsi, index_t i, R *f) {
	R v = load(vfrac, i), s = load(order, i), dv = load_change(dvfrac, i), ds = load_change(dorder, i), dt = load_change(dtheta, i), dp = load_change(dpsi, i);
	R st, ct, sp, cp;
	eu_sincos(load(theta, i), &st, &ct);
	eu_sincos(load(psi, i), &sp, &cp);
	f[0] = dv;
	if (st != st || sp != sp) { // angles that do not exist where S = 0
		products_change(f, R(0), R(0), R(0), R(0), R(0), R(0), R(0), R(0));
		return;
	}
	R x = cp * st, y = sp * st;
	products_change(f, v * s, dv * s + v * ds, x, y, ct, cp * ct * dt - y * dp, sp * ct * dt + x * dp, -st * dt);
}

template <class A, class U, class DA, class DU> static inline __device__ void vectors_change(const A *align, const U *, const DA *dalign, const DU *dunaligned, index_t i, R *f) {
	R x = load(align, 3 * i), y = load(align, 3 * i + 1), z = load(align, 3 * i + 2);
	R dx = load_change(dalign, 3 * i), dy = load_change(dalign, 3 * i + 1), dz = load_change(dalign, 3 * i + 2), dpa = 2 * (x * dx + y * dy + z * dz);
	products_change(f, R(1), R(0), x, y, z, dx, dy, dz);
	f[0] = load_change(dunaligned, i) + dpa;
	f[1] = dpa;
}

// The transposes: derivatives g by the fields become derivatives by the arrays.
template <class V, class GV> static inline __device__ void isotropic_back(const V *, GV *gv, index_t i, const R *g) { gv[i] = (GV)g[0]; }

template <class V, class S, class T, class P, class GV, class GS, class GT, class GP>
static inline __device__ void euler_back(const V *vfrac, const S *order, const T *theta, const P *psi, GV *gv, GS *gs, GT *gt, GP *gp, index_t i, const R *g) {
	R v = load(vfrac, i), s = load(order, i), st, ct, sp, cp;
	R dv = g[0], ds = 0, dt = 0, dp = 0;
	if (s != R(0) || v != R(0)) {
		eu_sincos(load(theta, i), &st, &ct);
		eu_sincos(load(psi, i), &sp, &cp);
		if (st == st && sp == sp) {
			R x = cp * st, y = sp * st, z = ct;
			R dx = 2 * g[2] * x + g[3] * y + g[4] * z, dy = g[3] * x + 2 * g[5] * y + g[6] * z, dz = g[4] * x + g[6] * y;
			R d = g[1] + (dx * x + dy * y + dz * z) / 2, pa = v * s;
			dv += s * d;
			ds = v * d;
			dt = pa * (dx * cp * ct + dy * sp * ct - dz * st);
			dp = pa * (dy * x - dx * y);
		}
	}
	gv[i] = (GV)dv; gs[i] = (GS)ds; gt[i] = (GT)dt; gp[i] = (GP)dp;
}

template <class A, class U, class GA, class GU> static inline __device__ void vectors_back(const A *align, const U *, GA *ga, GU *gu, index_t i, const R *g) {
	R x = load(align, 3 * i), y = load(align, 3 * i + 1), z = load(align, 3 * i + 2), pa = 2 * (g[0] + g[1]);
	ga[3 * i] = (GA)(pa * x + 2 * g[2] * x + g[3] * y + g[4] * z);
	ga[3 * i + 1] = (GA)(pa * y + g[3] * x + 2 * g[5] * y + g[6] * z);
	ga[3 * i + 2] = (GA)(pa * z + g[4] * x + g[6] * y);
	gu[i] = (GU)g[0];
}

MATERIAL_FUNCTIONS

// The window of a voxel; wz is null without one.
static inline __device__ R window(const double *wz, const R *wyx, int z, index_t v) { return wz ? (R)wz[z] * wyx[v] : R(1); }

static inline __device__ void store(pair *out, index_t at, index_t slice, const R *f, const R *corner) {
#pragma unroll
	for (int p = 0; p < PAIRS; p++) {
		pair u;
		u.x = f[2 * p] - corner[2 * p];
		u.y = 2 * p + 1 < FIELDS ? f[2 * p + 1] - corner[2 * p + 1] : R(0);
		out[at + p * slice] = u;
	}
}

// corners keeps the fields at the first voxel of slices z0 to z0 + n, whose arrays begin at in.
extern "C" __global__ void corners(Arrays in, Arrays to, const double *wz, const R *wyx, R *corner, int n, int z0, index_t slice) {
	int z = blockIdx.x * blockDim.x + threadIdx.x;
	if (z >= n) return;
	R f[FIELDS], w = window(wz, wyx, z0 + z, 0);
	produce(in, to, z * slice, f);
	for (int k = 0; k < FIELDS; k++) corner[(index_t)z * FIELDS + k] = f[k] * w;
}

// fill makes the fields of these slices, one for each row of blocks: out[slice][pair][voxel].
extern "C" __global__ void fill(Arrays in, Arrays to, const double *wz, const R *wyx, const R *corner, pair *out, int z0, index_t slice) {
	index_t z = blockIdx.y;
	for (index_t v = blockIdx.x * (index_t)blockDim.x + threadIdx.x; v < slice; v += (index_t)gridDim.x * blockDim.x) {
		R f[FIELDS], w = window(wz, wyx, z0 + (int)z, v);
		produce(in, to, z * slice + v, f);
#pragma unroll
		for (int k = 0; k < FIELDS; k++) f[k] *= w;
		store(out, z * PAIRS * slice + v, slice, f, corner + z * FIELDS);
	}
}

// mean carries the running mean of the fields over slices on, of which z0 are in it already.
extern "C" __global__ void mean(Arrays in, Arrays to, R *out, int n, int z0, index_t slice) {
	for (index_t v = blockIdx.x * (index_t)blockDim.x + threadIdx.x; v < slice; v += (index_t)gridDim.x * blockDim.x) {
		R m[FIELDS], f[FIELDS];
#pragma unroll
		for (int k = 0; k < FIELDS; k++) m[k] = z0 ? out[k * slice + v] : R(0);
		for (int z = 0; z < n; z++) {
			produce(in, to, z * slice + v, f);
#pragma unroll
			for (int k = 0; k < FIELDS; k++) m[k] += (f[k] - m[k]) / R(z0 + z + 1);
		}
#pragma unroll
		for (int k = 0; k < FIELDS; k++) out[k * slice + v] = m[k];
	}
}

// mean_corner and mean_fill are corners and fill for the mean.
extern "C" __global__ void mean_corner(const R *m, const double *wz, const R *wyx, R *corner, index_t slice) {
	int k = blockIdx.x * blockDim.x + threadIdx.x;
	if (k < FIELDS) corner[k] = m[k * slice] * window(wz, wyx, 0, 0);
}

extern "C" __global__ void mean_fill(const R *m, const double *wz, const R *wyx, const R *corner, pair *out, index_t slice) {
	for (index_t v = blockIdx.x * (index_t)blockDim.x + threadIdx.x; v < slice; v += (index_t)gridDim.x * blockDim.x) {
		R f[FIELDS], w = window(wz, wyx, 0, v);
#pragma unroll
		for (int k = 0; k < FIELDS; k++) f[k] = m[k * slice + v] * w;
		store(out, v, slice, f, corner);
	}
}

// back takes derivatives by the fields, the conjugates of transforms, to the arrays. With one pair of
// fields for all slices, step is 0 and f the weight of a slice in their mean.
extern "C" __global__ void back(Arrays in, Targets out, const double *wz, const R *wyx, const pair *by, int z0, index_t slice, index_t step, R f) {
	index_t z = blockIdx.y;
	for (index_t v = blockIdx.x * (index_t)blockDim.x + threadIdx.x; v < slice; v += (index_t)gridDim.x * blockDim.x) {
		R g[2 * PAIRS], w = f * window(wz, wyx, step ? z0 + (int)z : 0, v);
		const pair *from = by + z * step + v;
#pragma unroll
		for (int p = 0; p < PAIRS; p++) {
			pair u = from[p * slice];
			g[2 * p] = u.x * w;
			g[2 * p + 1] = -u.y * w;
		}
		unmake(in, out, z * slice + v, g);
	}
}

// gather_sums adds slices z0 to z0 + n of the transforms to the sums over slices: sums[field][C or S][element].
// Element e is at place[e] in the half spectrum, and belongs to plane[e].
extern "C" __global__ void gather_sums(const pair *half, const R *corner, const int *place, const int *plane, const double *cosine, const double *sine,
	pair *sums, int size, int n, int z0, int nz, int ny, int nx) {
	int e = blockIdx.x * blockDim.x + threadIdx.x, p = blockIdx.y;
	if (e >= size) return;
	int cols = nx / 2 + 1, row = place[e] / cols, x = place[e] % cols, m = plane[e];
	index_t slice = (index_t)ny * nx, at = (index_t)row * nx + x, mirror = (index_t)(row ? ny - row : 0) * nx + (x ? nx - x : 0);
	R a[8] = {0, 0, 0, 0, 0, 0, 0, 0};
	int turn = (int)((index_t)z0 * m % nz);
	for (int z = 0; z < n; z++) {
		const pair *from = half + ((index_t)z * PAIRS + p) * slice;
		pair u = from[at], v = from[mirror];
		R c = (R)cosine[turn], s = (R)sine[turn];
		if ((turn += m) >= nz) turn -= nz;
		// F = A + i B with A, B the spectra of two real fields.
		R ax = R(0.5) * (u.x + v.x), ay = R(0.5) * (u.y - v.y), bx = R(0.5) * (u.y + v.y), by = R(0.5) * (v.x - u.x);
		if (at == 0) {
			ax += R(slice) * corner[z * FIELDS + 2 * p];
			if (2 * p + 1 < FIELDS) bx += R(slice) * corner[z * FIELDS + 2 * p + 1];
		}
		a[0] += c * ax; a[1] += c * ay; a[2] += s * ax; a[3] += s * ay;
		a[4] += c * bx; a[5] += c * by; a[6] += s * bx; a[7] += s * by;
	}
#pragma unroll
	for (int k = 0; k < 4; k++) {
		if (2 * p + k / 2 >= FIELDS) break;
		pair *to = sums + (index_t)(4 * p + k) * size + e;
		pair t = *to;
		t.x += a[2 * k]; t.y += a[2 * k + 1];
		*to = t;
	}
}

// spread_sums is the transpose: conjugates of spectra whose transforms are the conjugates of derivatives
// by the fields. start[k] is the first element at place k. A thread has some slices at once, as they read the
// same sums.
extern "C" __global__ void spread_sums(pair *half, const int *start, const int *plane, const double *cosine, const double *sine,
	const pair *sums, index_t size, int n, int z0, int nz, int ny, int nx) {
	const int together = 4;
	int cols = nx / 2 + 1, k = blockIdx.x * blockDim.x + threadIdx.x, p = blockIdx.y;
	if (k >= ny * cols) return;
	int row = k / cols, x = k % cols, opposite = row ? ny - row : 0;
	bool self = x == 0 || 2 * x == nx; // the mirror image is in the half spectrum too
	index_t slice = (index_t)ny * nx;
	const pair *from = sums + (index_t)(4 * p) * size;
	bool second = 2 * p + 1 < FIELDS;
	for (int z = 0; z < n; z += together) {
		R h[together][4] = {}; // Hermitian parts A and B of both fields
		for (int side = 0; side < (self ? 2 : 1); side++) {
			int at = side ? opposite * cols + x : k;
			R conj = side ? -1 : 1;
			for (int e = start[at]; e < start[at + 1]; e++) {
				pair a = from[e], b = from[size + e], c = {0, 0}, d = {0, 0};
				if (second) { c = from[2 * size + e]; d = from[3 * size + e]; }
				int m = plane[e], turn = (int)((index_t)(z0 + z) * m % nz);
#pragma unroll
				for (int i = 0; i < together; i++) {
					R f = (R)cosine[turn] / 2, s = (R)sine[turn] / 2;
					h[i][0] += f * a.x + s * b.x;
					h[i][1] += conj * (f * a.y + s * b.y);
					h[i][2] += f * c.x + s * d.x;
					h[i][3] += conj * (f * c.y + s * d.y);
					if ((turn += m) >= nz) turn -= nz;
				}
			}
		}
#pragma unroll
		for (int i = 0; i < together; i++) { // A + i B, conjugated, and its mirror image
			if (z + i >= n) break;
			R ax = h[i][0], ay = h[i][1], bx = h[i][2], by = h[i][3];
			pair *to = half + ((index_t)(z + i) * PAIRS + p) * slice;
			pair u;
			u.x = ax - by; u.y = -(ay + bx);
			to[(index_t)row * nx + x] = u;
			if (self) continue;
			u.x = ax + by; u.y = ay - bx;
			to[(index_t)opposite * nx + nx - x] = u;
		}
	}
}

// centre replaces the value at q = 0 by the mean of its neighbours; centre_back is its transpose. at has the
// element of q = 0 and then those of the neighbours.
extern "C" __global__ void centre(pair *sums, const int *at, int neighbours, index_t size) {
	int k = blockIdx.x * blockDim.x + threadIdx.x;
	if (k >= FIELDS) return;
	pair *c = sums + 2 * k * size, mean = {0, 0};
	for (int i = 1; i <= neighbours; i++) mean.x += c[at[i]].x;
	mean.x /= neighbours;
	c[at[0]] = mean;
}

extern "C" __global__ void centre_back(pair *sums, const int *at, int neighbours, index_t size) {
	int k = blockIdx.x * blockDim.x + threadIdx.x;
	if (k >= FIELDS) return;
	pair *c = sums + 2 * k * size, none = {0, 0};
	R t = c[at[0]].x / neighbours;
	c[at[0]] = none;
	for (int i = 1; i <= neighbours; i++) c[at[i]].x += t;
}

// add adds the sums of another device.
extern "C" __global__ void add(R *to, const R *from, index_t n) {
	for (index_t i = blockIdx.x * (index_t)blockDim.x + threadIdx.x; i < n; i += (index_t)gridDim.x * blockDim.x) to[i] += from[i];
}
