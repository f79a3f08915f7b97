// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

// The Levenberg-Marquardt iteration of package batch on a device: every lane of a compiled program holds a row. The
// lines before this text define N, the number of parameters; M, of residuals; L, of lanes; S, of numbers in the data
// of a row; ROBUST, whether a loss forgives outliers; and BOUNDED.
//
// One step of all lanes is a run of the program, fit_gram, fit_step and fit_fill. fit_gram forms the inner products of the
// columns of the Jacobian and the residuals; fit_step is iteration.go, polish.go, normal_equations.go and trust_region_step.go for
// one lane in one thread; fit_fill gives lanes whose fits have ended the data of the next rows. Element i of a lane is at
// i * L + lane, so that neighbouring threads read neighbouring numbers. Lanes share nothing but counters.

#define W (N + 1)
#define PRODUCTS (W * (N + 2) / 2)
#define SUMS (PRODUCTS + ROBUST)
#define GROUPS 8
#define ROOM (SUMS < 16 ? SUMS : 16)

// Arrays of a few parameters are registers if loops over them are unrolled; those of many would not fit.
#if N <= 6
#define UNROLL _Pragma("unroll")
#define MOST SUMS
#else
#define UNROLL
#define MOST W
#endif

// collect adds the parts of the groups, in order, for products first, ..., first+count-1 of the sums.
static __device__ __forceinline__ void collect(double (*part)[GROUPS][32], const double *acc, int count, int first, double *gram, int lane) {
#pragma unroll
	for (int from = 0; from < MOST; from += ROOM) {
		if (from >= count) break;
#pragma unroll
		for (int k = 0; k < ROOM; k++)
			if (from + k < count) part[k][threadIdx.y][threadIdx.x] = acc[from + k];
		__syncthreads();
		for (int k = threadIdx.y; k < ROOM && from + k < count; k += GROUPS) {
			double s = part[k][0][threadIdx.x];
			for (int g = 1; g < GROUPS; g++) s += part[k][g][threadIdx.x];
			gram[(size_t)(first + from + k) * L + lane] = s;
		}
		__syncthreads();
	}
}

// fit_gram writes the lower triangle of [J f]^T [J f] of every lane, row by row, and then the sum of rho. out holds the
// addresses of f, of the columns of J and of rho. A block has 32 lanes; its groups share their residuals.
extern "C" __global__ void __launch_bounds__(32 * GROUPS) fit_gram(const double *const *out, double *gram) {
	__shared__ double part[ROOM][GROUPS][32];
	const int lane = blockIdx.x * 32 + threadIdx.x;
#if N <= 6
	double acc[SUMS];
	UNROLL for (int k = 0; k < SUMS; k++) acc[k] = 0;
	for (int m = threadIdx.y; m < M; m += GROUPS) {
		const size_t at = (size_t)m * L + lane;
		double v[W];
#pragma unroll
		for (int i = 0; i < N; i++) v[i] = out[1 + i][at];
		v[N] = out[0][at];
#pragma unroll
		for (int i = 0; i < W; i++)
#pragma unroll
			for (int j = 0; j <= i; j++) acc[i * (i + 1) / 2 + j] += v[i] * v[j];
		if (ROBUST) acc[SUMS - 1] += out[N + 1][at];
	}
	collect(part, acc, SUMS, 0, gram, lane);
#else
	const int i = blockIdx.y; // a block has one row of the triangle; the last one has rho
	double acc[W];
	for (int j = 0; j < W; j++) acc[j] = 0;
	for (int m = threadIdx.y; m < M; m += GROUPS) {
		const size_t at = (size_t)m * L + lane;
		if (i == W) {
			acc[0] += out[N + 1][at];
			continue;
		}
		const double a = out[i < N ? 1 + i : 0][at];
#pragma unroll
		for (int j = 0; j < W; j++)
			if (j <= i) acc[j] += a * out[j < N ? 1 + j : 0][at];
	}
	if (i == W) collect(part, acc, 1, PRODUCTS, gram, lane);
	else collect(part, acc, i + 1, i * (i + 1) / 2, gram, lane);
#endif
}

// settings are those of package batch, with the bounds.
struct settings {
	double loss_scale, ftol, xtol, gtol, first_step;
	int most, no_polish, rows, pad;
	double lower[N], upper[N];
};

