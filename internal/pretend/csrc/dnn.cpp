// The pretend cuDNN: convolutions by the definition.
#include "vendor.h"

struct DNN : Vendor { Stream *stream = nullptr; };
struct Tensor : Vendor { int type = 0, n = 0, c = 0, h = 0, w = 0; };
struct Filter : Tensor {};
struct Conv : Vendor { int pad[2], stride[2], dilation[2], type, groups = 1, math = 0; };

EXPORT size_t cudnnGetVersion() { return 92800; }
#define OBJECT(X, T)                                            \
  EXPORT int cudnnCreate##X(void **h) {                         \
    ENTER(cudnnCreate##X);                                      \
    if (!known_context(current_context)) return 1001;           \
    return *h = vendor_new<T>(current_context), 0;              \
  }                                                             \
  EXPORT int cudnnDestroy##X(void *h) {                         \
    ENTER(cudnnDestroy##X);                                     \
    return vendor_delete(h) ? 2000 : 0;                         \
  }
OBJECT(, DNN)
OBJECT(TensorDescriptor, Tensor)
OBJECT(FilterDescriptor, Filter)
OBJECT(ConvolutionDescriptor, Conv)
EXPORT int cudnnSetStream(void *h, Stream *s) {
  ENTER(cudnnSetStream);
  DNN *d = vendor_find<DNN>(h);
  if (!d || !vendor_stream(s)) return 2000;
  return d->stream = s, 0;
}
static int set(Tensor *t, int layout, int type, int n, int c, int h, int w) {
  if (!t || layout != 0 || type < 0 || type > 1 || n < 1 || c < 1 || h < 1 || w < 1) return 2000;
  t->type = type, t->n = n, t->c = c, t->h = h, t->w = w;
  return 0;
}
EXPORT int cudnnSetTensor4dDescriptor(void *t, int layout, int type, int n, int c, int h, int w) {
  ENTER(cudnnSetTensor4dDescriptor);
  return set(vendor_find<Tensor>(t), layout, type, n, c, h, w);
}
EXPORT int cudnnSetFilter4dDescriptor(void *t, int type, int layout, int k, int c, int h, int w) {
  ENTER(cudnnSetFilter4dDescriptor);
  return set(vendor_find<Filter>(t), layout, type, k, c, h, w);
}
EXPORT int cudnnSetConvolution2dDescriptor(void *c, int ph, int pw, int u, int v, int dh, int dw, int mode, int type) {
  ENTER(cudnnSetConvolution2dDescriptor);
  Conv *x = vendor_find<Conv>(c);
  if (!x || mode != 1 || u < 1 || v < 1 || dh < 1 || dw < 1 || ph < 0 || pw < 0) return 2000;
  x->pad[0] = ph, x->pad[1] = pw, x->stride[0] = u, x->stride[1] = v, x->dilation[0] = dh, x->dilation[1] = dw, x->type = type;
  return 0;
}
EXPORT int cudnnSetConvolutionGroupCount(void *c, int groups) {
  ENTER(cudnnSetConvolutionGroupCount);
  Conv *x = vendor_find<Conv>(c);
  if (!x || groups < 1) return 2000;
  return x->groups = groups, 0;
}
EXPORT int cudnnSetConvolutionMathType(void *c, int math) {
  ENTER(cudnnSetConvolutionMathType);
  Conv *x = vendor_find<Conv>(c);
  if (!x || (math != 0 && math != 3)) return 2000;
  return x->math = math, 0;
}

static int shapes(const Tensor *x, const Filter *w, const Conv *c, const Tensor *y) {
  if (!x || !w || !c || !y || x->type != w->type || x->type != y->type) return 2000;
  int p = (x->h + 2 * c->pad[0] - c->dilation[0] * (w->h - 1) - 1) / c->stride[0] + 1, q = (x->w + 2 * c->pad[1] - c->dilation[1] * (w->w - 1) - 1) / c->stride[1] + 1;
  if (x->n != y->n || w->c * c->groups != x->c || w->n % c->groups || w->n != y->c || p != y->h || q != y->w) return 2008;
  return 0;
}
static size_t area(const Tensor *x) { return 1024 + (size_t)(x->h * x->w); }

enum Pass { FORWARD, DATA, FILTER };
// convolve visits every product of the definition; the result of the pass is the sum of its products.
template <class T> static void convolve(Pass pass, Tensor x, Filter w, Conv c, Tensor y, T *px, T *pw, T *py) {
  T *out = pass == FORWARD ? py : pass == DATA ? px : pw;
  const Tensor &shape = pass == FORWARD ? y : pass == DATA ? x : (const Tensor &)w;
  for (int64_t i = 0; i < (int64_t)shape.n * shape.c * shape.h * shape.w; i++) out[i] = 0;
  int per = w.n / c.groups;
  for (int n = 0; n < y.n; n++)
    for (int k = 0; k < y.c; k++)
      for (int p = 0; p < y.h; p++)
        for (int q = 0; q < y.w; q++)
          for (int ch = 0; ch < w.c; ch++)
            for (int r = 0; r < w.h; r++)
              for (int s = 0; s < w.w; s++) {
                int i = p * c.stride[0] - c.pad[0] + r * c.dilation[0], j = q * c.stride[1] - c.pad[1] + s * c.dilation[1];
                if (i < 0 || j < 0 || i >= x.h || j >= x.w) continue;
                T &vx = px[((int64_t)(n * x.c + k / per * w.c + ch) * x.h + i) * x.w + j], &vw = pw[((int64_t)(k * w.c + ch) * w.h + r) * w.w + s],
                  &vy = py[((int64_t)(n * y.c + k) * y.h + p) * y.w + q];
                if (pass == FORWARD) vy += vx * vw;
                else if (pass == DATA) vx += vy * vw;
                else vw += vx * vy;
              }
}

