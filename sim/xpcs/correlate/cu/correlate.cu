// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

// Correlations of frames. Before this text stand R, the type of normalised frames and their sums over levels, PER, the
// delays at each level, and the type in which products of two-time correlations are summed over STEP pixels.
// No number is added by two threads, and sums have one order.

#define NOT_A_NUMBER __longlong_as_double(0x7ff8000000000000LL)
typedef unsigned char u1;
typedef unsigned short u2;
typedef unsigned u4;

static inline __device__ long long place() { return (long long)blockIdx.x * blockDim.x + threadIdx.x; }

// Numbers of a file become float32; the largest of a type stands for NaN if it marks pixels.
template <class T> static __device__ __forceinline__ void convert(const T *in, float *out, long long count, int marks) {
	long long i = place();
	if (i < count) out[i] = marks && in[i] == (T)~(T)0 ? (float)NOT_A_NUMBER : (float)in[i];
}
extern "C" __global__ void from_uint8(const u1 *in, float *out, long long count, int marks) { convert(in, out, count, marks); }
extern "C" __global__ void from_uint16(const u2 *in, float *out, long long count, int marks) { convert(in, out, count, marks); }
extern "C" __global__ void from_uint32(const u4 *in, float *out, long long count, int marks) { convert(in, out, count, marks); }

// spread writes the events of frames, a block for each, to frames of zeros.
extern "C" __global__ void spread(const int *start, const u4 *pixel, const float *count, float *frames, int size) {
	float *to = frames + (long long)blockIdx.x * size;
	for (int i = start[blockIdx.x] + threadIdx.x; i < start[blockIdx.x + 1]; i += blockDim.x) to[pixel[i]] = count[i];
}

// together adds a number of each of 256 threads.
static __device__ __forceinline__ double together(double v, double *room) {
	int t = threadIdx.x;
	__syncthreads();
	room[t] = v;
	for (int half = 128; half > 0; half /= 2) {
		__syncthreads();
		if (t < half) room[t] += room[t + half];
	}
	__syncthreads();
	return room[0];
}

// valid_sums adds valid pixels of frames (Y): a block adds a part of them (X).
extern "C" __global__ void __launch_bounds__(256) valid_sums(const float *frames, const int *valid, int count, int size, double *partial) {
	__shared__ double room[256];
	const float *frame = frames + (long long)blockIdx.y * size;
	double sum = 0;
	for (int k = 0; k < 16; k++) {
		int i = (blockIdx.x * 16 + k) * 256 + threadIdx.x;
		if (i < count) sum += frame[valid[i]];
	}
	sum = together(sum, room);
	if (threadIdx.x == 0) partial[(long long)blockIdx.y * gridDim.x + blockIdx.x] = sum;
}

// means finishes the mean of each frame, and what normalises it.
extern "C" __global__ void __launch_bounds__(256) means(const double *partial, int parts, double count, int normalize, double *mean, double *scale) {
	__shared__ double room[256];
	double sum = 0;
	for (int k = threadIdx.x; k < parts; k += 256) sum += partial[(long long)blockIdx.x * parts + k];
	sum = together(sum, room);
	if (threadIdx.x == 0) {
		sum /= count;
		mean[blockIdx.x] = sum;
		scale[blockIdx.x] = normalize && sum != 0 ? 1.0 / sum : 1.0;
	}
}

// add_image adds frames to their sums.
extern "C" __global__ void add_image(const float *frames, int size, int count, double *image) {
	long long i = place();
	if (i >= size) return;
	double sum = image[i];
	for (int f = 0; f < count; f++) sum += frames[(long long)f * size + i];
	image[i] = sum;
}