// slots of a lane's state.
#define X 0
#define LONGEST (X + N)
#define G (LONGEST + N)
#define COLUMN (G + N)
#define H (COLUMN + N)
#define COST (H + N * (N + 1) / 2)
#define SIZE (COST + 1)
#define RADIUS (COST + 2)
#define PAR (COST + 3)
#define PREDICTED (COST + 4)
#define SLOPE (COST + 5)
#define LENGTH (COST + 6)
#define LAST (COST + 7)
#define FULL (COST + 8)
#define SLOTS (COST + 9)

// and of its counters.
#define ROW 0
#define PHASE 1
#define NFEV 2
#define POLISHED 3
#define STATUS 4
#define FRESH 5

#define VACANT -1
#define AT_START 0
#define TRYING 1
#define POLISHING 2

// ways to end, as package marquardt has them.
#define FAILED -2
#define MAX_EVALUATIONS 0
#define GRADIENT_SMALL 1
#define COST_SETTLED 2
#define STEP_SMALL 3
#define BOTH_SETTLED 4
#define STUCK 5
#define NONE -100
#define ILL -50 // normal equations have lost the digits that the step needs

// record is what a row comes to: X, gradient, inverse scales, triangle of the normal equations, cost, size, status and
// evaluations.
#define RECORD (3 * N + N * (N + 1) / 2 + 4)

#define LEAST_PIVOT 1e-13
#define EPS 2.220446049250313e-16
#define VISIBLE 1e-8
#define GROW 8

struct lane {
	double x[N], trial[N], longest[N], scale[N], g[N], column[N], h[N][N], y[N], a[N][N], b[N];
	bool open[N];
	double cost, size, radius, par, predicted, full, slope, length, last, pivot;
	int nfev, polished, status, phase;
};

static __device__ __forceinline__ double norm(const double *v) {
	double s = 0;
	UNROLL for (int k = 0; k < N; k++) s += v[k] * v[k];
	return sqrt(s);
}

static __device__ __forceinline__ bool is_finite(double v) { return v - v == 0; }

// linearise sets the normal equations by scaling the Gram matrix; false where they are not finite.
static __device__ __forceinline__ bool linearise(lane &v, const double *gram) {
	v.size = sqrt(gram[(size_t)(PRODUCTS - 1) * L]);
	UNROLL for (int i = 0; i < N; i++) {
		double col = sqrt(gram[(size_t)(i * (i + 1) / 2 + i) * L]), g = gram[(size_t)(N * (N + 1) / 2 + i) * L];
		if (!is_finite(col) || !is_finite(g)) return false;
		v.longest[i] = fmax(v.longest[i], col);
		v.scale[i] = v.longest[i] > 0 ? 1 / v.longest[i] : 1;
		v.column[i] = col * v.scale[i];
		v.g[i] = g * v.scale[i];
		UNROLL for (int j = 0; j <= i; j++) v.h[i][j] = v.h[j][i] = gram[(size_t)(i * (i + 1) / 2 + j) * L] * v.scale[i] * v.scale[j];
	}
	return true;
}

// find_open marks the parameters that no bound stops at x, and clears the step.
static __device__ __forceinline__ void find_open(lane &v, const settings &s) {
	UNROLL for (int k = 0; k < N; k++) {
		v.open[k] = !BOUNDED || !((v.x[k] <= s.lower[k] && v.g[k] > 0) || (v.x[k] >= s.upper[k] && v.g[k] < 0));
		v.y[k] = 0;
	}
}

static __device__ __forceinline__ double clipped(const settings &s, int k, double x) { return BOUNDED ? fmin(fmax(x, s.lower[k]), s.upper[k]) : x; }

// moved returns parameter k after the step, on a bound where the step takes it there.
static __device__ __forceinline__ double moved(const lane &v, const settings &s, int k) {
	if (BOUNDED && v.y[k] <= (s.lower[k] - v.x[k]) / v.scale[k]) return s.lower[k];
	if (BOUNDED && v.y[k] >= (s.upper[k] - v.x[k]) / v.scale[k]) return s.upper[k];
	return clipped(s, k, v.x[k] + v.scale[k] * v.y[k]);
}

