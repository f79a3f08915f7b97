// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

// What kernels on whole arrays do: copies between layouts, constants, reductions along an axis, products
// of matrices. arrays.go appends the kernels, one for each type. Results do not depend on the grid, and
// nothing uses atomic operations.

typedef long long index_t;

static __device__ __forceinline__ index_t first_of_grid() { return (index_t)blockIdx.x * blockDim.x + threadIdx.x; }
static __device__ __forceinline__ index_t size_of_grid() { return (index_t)gridDim.x * blockDim.x; }

#define EACH(i, n) for (index_t i = first_of_grid(); i < (n); i += size_of_grid())

// An array that is not contiguous: lengths of axes, and steps in elements between neighbours.
struct Layout {
  index_t shape[8], stride[8];
  int dims, unused;
};

static __device__ __forceinline__ index_t place(const Layout& l, index_t i) {
  index_t at = 0;
  for (int k = l.dims - 1; k >= 0; k--) {
    at += i % l.shape[k] * l.stride[k];
    i /= l.shape[k];
  }
  return at;
}

// A reduction has an accumulator A and a result R. Sums and products of float are taken in double.
// Maxima and minima are NaN if an element is; the index of an extremum is that of the first NaN, or
// else of the first element that is as large or as small.
template <typename T> struct Sum {
  typedef double A;
  typedef T R;
  static __device__ __forceinline__ A start() { return 0; }
  static __device__ __forceinline__ A of(T x, index_t) { return x; }
  static __device__ __forceinline__ A join(A a, A b) { return a + b; }
  static __device__ __forceinline__ R end(A a) { return (R)a; }
};

template <typename T> struct Prod {
  typedef double A;
  typedef T R;
  static __device__ __forceinline__ A start() { return 1; }
  static __device__ __forceinline__ A of(T x, index_t) { return x; }
  static __device__ __forceinline__ A join(A a, A b) { return a * b; }
  static __device__ __forceinline__ R end(A a) { return (R)a; }
};

// sign is 1 for maxima and -1 for minima. Before the first element there is none, at index -1.
template <typename T, int sign> struct Best {
  struct A {
    T value;
    index_t at;
  };
  static __device__ __forceinline__ A start() {
    A a = {0, -1};
    return a;
  }
  static __device__ __forceinline__ A of(T x, index_t at) {
    A a = {x, at};
    return a;
  }
  static __device__ __forceinline__ bool second(A a, A b) {
    if (a.at < 0 || b.at < 0) return a.at < 0;
    bool na = a.value != a.value, nb = b.value != b.value;
    if (na != nb) return nb;
    if (na || a.value == b.value) return b.at < a.at;
    return (sign > 0) == (b.value > a.value);
  }
  static __device__ __forceinline__ A join(A a, A b) {
    bool s = second(a, b); // the parts are chosen one by one, or clang keeps both in memory
    a.value = s ? b.value : a.value;
    a.at = s ? b.at : a.at;
    return a;
  }
};

template <typename T, int sign> struct Extremum : Best<T, sign> {
  typedef T R;
  static __device__ __forceinline__ R end(typename Best<T, sign>::A a) { return a.value; }
};

template <typename T, int sign> struct Where : Best<T, sign> {
  typedef index_t R;
  static __device__ __forceinline__ R end(typename Best<T, sign>::A a) { return a.at; }
};

// The array has axes [outer, length, inner]. The middle axis is reduced in pieces; with more than one,
// their accumulators go to part, which finish joins in order, else the result to y.
//
// rows: inner is 1. A block takes a piece of a row.
template <typename T, typename Op> static __device__ __forceinline__ void rows(const T* x, typename Op::R* y, typename Op::A* part, typename Op::A* tree, index_t outer, index_t length, index_t pieces) {
  for (index_t b = blockIdx.x; b < outer * pieces; b += gridDim.x) {
    index_t row = b / pieces, piece = b % pieces, from = length * piece / pieces, to = length * (piece + 1) / pieces;
    typename Op::A a = Op::start();
    for (index_t i = from + threadIdx.x; i < to; i += 256) a = Op::join(a, Op::of(x[row * length + i], i));
    tree[threadIdx.x] = a;
    __syncthreads();
    for (int half = 128; half > 0; half /= 2) {
      if (threadIdx.x < half) tree[threadIdx.x] = Op::join(tree[threadIdx.x], tree[threadIdx.x + half]);
      __syncthreads();
    }
    if (threadIdx.x == 0) {
      if (part) part[b] = tree[0];
      else y[row] = Op::end(tree[0]);
    }
    __syncthreads();
  }
}

// columns: a thread takes a piece of the column of one result.
template <typename T, typename Op> static __device__ __forceinline__ void columns(const T* x, typename Op::R* y, typename Op::A* part, index_t outer, index_t length, index_t inner, index_t pieces) {
  EACH(q, outer * pieces * inner) {
    index_t i = q % inner, piece = q / inner % pieces, o = q / inner / pieces;
    index_t from = length * piece / pieces, to = length * (piece + 1) / pieces;
    typename Op::A a = Op::start();
    for (index_t r = from; r < to; r++) a = Op::join(a, Op::of(x[(o * length + r) * inner + i], r));
    if (part) part[(o * inner + i) * pieces + piece] = a;
    else y[o * inner + i] = Op::end(a);
  }
}

template <typename Op> static __device__ __forceinline__ void finish(const typename Op::A* part, typename Op::R* y, index_t results, index_t pieces) {
  EACH(i, results) {
    typename Op::A a = part[i * pieces];
    for (index_t p = 1; p < pieces; p++) a = Op::join(a, part[i * pieces + p]);
    y[i] = Op::end(a);
  }
}

template <typename T> struct __align__(16) Quad {
  T v[4];
};