// level adds count new frames of a level, (frame, pixel), done frames after its first one: products with the frames PER+1 to
// 2 PER earlier, at the first level also with those 1 to PER earlier, and the heads, sums of the first frames. past holds the last 2 PER frames.
// Frames are summed by two for the next level; one that is left waits in half.
template <bool FIRST>
static __device__ __forceinline__ void level(const float *frames, const int *index, const double *scale, const R *in, int size, long long pixels, int count, int done, int waits,
                                             R *past, double *products, double *heads, double *total, double *raw, R *half, R *next) {
	const int LOW = FIRST ? 0 : PER, LAGS = 2 * PER - LOW;
	long long p = place();
	if (p >= pixels) return;
	R before[2 * PER];
	double sums[LAGS], all = 0, plain = 0;
#pragma unroll
	for (int k = 0; k < 2 * PER; k++) before[k] = past[(2 * PER - 1 - k) * pixels + p];
#pragma unroll
	for (int k = 0; k < LAGS; k++) sums[k] = products[k * pixels + p];
	int from = FIRST ? index[p] : 0;
	R other = waits ? half[p] : (R)0;
	for (int r = 0; r < count; r++) {
		R x;
		if (FIRST) {
			float v = from < 0 ? 0.0f : frames[(long long)r * size + from];
			plain += v;
			x = (R)v * (R)scale[r];
			all += x;
		} else x = in[r * pixels + p];
#pragma unroll
		for (int k = 0; k < LAGS; k++) sums[k] += (double)x * (double)before[k + LOW];
		if (done + r < 2 * PER)
			for (int k = done + r - LOW < 0 ? 0 : done + r - LOW; k < LAGS; k++) heads[k * pixels + p] += x;
#pragma unroll
		for (int k = 2 * PER - 1; k > 0; k--) before[k] = before[k - 1];
		before[0] = x;
		if ((waits + r) % 2) {
			if (next) next[(waits + r) / 2 * pixels + p] = other + x;
		} else other = x;
	}
	half[p] = other;
#pragma unroll
	for (int k = 0; k < 2 * PER; k++) past[(2 * PER - 1 - k) * pixels + p] = before[k];
#pragma unroll
	for (int k = 0; k < LAGS; k++) products[k * pixels + p] = sums[k];
	if (FIRST) {
		total[p] += all;
		raw[p] += plain;
	}
}

extern "C" __global__ void __launch_bounds__(128) first_level(const float *frames, const int *index, const double *scale, int size, long long pixels, int count, int done, int waits,
                                                              R *past, double *products, double *heads, double *total, double *raw, R *half, R *next) {
	level<true>(frames, index, scale, 0, size, pixels, count, done, waits, past, products, heads, total, raw, half, next);
}

extern "C" __global__ void __launch_bounds__(128) next_level(const R *in, long long pixels, int count, int done, int waits, R *past, double *products, double *heads, R *half, R *next) {
	level<false>(0, 0, 0, in, 0, pixels, count, done, waits, past, products, heads, 0, 0, half, next);
}

// group_means takes the mean of each frame (Y) over groups of pixels, a warp for each: that of group g over pixels[start[g]] to
// pixels[start[g+1]-1].
extern "C" __global__ void __launch_bounds__(256) group_means(const float *frames, const int *start, const int *pixels, int groups, int size, double *mean) {
	int g = blockIdx.x * 8 + threadIdx.x / 32, lane = threadIdx.x % 32;
	const float *frame = frames + (long long)blockIdx.y * size;
	double sum = 0;
	if (g < groups)
		for (int i = start[g] + lane; i < start[g + 1]; i += 32) sum += frame[pixels[i]];
	for (int half = 16; half > 0; half /= 2) sum += __shfl_down_sync(0xffffffffu, sum, half);
	if (g < groups && lane == 0) mean[(long long)blockIdx.y * groups + g] = sum / (start[g + 1] - start[g]);
}

// bin_means replaces means of groups that are not above 0 by 1, and writes, for each bin and frame, the mean of the divided
// counts of its pixels and the sum of the means: a thread for each bin (X) of a frame (Y).
extern "C" __global__ void bin_means(double *mean, const int *start, const int *bins, int count, int groups, double *level, double *sum) {
	int b = place();
	if (b >= count) return;
	double *of = mean + (long long)blockIdx.y * groups;
	double total = 0, counted = 0, all = 0;
	for (int g = bins[b]; g < bins[b + 1]; g++) {
		double v = of[g], n = start[g + 1] - start[g];
		total += v;
		all += n;
		if (v > 0) counted += n;
		else of[g] = 1;
	}
	level[(long long)blockIdx.y * count + b] = counted / all;
	sum[(long long)blockIdx.y * count + b] = total;
}

// keep gathers pixels of frames (Y).
extern "C" __global__ void keep(const float *frames, const int *pixels, long long count, int size, float *kept) {
	long long i = place();
	if (i < count) kept[blockIdx.y * count + i] = frames[(long long)blockIdx.y * size + pixels[i]];
}