static __device__ __forceinline__ double scaled_size(const lane &v) {
	double t = 0;
	UNROLL for (int k = 0; k < N; k++) {
		double u = v.x[k] / v.scale[k];
		t += u * u;
	}
	return sqrt(t);
}

// factor computes the Cholesky factor of the open part of h + par, with the inverses of its diagonal, and the least
// pivot. Rows of the others are those of the unit matrix.
static __device__ __forceinline__ void factor(lane &v, double par) {
	v.pivot = 1e300;
	UNROLL for (int i = 0; i < N; i++) {
		UNROLL for (int j = 0; j < i; j++) {
			double s = 0;
			if (v.open[i] && v.open[j]) {
				s = v.h[i][j];
				UNROLL for (int e = 0; e < j; e++) s -= v.a[i][e] * v.a[j][e];
				s *= v.a[j][j];
			}
			v.a[i][j] = s;
		}
		double p = 1;
		if (v.open[i]) {
			p = v.h[i][i] + par;
			UNROLL for (int e = 0; e < i; e++) p -= v.a[i][e] * v.a[i][e];
			v.pivot = fmin(v.pivot, p);
		}
		v.a[i][i] = 1 / sqrt(fmax(p, 1e-18));
	}
}

static __device__ __forceinline__ void forward(const lane &v, double *x) {
	UNROLL for (int i = 0; i < N; i++) {
		double s = x[i];
		UNROLL for (int j = 0; j < i; j++) s -= v.a[i][j] * x[j];
		x[i] = s * v.a[i][i];
	}
}

// solve sets the open elements of y to the step damped by par, for given other elements.
static __device__ __forceinline__ void solve(lane &v, double par) {
	factor(v, par);
	UNROLL for (int i = 0; i < N; i++) {
		double s = -v.g[i];
		UNROLL for (int j = 0; j < N; j++)
			if (!v.open[j]) s -= v.h[i][j] * v.y[j];
		v.b[i] = v.open[i] ? s : 0;
	}
	forward(v, v.b);
	UNROLL for (int i = N - 1; i >= 0; i--) {
		v.b[i] *= v.a[i][i];
		UNROLL for (int j = 0; j < i; j++) v.b[j] -= v.a[i][j] * v.b[i];
	}
	UNROLL for (int i = 0; i < N; i++)
		if (v.open[i]) v.y[i] = v.b[i];
}

static __device__ __forceinline__ double inverse_quadratic(lane &v, double length) {
	UNROLL for (int i = 0; i < N; i++) v.b[i] = v.open[i] ? v.y[i] / length : 0;
	forward(v, v.b);
	double s = 0;
	UNROLL for (int i = 0; i < N; i++) s += v.b[i] * v.b[i];
	return s;
}

// within sets y, the undamped step, to a step of length at most radius and returns its multiplier.
static __device__ __forceinline__ double within(lane &v, double radius, double par) {
	double length = norm(v.y);
	if (!is_finite(length)) length = 1.7976931348623157e308;
	double excess = length - radius;
	if (excess <= 0.1 * radius) return 0;
	double lower = 0, c = inverse_quadratic(v, length);
	if (c > 0 && is_finite(c)) lower = excess / radius / c;
	double gnorm = 0;
	UNROLL for (int k = 0; k < N; k++)
		if (v.open[k]) gnorm += v.g[k] * v.g[k];
	gnorm = sqrt(gnorm);
	double upper = gnorm / radius;
	par = fmin(fmax(par, lower), upper);
	if (par == 0) par = gnorm / length;
	for (int turn = 0; turn < 10; turn++) {
		if (par == 0) par = fmax(1e-300, 0.001 * upper);
		solve(v, par);
		length = norm(v.y);
		double before = excess;
		excess = length - radius;
		if (fabs(excess) <= 0.1 * radius || (lower == 0 && excess <= before && before < 0)) break;
		if (excess > 0) lower = fmax(lower, par);
		else upper = fmin(upper, par);
		par = fmax(lower, par + excess / radius / inverse_quadratic(v, length));
	}
	return par;
}

