// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

// Sums over the pairs i < j of frames. A block takes ROWS rows of the matrix of pairs of an angle and COLUMNS * THREADS
// columns; a thread has COLUMNS of these. Before this text stand the constants of the model and the
// functions of its pairs, which package transport writes:
//
//   load_frame     quantities of a frame at an angle
//   load_tables    derivatives of the quantities by parameters
//   row_factors    factors of a row and of a column relative to the frame ref, and whether they are finite
//   column_factors
//   factored       g and its derivatives by channels from factors
//   direct         the same as it is written, from quantities
//   add_row        sums of a row times its tables, to the parameters
//   add_column     sums of a column times its tables
//   derivatives    of g by the parameters, at a pair
//
// No number is added by two threads; partial sums of blocks are added up in the order of blocks.

#define RECORD (QUANTITIES + FACTORS + TABLES)
#define SPREAD (THREADS + 1)

static inline __device__ long long row_start(long long n, long long i) { return i * n - i * (i + 1) / 2; }

// stage writes what the rows of a block need to shared memory and returns whether factors may be taken.
static __device__ __forceinline__ bool stage(double *rows, const Frames &f, int angle, int first, int count, double *ref) {
	int t = threadIdx.x;
	load_frame(f, angle, first + count - 1, ref);
	double base[TABLES];
	load_tables(f, first + count - 1, base);
	bool fine = true;
	for (int r = t; r < count; r += THREADS) {
		double *to = rows + r * RECORD;
		load_frame(f, angle, first + r, to);
		fine = row_factors(to, ref, to + QUANTITIES) && fine;
		load_tables(f, first + r, to + QUANTITIES + FACTORS);
		relative(to + QUANTITIES + FACTORS, base);
	}
	return __syncthreads_and(fine);
}

// gather adds the numbers of all threads of a block and writes the sums.
static __device__ __forceinline__ void gather(double *room, const double *mine, int count, double *to) {
	int t = threadIdx.x;
	for (int from = 0; from < count; from += CHUNK) {
		__syncthreads();
#pragma unroll
		for (int s = 0; s < CHUNK; s++)
			if (from + s < count) room[s * SPREAD + t] = mine[from + s];
		__syncthreads();
		for (int s = t; s < CHUNK && from + s < count; s += THREADS) {
			double sum = 0;
			for (int k = 0; k < THREADS; k++) sum += room[s * SPREAD + k];
			to[from + s] = sum;
		}
	}
}

// ALL says that every pair of the block counts, FACTORED that factors are taken.
template <bool ALL, bool FACTORED>
static __device__ __forceinline__ void gradient_rows(const double *rows, const Frames &f, const double *ref, int4 b, int count, const Y *y, const Y *w, int n, int band, double *u) {
	double q[COLUMNS][QUANTITIES], k[COLUMNS][FACTORS], columns[COLUMNS][3 * CHANNELS];
	int j0 = b.z + threadIdx.x;
	// The data of a row are fetched while the one before is computed: there are too few warps to hide the wait.
	double ahead[COLUMNS];
#if WEIGHTED
	double weights[COLUMNS];
#endif
#pragma unroll
	for (int c = 0; c < COLUMNS; c++) {
		int j = j0 + c * THREADS;
		load_frame(f, b.x, j < n ? j : n - 1, q[c]);
		if (FACTORED) column_factors(q[c], ref, k[c]);
		long long at = row_start(n, b.y) - b.y - 1;
		bool counts = ALL || (j > b.y + band && j < n);
		ahead[c] = counts ? (double)y[at + j] : 0.0;
#if WEIGHTED
		weights[c] = counts ? (double)w[at + j] : 0.0;
#endif
#pragma unroll
		for (int s = 0; s < 3 * CHANNELS; s++) columns[c][s] = 0;
	}
	for (int r = 0; r < count; r++) {
		int i = b.y + r;
		long long next = row_start(n, i + 1) - i - 2;
		const double *row = rows + r * RECORD;
		double sums[3 * CHANNELS], g, slope[CHANNELS];
#pragma unroll
		for (int s = 0; s < 3 * CHANNELS; s++) sums[s] = 0;
#pragma unroll
		for (int c = 0; c < COLUMNS; c++) {
			int j = j0 + c * THREADS, lowest = j - threadIdx.x % 32;
			if (!ALL && (lowest >= n || lowest + 31 <= i + band)) continue; // no pair of the warp counts
			bool counts = ALL || (j > i + band && j < n), more = r + 1 < count && (ALL || (j > i + 1 + band && j < n));
			double value = ahead[c];
			ahead[c] = more ? (double)y[next + j] : 0.0;
#if WEIGHTED
			double weight = weights[c];
			weights[c] = more ? (double)w[next + j] : 0.0;
#endif
			if (FACTORED) factored(row, row + QUANTITIES, q[c], k[c], ref, &g, slope);
			else direct(row, q[c], &g, slope, f);
			if (!counts) {
				g = 0;
#pragma unroll
				for (int s = 0; s < CHANNELS; s++) slope[s] = 0;
			}
#if WEIGHTED
			u[0] += weight * g;
			u[1] += weight * g * g;
			u[2] += weight * value * g;
#else
			u[0] += g;
			u[1] += g * g;
			u[2] += value * g;
#endif
#pragma unroll
			for (int s = 0; s < CHANNELS; s++) {
#if WEIGHTED
				double one = weight * slope[s];
#else
				double one = slope[s];
#endif
				double by = one * g, with = one * value;
				sums[3 * s] += one;
				sums[3 * s + 1] += by;
				sums[3 * s + 2] += with;
				columns[c][3 * s] += one;
				columns[c][3 * s + 1] += by;
				columns[c][3 * s + 2] += with;
			}
		}
		add_row(row + QUANTITIES + FACTORS, sums, u + 3);
	}
	double base[TABLES];
	load_tables(f, b.y + count - 1, base);
#pragma unroll
	for (int c = 0; c < COLUMNS; c++) {
		int j = j0 + c * THREADS;
		double table[TABLES];
		load_tables(f, j < n ? j : n - 1, table);
		relative(table, base);
		add_column(table, columns[c], u + 3);
	}
}

