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
  static __device__ __forceinline__ A join(A a, A b) {
    if (a.at < 0) return b;
    if (b.at < 0) return a;
    bool na = a.value != a.value, nb = b.value != b.value;
    if (na || nb) return na && nb ? (a.at < b.at ? a : b) : na ? a : b;
    if (a.value == b.value) return a.at < b.at ? a : b;
    return (sign > 0) == (a.value > b.value) ? a : b;
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

// c = a b for a [m, k] and b [k, n] with any steps along rows and columns. A block of 256 threads makes
// 64 x 64 elements, 4 x 4 in each thread, from strips of 16 in shared memory; neighbouring threads load
// neighbouring elements where one of the steps is 1. Sums are in T, in the order of k.
template <typename T> static __device__ __forceinline__ void matmul(T (*sa)[65], T (*sb)[65], const T* a, const T* b, T* c, index_t m, index_t n, index_t k, index_t ar, index_t ac, index_t br, index_t bc, index_t cr, index_t cc) {
  index_t across = (n + 63) / 64, tiles = (m + 63) / 64 * across;
  int ty = threadIdx.x / 16, tx = threadIdx.x % 16;
  for (index_t part = blockIdx.x; part < tiles; part += gridDim.x) {
    index_t i0 = part / across * 64, j0 = part % across * 64;
    T sum[4][4] = {};
    for (index_t p0 = 0; p0 < k; p0 += 16) {
      for (int e = threadIdx.x; e < 1024; e += 256) {
        int p = ac == 1 ? e % 16 : e / 64, q = ac == 1 ? e / 16 : e % 64;
        sa[p][q] = i0 + q < m && p0 + p < k ? a[(i0 + q) * ar + (p0 + p) * ac] : T(0);
        p = br == 1 ? e % 16 : e / 64, q = br == 1 ? e / 16 : e % 64;
        sb[p][q] = j0 + q < n && p0 + p < k ? b[(p0 + p) * br + (j0 + q) * bc] : T(0);
      }
      __syncthreads();
      for (int p = 0; p < 16; p++) {
        T x[4], y[4];
        for (int r = 0; r < 4; r++) {
          x[r] = sa[p][ty + 16 * r];
          y[r] = sb[p][tx + 16 * r];
        }
        for (int r = 0; r < 4; r++)
          for (int s = 0; s < 4; s++) sum[r][s] += x[r] * y[s];
      }
      __syncthreads();
    }
    for (int r = 0; r < 4; r++)
      for (int s = 0; s < 4; s++) {
        index_t i = i0 + ty + 16 * r, j = j0 + tx + 16 * s;
        if (i < m && j < n) c[i * cr + j * cc] = sum[r][s];
      }
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