// keep_in_bounds moves elements of a step that leave the bounds onto them and solves for the others again.
static __device__ __forceinline__ void keep_in_bounds(lane &v, const settings &s) {
	if (!BOUNDED) return;
	bool changed = false;
	for (int turn = 0; turn < N; turn++) {
		bool hit = false;
		UNROLL for (int k = 0; k < N; k++) {
			if (!v.open[k]) continue;
			double lo = (s.lower[k] - v.x[k]) / v.scale[k], hi = (s.upper[k] - v.x[k]) / v.scale[k];
			if (v.y[k] < lo || v.y[k] > hi) {
				v.y[k] = fmin(fmax(v.y[k], lo), hi);
				v.open[k] = false;
				hit = changed = true;
			}
		}
		if (!hit) break;
		solve(v, v.par);
	}
	if (!changed) return;
	UNROLL for (int k = 0; k < N; k++) {
		double lo = (s.lower[k] - v.x[k]) / v.scale[k], hi = (s.upper[k] - v.x[k]) / v.scale[k];
		v.b[k] = fmin(fmax(v.y[k], lo), hi);
	}
	find_open(v, s);
	UNROLL for (int k = 0; k < N; k++) v.y[k] = v.b[k];
}

static __device__ __forceinline__ void predict(lane &v) {
	double slope = 0, curve = 0;
	UNROLL for (int i = 0; i < N; i++) {
		double t = 0;
		UNROLL for (int j = 0; j < N; j++) t += v.h[i][j] * v.y[j];
		slope += v.g[i] * v.y[i];
		curve += v.y[i] * t;
	}
	v.predicted = -(slope + curve / 2) / v.cost;
	v.slope = slope / (2 * v.cost);
}

static __device__ __forceinline__ double cosine(const lane &v) {
	double worst = 0;
	UNROLL for (int k = 0; k < N; k++)
		if (v.column[k] > 0 && v.open[k] && v.size > 0) worst = fmax(worst, fabs(v.g[k]) / (v.column[k] * v.size));
	return worst;
}

static __device__ __forceinline__ void finish(lane &v, int status) {
	v.status = status;
	v.phase = VACANT;
}

static __device__ __forceinline__ void polish(lane &v, const settings &s) {
	double before = v.length;
	solve(v, 0);
	if (v.pivot < LEAST_PIVOT) return finish(v, ILL);
	v.length = norm(v.y);
	double rate = fmin(1.0, v.length / before), size = 0;
	bool inside = true;
	UNROLL for (int k = 0; k < N; k++) inside = inside && is_finite(v.y[k]);
	UNROLL for (int k = 0; k < N; k++) {
		double x = v.x[k] + v.scale[k] * v.y[k];
		size = fmax(size, fabs(v.scale[k] * v.y[k]) / fmax(fabs(v.x[k]), 1e-300));
		inside = inside && x == clipped(s, k, x);
		v.trial[k] = x;
	}
	if (!inside || size < 1e-15 || v.length >= v.last || size > 1e-2 || v.polished >= 10) return finish(v, v.status);
	if (size * rate < 1e-10 && size < 1e-5) {
		predict(v);
		UNROLL for (int k = 0; k < N; k++) v.x[k] = v.trial[k];
		v.cost *= 1 - fmax(0.0, v.predicted);
		return finish(v, v.status);
	}
	v.last = v.length;
	v.polished++;
}

static __device__ __forceinline__ void converged(lane &v, const settings &s, int status) {
	v.status = status;
	if (s.no_polish || v.cost == 0) return finish(v, status);
	find_open(v, s);
	v.phase = POLISHING;
	v.last = 1e300;
	polish(v, s);
}

static __device__ __forceinline__ void propose(lane &v, const settings &s) {
	double slope = cosine(v);
	if (slope < s.gtol || slope == 0) return converged(v, s, GRADIENT_SMALL);
	if (v.nfev >= s.most) return finish(v, MAX_EVALUATIONS);
	for (bool grows = v.nfev == 1;;) {
		solve(v, 0);
		if (v.pivot < LEAST_PIVOT) return finish(v, ILL);
		double slope = 0;
		UNROLL for (int k = 0; k < N; k++) slope += v.g[k] * v.y[k];
		v.full = -slope / (2 * v.cost);
		v.par = within(v, v.radius, v.par);
		keep_in_bounds(v, s);
		v.length = norm(v.y);
		predict(v);
		grows = grows && v.par > 0 && v.predicted < VISIBLE && v.full > VISIBLE;
		if (grows) {
			v.radius *= GROW;
			continue;
		}
		if (v.predicted > 0) break;
		v.radius = 0.25 * fmin(v.radius, v.length);
		if (!(v.radius > EPS * scaled_size(v))) return converged(v, s, STEP_SMALL);
	}
	if (v.nfev == 1) v.radius = fmin(v.radius, v.length);
	UNROLL for (int k = 0; k < N; k++) v.trial[k] = moved(v, s, k);
}

