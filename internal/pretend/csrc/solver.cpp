// The pretend cuSOLVER: textbook methods on matrices by columns.
#include "vendor.h"
#include <cmath>
#include <numeric>

struct Solver : Vendor { Stream *stream = nullptr; };
struct Settings : Vendor {};

EXPORT int cusolverGetVersion(int *v) { return *v = 11705, 0; }
EXPORT int cusolverDnCreate(void **h) {
  ENTER(cusolverDnCreate);
  if (!known_context(current_context) || refuse_in_capture()) return 1;
  return *h = vendor_new<Solver>(current_context), 0;
}
EXPORT int cusolverDnDestroy(void *h) {
  ENTER(cusolverDnDestroy);
  return vendor_delete(h);
}
EXPORT int cusolverDnCreateGesvdjInfo(void **h) {
  ENTER(cusolverDnCreateGesvdjInfo);
  return *h = vendor_new<Settings>(current_context), 0;
}
EXPORT int cusolverDnDestroyGesvdjInfo(void *h) {
  ENTER(cusolverDnDestroyGesvdjInfo);
  return vendor_delete(h);
}
EXPORT int cusolverDnSetStream(void *h, Stream *s) {
  ENTER(cusolverDnSetStream);
  Solver *x = vendor_find<Solver>(h);
  if (!x || !vendor_stream(s)) return 1;
  return x->stream = s, 0;
}

template <class T> struct Columns {
  T *p;
  int64_t ld;
  T &operator()(int64_t i, int64_t j) const { return p[j * ld + i]; }
};

