// The pretend cuFFT. A plan is a number, as in the real library.
#include "vendor.h"
#include <cmath>
#include <complex>

typedef std::complex<double> Z;

struct Plan : Vendor {
  int number, kind = 0;
  bool automatic = true;
  std::vector<int64_t> n{};
  int64_t batch = 0;
  size_t bytes = 0;
  Stream *stream = nullptr;
  uintptr_t work = 0;
};
static Plan *find(int number) {
  for (Vendor *v : driver.vendors)
    if (Plan *p = dynamic_cast<Plan *>(v))
      if (p->number == number && p->context == current_context) return p;
  return nullptr;
}

EXPORT int cufftGetVersion(int *v) { return *v = 11401, 0; }
EXPORT int cufftCreate(int *number) {
  ENTER(cufftCreate);
  if (!known_context(current_context) || refuse_in_capture()) return 7;
  static int serial;
  Plan *p = vendor_new<Plan>(current_context);
  return *number = p->number = ++serial, 0;
}
EXPORT int cufftDestroy(int number) {
  ENTER(cufftDestroy);
  Plan *p = find(number);
  return p ? vendor_delete(p) : 1;
}
EXPORT int cufftSetAutoAllocation(int number, int on) {
  ENTER(cufftSetAutoAllocation);
  Plan *p = find(number);
  if (!p || p->kind) return 1;
  return p->automatic = on, 0;
}
EXPORT int cufftMakePlanMany64(int number, int rank, long long *n, long long *in, long long, long long, long long *out, long long, long long, int kind, long long batch, size_t *bytes) {
  ENTER(cufftMakePlanMany64);
  Plan *p = find(number);
  if (!p || p->kind || refuse_in_capture()) return 1;
  if (rank < 1 || rank > 3 || batch < 1) return 4;
  if (in || out) return 16;
  int64_t all = batch;
  for (int i = 0; i < rank; i++) {
    if (n[i] < 1) return 8;
    p->n.push_back(n[i]);
    all *= n[i];
  }
  if (p->automatic) return 2;  // the rule of the house: plans get their memory from us
  p->kind = kind;
  p->batch = batch;
  return *bytes = p->bytes = (size_t)all * 16, 0;
}
EXPORT int cufftSetStream(int number, Stream *s) {
  ENTER(cufftSetStream);
  Plan *p = find(number);
  if (!p || !vendor_stream(s)) return 1;
  return p->stream = s, 0;
}
EXPORT int cufftSetWorkArea(int number, uintptr_t work) {
  ENTER(cufftSetWorkArea);
  Plan *p = find(number);
  if (!p) return 1;
  if (check_memory(current_context, work, p->bytes)) return 4;
  return p->work = work, 0;
}

// along transforms one axis of a complex array [outer, n, inner].
static void along(std::vector<Z> &x, int64_t outer, int64_t n, int64_t inner, int sign) {
  std::vector<Z> root((size_t)n), line((size_t)n);
  for (int64_t k = 0; k < n; k++) root[(size_t)k] = std::polar(1.0, sign * 2 * M_PI * (double)k / (double)n);
  for (int64_t o = 0; o < outer; o++)
    for (int64_t i = 0; i < inner; i++) {
      Z *at = &x[(size_t)(o * n * inner + i)];
      for (int64_t k = 0; k < n; k++) {
        Z s = 0;
        for (int64_t j = 0; j < n; j++) s += at[j * inner] * root[(size_t)(j * k % n)];
        line[(size_t)k] = s;
      }
      for (int64_t k = 0; k < n; k++) at[k * inner] = line[(size_t)k];
    }
}