static __device__ __forceinline__ bool accept(lane &v, const double *gram, double cost) {
	UNROLL for (int k = 0; k < N; k++) v.x[k] = v.trial[k];
	v.cost = cost;
	return linearise(v, gram);
}

static __device__ __forceinline__ int settled(const settings &s, double actual, double full, double ratio, double radius, double size) {
	bool flat = fabs(actual) <= s.ftol && full <= s.ftol && ratio <= 2, small = radius <= s.xtol * size;
	if (flat && small) return BOTH_SETTLED;
	if (flat || (fabs(actual) <= EPS && full <= EPS && ratio <= 2)) return COST_SETTLED;
	if (small || radius <= EPS * size) return STEP_SMALL;
	return radius < 1e-300 ? STUCK : NONE;
}

static __device__ __forceinline__ void judge(lane &v, const settings &s, const double *gram, double cost) {
	double actual = is_finite(cost) && cost < 100 * v.cost ? 1 - cost / v.cost : -100, ratio = 0;
	if (v.predicted > 0) ratio = actual / v.predicted;
	if (ratio <= 0.25) {
		double by = 0.5;
		if (actual < 0) by = 0.5 * v.slope / (v.slope + 0.5 * actual);
		if (actual == -100 || !(by >= 0.1)) by = 0.1;
		v.radius = by * fmin(v.radius, 10 * v.length);
		v.par /= by;
	} else if (v.par == 0 || ratio >= 0.75) {
		v.radius = 2 * v.length;
		v.par /= 2;
	}
	bool accepted = ratio > 1e-4;
	if (accepted && !accept(v, gram, cost)) return finish(v, STUCK);
	int end = settled(s, actual, v.full, ratio, v.radius, scaled_size(v));
	if (end != NONE) return converged(v, s, end);
	find_open(v, s);
	propose(v, s);
}

static __device__ __forceinline__ void judge_polish(lane &v, const settings &s, const double *gram, double cost) {
	if (!(cost <= v.cost * (1 + 1e-11))) return finish(v, v.status);
	if (!accept(v, gram, cost)) return finish(v, STUCK);
	find_open(v, s);
	polish(v, s);
}

static __device__ __forceinline__ void start(lane &v, const settings &s, const double *gram, double cost) {
	UNROLL for (int k = 0; k < N; k++) v.longest[k] = 0;
	v.cost = cost;
	if (!is_finite(cost) || !accept(v, gram, cost)) return finish(v, FAILED);
	v.phase = TRYING;
	find_open(v, s);
	v.radius = s.first_step * scaled_size(v);
	if (v.radius == 0 || !is_finite(v.radius)) v.radius = s.first_step;
	propose(v, s);
}