template <class T> static int cholesky(Columns<T> a, int n) {
  for (int j = 0; j < n; j++)
    for (int i = 0; i <= j; i++) {
      T s = a(i, j);
      for (int k = 0; k < i; k++) s -= a(k, i) * a(k, j);
      if (i < j) a(i, j) = s / a(i, i);
      else if (!(s > 0)) return j + 1;
      else a(j, j) = std::sqrt(s);
    }
  return 0;
}
template <class T> static int lu(Columns<T> a, int m, int n, int *pivots) {
  int info = 0;
  for (int k = 0; k < std::min(m, n); k++) {
    int p = k;
    for (int i = k; i < m; i++)
      if (std::abs(a(i, k)) > std::abs(a(p, k))) p = i;
    pivots[k] = p + 1;
    for (int j = 0; j < n; j++) std::swap(a(k, j), a(p, j));
    if (a(k, k) == 0) {
      if (!info) info = k + 1;
      continue;
    }
    for (int i = k + 1; i < m; i++) {
      a(i, k) /= a(k, k);
      for (int j = k + 1; j < n; j++) a(i, j) -= a(i, k) * a(k, j);
    }
  }
  return info;
}
template <class T> static void lu_solve(Columns<T> a, bool transpose, int n, const int *pivots, T *b) {
  if (!transpose) {
    for (int k = 0; k < n; k++) std::swap(b[k], b[pivots[k] - 1]);
    for (int i = 0; i < n; i++)
      for (int k = 0; k < i; k++) b[i] -= a(i, k) * b[k];
    for (int i = n - 1; i >= 0; i--) {
      for (int k = i + 1; k < n; k++) b[i] -= a(i, k) * b[k];
      b[i] /= a(i, i);
    }
    return;
  }
  for (int i = 0; i < n; i++) {
    for (int k = 0; k < i; k++) b[i] -= a(k, i) * b[k];
    b[i] /= a(i, i);
  }
  for (int i = n - 1; i >= 0; i--)
    for (int k = i + 1; k < n; k++) b[i] -= a(k, i) * b[k];
  for (int k = n - 1; k >= 0; k--) std::swap(b[k], b[pivots[k] - 1]);
}
// reflect applies I - tau v v' to columns of c, from row k on; v is below the diagonal of column k of a.
template <class T> static void reflect(Columns<T> a, int m, int k, T tau, Columns<T> c, int from, int to) {
  for (int j = from; j < to; j++) {
    T s = c(k, j);
    for (int i = k + 1; i < m; i++) s += a(i, k) * c(i, j);
    c(k, j) -= tau * s;
    for (int i = k + 1; i < m; i++) c(i, j) -= tau * s * a(i, k);
  }
}
template <class T> static void qr(Columns<T> a, int m, int n, T *tau) {
  for (int k = 0; k < std::min(m, n); k++) {
    T norm = 0;
    for (int i = k + 1; i < m; i++) norm = std::hypot(norm, a(i, k));
    tau[k] = 0;
    if (norm == 0) continue;
    T beta = -std::copysign(std::hypot(a(k, k), norm), a(k, k));
    tau[k] = (beta - a(k, k)) / beta;
    for (int i = k + 1; i < m; i++) a(i, k) /= a(k, k) - beta;
    a(k, k) = beta;
    reflect(a, m, k, tau[k], a, k + 1, n);
  }
}
template <class T> static void q(Columns<T> a, int m, int n, int k, const T *tau) {
  std::vector<T> out((size_t)m * (size_t)n);
  Columns<T> x{out.data(), m};
  for (int j = 0; j < n; j++) x(j, j) = 1;
  for (int i = k - 1; i >= 0; i--) reflect(a, m, i, tau[i], x, 0, n);
  for (int j = 0; j < n; j++)
    for (int i = 0; i < m; i++) a(i, j) = x(i, j);
}
// svd makes the columns of an m by n array of numbers orthogonal by rotations, m >= n.
static void rotations(std::vector<double> &a, std::vector<double> &v, int m, int n) {
  for (int j = 0; j < n; j++) v[(size_t)(j * n + j)] = 1;
  for (int sweep = 0; sweep < 60; sweep++) {
    double off = 0;
    for (int p = 0; p < n; p++)
      for (int r = p + 1; r < n; r++) {
        double pp = 0, rr = 0, pr = 0, *x = &a[(size_t)p * (size_t)m], *y = &a[(size_t)r * (size_t)m];
        for (int i = 0; i < m; i++) pp += x[i] * x[i], rr += y[i] * y[i], pr += x[i] * y[i];
        if (std::abs(pr) <= 1e-16 * std::sqrt(pp * rr)) continue;
        off = 1;
        double z = (rr - pp) / (2 * pr), t = std::copysign(1 / (std::abs(z) + std::hypot(1, z)), z), c = 1 / std::hypot(1, t), s = c * t;
        auto turn = [&](double *x, double *y, int n) {
          for (int i = 0; i < n; i++) {
            double u = x[i], w = y[i];
            x[i] = c * u - s * w, y[i] = s * u + c * w;
          }
        };
        turn(x, y, m);
        turn(&v[(size_t)(p * n)], &v[(size_t)(r * n)], n);
      }
    if (off == 0) return;
  }
}
template <class T> static void svd(Columns<T> a, int m, int n, T *s, Columns<T> u, Columns<T> v) {
  bool wide = m < n;
  int rows = std::max(m, n), k = std::min(m, n);
  std::vector<double> x((size_t)rows * (size_t)k), y((size_t)k * (size_t)k), size((size_t)k);
  for (int j = 0; j < k; j++)
    for (int i = 0; i < rows; i++) x[(size_t)j * (size_t)rows + (size_t)i] = wide ? a(j, i) : a(i, j);
  rotations(x, y, rows, k);
  std::vector<int> order((size_t)k);
  std::iota(order.begin(), order.end(), 0);
  for (int j = 0; j < k; j++)
    for (int i = 0; i < rows; i++) size[(size_t)j] = std::hypot(size[(size_t)j], x[(size_t)j * (size_t)rows + (size_t)i]);
  std::sort(order.begin(), order.end(), [&](int i, int j) { return size[(size_t)i] > size[(size_t)j]; });
  for (int c = 0; c < k; c++) {
    int from = order[(size_t)c];
    s[c] = (T)size[(size_t)from];
    Columns<T> left = wide ? v : u, right = wide ? u : v;
    for (int i = 0; i < rows; i++) left(i, c) = (T)(x[(size_t)from * (size_t)rows + (size_t)i] / size[(size_t)from]);
    for (int i = 0; i < k; i++) right(i, c) = (T)y[(size_t)(from * k + i)];
  }
}
template <class T> static void eigen(Columns<T> a, int n, T *w) {
  std::vector<double> x((size_t)n * (size_t)n), v((size_t)n * (size_t)n);
  auto at = [&](int i, int j) -> double & { return x[(size_t)(j * n + i)]; };
  for (int j = 0; j < n; j++)
    for (int i = 0; i <= j; i++) at(i, j) = at(j, i) = a(i, j);
  for (int j = 0; j < n; j++) v[(size_t)(j * n + j)] = 1;
  for (int sweep = 0; sweep < 60; sweep++)
    for (int p = 0; p < n; p++)
      for (int r = p + 1; r < n; r++) {
        if (std::abs(at(p, r)) <= 1e-17 * (std::abs(at(p, p)) + std::abs(at(r, r)))) continue;
        double z = (at(r, r) - at(p, p)) / (2 * at(p, r)), t = std::copysign(1 / (std::abs(z) + std::hypot(1, z)), z), c = 1 / std::hypot(1, t), s = c * t;
        auto turn = [&](double &x, double &y) {
          double u = x, w = y;
          x = c * u - s * w, y = s * u + c * w;
        };
        for (int i = 0; i < n; i++) turn(at(i, p), at(i, r)), turn(v[(size_t)(p * n + i)], v[(size_t)(r * n + i)]);
        for (int i = 0; i < n; i++) turn(at(p, i), at(r, i));
      }
  std::vector<int> order((size_t)n);
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](int i, int j) { return at(i, i) < at(j, j); });
  for (int c = 0; c < n; c++) {
    w[c] = (T)at(order[(size_t)c], order[(size_t)c]);
    for (int i = 0; i < n; i++) a(i, c) = (T)v[(size_t)(order[(size_t)c] * n + i)];
  }
}

