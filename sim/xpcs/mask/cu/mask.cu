// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

// Pixels that an intensity or maps keep, as package mask decides it.

static inline __device__ long long place() { return (long long)blockIdx.x * blockDim.x + threadIdx.x; }

// threshold keeps the pixels of an image between two limits, each unless it is switched off.
extern "C" __global__ void threshold(const double *image, long long count, double low, double high, int no_low, int no_high, unsigned char *keep) {
	long long i = place();
	if (i >= count) return;
	double v = image[i];
	keep[i] = v == v && (no_low || v >= low) && (no_high || v < high);
}

// constraint joins the pixels whose value lies in a range, both ends included, to those before it: also (either is 1) or only. Azimuths beyond the end
// (wrap is 1) are taken a turn lower, those before the beginning (wrap is 2) a turn higher.
extern "C" __global__ void constraint(const double *values, long long count, double begin, double end, int wrap, int either, unsigned char *keep) {
	long long i = place();
	if (i >= count) return;
	double v = values[i];
	if (wrap == 1 && v > end) v -= 360;
	if (wrap == 2 && v < begin) v += 360;
	bool holds = v >= begin && v <= end;
	keep[i] = either ? keep[i] || holds : keep[i] && holds;
}
