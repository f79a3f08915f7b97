// Kernels whose barriers all matter, for checks of the emulator and of compilers.

// The sum of squares of every row: shuffles within warps, shared memory between them.
extern "C" __global__ void __launch_bounds__(256) row_squares(const float* x, float* out, int columns) {
  __shared__ float part[8];
  int row = blockIdx.x;
  float sum = 0.0f;
  for (int c = threadIdx.x; c < columns; c += blockDim.x) {
    float v = x[(size_t)row * columns + c];
    sum = fmaf(v, v, sum);
  }
  for (int d = 16; d > 0; d >>= 1) sum += __shfl_down_sync(0xffffffffu, sum, d);
  if ((threadIdx.x & 31) == 0) part[threadIdx.x >> 5] = sum;
  __syncthreads();
  if (threadIdx.x < 32) {
    sum = threadIdx.x < (blockDim.x >> 5) ? part[threadIdx.x] : 0.0f;
    for (int d = 16; d > 0; d >>= 1) sum += __shfl_down_sync(0xffffffffu, sum, d);
    if (threadIdx.x == 0) out[row] = sum;
  }
}

// Partial sums of blocks of 256 by a tree in dynamic shared memory.
#ifndef DYN_SHARED
#define DYN_SHARED(T, name) extern __shared__ T name[]
#endif
extern "C" __global__ void block_sums(const float* x, float* out, int n) {
  DYN_SHARED(float, s);
  int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
  s[t] = i < n ? x[i] : 0.0f;
  __syncthreads();
  for (int d = blockDim.x / 2; d > 0; d >>= 1) {
    if (t < d) s[t] += s[t + d];
    __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = s[0];
}

// C = A B by tiles of 16 x 16.
extern "C" __global__ void tiled_product(const float* A, const float* B, float* C, int M, int N, int K) {
  __shared__ float a[16][17], b[16][17];
  int x = threadIdx.x, y = threadIdx.y, r = blockIdx.y * 16 + y, c = blockIdx.x * 16 + x;
  float sum = 0.0f;
  for (int k0 = 0; k0 < K; k0 += 16) {
    a[y][x] = r < M && k0 + x < K ? A[(size_t)r * K + k0 + x] : 0.0f;
    b[y][x] = k0 + y < K && c < N ? B[(size_t)(k0 + y) * N + c] : 0.0f;
    __syncthreads();
    for (int k = 0; k < 16; k++) sum = fmaf(a[y][k], b[k][x], sum);
    __syncthreads();
  }
  if (r < M && c < N) C[(size_t)r * N + c] = sum;
}

// Votes: out[0] the lanes whose number is odd, out[1] how many threads are below the limit, out[2] the
// lanes whose number has the second bit. One vote follows the other at once.
extern "C" __global__ void votes(unsigned* out, int limit) {
  unsigned odd = __ballot_sync(0xffffffffu, threadIdx.x & 1);
  unsigned second = __ballot_sync(0xffffffffu, threadIdx.x & 2);
  int below = __syncthreads_count((int)threadIdx.x < limit);
  if (threadIdx.x == 0) {
    out[0] = odd;
    out[1] = below;
    out[2] = second;
  }
}

// A barrier that half of the block does not reach.
extern "C" __global__ void divergent(float* x) {
  if (threadIdx.x < blockDim.x / 2) return;
  __syncthreads();
  x[threadIdx.x] = 1.0f;
}

extern "C" __global__ void scaled(float* x, float factor, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] = factor * x[i];
}

struct Affine { double factor, offset; int from, to; };
extern "C" __global__ void affine(double* x, Affine f, bool skip) {
  for (int i = f.from + threadIdx.x; i < f.to; i += blockDim.x)
    if (!skip) x[i] = fma(f.factor, x[i], f.offset);
}
