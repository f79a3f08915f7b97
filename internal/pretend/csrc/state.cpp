#include "state.h"
#include <dlfcn.h>
#include <sys/mman.h>

Driver driver;
thread_local Context *current_context;
thread_local Capture *current_capture;

// reset forgets all state and returns to the configuration with two devices of 1 GiB.
void reset() {
  for (Module *m : driver.modules) dlclose(m->library), delete m;
  for (auto &c : driver.contexts)
    for (auto &a : c->memory) discard(a.second);
  for (auto &h : driver.host) free((void *)h.first);
  for (Stream *s : driver.streams) delete s;
  for (Event *e : driver.events) delete e;
  for (Function *f : driver.functions) delete f;
  for (Pool *p : driver.pools) delete p;
  for (Graph *g : driver.graphs) delete g;
  for (Graph *g : driver.executables) delete g;
  driver.modules.clear();
  driver.contexts.clear();
  driver.host.clear();
  driver.streams.clear();
  driver.events.clear();
  driver.functions.clear();
  driver.pools.clear();
  for (Capture *c : driver.captures) delete c->graph, delete c;
  driver.captures.clear();
  for (Vendor *v : driver.vendors) delete v;
  driver.vendors.clear();
  driver.peers.clear();
  driver.peers_allowed = true;
  driver.tracing = false;
  trace_traffic(nullptr);
  driver.graphs.clear();
  driver.executables.clear();
  driver.failures.clear();
  driver.calls.clear();
  driver.devices = 2;
  driver.version = 13000;
  driver.capability = 90;
  driver.limit = size_t(1) << 30;
  driver.mode = RANDOM;
  driver.order = ASCENDING;
  driver.random = 88172645463325252ull;
  driver.counting = false;
  driver.host_checked = true;
  driver.leaks = driver.compiles = driver.early_frees = 0;
}

namespace {
struct Start { Start() { reset(); } } start;

int injected(const char *name) {
  auto f = driver.failures.find(name);
  if (f == driver.failures.end()) return 0;
  if (f->second.after-- > 0) return 0;
  int code = f->second.code;
  f->second.after = 0;
  if (--f->second.times <= 0) driver.failures.erase(f);
  return code;
}

bool ready(const Work &w) {
  for (const Wait &r : w.waits)
    if (!r->done) return false;
  return true;
}

// step does the first work of a stream, which must be ready. Work of a dead context is dropped.
void step(Stream *s) {
  Work w = std::move(s->work.front());
  s->work.pop_front();
  for (const Wait &r : w.waits)
    if (r->time > s->clock) s->clock = r->time;
  s->clock += w.cost;
  if (w.run && !s->context->sticky) {
    int r = w.run();
    check_red_zones(s->context);
    if (r) s->context->sticky = r;
  }
  if (w.record) {
    w.record->time = s->clock;
    w.record->done = true;
  }
  if (s->destroyed && s->work.empty()) {
    driver.streams.erase(s);
    delete s;
  }
}

std::vector<Stream *> ready_streams() {
  std::vector<Stream *> v;
  for (Stream *s : driver.streams)
    if (!s->work.empty() && ready(s->work.front())) v.push_back(s);
  return v;
}

// deepest returns the stream that must move first so that s can.
Stream *deepest(Stream *s) {
  for (int depth = 0; s && !s->work.empty() && depth < 1000; depth++) {
    if (ready(s->work.front())) return s;
    for (const Wait &r : s->work.front().waits)
      if (!r->done) {
        s = r->stream;
        break;
      }
  }
  return nullptr;
}

bool step_any() {
  auto v = ready_streams();
  if (v.empty()) return false;
  step(v[random_word(&driver.random) % v.size()]);
  return true;
}
}  // namespace

Entry::Entry(const char *name) : lock(driver.mutex) {
  driver.calls[name]++;
  failure = injected(name);
  if (!failure && driver.mode == RANDOM) progress();
}

// progress does a little work in the background, as a device would.
void progress() {
  for (uint64_t n = random_word(&driver.random) % 3; n > 0; n--)
    if (!step_any()) return;
}

// enqueue puts work on a stream, or into the graph that the stream collects.
int enqueue(Stream *s, const char *kind, Work w) {
  if (driver.counting && strcmp(kind, "free") && strcmp(kind, "graph")) w.run = nullptr;
  if (Capture *c = s->capture) {
    if (c->invalid) return 901;
    c->graph->nodes.push_back({std::move(w), kind, s->after});
    s->after = {(int)c->graph->nodes.size() - 1};
    return 0;
  }
  s->work.push_back(std::move(w));
  if (driver.mode == EAGER)
    while (step_any()) {
    }
  return 0;
}

// run_until does work until a condition holds: only what a stream needs if the driver is lazy,
// otherwise work of all streams in any legal order.
int run_until(const std::function<bool()> &done, Stream *needed) {
  while (!done()) {
    if (driver.mode == LAZY && needed) {
      Stream *s = deepest(needed);
      if (!s) return 999;
      step(s);
    } else if (!step_any()) {
      return 999;
    }
  }
  return known_context(current_context) ? current_context->sticky : 0;
}

// refuse_in_capture fails a call that must not happen on a thread that captures.
int refuse_in_capture() {
  if (!driver.captures.count(current_capture)) return 0;
  current_capture->invalid = true;
  return 900;
}

int check_memory(Context *c, uintptr_t p, size_t bytes) {
  auto i = c->memory.upper_bound(p);
  if (i == c->memory.begin()) return 1;
  --i;
  return p + bytes <= i->first + i->second.bytes ? 0 : 1;
}

void discard(const Allocation &a) {
  if (a.mapped) munmap(a.block, a.mapped);
  else free(a.block);
}

bool known_context(Context *c) {
  for (auto &x : driver.contexts)
    if (x.get() == c) return c->users > 0;
  return false;
}

enum { ZONE = 512 };

void check_red_zones(Context *c) {
  for (auto &a : c->memory) {
    if (a.second.mapped) continue;
    const unsigned char *before = (const unsigned char *)a.first - ZONE, *behind = (const unsigned char *)a.first + a.second.bytes;
    for (int i = 0; i < ZONE; i++)
      if (before[i] != 0xAB || behind[i] != 0xAB) {
        c->sticky = 700;
        c->fault = "a kernel wrote beside an allocation of " + std::to_string(a.second.bytes) + " bytes";
        return;
      }
  }
}