// divide writes the counts of some pixels of each frame (a block), divided by the means of their groups, and adds them to the
// sum of the frame.
extern "C" __global__ void __launch_bounds__(256) divide(const float *kept, long long stride, const int *group, int width, const double *mean, int groups, R *out, int row, double *sums) {
	__shared__ double room[256];
	const float *from = kept + (long long)blockIdx.x * stride;
	const double *of = mean + (long long)blockIdx.x * groups;
	R *to = out + (long long)blockIdx.x * row;
	double sum = 0;
	for (int i = threadIdx.x; i < row; i += 256) {
		double v = i < width ? (double)from[i] * (1.0 / of[group[i]]) : 0.0;
		sum += v;
		to[i] = (R)v;
	}
	sum = together(sum, room);
	if (threadIdx.x == 0) sums[blockIdx.x] += sum;
}

// products adds the products of frames to the upper triangle of a map: a block makes 64 x 64 elements, a thread 4 x 4 of them.
#define SIDE 64
#define STEP 16
extern "C" __global__ void __launch_bounds__(256) products(const R *x, int frames, int row, double *map) {
	__shared__ R a[STEP][SIDE + 1], b[STEP][SIDE + 1];
	int tile = blockIdx.x, i0 = 0, tiles = (frames + SIDE - 1) / SIDE; // tiles of the upper triangle, row by row
	for (; tile >= tiles - i0; i0++) tile -= tiles - i0;
	int j0 = (i0 + tile) * SIDE;
	i0 *= SIDE;
	int t = threadIdx.x, ty = t / 16, tx = t % 16;
	double sums[4][4];
#pragma unroll
	for (int i = 0; i < 4; i++)
#pragma unroll
		for (int j = 0; j < 4; j++) sums[i][j] = 0;
	for (int k0 = 0; k0 < row; k0 += STEP) {
		__syncthreads();
		for (int i = t / STEP; i < SIDE; i += 256 / STEP) {
			int k = t % STEP;
			a[k][i] = i0 + i < frames ? x[(long long)(i0 + i) * row + k0 + k] : (R)0;
			b[k][i] = j0 + i < frames ? x[(long long)(j0 + i) * row + k0 + k] : (R)0;
		}
		__syncthreads();
		R some[4][4];
#pragma unroll
		for (int i = 0; i < 4; i++)
#pragma unroll
			for (int j = 0; j < 4; j++) some[i][j] = 0;
#pragma unroll
		for (int k = 0; k < STEP; k++) {
#pragma unroll
			for (int i = 0; i < 4; i++)
#pragma unroll
				for (int j = 0; j < 4; j++) some[i][j] += a[k][ty + 16 * i] * b[k][tx + 16 * j];
		}
#pragma unroll
		for (int i = 0; i < 4; i++)
#pragma unroll
			for (int j = 0; j < 4; j++) sums[i][j] += some[i][j];
	}
#pragma unroll
	for (int i = 0; i < 4; i++)
#pragma unroll
		for (int j = 0; j < 4; j++) {
			int r = i0 + ty + 16 * i, c = j0 + tx + 16 * j;
			if (r < frames && c < frames) map[(long long)r * frames + c] += sums[i][j];
		}
}

// add_block adds products that a library made to some rows of a map, from the column of the first row on.
extern "C" __global__ void add_block(const R *in, int first, int rows, int frames, double *map) {
	long long i = place(), width = frames - first;
	if (i >= rows * width) return;
	map[(first + i / width) * frames + first + i % width] += in[i];
}

// finish normalises the upper triangle of a map, whose rows are blocks (Y), and mirrors it.
extern "C" __global__ void finish(double *map, const double *sums, int frames, double pixels) {
	int i = blockIdx.y, j = place();
	if (j >= frames || j < i) return;
	double d = sums[i] * sums[j], v = d != 0 ? map[(long long)i * frames + j] * pixels / d : 0.0;
	map[(long long)i * frames + j] = v;
	map[(long long)j * frames + i] = v;
}

// age_singles adds the divided counts of each group of pixels (a thread) in each frame (a block), over the level of the frame.
extern "C" __global__ void age_singles(const R *x, int row, int width, int first, int groups, const double *level, int levels, double *single) {
	int f = blockIdx.x;
	double l = level[(long long)f * levels];
	if (l == 0) return;
	for (int g = threadIdx.x; g < groups; g += blockDim.x) {
		double sum = 0;
		for (int i = g; i < width; i += groups) sum += (double)x[(long long)f * row + i] / l;
		single[(long long)f * groups + (first + g) % groups] += sum;
	}
}