static int run(const char *name, Pass pass, void *h, const void *alpha, Tensor *x, uintptr_t px, Filter *w, uintptr_t pw, Conv *c, int algorithm, uintptr_t work, size_t bytes,
               const void *beta, Tensor *y, uintptr_t py) {
  Entry entry(name);
  if (entry.failure) return entry.failure;
  DNN *d = vendor_find<DNN>(h);
  if (!d || !d->stream) return 1001;
  if (int r = shapes(x, w, c, y)) return r;
  bool f64 = x->type == 1;
  if (algorithm != 1 || (f64 ? *(const double *)alpha != 1 || *(const double *)beta != 0 : *(const float *)alpha != 1 || *(const float *)beta != 0)) return 3000;
  if (bytes < area(x)) return 2006;
  size_t size = f64 ? 8 : 4;
  auto range = [=](const Tensor *t, uintptr_t p) -> Span { return {p, size * (size_t)t->n * (size_t)t->c * (size_t)t->h * (size_t)t->w}; };
  auto f = [=, x = *x, w = *w, c = *c, y = *y]() -> const char * {
    if (f64) convolve<double>(pass, x, w, c, y, (double *)px, (double *)pw, (double *)py);
    else convolve<float>(pass, x, w, c, y, (float *)px, (float *)pw, (float *)py);
    return nullptr;
  };
  return vendor_queue(d->stream, name, {range(x, px), range(w, pw), range(y, py)}, {work, bytes}, 0.05, f) ? 0 : 5000;
}
#define FIND vendor_find<Tensor>(x), vendor_find<Filter>(w), vendor_find<Conv>(c), vendor_find<Tensor>(y)
static int size_of(Tensor *x, Filter *w, Conv *c, Tensor *y, int algorithm, size_t *n) {
  if (int r = shapes(x, w, c, y)) return r;
  if (algorithm != 1) return 3000;
  return *n = area(x), 0;
}
EXPORT int cudnnGetConvolutionForwardWorkspaceSize(void *, void *x, void *w, void *c, void *y, int algorithm, size_t *n) {
  ENTER(cudnnGetConvolutionForwardWorkspaceSize);
  return size_of(FIND, algorithm, n);
}
EXPORT int cudnnGetConvolutionBackwardDataWorkspaceSize(void *, void *w, void *y, void *c, void *x, int algorithm, size_t *n) {
  ENTER(cudnnGetConvolutionBackwardDataWorkspaceSize);
  return size_of(FIND, algorithm, n);
}
EXPORT int cudnnGetConvolutionBackwardFilterWorkspaceSize(void *, void *x, void *y, void *c, void *w, int algorithm, size_t *n) {
  ENTER(cudnnGetConvolutionBackwardFilterWorkspaceSize);
  return size_of(FIND, algorithm, n);
}
EXPORT int cudnnConvolutionForward(void *h, const void *alpha, void *x, uintptr_t px, void *w, uintptr_t pw, void *c, int algorithm, uintptr_t work, size_t bytes, const void *beta,
                                   void *y, uintptr_t py) {
  return run("cudnnConvolutionForward", FORWARD, h, alpha, vendor_find<Tensor>(x), px, vendor_find<Filter>(w), pw, vendor_find<Conv>(c), algorithm, work, bytes, beta,
             vendor_find<Tensor>(y), py);
}
EXPORT int cudnnConvolutionBackwardData(void *h, const void *alpha, void *w, uintptr_t pw, void *y, uintptr_t py, void *c, int algorithm, uintptr_t work, size_t bytes, const void *beta,
                                        void *x, uintptr_t px) {
  return run("cudnnConvolutionBackwardData", DATA, h, alpha, vendor_find<Tensor>(x), px, vendor_find<Filter>(w), pw, vendor_find<Conv>(c), algorithm, work, bytes, beta,
             vendor_find<Tensor>(y), py);
}
EXPORT int cudnnConvolutionBackwardFilter(void *h, const void *alpha, void *x, uintptr_t px, void *y, uintptr_t py, void *c, int algorithm, uintptr_t work, size_t bytes,
                                          const void *beta, void *w, uintptr_t pw) {
  return run("cudnnConvolutionBackwardFilter", FILTER, h, alpha, vendor_find<Tensor>(x), px, vendor_find<Filter>(w), pw, vendor_find<Conv>(c), algorithm, work, bytes, beta,
             vendor_find<Tensor>(y), py);
}