// fit_step lets every lane judge its trial and choose the next one. A lane whose fit has ended writes its record and takes
// the next row; counters hold the number of the next row and the number of rows that have ended.
extern "C" __global__ void __launch_bounds__(64) fit_step(double *state, int *counts, double *params, const double *gram, const settings *from, double *records, int *counters) {
	const int l = blockIdx.x * 64 + threadIdx.x;
	if (l >= L) return;
	const settings &s = *from;
	state += l, counts += l, params += l, gram += l;
	counts[FRESH * L] = -1;
	lane v;
	v.phase = counts[PHASE * L];
	if (v.phase == VACANT) return;
	v.nfev = counts[NFEV * L] + 1, v.polished = counts[POLISHED * L], v.status = counts[STATUS * L];
	UNROLL for (int k = 0; k < N; k++) {
		v.trial[k] = params[(size_t)k * L];
		v.x[k] = state[(size_t)(X + k) * L], v.longest[k] = state[(size_t)(LONGEST + k) * L];
		v.g[k] = state[(size_t)(G + k) * L], v.column[k] = state[(size_t)(COLUMN + k) * L];
		v.scale[k] = v.longest[k] > 0 ? 1 / v.longest[k] : 1;
		UNROLL for (int j = 0; j <= k; j++) v.h[k][j] = v.h[j][k] = state[(size_t)(H + k * (k + 1) / 2 + j) * L];
	}
	v.cost = state[(size_t)COST * L], v.size = state[(size_t)SIZE * L], v.radius = state[(size_t)RADIUS * L], v.par = state[(size_t)PAR * L];
	v.predicted = state[(size_t)PREDICTED * L], v.slope = state[(size_t)SLOPE * L], v.length = state[(size_t)LENGTH * L], v.last = state[(size_t)LAST * L], v.full = state[(size_t)FULL * L];
	double cost = ROBUST ? s.loss_scale * s.loss_scale * gram[(size_t)(SUMS - 1) * L] / 2 : gram[(size_t)(PRODUCTS - 1) * L] / 2;
	switch (v.phase) {
	case AT_START: start(v, s, gram, cost); break;
	case TRYING: judge(v, s, gram, cost); break;
	default: judge_polish(v, s, gram, cost);
	}
	counts[PHASE * L] = v.phase;
	if (v.phase == VACANT) {
		double *to = records + (size_t)counts[ROW * L] * RECORD;
		UNROLL for (int k = 0; k < N; k++) to[k] = v.x[k], to[N + k] = v.g[k], to[2 * N + k] = v.scale[k];
		to += 3 * N;
		UNROLL for (int k = 0; k < N; k++)
			UNROLL for (int j = 0; j <= k; j++) *to++ = v.h[k][j];
		to[0] = v.cost, to[1] = v.size, to[2] = v.status, to[3] = v.nfev;
		atomicAdd(counters + 1, 1);
		int next = atomicAdd(counters, 1);
		if (next < s.rows) counts[FRESH * L] = next;
		return;
	}
	counts[NFEV * L] = v.nfev, counts[POLISHED * L] = v.polished, counts[STATUS * L] = v.status;
	UNROLL for (int k = 0; k < N; k++) {
		params[(size_t)k * L] = v.trial[k];
		state[(size_t)(X + k) * L] = v.x[k], state[(size_t)(LONGEST + k) * L] = v.longest[k];
		state[(size_t)(G + k) * L] = v.g[k], state[(size_t)(COLUMN + k) * L] = v.column[k];
		UNROLL for (int j = 0; j <= k; j++) state[(size_t)(H + k * (k + 1) / 2 + j) * L] = v.h[k][j];
	}
	state[(size_t)COST * L] = v.cost, state[(size_t)SIZE * L] = v.size, state[(size_t)RADIUS * L] = v.radius, state[(size_t)PAR * L] = v.par;
	state[(size_t)PREDICTED * L] = v.predicted, state[(size_t)SLOPE * L] = v.slope, state[(size_t)LENGTH * L] = v.length, state[(size_t)LAST * L] = v.last, state[(size_t)FULL * L] = v.full;
}

// fit_fill gives lanes their new rows: a warp for each lane. A number below -1 stands for a row whose data keep a vacant
// lane busy.
extern "C" __global__ void __launch_bounds__(256) fit_fill(int *counts, double *data, double *params, const double *rows, const double *starts) {
	const int l = blockIdx.x * 8 + threadIdx.y;
	if (l >= L) return;
	int row = counts[FRESH * L + l];
	if (row == -1) return;
	bool vacant = row < 0;
	if (vacant) row = -(row + 2);
	for (int i = threadIdx.x; i < S; i += 32) data[(size_t)i * L + l] = rows[(size_t)row * S + i];
	for (int k = threadIdx.x; k < N; k += 32) params[(size_t)k * L + l] = starts[(size_t)row * N + k];
	if (threadIdx.x == 0) {
		counts[ROW * L + l] = row, counts[PHASE * L + l] = vacant ? VACANT : AT_START;
		counts[NFEV * L + l] = counts[POLISHED * L + l] = 0, counts[STATUS * L + l] = NONE;
	}
}
