// The entry points of the driver, apart from those about graphs and modules.
#include "state.h"
#include <cstdio>
#include <sys/mman.h>

enum { ZONE = 512 };

static Stream *stream_of(Stream *s) { return driver.streams.count(s) && !s->destroyed && s->context == current_context ? s : nullptr; }

EXPORT int cuInit(unsigned) {
  ENTER(cuInit);
  return driver.devices ? 0 : 100;
}
EXPORT int cuDriverGetVersion(int *v) {
  ENTER(cuDriverGetVersion);
  *v = driver.version;
  return 0;
}
EXPORT int cuGetErrorName(int code, const char **s) {
  *s = code == 998 ? "CUDA_ERROR_FROM_THE_FUTURE" : nullptr;
  return *s ? 0 : 1;
}
EXPORT int cuGetErrorString(int code, const char **s) { return cuGetErrorName(code, s); }
EXPORT int cuDeviceGetCount(int *n) {
  ENTER(cuDeviceGetCount);
  *n = driver.devices;
  return 0;
}
EXPORT int cuDeviceGet(int *d, int i) {
  ENTER(cuDeviceGet);
  if (i < 0 || i >= driver.devices) return 101;
  *d = i;
  return 0;
}
EXPORT int cuDeviceGetName(char *b, int n, int d) {
  ENTER(cuDeviceGetName);
  snprintf(b, (size_t)n, "Pretend GPU %d", d);
  return 0;
}
EXPORT int cuDeviceGetPCIBusId(char *b, int n, int d) {
  ENTER(cuDeviceGetPCIBusId);
  snprintf(b, (size_t)n, "0000:%02X:00.0", d + 1);
  return 0;
}
EXPORT int cuDeviceGetUuid_v2(unsigned char *b, int d) {
  ENTER(cuDeviceGetUuid_v2);
  for (int i = 0; i < 16; i++) b[i] = (unsigned char)(16 * d + i);
  return 0;
}
EXPORT int cuDeviceTotalMem_v2(size_t *n, int) {
  ENTER(cuDeviceTotalMem_v2);
  *n = driver.limit;
  return 0;
}
EXPORT int cuDeviceGetAttribute(int *v, int a, int) {
  ENTER(cuDeviceGetAttribute);
  static const std::map<int, int> known = {{1, 1024}, {2, 1024}, {3, 1024}, {4, 64}, {5, 2147483647}, {6, 65535}, {7, 65535}, {8, 49152},
    {10, 32}, {12, 65536}, {13, 1980000}, {16, 2}, {36, 3201000}, {37, 6144}, {38, 62914560}, {39, 2048}, {40, 3}, {81, 233472}, {82, 65536},
    {97, 232448}, {115, 1}};
  if (a == 75) return *v = driver.capability / 10, 0;
  if (a == 76) return *v = driver.capability % 10, 0;
  auto i = known.find(a);
  if (i == known.end()) return 1;
  *v = i->second;
  return 0;
}
EXPORT int cuDevicePrimaryCtxRetain(Context **c, int d) {
  ENTER(cuDevicePrimaryCtxRetain);
  if (d < 0 || d >= driver.devices) return 101;
  for (auto &x : driver.contexts)
    if (x->device == d && x->users > 0) return x->users++, *c = x.get(), 0;
  driver.contexts.emplace_back(new Context);
  Context *x = driver.contexts.back().get();
  x->device = d;
  x->users = 1;
  x->limit = driver.limit;
  *c = x;
  return 0;
}
// The last release counts what nobody gave back; a real driver frees it silently.
EXPORT int cuDevicePrimaryCtxRelease_v2(int d) {
  ENTER(cuDevicePrimaryCtxRelease_v2);
  for (auto &x : driver.contexts)
    if (x->device == d && x->users > 0) {
      if (--x->users > 0) return 0;
      driver.leaks += (long long)x->memory.size();
      for (Stream *s : driver.streams) driver.leaks += s->context == x.get() && !s->destroyed;
      for (Event *e : driver.events) driver.leaks += e->context == x.get();
      for (Module *m : driver.modules) driver.leaks += m->context == x.get();
      for (Pool *p : driver.pools) driver.leaks += p->context == x.get();
      for (Vendor *v : driver.vendors) driver.leaks += v->context == x.get();
      return 0;
    }
  return 201;
}
EXPORT int cuCtxSetCurrent(Context *c) {
  ENTER(cuCtxSetCurrent);
  if (c && !known_context(c)) return 201;
  current_context = c;
  return 0;
}
EXPORT int cuCtxGetCurrent(Context **c) {
  ENTER(cuCtxGetCurrent);
  *c = known_context(current_context) ? current_context : nullptr;
  return 0;
}
EXPORT int cuCtxSynchronize() {
  ENTER(cuCtxSynchronize);
  NEED_CONTEXT;
  if (int r = refuse_in_capture()) return r;
  Context *c = current_context;
  for (;;) {
    Stream *busy = nullptr;
    for (Stream *s : driver.streams)
      if (s->context == c && !s->work.empty()) busy = s;
    if (!busy) return c->sticky;
    if (int r = run_until([&] { return !driver.streams.count(busy) || busy->work.empty(); }, busy)) return r;
  }
}