// age_products adds the products of pixels at a delay (Y) over the pairs of frames of a block of time (X), for each group (a thread).
extern "C" __global__ void age_products(const R *x, int frames, int row, int width, int first, int groups, const int *delays, const double *level, int levels, double *product) {
	int b = blockIdx.x, blocks = gridDim.x, d = delays[blockIdx.y];
	long long low = ((long long)b * frames + blocks - 1) / blocks - d / 2, high = ((b + 1ll) * frames + blocks - 1) / blocks - d / 2;
	if (low < 0) low = 0;
	if (high > frames - d) high = frames - d;
	for (int g = threadIdx.x; g < groups; g += blockDim.x) {
		double sum = 0;
		for (long long f = low; f < high; f++) {
			double l = level[f * levels] * level[(f + d) * levels], pair = 0;
			if (l == 0) continue;
			const R *p = x + f * row, *q = x + (f + d) * row;
			for (int i = g; i < width; i += groups) pair += (double)p[i] * (double)q[i];
			sum += pair / l;
		}
		product[((long long)blockIdx.y * blocks + b) * groups + (first + g) % groups] += sum;
	}
}

// leave takes frames that wait for a second one off the sums of pixels.
extern "C" __global__ void leave(double *total, const R *half, long long pixels) {
	long long p = place();
	if (p < pixels) total[p] -= half[p];
}

// averages writes, for a delay of lag summed frames, the averages of products (row k), of earlier and of later frames of each pixel.
extern "C" __global__ void averages(const R *past, const double *products, const double *heads, const double *total, long long pixels, int k, int lag, double pairs, double span, double *out) {
	long long p = place();
	if (p >= pixels) return;
	double tail = 0;
	for (int r = 2 * PER - lag; r < 2 * PER; r++) tail += past[r * pixels + p];
	out[p] = products[k * pixels + p] / (pairs * span * span);
	out[pixels + p] = (total[p] - tail) / (pairs * span);
	out[2 * pixels + p] = (total[p] - heads[k * pixels + p]) / (pairs * span);
}

static __device__ __forceinline__ double nonzero(double x) { return x == 0 ? 1e8 : x; }

// ratios finds <P>/(<A><B>) of each group of pixels, a warp for each.
extern "C" __global__ void __launch_bounds__(256) ratios(const double *of, long long pixels, const int *start, const int *members, int groups, double *ratio) {
	int g = blockIdx.x * 8 + threadIdx.x / 32, lane = threadIdx.x % 32;
	double p = 0, a = 0, b = 0, n = 1;
	if (g < groups) {
		n = start[g + 1] - start[g];
		for (int i = start[g] + lane; i < start[g + 1]; i += 32) {
			p += of[members[i]];
			a += of[pixels + members[i]];
			b += of[2 * pixels + members[i]];
		}
	}
	for (int half = 16; half > 0; half /= 2) {
		p += __shfl_down_sync(0xffffffffu, p, half);
		a += __shfl_down_sync(0xffffffffu, a, half);
		b += __shfl_down_sync(0xffffffffu, b, half);
	}
	if (g < groups && lane == 0) ratio[g] = (p / n) / nonzero((a / n) * (b / n));
}

// bin_g2 writes g2 of each bin (a block) and its error: the mean over its groups, and the scatter of its pixels by themselves.
extern "C" __global__ void __launch_bounds__(256) bin_g2(const double *of, long long pixels, const int *start, const int *members, const int *bins, const double *ratio, double *out) {
	__shared__ double room[256];
	int first = bins[blockIdx.x], last = bins[blockIdx.x + 1], from = start[first], to = start[last];
	double sum = 0;
	for (int g = first + threadIdx.x; g < last; g += 256) sum += ratio[g];
	double g2 = together(sum, room) / (last - first);
	sum = 0;
	for (int i = from + threadIdx.x; i < to; i += 256) {
		long long m = members[i];
		sum += of[m] / nonzero(of[pixels + m] * of[2 * pixels + m]);
	}
	double n = to - from, mean = together(sum, room) / n;
	sum = 0;
	for (int i = from + threadIdx.x; i < to; i += 256) {
		long long m = members[i];
		double off = of[m] / nonzero(of[pixels + m] * of[2 * pixels + m]) - mean;
		sum += off * off;
	}
	sum = together(sum, room);
	if (threadIdx.x == 0) {
		out[2 * blockIdx.x] = g2;
		out[2 * blockIdx.x + 1] = sqrt(sum / (n * (n - 1)));
	}
}
