// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

// Philox 4x32-10: four random words from a 128-bit counter and a 64-bit key, no state between calls.
//
//   counter = (block low, block high, subsequence, 0),  key = seed
//   element e of a draw uses word e%4 of block offset + e/4
//
// uniform = (u>>8) 2^-24 in [0, 1);  normals by Box and Muller from pairs of words,
//   u1 = ((a>>8)+1) 2^-24,  u2 = (b>>8) 2^-24,  sqrt(-2 log u1) (cos, sin)(2 pi u2).
//
// Every thread makes whole blocks, so the numbers do not depend on the grid.
//
// Reference: Salmon, Moraes, Dror and Shaw, SC11, doi 10.1145/2063384.2063405.

struct Words { unsigned w[4]; };

static __device__ __forceinline__ Words philox(unsigned long long block, unsigned subsequence, unsigned long long seed) {
  unsigned c0 = (unsigned)block, c1 = (unsigned)(block >> 32), c2 = subsequence, c3 = 0;
  unsigned k0 = (unsigned)seed, k1 = (unsigned)(seed >> 32);
  for (int round = 0; round < 10; round++) {
    unsigned h0 = __umulhi(0xD2511F53u, c0), l0 = 0xD2511F53u * c0;
    unsigned h1 = __umulhi(0xCD9E8D57u, c2), l1 = 0xCD9E8D57u * c2;
    c0 = h1 ^ c1 ^ k0;
    c1 = l1;
    c2 = h0 ^ c3 ^ k1;
    c3 = l0;
    k0 += 0x9E3779B9u;
    k1 += 0xBB67AE85u;
  }
  Words r = {{c0, c1, c2, c3}};
  return r;
}

static __device__ __forceinline__ float uniform32(unsigned u) { return (float)(u >> 8) * 5.9604644775390625e-8f; }

static __device__ __forceinline__ void normal32(unsigned a, unsigned b, float* x, float* y) {
  float r = sqrtf(-2.0f * logf((float)((a >> 8) + 1) * 5.9604644775390625e-8f)), s, c;
  sincospif(2.0f * uniform32(b), &s, &c);
  *x = r * c;
  *y = r * s;
}

static __device__ __forceinline__ void normal64(unsigned a, unsigned b, double* x, double* y) {
  double r = sqrt(-2.0 * log((double)((a >> 8) + 1) * 5.9604644775390625e-8)), s, c;
  sincospi(2.0 * ((double)(b >> 8) * 5.9604644775390625e-8), &s, &c);
  *x = r * c;
  *y = r * s;
}

#define EACH_BLOCK(n)                                                                         \
  long long step = (long long)gridDim.x * blockDim.x;                                         \
  for (long long q = (long long)blockIdx.x * blockDim.x + threadIdx.x; q < ((n) + 3) / 4; q += step)

extern "C" __global__ void __launch_bounds__(256) philox_bits(unsigned* out, long long n, unsigned long long seed, unsigned long long offset, unsigned subsequence) {
  EACH_BLOCK(n) {
    Words r = philox(offset + q, subsequence, seed);
#pragma unroll
    for (int k = 0; k < 4; k++)
      if (4 * q + k < n) out[4 * q + k] = r.w[k];
  }
}

extern "C" __global__ void __launch_bounds__(256) philox_uniform_f32(float* out, long long n, unsigned long long seed, unsigned long long offset, unsigned subsequence) {
  EACH_BLOCK(n) {
    Words r = philox(offset + q, subsequence, seed);
#pragma unroll
    for (int k = 0; k < 4; k++)
      if (4 * q + k < n) out[4 * q + k] = uniform32(r.w[k]);
  }
}

extern "C" __global__ void __launch_bounds__(256) philox_uniform_f64(double* out, long long n, unsigned long long seed, unsigned long long offset, unsigned subsequence) {
  EACH_BLOCK(n) {
    Words r = philox(offset + q, subsequence, seed);
#pragma unroll
    for (int k = 0; k < 4; k++)
      if (4 * q + k < n) out[4 * q + k] = (double)(r.w[k] >> 8) * 5.9604644775390625e-8;
  }
}

extern "C" __global__ void __launch_bounds__(256) philox_normal_f32(float* out, long long n, unsigned long long seed, unsigned long long offset, unsigned subsequence) {
  EACH_BLOCK(n) {
    Words r = philox(offset + q, subsequence, seed);
    float v[4];
    normal32(r.w[0], r.w[1], &v[0], &v[1]);
    normal32(r.w[2], r.w[3], &v[2], &v[3]);
#pragma unroll
    for (int k = 0; k < 4; k++)
      if (4 * q + k < n) out[4 * q + k] = v[k];
  }
}

extern "C" __global__ void __launch_bounds__(256) philox_normal_f64(double* out, long long n, unsigned long long seed, unsigned long long offset, unsigned subsequence) {
  EACH_BLOCK(n) {
    Words r = philox(offset + q, subsequence, seed);
    double v[4];
    normal64(r.w[0], r.w[1], &v[0], &v[1]);
    normal64(r.w[2], r.w[3], &v[2], &v[3]);
#pragma unroll
    for (int k = 0; k < 4; k++)
      if (4 * q + k < n) out[4 * q + k] = v[k];
  }
}

// y = x/keep where the uniform number is below keep, else 0. The backward pass calls it again with the
// same numbers, so no mask is stored.
extern "C" __global__ void __launch_bounds__(256) philox_dropout_f32(const float* x, float* y, long long n, float keep, unsigned long long seed, unsigned long long offset, unsigned subsequence) {
  EACH_BLOCK(n) {
    Words r = philox(offset + q, subsequence, seed);
#pragma unroll
    for (int k = 0; k < 4; k++)
      if (4 * q + k < n) y[4 * q + k] = uniform32(r.w[k]) < keep ? x[4 * q + k] / keep : 0.0f;
  }
}