// Memory.
EXPORT int cuMemGetInfo_v2(size_t *free, size_t *total) {
  ENTER(cuMemGetInfo_v2);
  NEED_CONTEXT;
  *total = current_context->limit;
  *free = current_context->limit - current_context->used;
  return 0;
}
static int allocate(uintptr_t *p, size_t n, bool pooled, uintptr_t pool) {
  if (!n) return 1;
  Context *c = current_context;
  if (!pooled && c->used + n > c->limit) return 2;
  size_t all = (n + 2 * ZONE + 511) & ~size_t(511), mapped = driver.counting ? all : 0;
  char *block = nullptr;
  if (mapped) {
    void *m = mmap(nullptr, all, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (m != MAP_FAILED) block = (char *)m;
  } else {
    block = (char *)aligned_alloc(512, all);
  }
  if (!block) return 2;
  if (!mapped) {
    memset(block, 0xAB, n + 2 * ZONE);
    memset(block + ZONE, 0xFF, n);
  }
  *p = (uintptr_t)(block + ZONE);
  c->memory[*p] = {n, block, pooled, pool, mapped};
  auto i = c->freed.lower_bound(*p);
  if (i != c->freed.begin() && std::prev(i)->first + std::prev(i)->second > *p) --i;  // what reaches into the new memory
  while (i != c->freed.end() && i->first < *p + n) i = c->freed.erase(i);
  if (!pooled) c->used += n;
  return 0;
}
static void release(Context *c, uintptr_t p) {
  auto i = c->memory.find(p);
  if (!i->second.mapped) memset((void *)p, 0xFF, i->second.bytes);
  c->freed[p] = i->second.bytes;
  if (!i->second.pooled) c->used -= i->second.bytes;
  discard(i->second);
  c->memory.erase(i);
}
EXPORT int cuMemAlloc_v2(uintptr_t *p, size_t n) {
  ENTER(cuMemAlloc_v2);
  NEED_CONTEXT;
  if (int r = refuse_in_capture()) return r;
  return allocate(p, n, false, 0);
}
// A real driver waits for the device before it frees; work that still waits then is early.
EXPORT int cuMemFree_v2(uintptr_t p) {
  ENTER(cuMemFree_v2);
  NEED_CONTEXT;
  if (int r = refuse_in_capture()) return r;
  auto i = current_context->memory.find(p);
  if (i == current_context->memory.end() || i->second.pooled) return 1;
  for (Stream *s : driver.streams) driver.early_frees += s->context == current_context && !s->work.empty();
  release(current_context, p);
  return 0;
}
EXPORT int cuMemHostAlloc(void **p, size_t n, unsigned) {
  ENTER(cuMemHostAlloc);
  NEED_CONTEXT;
  if (int r = refuse_in_capture()) return r;
  *p = aligned_alloc(4096, (n + 4095) & ~size_t(4095));
  if (!*p) return 2;
  memset(*p, 0xFF, n);
  driver.host[(uintptr_t)*p] = n;
  return 0;
}
EXPORT int cuMemFreeHost(void *p) {
  ENTER(cuMemFreeHost);
  NEED_CONTEXT;
  auto i = driver.host.find((uintptr_t)p);
  if (i == driver.host.end()) return 1;
  driver.host.erase(i);
  free(p);
  return 0;
}
static bool page_locked(const void *p, size_t n) {
  if (!driver.host_checked) return true;
  auto i = driver.host.upper_bound((uintptr_t)p);
  if (i == driver.host.begin()) return false;
  --i;
  return (uintptr_t)p + n <= i->first + i->second;
}
EXPORT int cuMemcpyHtoD_v2(uintptr_t d, const void *s, size_t n) {
  ENTER(cuMemcpyHtoD_v2);
  NEED_CONTEXT;
  if (int r = refuse_in_capture()) return r;
  if (check_memory(current_context, d, n)) return 1;
  if (!driver.counting) memcpy((void *)d, s, n);
  return 0;
}
EXPORT int cuMemcpyDtoH_v2(void *d, uintptr_t s, size_t n) {
  ENTER(cuMemcpyDtoH_v2);
  NEED_CONTEXT;
  if (int r = refuse_in_capture()) return r;
  if (check_memory(current_context, s, n)) return 1;
  if (!driver.counting) memcpy(d, (void *)s, n);
  return 0;
}

// transfer starts work on memory that must exist now and when the work is done.
struct Range { Context *context; uintptr_t p; size_t n; };
static int transfer(Stream *s, const char *kind, std::vector<Range> ranges, size_t n, std::function<void()> f) {
  for (auto &r : ranges)
    if (check_memory(r.context, r.p, r.n)) return 1;
  Work w;
  w.cost = 0.001 + (double)n / 1e8;
  w.run = [=] {
    for (auto &r : ranges)
      if (check_memory(r.context, r.p, r.n)) {
        s->context->fault = std::string(kind) + " of memory that has been freed";
        return 700;
      }
    f();
    return 0;
  };
  return enqueue(s, kind, std::move(w));
}
#define STREAM(s)        \
  NEED_CONTEXT;          \
  if (!stream_of(s)) return 400
EXPORT int cuMemcpyHtoDAsync_v2(uintptr_t d, const void *h, size_t n, Stream *s) {
  ENTER(cuMemcpyHtoDAsync_v2);
  STREAM(s);
  if (!page_locked(h, n)) return 1;
  return transfer(s, "copy in", {{s->context, d, n}}, n, [=] { memcpy((void *)d, h, n); });
}
EXPORT int cuMemcpyDtoHAsync_v2(void *h, uintptr_t d, size_t n, Stream *s) {
  ENTER(cuMemcpyDtoHAsync_v2);
  STREAM(s);
  if (!page_locked(h, n)) return 1;
  return transfer(s, "copy out", {{s->context, d, n}}, n, [=] { memcpy(h, (void *)d, n); });
}
EXPORT int cuMemcpyDtoDAsync_v2(uintptr_t d, uintptr_t o, size_t n, Stream *s) {
  ENTER(cuMemcpyDtoDAsync_v2);
  STREAM(s);
  return transfer(s, "copy", {{s->context, d, n}, {s->context, o, n}}, n, [=] { memmove((void *)d, (void *)o, n); });
}
EXPORT int cuMemcpyPeerAsync(uintptr_t d, Context *to, uintptr_t o, Context *from, size_t n, Stream *s) {
  ENTER(cuMemcpyPeerAsync);
  STREAM(s);
  return transfer(s, "copy between devices", {{to, d, n}, {from, o, n}}, n, [=] { memmove((void *)d, (void *)o, n); });
}
EXPORT int cuMemcpy2DAsync_v2(const void *, Stream *) {
  ENTER(cuMemcpy2DAsync_v2);
  return 801;
}
EXPORT int cuMemsetD8Async(uintptr_t p, unsigned char v, size_t n, Stream *s) {
  ENTER(cuMemsetD8Async);
  STREAM(s);
  return transfer(s, "fill", {{s->context, p, n}}, n, [=] { memset((void *)p, v, n); });
}
EXPORT int cuMemsetD32Async(uintptr_t p, unsigned v, size_t n, Stream *s) {
  ENTER(cuMemsetD32Async);
  STREAM(s);
  return transfer(s, "fill", {{s->context, p, 4 * n}}, 4 * n, [=] {
    for (size_t i = 0; i < n; i++) ((unsigned *)p)[i] = v;
  });
}
EXPORT int cuDeviceCanAccessPeer(int *v, int a, int b) {
  ENTER(cuDeviceCanAccessPeer);
  *v = a != b && driver.peers_allowed;
  return 0;
}
EXPORT int cuCtxEnablePeerAccess(Context *c, unsigned) {
  ENTER(cuCtxEnablePeerAccess);
  NEED_CONTEXT;
  if (!known_context(c) || c == current_context) return 101;
  if (!driver.peers_allowed) return 217;
  return driver.peers.insert({current_context, c}).second ? 0 : 704;
}

// Pools: memory is reserved when it is first needed and given back by trimming.
EXPORT int cuMemPoolCreate(Pool **p, const void *) {
  ENTER(cuMemPoolCreate);
  NEED_CONTEXT;
  *p = new Pool{current_context};
  driver.pools.insert(*p);
  return 0;
}
EXPORT int cuMemPoolDestroy(Pool *p) {
  ENTER(cuMemPoolDestroy);
  if (!driver.pools.erase(p)) return 400;
  p->context->used -= p->reserved;
  delete p;
  return 0;
}
EXPORT int cuMemPoolSetAttribute(Pool *p, int a, void *v) {
  ENTER(cuMemPoolSetAttribute);
  if (!driver.pools.count(p) || a != 4) return 1;
  p->threshold = *(unsigned long long *)v;
  return 0;
}
EXPORT int cuMemPoolGetAttribute(Pool *p, int a, void *v) {
  ENTER(cuMemPoolGetAttribute);
  if (!driver.pools.count(p)) return 1;
  *(unsigned long long *)v = a == 5 ? p->reserved : a == 7 ? p->used : a == 4 ? p->threshold : 0;
  return 0;
}
EXPORT int cuMemPoolTrimTo(Pool *p, size_t keep) {
  ENTER(cuMemPoolTrimTo);
  if (!driver.pools.count(p)) return 1;
  size_t left = std::max(p->used, std::min(keep, p->reserved));
  p->context->used -= p->reserved - left;
  p->reserved = left;
  return 0;
}
EXPORT int cuMemAllocFromPoolAsync(uintptr_t *out, size_t n, Pool *p, Stream *s) {
  ENTER(cuMemAllocFromPoolAsync);
  STREAM(s);
  if (!driver.pools.count(p)) return 1;
  if (int r = refuse_in_capture()) return r;
  size_t more = p->used + n > p->reserved ? p->used + n - p->reserved : 0;
  if (current_context->used + more > current_context->limit) return 2;
  if (int r = allocate(out, n, true, (uintptr_t)p)) return r;
  current_context->used += more;
  p->reserved += more;
  p->used += n;
  return 0;
}
EXPORT int cuMemFreeAsync(uintptr_t p, Stream *s) {
  ENTER(cuMemFreeAsync);
  STREAM(s);
  auto i = s->context->memory.find(p);
  if (i == s->context->memory.end() || !i->second.pooled) return 1;
  Pool *pool = (Pool *)i->second.pool;
  Context *c = s->context;
  Work w;
  w.run = [=] {
    auto i = c->memory.find(p);
    if (i == c->memory.end()) return 700;
    pool->used -= i->second.bytes;
    release(c, p);
    return 0;
  };
  return enqueue(s, "free", std::move(w));
}

// Streams and events.
EXPORT int cuStreamCreateWithPriority(Stream **s, unsigned flags, int) {
  ENTER(cuStreamCreateWithPriority);
  NEED_CONTEXT;
  if (flags != 1) return 1;  // blocking streams are never used
  *s = new Stream{current_context};
  driver.streams.insert(*s);
  return 0;
}
EXPORT int cuStreamDestroy_v2(Stream *s) {
  ENTER(cuStreamDestroy_v2);
  if (!driver.streams.count(s) || s->destroyed) return 400;
  s->destroyed = true;
  if (s->work.empty()) driver.streams.erase(s), delete s;
  return 0;
}
EXPORT int cuStreamSynchronize(Stream *s) {
  ENTER(cuStreamSynchronize);
  STREAM(s);
  if (s->capture) return s->capture->invalid = true, 900;
  return run_until([&] { return s->work.empty(); }, s);
}
EXPORT int cuStreamQuery(Stream *s) {
  ENTER(cuStreamQuery);
  STREAM(s);
  if (s->capture) return s->capture->invalid = true, 900;
  return s->work.empty() ? 0 : 600;
}
EXPORT int cuEventCreate(Event **e, unsigned flags) {
  ENTER(cuEventCreate);
  NEED_CONTEXT;
  *e = new Event{current_context, !(flags & 2)};
  driver.events.insert(*e);
  return 0;
}
EXPORT int cuEventDestroy_v2(Event *e) {
  ENTER(cuEventDestroy_v2);
  if (!driver.events.erase(e)) return 400;
  delete e;
  return 0;
}
EXPORT int cuEventRecord(Event *e, Stream *s) {
  ENTER(cuEventRecord);
  STREAM(s);
  if (!driver.events.count(e) || e->context != s->context) return 400;
  if (s->capture) {
    e->capture = s->capture;
    e->after = s->after;
    return s->capture->invalid ? 901 : 0;
  }
  e->capture = nullptr;
  e->last = std::make_shared<Record>();
  e->last->stream = s;
  Work w;
  w.record = e->last;
  return enqueue(s, "record", std::move(w));
}
EXPORT int cuStreamWaitEvent(Stream *s, Event *e, unsigned) {
  ENTER(cuStreamWaitEvent);
  STREAM(s);
  if (!driver.events.count(e)) return 400;
  if (e->capture) {
    if (s->capture && s->capture != e->capture) return s->capture->invalid = true, 902;
    if (!s->capture && !s->work.empty()) return e->capture->invalid = true, 905;
    if (!s->capture) s->after.clear();
    s->capture = e->capture;
    s->capture->members.insert(s);
    s->after.insert(s->after.end(), e->after.begin(), e->after.end());
    return 0;
  }
  if (s->capture) return s->capture->invalid = true, 905;
  if (!e->last) return 0;
  Work w;
  w.waits = {e->last};  // also if it is done: the stream's clock cannot be before it
  return enqueue(s, "wait", std::move(w));
}
// A query lets the device go on, so that whoever polls makes progress in every mode.
EXPORT int cuEventQuery(Event *e) {
  ENTER(cuEventQuery);
  NEED_CONTEXT;
  if (!driver.events.count(e)) return 400;
  if (e->capture) return e->capture->invalid = true, 907;
  if (!e->last || e->last->done) return 0;
  int budget = 1 + (int)(random_word(&driver.random) % 2);
  run_until([&] { return e->last->done || budget-- <= 0; }, e->last->stream);
  if (current_context->sticky) return current_context->sticky;
  return e->last->done ? 0 : 600;
}
EXPORT int cuEventSynchronize(Event *e) {
  ENTER(cuEventSynchronize);
  NEED_CONTEXT;
  if (!driver.events.count(e)) return 400;
  if (e->capture) return e->capture->invalid = true, 907;
  if (!e->last) return 0;
  return run_until([&] { return e->last->done; }, e->last->stream);
}
EXPORT int cuEventElapsedTime(float *ms, Event *a, Event *b) {
  ENTER(cuEventElapsedTime);
  NEED_CONTEXT;
  if (!driver.events.count(a) || !driver.events.count(b) || !a->timing || !b->timing || !a->last || !b->last) return 400;
  if (!a->last->done || !b->last->done) return 600;
  *ms = (float)(b->last->time - a->last->time);
  return 0;
}