// spectrum transforms one array of a batch: the real axis is the last one.
template <class T> static void transform(const Plan &p, int kind, int sign, const T *in, T *out) {
  size_t rank = p.n.size();
  int64_t last = p.n[rank - 1], half = last / 2 + 1, outer = 1;
  for (size_t i = 0; i + 1 < rank; i++) outer *= p.n[i];
  bool real = (kind & 0xf) != 9, forward = (kind & 0xf) == 0xa;
  int64_t width = real ? half : last;
  std::vector<Z> x((size_t)(outer * last));
  if (forward) {
    for (size_t i = 0; i < x.size(); i++) x[i] = in[i];
    along(x, outer, last, 1, -1);
    for (int64_t o = 0; o < outer; o++)
      for (int64_t k = 0; k < half; k++) x[(size_t)(o * half + k)] = x[(size_t)(o * last + k)];
  } else
    for (int64_t i = 0; i < outer * width; i++) x[(size_t)i] = Z(in[2 * i], in[2 * i + 1]);
  if (!real) along(x, outer, last, 1, sign);
  for (int64_t axis = (int64_t)rank - 2, inner = width, left = outer; axis >= 0; axis--) {
    int64_t n = p.n[(size_t)axis];
    left /= n;
    along(x, left, n, inner, forward ? -1 : real ? 1 : sign);
    inner *= n;
  }
  if (real && !forward) {
    std::vector<Z> full((size_t)(outer * last));
    for (int64_t o = 0; o < outer; o++)
      for (int64_t k = 0; k < last; k++) full[(size_t)(o * last + k)] = k < half ? x[(size_t)(o * half + k)] : std::conj(x[(size_t)(o * half + last - k)]);
    along(full, outer, last, 1, 1);
    for (size_t i = 0; i < full.size(); i++) out[i] = (T)full[i].real();
    return;
  }
  for (int64_t i = 0; i < outer * width; i++) out[2 * i] = (T)x[(size_t)i].real(), out[2 * i + 1] = (T)x[(size_t)i].imag();
}

template <class T> static int exec(const char *name, int kind, int number, T *in, T *out, int sign) {
  Entry entry(name);
  if (entry.failure) return entry.failure;
  Plan *found = find(number);
  if (!found || found->kind != kind) return 1;
  if (!found->stream || !found->work) return 13;
  if (sign != 1 && sign != -1) return 4;
  Plan p = *found;
  int64_t real = 1, half = 1;
  for (size_t i = 0; i < p.n.size(); i++) real *= p.n[i], half *= i + 1 == p.n.size() ? p.n[i] / 2 + 1 : p.n[i];
  int low = kind & 0xf;
  int64_t from = low == 0xa ? real : low == 0xc ? 2 * half : 2 * real, to = low == 0xc ? real : low == 0xa ? 2 * half : 2 * real;
  auto run = [=]() -> const char * {
    std::vector<T> copy(in, in + from * p.batch);
    if (low == 0xc) memset((void *)in, 0xFF, copy.size() * sizeof(T));  // this kind may destroy its input
    for (int64_t b = 0; b < p.batch; b++) transform(p, kind, sign, copy.data() + b * from, out + b * to);
    return nullptr;
  };
  std::vector<Span> ranges = {{(uintptr_t)in, (size_t)(from * p.batch) * sizeof(T)}, {(uintptr_t)out, (size_t)(to * p.batch) * sizeof(T)}};
  return vendor_queue(p.stream, name, ranges, {p.work, p.bytes}, 0.002 + 1e-8 * (double)(real * p.batch), run) ? 0 : 6;
}
EXPORT int cufftExecC2C(int p, float *in, float *out, int sign) { return exec("cufftExecC2C", 0x29, p, in, out, sign); }
EXPORT int cufftExecZ2Z(int p, double *in, double *out, int sign) { return exec("cufftExecZ2Z", 0x69, p, in, out, sign); }
EXPORT int cufftExecR2C(int p, float *in, float *out) { return exec("cufftExecR2C", 0x2a, p, in, out, -1); }
EXPORT int cufftExecD2Z(int p, double *in, double *out) { return exec("cufftExecD2Z", 0x6a, p, in, out, -1); }
EXPORT int cufftExecC2R(int p, float *in, float *out) { return exec("cufftExecC2R", 0x2c, p, in, out, 1); }
EXPORT int cufftExecZ2D(int p, double *in, double *out) { return exec("cufftExecZ2D", 0x6c, p, in, out, 1); }
