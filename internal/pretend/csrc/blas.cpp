// The pretend cuBLAS.
#include "vendor.h"

struct BLAS : Vendor {
  Stream *stream = nullptr;
  Span work{};
  int mode = 0;
};

EXPORT int cublasGetProperty(int kind, int *v) { return *v = kind == 0 ? 12 : kind == 1 ? 9 : 0, 0; }
EXPORT int cublasLtGetProperty(int kind, int *v) { return cublasGetProperty(kind, v); }
EXPORT int cublasCreate_v2(void **h) {
  ENTER(cublasCreate_v2);
  if (!known_context(current_context) || refuse_in_capture()) return 1;
  return *h = vendor_new<BLAS>(current_context), 0;
}
EXPORT int cublasDestroy_v2(void *h) {
  ENTER(cublasDestroy_v2);
  return vendor_delete(h);
}
// Choosing a stream takes the workspace away, as the real library does.
EXPORT int cublasSetStream_v2(void *h, Stream *s) {
  ENTER(cublasSetStream_v2);
  BLAS *b = vendor_find<BLAS>(h);
  if (!b || !vendor_stream(s)) return 1;
  return b->stream = s, b->work = {}, 0;
}
EXPORT int cublasSetWorkspace_v2(void *h, uintptr_t p, size_t n) {
  ENTER(cublasSetWorkspace_v2);
  BLAS *b = vendor_find<BLAS>(h);
  if (!b) return 1;
  if (p % 256 || check_memory(current_context, p, n)) return 7;
  return b->work = {p, n}, 0;
}
EXPORT int cublasSetMathMode(void *h, int mode) {
  ENTER(cublasSetMathMode);
  BLAS *b = vendor_find<BLAS>(h);
  if (!b) return 1;
  if (mode != 0 && mode != 3) return 7;
  return b->mode = mode, 0;
}

static double operand(double v, int) { return v; }
static float operand(float v, int mode) {  // TF32 keeps 10 bits
  if (mode != 3) return v;
  uint32_t u;
  memcpy(&u, &v, 4);
  u = (u + 0xfff + ((u >> 13) & 1)) & ~0x1fffu;
  memcpy(&v, &u, 4);
  return v;
}

