// The pretend NCCL: one thread acts for all members between ncclGroupStart and ncclGroupEnd.
#include "vendor.h"

struct Comm : Vendor {
  int rank = 0, size = 0;
  uint64_t group = 0;
};
struct Id { char bytes[128]; };
// Call is what one member asked for inside a group of calls.
struct Call { Comm *comm; Stream *stream; uintptr_t in, out; size_t count; int type, op, root; bool sum; };
static thread_local int depth;
static thread_local std::vector<Call> calls;
struct Join { void **comm; int size, rank; uint64_t group; Context *context; };
static thread_local std::vector<Join> joins;

EXPORT int ncclGetVersion(int *v) { return *v = 22703, 0; }
EXPORT int ncclGetUniqueId(Id *id) {
  ENTER(ncclGetUniqueId);
  static uint64_t serial = 1000;
  serial++;
  for (size_t i = 0; i < 16; i++) {
    uint64_t word = serial * (i + 1);
    memcpy(id->bytes + 8 * i, &word, 8);
  }
  return 0;
}
static int join(std::vector<Join> all) {
  std::vector<bool> seen((size_t)all[0].size);
  for (auto &j : all) {
    if (j.group != all[0].group || j.size != (int)all.size() || j.rank < 0 || j.rank >= j.size || seen[(size_t)j.rank]) return 5;
    seen[(size_t)j.rank] = true;
  }
  for (auto &j : all) {
    Comm *c = vendor_new<Comm>(j.context);
    c->rank = j.rank, c->size = j.size, c->group = j.group;
    *j.comm = c;
  }
  return 0;
}
EXPORT int ncclCommInitRank(void **comm, int size, Id id, int rank) {
  ENTER(ncclCommInitRank);
  uint64_t first;
  memcpy(&first, id.bytes, 8);
  for (size_t i = 0; i < 16; i++) {  // the whole identity arrived
    uint64_t word;
    memcpy(&word, id.bytes + 8 * i, 8);
    if (word != first * (i + 1)) return 4;
  }
  if (!known_context(current_context)) return 1;
  joins.push_back({comm, size, rank, first, current_context});
  if (depth > 0) return 0;
  auto all = std::move(joins);
  joins.clear();
  return size == 1 ? join(all) : 5;  // a real one would wait for the others for ever
}
EXPORT int ncclCommInitAll(void **comms, int n, const int *devices) {
  ENTER(ncclCommInitAll);
  if (n < 1 || refuse_in_capture()) return 4;
  static uint64_t group = 1ull << 62;
  std::vector<Join> all;
  for (int i = 0; i < n; i++) {
    Context *context = nullptr;
    for (auto &c : driver.contexts)
      if (c->users > 0 && c->device == devices[i]) context = c.get();
    if (!context) return 4;
    all.push_back({comms + i, n, i, group, context});
  }
  group++;
  return join(all);
}
EXPORT int ncclCommDestroy(void *c) {
  ENTER(ncclCommDestroy);
  return vendor_delete(c) ? 4 : 0;
}
EXPORT int ncclGroupStart() {
  ENTER(ncclGroupStart);
  return depth++, 0;
}

template <class T> static void combine(const std::vector<Call> &all, std::vector<char> *out) {
  out->resize(all[0].count * sizeof(T));
  T *r = (T *)out->data();
  for (size_t i = 0; i < all[0].count; i++) {
    T v = 0;
    for (auto &c : all) {
      T x = ((T *)c.in)[i];
      bool first = c.comm->rank == 0;
      if (!c.sum) v = c.comm->rank == c.root ? x : v;
      else v = first ? x : c.op == 0 ? v + x : c.op == 1 ? v * x : c.op == 2 ? std::max(v, x) : std::min(v, x);
    }
    r[i] = v;
  }
}
// start puts a collective on the streams of its members: each says that it has come, and waits for all.
static int start(std::vector<Call> all) {
  size_t size = all[0].type == 8 ? 8 : 4;
  std::sort(all.begin(), all.end(), [](const Call &a, const Call &b) { return a.comm->rank < b.comm->rank; });
  for (size_t i = 0; i < all.size(); i++) {
    const Call &c = all[i], &z = all[0];
    if (c.comm->group != z.comm->group || (int)all.size() != c.comm->size || c.comm->rank != (int)i || c.count != z.count || c.type != z.type || c.op != z.op || c.root != z.root || c.sum != z.sum) return 5;
    if (!driver.streams.count(c.stream) || c.stream->destroyed || c.stream->context != c.comm->context || c.stream->capture) return 5;
    if (check_memory(c.comm->context, c.in, c.count * size) || check_memory(c.comm->context, c.out, c.count * size)) return 4;
  }
  std::vector<Wait> come;
  for (auto &c : all) {
    come.push_back(std::make_shared<Record>());
    come.back()->stream = c.stream;
    Work w;
    w.record = come.back();
    enqueue(c.stream, "collective", std::move(w));
  }
  auto result = std::make_shared<std::vector<char>>();
  auto done = std::make_shared<bool>(false);
  for (auto &c : all) {
    Work w;
    w.waits = come;
    w.cost = 0.01 + (double)(c.count * size) / 1e8;
    w.run = [=] {
      for (auto &m : all)
        if (!*done && check_memory(m.comm->context, m.in, m.count * size)) return c.comm->context->fault = "collective of memory that was freed", 700;
      if (!*done) size == 8 ? combine<double>(all, result.get()) : combine<float>(all, result.get());
      *done = true;
      if (check_memory(c.stream->context, c.out, c.count * size)) return c.stream->context->fault = "collective of memory that was freed", 700;
      memcpy((void *)c.out, result->data(), result->size());
      return 0;
    };
    enqueue(c.stream, "collective", std::move(w));
  }
  return 0;
}
EXPORT int ncclGroupEnd() {
  Entry entry("ncclGroupEnd");
  if (depth == 0) return 5;
  if (--depth > 0) return 0;
  auto asked = std::move(calls);
  auto members = std::move(joins);
  calls.clear();
  joins.clear();
  if (entry.failure) return entry.failure;
  if (!members.empty())
    if (int r = join(members)) return r;
  return asked.empty() ? 0 : start(asked);
}
static int ask(const char *name, Call c, void *comm) {
  Entry entry(name);
  if (entry.failure) return entry.failure;
  for (Vendor *v : driver.vendors)
    if (v == comm) c.comm = dynamic_cast<Comm *>(v);
  if (!c.comm || (c.type != 7 && c.type != 8) || c.op < 0 || c.op > 3 || c.root < 0 || c.root >= c.comm->size) return 4;
  calls.push_back(c);
  if (depth > 0) return 0;
  auto all = std::move(calls);
  calls.clear();
  return start(all);
}
EXPORT int ncclAllReduce(uintptr_t in, uintptr_t out, size_t count, int type, int op, void *comm, Stream *s) {
  return ask("ncclAllReduce", {nullptr, s, in, out, count, type, op, 0, true}, comm);
}
EXPORT int ncclBroadcast(uintptr_t in, uintptr_t out, size_t count, int type, int root, void *comm, Stream *s) {
  return ask("ncclBroadcast", {nullptr, s, in, out, count, type, 0, root, false}, comm);
}