static int area(int m, int n) { return 16 + m * n; }
// put checks a call and puts its work on the stream; f returns the info.
template <class T> static int put(const char *name, void *h, std::vector<Span> ranges, const T *work, int lwork, int need, int *info, std::function<int()> f) {
  Entry entry(name);
  if (entry.failure) return entry.failure;
  Solver *x = vendor_find<Solver>(h);
  if (!x || !x->stream) return 1;
  if (lwork < need) return 31;
  ranges.push_back({(uintptr_t)info, 4});
  auto run = [=]() -> const char * { return *info = f(), nullptr; };
  return vendor_queue(x->stream, name, ranges, {(uintptr_t)work, (size_t)lwork * sizeof(T)}, 0.05, run) ? 0 : 3;
}
static int size_of(const char *name, void *h, int m, int n, int ld, int rows, int *lwork) {
  Entry entry(name);
  if (entry.failure) return entry.failure;
  if (!vendor_find<Solver>(h)) return 1;
  if (m < 0 || n < 0 || ld < std::max(1, rows)) return 3;
  return *lwork = area(m, n), 0;
}
#define SOLVER(X, T, L)                                                                                                                               \
  EXPORT int cusolverDn##X##potrf_bufferSize(void *h, int, int n, T *, int lda, int *w) { return size_of("cusolverDn" L "potrf_bufferSize", h, n, n, lda, n, w); } \
  EXPORT int cusolverDn##X##potrf(void *h, int uplo, int n, T *a, int lda, T *work, int lwork, int *info) {                                           \
    if (uplo != 1) return 9;                                                                                                                          \
    return put<T>("cusolverDn" L "potrf", h, {matrix(a, n, n, lda)}, work, lwork, area(n, n), info, [=] { return cholesky<T>({a, lda}, n); });        \
  }                                                                                                                                                   \
  EXPORT int cusolverDn##X##potrfBatched(void *h, int uplo, int n, T **list, int lda, int *info, int batch) {                                         \
    if (uplo != 1 || batch < 1) return 3;                                                                                                             \
    return put<T>("cusolverDn" L "potrfBatched", h, {{(uintptr_t)list, 8 * (size_t)batch}, {(uintptr_t)info, 4 * (size_t)batch}}, (T *)nullptr, 0, 0, info, [=, c = current_context] { \
      int first = 0;                                                                                                                                  \
      for (int i = 0; i < batch; i++) {                                                                                                               \
        Span r = matrix(list[i], n, n, lda);                                                                                                         \
        int one = check_memory(c, r.p, r.n) ? -1 : cholesky<T>({list[i], lda}, n);                                                                    \
        if (i == 0) first = one;                                                                                                                      \
        else info[i] = one;                                                                                                                           \
      }                                                                                                                                               \
      return first;                                                                                                                                   \
    });                                                                                                                                               \
  }                                                                                                                                                   \
  EXPORT int cusolverDn##X##getrf_bufferSize(void *h, int m, int n, T *, int lda, int *w) { return size_of("cusolverDn" L "getrf_bufferSize", h, m, n, lda, m, w); } \
  EXPORT int cusolverDn##X##getrf(void *h, int m, int n, T *a, int lda, T *work, int *pivots, int *info) {                                            \
    return put<T>("cusolverDn" L "getrf", h, {matrix(a, m, n, lda), {(uintptr_t)pivots, 4 * (size_t)std::min(m, n)}}, work, area(m, n), 0, info,      \
                  [=] { return lu<T>({a, lda}, m, n, pivots); });                                                                                     \
  }                                                                                                                                                   \
  EXPORT int cusolverDn##X##getrs(void *h, int trans, int n, int k, const T *a, int lda, const int *pivots, T *b, int ldb, int *info) {               \
    return put<T>("cusolverDn" L "getrs", h, {matrix(a, n, n, lda), matrix(b, n, k, ldb), {(uintptr_t)pivots, 4 * (size_t)n}}, (T *)nullptr, 0, 0, info, [=] { \
      for (int j = 0; j < k; j++) lu_solve<T>({(T *)a, lda}, trans, n, pivots, b + (int64_t)j * ldb);                                                 \
      return 0;                                                                                                                                       \
    });                                                                                                                                               \
  }                                                                                                                                                   \
  EXPORT int cusolverDn##X##geqrf_bufferSize(void *h, int m, int n, T *, int lda, int *w) { return size_of("cusolverDn" L "geqrf_bufferSize", h, m, n, lda, m, w); } \
  EXPORT int cusolverDn##X##geqrf(void *h, int m, int n, T *a, int lda, T *tau, T *work, int lwork, int *info) {                                      \
    return put<T>("cusolverDn" L "geqrf", h, {matrix(a, m, n, lda), matrix(tau, std::min(m, n), 1, m)}, work, lwork, area(m, n), info,                \
                  [=] { return qr<T>({a, lda}, m, n, tau), 0; });                                                                                     \
  }                                                                                                                                                   \
  EXPORT int cusolverDn##X##orgqr_bufferSize(void *h, int m, int n, int, const T *, int lda, const T *, int *w) {                                     \
    return size_of("cusolverDn" L "orgqr_bufferSize", h, m, n, lda, m, w);                                                                            \
  }                                                                                                                                                   \
  EXPORT int cusolverDn##X##orgqr(void *h, int m, int n, int k, T *a, int lda, const T *tau, T *work, int lwork, int *info) {                         \
    if (n > m || k > n) return 3;                                                                                                                     \
    return put<T>("cusolverDn" L "orgqr", h, {matrix(a, m, n, lda), matrix(tau, k, 1, k)}, work, lwork, area(m, n), info,                             \
                  [=] { return q<T>({a, lda}, m, n, k, tau), 0; });                                                                                   \
  }                                                                                                                                                   \
  EXPORT int cusolverDn##X##syevd_bufferSize(void *h, int, int, int n, const T *, int lda, const T *, int *w) {                                       \
    return size_of("cusolverDn" L "syevd_bufferSize", h, n, n, lda, n, w);                                                                            \
  }                                                                                                                                                   \
  EXPORT int cusolverDn##X##syevd(void *h, int vectors, int uplo, int n, T *a, int lda, T *w, T *work, int lwork, int *info) {                        \
    if (vectors != 1 || uplo != 1) return 9;                                                                                                          \
    return put<T>("cusolverDn" L "syevd", h, {matrix(a, n, n, lda), matrix(w, n, 1, n)}, work, lwork, area(n, n), info,                               \
                  [=] { return eigen<T>({a, lda}, n, w), 0; });                                                                                       \
  }                                                                                                                                                   \
  EXPORT int cusolverDn##X##gesvdj_bufferSize(void *h, int, int, int m, int n, const T *, int lda, const T *, const T *, int, const T *, int, int *w, void *set) { \
    if (!vendor_find<Settings>(set)) return 3;                                                                                                        \
    return size_of("cusolverDn" L "gesvdj_bufferSize", h, m, n, lda, m, w);                                                                           \
  }                                                                                                                                                   \
  EXPORT int cusolverDn##X##gesvdj(void *h, int vectors, int thin, int m, int n, T *a, int lda, T *s, T *u, int ldu, T *v, int ldv, T *work, int lwork, int *info, \
                                   void *set) {                                                                                                       \
    if (!vendor_find<Settings>(set) || vectors != 1 || thin != 1 || ldu < m || ldv < n) return 3;                                                     \
    int k = std::min(m, n);                                                                                                                           \
    return put<T>("cusolverDn" L "gesvdj", h, {matrix(a, m, n, lda), matrix(s, k, 1, k), matrix(u, m, k, ldu), matrix(v, n, k, ldv)}, work, lwork,    \
                  area(m, n), info, [=] { return svd<T>({a, lda}, m, n, s, {u, ldu}, {v, ldv}), 0; });                                                \
  }
SOLVER(S, float, "S")
SOLVER(D, double, "D")