template <class T>
static int gemm(const char *name, void *h, int ta, int tb, int m, int n, int k, const T *alpha, const T *a, int lda, int64_t sa, const T *b, int ldb, int64_t sb,
                const T *beta, T *c, int ldc, int64_t sc, int batch) {
  Entry entry(name);
  if (entry.failure) return entry.failure;
  BLAS *x = vendor_find<BLAS>(h);
  if (!x || !x->stream) return 1;
  if (!x->work.n) return 14;  // the rule of the house: every call has a workspace of ours
  if (m < 0 || n < 0 || k < 0 || batch < 0 || (ta & ~1) || (tb & ~1) || lda < std::max(1, ta ? k : m) || ldb < std::max(1, tb ? n : k) || ldc < std::max(1, m)) return 7;
  T al = *alpha, be = *beta;
  int mode = x->mode;
  std::vector<Span> ranges;
  for (int i = 0; i < batch; i++) {
    ranges.push_back(ta ? matrix(a + i * sa, k, m, lda) : matrix(a + i * sa, m, k, lda));
    ranges.push_back(tb ? matrix(b + i * sb, n, k, ldb) : matrix(b + i * sb, k, n, ldb));
    ranges.push_back(matrix(c + i * sc, m, n, ldc));
  }
  auto run = [=]() -> const char * {
    for (int q = 0; q < batch; q++)
      for (int j = 0; j < n; j++)
        for (int i = 0; i < m; i++) {
          T s = 0, *to = c + q * sc + (int64_t)j * ldc + i;
          for (int l = 0; l < k; l++)
            s += operand(a[q * sa + (ta ? (int64_t)i * lda + l : (int64_t)l * lda + i)], mode) * operand(b[q * sb + (tb ? (int64_t)l * ldb + j : (int64_t)j * ldb + l)], mode);
          *to = be == 0 ? al * s : al * s + be * *to;
        }
    return nullptr;
  };
  return vendor_queue(x->stream, name, ranges, x->work, 0.002 + 2e-9 * m * n * k * batch, run) ? 0 : 13;
}
#define GEMM(letter, T)                                                                                                                                          \
  EXPORT int cublas##letter##gemm_v2(void *h, int ta, int tb, int m, int n, int k, const T *alpha, const T *a, int lda, const T *b, int ldb, const T *beta, T *c, \
                                     int ldc) {                                                                                                                 \
    return gemm<T>("cublas" #letter "gemm_v2", h, ta, tb, m, n, k, alpha, a, lda, 0, b, ldb, 0, beta, c, ldc, 0, 1);                                             \
  }                                                                                                                                                             \
  EXPORT int cublas##letter##gemmStridedBatched(void *h, int ta, int tb, int m, int n, int k, const T *alpha, const T *a, int lda, long long sa, const T *b, int ldb, \
                                                long long sb, const T *beta, T *c, int ldc, long long sc, int batch) {                                          \
    return gemm<T>("cublas" #letter "gemmStridedBatched", h, ta, tb, m, n, k, alpha, a, lda, sa, b, ldb, sb, beta, c, ldc, sc, batch);                           \
  }                                                                                                                                                             \
  EXPORT int cublas##letter##geam(void *h, int ta, int tb, int m, int n, const T *alpha, const T *a, int lda, const T *beta, const T *b, int ldb, T *c, int ldc) { \
    return geam<T>("cublas" #letter "geam", h, ta, tb, m, n, alpha, a, lda, beta, b, ldb, c, ldc);                                                              \
  }                                                                                                                                                             \
  EXPORT int cublas##letter##trsm_v2(void *h, int right, int upper, int trans, int unit, int m, int n, const T *alpha, const T *a, int lda, T *b, int ldb) {      \
    return trsm<T>("cublas" #letter "trsm_v2", h, right, upper, trans, unit, m, n, alpha, a, lda, b, ldb);                                                      \
  }
// geam is C = alpha op(A) + beta op(B).
template <class T>
static int geam(const char *name, void *h, int ta, int tb, int m, int n, const T *alpha, const T *a, int lda, const T *beta, const T *b, int ldb, T *c, int ldc) {
  Entry entry(name);
  if (entry.failure) return entry.failure;
  BLAS *x = vendor_find<BLAS>(h);
  if (!x || !x->stream) return 1;
  if (m < 0 || n < 0 || lda < std::max(1, ta ? n : m) || ldb < std::max(1, tb ? n : m) || ldc < std::max(1, m)) return 7;
  T al = *alpha, be = *beta;
  if (a == c || (be != 0 && b == c && tb)) return 7;
  auto run = [=]() -> const char * {
    for (int j = 0; j < n; j++)
      for (int i = 0; i < m; i++) {
        T v = al * a[ta ? (int64_t)i * lda + j : (int64_t)j * lda + i];
        c[(int64_t)j * ldc + i] = be == 0 ? v : v + be * b[tb ? (int64_t)i * ldb + j : (int64_t)j * ldb + i];
      }
    return nullptr;
  };
  return vendor_queue(x->stream, name, {ta ? matrix(a, n, m, lda) : matrix(a, m, n, lda), matrix(c, m, n, ldc)}, {}, 0.002 + 1e-8 * m * n, run) ? 0 : 13;
}
// trsm solves X op(A) = alpha B for a triangle A, which is all that is asked for.
template <class T>
static int trsm(const char *name, void *h, int right, int upper, int trans, int unit, int m, int n, const T *alpha, const T *a, int lda, T *b, int ldb) {
  Entry entry(name);
  if (entry.failure) return entry.failure;
  BLAS *x = vendor_find<BLAS>(h);
  if (!x || !x->stream) return 1;
  if (!x->work.n) return 14;
  if (right != 1 || unit != 0 || (upper & ~1) || (trans & ~1) || m < 0 || n < 0 || lda < std::max(1, n) || ldb < std::max(1, m)) return 7;
  T al = *alpha;
  auto run = [=]() -> const char * {
    for (int t = 0; t < n; t++) {
      bool first = upper != trans;  // whether column j needs those before it
      int j = first ? t : n - 1 - t, from = first ? 0 : j + 1, to = first ? j : n;
      for (int i = 0; i < m; i++) {
        T v = al * b[(int64_t)j * ldb + i];
        for (int k = from; k < to; k++) v -= b[(int64_t)k * ldb + i] * a[trans ? (int64_t)k * lda + j : (int64_t)j * lda + k];
        b[(int64_t)j * ldb + i] = v / a[(int64_t)j * lda + j];
      }
    }
    return nullptr;
  };
  return vendor_queue(x->stream, name, {matrix(a, n, n, lda), matrix(b, m, n, ldb)}, x->work, 0.002 + 1e-9 * m * n * n, run) ? 0 : 13;
}
GEMM(S, float)
GEMM(D, double)