// gradient sums w g, w g^2 and w y g, and the derivatives of g by the parameters times w, w g and w y.
extern "C" __global__ void __launch_bounds__(THREADS) gradient(const int4 *blocks, Frames f, const Y *y, const Y *w, int n, int band, double *out) {
	__shared__ double rows[ROWS * RECORD];
	__shared__ double room[CHUNK * SPREAD];
	int4 b = blocks[blockIdx.x]; // angle, first row, first column
	int count = b.y + ROWS < n ? ROWS : n - b.y;
	double ref[QUANTITIES], u[FIRST_SUMS];
	bool fine = stage(rows, f, b.x, b.y, count, ref);
#pragma unroll
	for (int s = 0; s < FIRST_SUMS; s++) u[s] = 0;
	long long pairs = (long long)n * (n - 1) / 2;
	y += b.x * pairs;
	if (w) w += b.x * pairs;
	bool all = b.z > b.y + count - 1 + band && b.z + COLUMNS * THREADS <= n;
	if (fine && all) gradient_rows<true, true>(rows, f, ref, b, count, y, w, n, band, u);
	else if (fine) gradient_rows<false, true>(rows, f, ref, b, count, y, w, n, band, u);
	else gradient_rows<false, false>(rows, f, ref, b, count, y, w, n, band, u);
	gather(room, u, FIRST_SUMS, out + (long long)blockIdx.x * FIRST_SUMS);
}

// curvature_rows sums products of derivatives, those of which PART says the numbers.
template <int PART, bool FACTORED>
static __device__ __forceinline__ void curvature_rows(const double *rows, const Frames &f, const double *ref, int4 b, int count, const Y *w, int n, int band, double *u) {
	double base[TABLES];
	load_tables(f, b.y + count - 1, base);
	for (int c = 0; c < COLUMNS; c++) {
		int j = b.z + threadIdx.x + c * THREADS;
		if (j >= n) break;
		double q[QUANTITIES], k[FACTORS], table[TABLES];
		load_frame(f, b.x, j, q);
		if (FACTORED) column_factors(q, ref, k);
		load_tables(f, j, table);
		relative(table, base);
		int last = j - band - b.y; // rows from here on do not count
		if (last > count) last = count;
		for (int r = 0; r < last; r++) {
			const double *row = rows + r * RECORD;
			double g, slope[CHANNELS], by[PARAMETERS];
			if (FACTORED) factored(row, row + QUANTITIES, q, k, ref, &g, slope);
			else direct(row, q, &g, slope, f);
			derivatives(row + QUANTITIES + FACTORS, table, slope, by);
#if WEIGHTED
			int i = b.y + r;
			double weight = (double)w[row_start(n, i) - i - 1 + j];
			products<PART>(weight, by, u);
#else
			products<PART>(1.0, by, u);
#endif
		}
	}
}

template <int PART>
static __device__ __forceinline__ void curvature_part(double *rows, double *room, const int4 *blocks, Frames f, const Y *w, int n, int band, double *out) {
	int4 b = blocks[blockIdx.x];
	int count = b.y + ROWS < n ? ROWS : n - b.y;
	double ref[QUANTITIES], u[PRODUCTS];
	bool fine = stage(rows, f, b.x, b.y, count, ref);
#pragma unroll
	for (int s = 0; s < PRODUCTS; s++) u[s] = 0;
	long long pairs = (long long)n * (n - 1) / 2;
	if (w) w += b.x * pairs;
	if (fine) curvature_rows<PART, true>(rows, f, ref, b, count, w, n, band, u);
	else curvature_rows<PART, false>(rows, f, ref, b, count, w, n, band, u);
	gather(room, u, PRODUCTS, out + (long long)blockIdx.x * PRODUCTS);
}

// collect adds the sums of the blocks first[a] to first[a+1]-1 of each angle: eight slices of them side by side, which
// are then added in their order.
extern "C" __global__ void __launch_bounds__(256) collect(const double *in, const int *first, int count, double *out, int width, int offset) {
	__shared__ double part[8][32];
	int from = first[blockIdx.x], to = first[blockIdx.x + 1];
	int lane = threadIdx.x % 32, slice = threadIdx.x / 32;
	for (int s0 = 0; s0 < count; s0 += 32) {
		int s = s0 + lane;
		double sum = 0;
		if (s < count)
			for (int k = from + slice; k < to; k += 8) sum += in[(long long)k * count + s];
		__syncthreads();
		part[slice][lane] = sum;
		__syncthreads();
		if (slice == 0 && s < count) {
			for (int k = 1; k < 8; k++) sum += part[k][lane];
			out[(long long)blockIdx.x * width + offset + s] = sum;
		}
	}
}
