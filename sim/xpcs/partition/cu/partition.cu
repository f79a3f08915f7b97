// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

// The pixels of a detector divided along axes, with the roundings of package partition.

// turn brings azimuths after an offset into (-180, 180], and folds them onto one of fold sectors.
static __device__ __forceinline__ double modulo(double x, double y) {
	double m = fmod(x, y);
	if (m != 0 && (m < 0) != (y < 0)) m += y;
	return m;
}

extern "C" __global__ void turn(double *x, long long count, double offset, int folds, double sector) {
	long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
	if (i >= count) return;
	double v = modulo(x[i] + offset, 360.0);
	if (v > 180) v -= 360;
	if (folds) v = modulo(v + 180, sector);
	x[i] = v;
}

// bounds finds the smallest and the largest value of the pixels of a block that count, and how many are unmasked numbers.
extern "C" __global__ void __launch_bounds__(256) bounds(const double *x, const unsigned char *mask, long long count, int log, double *low, double *high, int *some) {
	__shared__ double least[256], most[256];
	__shared__ int number[256];
	int t = threadIdx.x;
	double l = __longlong_as_double(0x7ff0000000000000LL), h = -l;
	int n = 0;
	for (int k = 0; k < 16; k++) {
		long long i = ((long long)blockIdx.x * 16 + k) * 256 + t;
		if (i >= count || !mask[i]) continue;
		double v = x[i];
		if (v != v) continue;
		n++;
		if (log && v <= 0) continue;
		if (v < l) l = v;
		if (v > h) h = v;
	}
	least[t] = l;
	most[t] = h;
	number[t] = n;
	for (int half = 128; half > 0; half /= 2) {
		__syncthreads();
		if (t < half) {
			if (least[t + half] < least[t]) least[t] = least[t + half];
			if (most[t + half] > most[t]) most[t] = most[t + half];
			number[t] += number[t + half];
		}
	}
	if (t == 0) {
		low[blockIdx.x] = least[0];
		high[blockIdx.x] = most[0];
		some[blockIdx.x] = number[0];
	}
}

// divide finds the bin of each pixel, from 1, among n; scale guesses it.
extern "C" __global__ void divide(const double *x, const unsigned char *mask, long long count, const double *edges, int n, double high, double scale, int *of) {
	long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
	if (i >= count) return;
	double v = x[i];
	int k = 0;
	if (mask[i] && v == v) {
		k = n;
		if (v != high) {
			v = rint(v * 1e12) / 1e12;
			double guess = (v - edges[0]) * scale;
			k = guess >= 0 ? (guess <= n - 1 ? (int)guess : n - 1) : 0;
			while (k < n - 1 && v >= edges[k + 1]) k++;
			while (k > 0 && v < edges[k]) k--;
			k++;
		}
	}
	of[i] = k;
}

// mark notes which cells of the grid of two divisions have pixels.
extern "C" __global__ void mark(const int *a, const int *b, long long count, int n, int *cells) {
	long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
	if (i < count && a[i] > 0 && b[i] > 0) cells[(long long)(a[i] - 1) * n + b[i] - 1] = 1;
}

// number writes the number of the cell of each pixel.
extern "C" __global__ void number(const int *a, const int *b, long long count, int n, const int *cells, int *of) {
	long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
	if (i < count) of[i] = a[i] > 0 && b[i] > 0 ? cells[(long long)(a[i] - 1) * n + b[i] - 1] : 0;
}