// The numbers of a strip of 8 x size that a thread fetches: neighbouring threads read neighbours of the
// matrix, which lie along the strip if along says so, and across it otherwise.
template <int size> static __device__ __forceinline__ int in_strip(int k, bool along) {
  int e = threadIdx.x + 256 * k;
  return along ? e % 8 * size + e / 8 : e;
}

// c = a b for a [m, k] and b [k, n] with any steps along rows and columns. A block of 256 threads makes
// size x size elements, of which each thread has quads x quads groups of 4 x 4; size is 64 quads. Strips
// of 8 are in shared memory twice, so that the next one is fetched while the last one is used. Sums are
// in T, in the order of k. They are cut into parts of share terms; part q goes to c + q cq.
template <typename T, int quads> static __device__ __forceinline__ void matmul(T (*sa)[8][64 * quads + 4], T (*sb)[8][64 * quads + 4], const T* a, const T* b, T* c, index_t m, index_t n, index_t k, index_t ar, index_t ac, index_t br, index_t bc, index_t cr, index_t cc, index_t share, index_t cq) {
  const int size = 64 * quads, each = 2 * quads;
  index_t across = (n + size - 1) / size, tiles = (m + size - 1) / size * across, parts = (k + share - 1) / share;
  int ty = threadIdx.x / 16, tx = threadIdx.x % 16;
  for (index_t job = blockIdx.x; job < tiles * parts; job += gridDim.x) {
    index_t tile = job % tiles, q = job / tiles, i0 = tile / across * size, j0 = tile % across * size;
    index_t p0 = q * share, to = p0 + share < k ? p0 + share : k;
    T sum[4 * quads][4 * quads] = {}, na[each], nb[each];
    int side = 0;
    for (bool first = true;; first = false) {
      bool more = p0 < to;
      if (more) {
#pragma unroll
        for (int f = 0; f < each; f++) {
          int e = in_strip<size>(f, ac == 1), p = e / size, i = e % size;
          na[f] = i0 + i < m && p0 + p < to ? a[(i0 + i) * ar + (p0 + p) * ac] : T(0);
          e = in_strip<size>(f, br == 1), p = e / size, i = e % size;
          nb[f] = j0 + i < n && p0 + p < to ? b[(p0 + p) * br + (j0 + i) * bc] : T(0);
        }
      }
      if (!first) {
#pragma unroll
        for (int p = 0; p < 8; p++) {
          Quad<T> x[quads], y[quads];
#pragma unroll
          for (int h = 0; h < quads; h++) {
            x[h] = *(const Quad<T>*)&sa[side][p][4 * ty + 64 * h];
            y[h] = *(const Quad<T>*)&sb[side][p][4 * tx + 64 * h];
          }
#pragma unroll
          for (int r = 0; r < 4 * quads; r++)
#pragma unroll
            for (int s = 0; s < 4 * quads; s++) sum[r][s] += x[r / 4].v[r % 4] * y[s / 4].v[s % 4];
        }
      }
      if (!more) break;
      side = 1 - side;
#pragma unroll
      for (int f = 0; f < each; f++) {
        int e = in_strip<size>(f, ac == 1);
        sa[side][e / size][e % size] = na[f];
        e = in_strip<size>(f, br == 1);
        sb[side][e / size][e % size] = nb[f];
      }
      __syncthreads();
      p0 += 8;
    }
#pragma unroll
    for (int r = 0; r < 4 * quads; r++)
#pragma unroll
      for (int s = 0; s < 4 * quads; s++) {
        index_t i = i0 + 4 * ty + r / 4 * 64 + r % 4, j = j0 + 4 * tx + s / 4 * 64 + s % 4;
        if (i < m && j < n) c[q * cq + i * cr + j * cc] = sum[r][s];
      }
    __syncthreads();
  }
}

// y [batches, rows, columns] = x, in which neighbours along rows are neighbours in memory, and those
// along columns and batches are steps apart. A block moves tiles of 32 x 32.
template <typename T> static __device__ __forceinline__ void transpose(T (*tile)[33], const T* x, T* y, index_t batches, index_t rows, index_t columns, index_t sb, index_t sc) {
  index_t across = (columns + 31) / 32, tiles = (rows + 31) / 32 * across;
  int t = threadIdx.x % 32, w = threadIdx.x / 32;
  for (index_t job = blockIdx.x; job < batches * tiles; job += gridDim.x) {
    index_t b = job / tiles, r0 = job % tiles / across * 32, c0 = job % across * 32;
    for (int q = w; q < 32; q += 8)
      if (r0 + t < rows && c0 + q < columns) tile[q][t] = x[b * sb + r0 + t + (c0 + q) * sc];
    __syncthreads();
    for (int q = w; q < 32; q += 8)
      if (r0 + q < rows && c0 + t < columns) y[(b * rows + r0 + q) * columns + c0 + t] = tile[t][q];
    __syncthreads();
  }
}

// y = a x for a [m, k] with any steps. A block takes a row.
template <typename T> static __device__ __forceinline__ void matvec(T* tree, const T* a, const T* x, T* y, index_t m, index_t k, index_t ar, index_t ac, index_t xs, index_t ys) {
  for (index_t i = blockIdx.x; i < m; i += gridDim.x) {
    T sum = 0;
    for (index_t p = threadIdx.x; p < k; p += 256) sum += a[i * ar + p * ac] * x[p * xs];
    tree[threadIdx.x] = sum;
    __syncthreads();
    for (int half = 128; half > 0; half /= 2) {
      if (threadIdx.x < half) tree[threadIdx.x] += tree[threadIdx.x + half];
      __syncthreads();
    }
    if (threadIdx.x == 0) y[i * ys] = tree[0];
    __syncthreads();
  }
}
