// The entry points about modules, launches and graphs.
#include "state.h"
#include <dlfcn.h>
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

// An image is this header and then a shared library, which g++ made of a kernel's text.
struct Header { char magic[8]; uint32_t arch, ptx; uint64_t bytes; };

static int refuse(unsigned n, const int *keys, void **values, const char *why, int code) {
  char *log = nullptr;
  size_t size = 0;
  for (unsigned i = 0; i < n; i++) {
    if (keys[i] == 5) log = (char *)values[i];
    if (keys[i] == 6) size = (size_t)values[i];
  }
  if (log && size) strncpy(log, why, size - 1);
  return code;
}
EXPORT int cuModuleLoadDataEx(Module **out, const void *image, unsigned n, int *keys, void **values) {
  ENTER(cuModuleLoadDataEx);
  NEED_CONTEXT;
  if (int r = refuse_in_capture()) return r;
  Header h;
  memcpy(&h, image, sizeof h);
  if (memcmp(h.magic, "PRETEND", 8)) return refuse(n, keys, values, "not an image of the pretend compiler", 200);
  int have = driver.capability;
  if (h.ptx ? (int)h.arch > have : (int)h.arch / 10 != have / 10 || (int)h.arch > have)
    return refuse(n, keys, values, "the image is for another architecture", h.ptx ? 218 : 209);
  // A file of its own for every module, so that two modules of one image share no variables.
  int fd = memfd_create("module", 0);
  if (fd < 0 || write(fd, (const char *)image + sizeof h, h.bytes) != (ssize_t)h.bytes) return 304;
  std::string path = "/proc/self/fd/" + std::to_string(fd);
  static int serial;
  std::string link = library_folder() + "/module-" + std::to_string(getpid()) + "-" + std::to_string(serial++);
  void *lib = symlink(path.c_str(), link.c_str()) ? nullptr : dlopen(link.c_str(), RTLD_NOW | RTLD_LOCAL);
  const char *why = lib ? "" : dlerror();
  unlink(link.c_str());
  close(fd);
  if (!lib) return refuse(n, keys, values, why, 200);
  auto open = (EmuKernel * (*)(EmuRuntime *, char **, char **)) dlsym(lib, "emu_open");
  Module *m = new Module{current_context, lib};
  m->kernels = open(emu_runtime(), &m->shared, &m->shared_end);
  driver.modules.insert(m);
  return *out = m, 0;
}
EXPORT int cuModuleUnload(Module *m) {
  ENTER(cuModuleUnload);
  NEED_CONTEXT;
  if (!driver.modules.erase(m)) return 400;
  for (auto i = driver.functions.begin(); i != driver.functions.end();)
    if ((*i)->module == m) delete *i, i = driver.functions.erase(i);
    else ++i;
  dlclose(m->library);
  delete m;
  return 0;
}
EXPORT int cuModuleGetFunction(Function **f, Module *m, const char *name) {
  ENTER(cuModuleGetFunction);
  NEED_CONTEXT;
  if (!driver.modules.count(m)) return 400;
  for (EmuKernel *k = m->kernels; k; k = k->next)
    if (!strcmp(k->name, name)) {
      *f = new Function{m, k, 49152};
      driver.functions.insert(*f);
      return 0;
    }
  return 500;
}
EXPORT int cuModuleGetGlobal_v2(uintptr_t *p, size_t *n, Module *m, const char *name) {
  ENTER(cuModuleGetGlobal_v2);
  NEED_CONTEXT;
  if (!driver.modules.count(m)) return 400;
  void *a = dlsym(m->library, name);
  Dl_info info;
  ElfW(Sym) *sym = nullptr;
  if (!a || !dladdr1(a, &info, (void **)&sym, RTLD_DL_SYMENT) || !sym) return 500;
  *p = (uintptr_t)a;
  *n = sym->st_size;
  return 0;
}
EXPORT int cuFuncGetAttribute(int *v, int a, Function *f) {
  ENTER(cuFuncGetAttribute);
  NEED_CONTEXT;
  if (!driver.functions.count(f)) return 400;
  *v = a == 0 ? 1024 : a == 1 ? (int)(f->module->shared_end - f->module->shared) : a == 4 ? 32 : a == 8 ? f->dynamic_limit : 0;
  return 0;
}
EXPORT int cuFuncSetAttribute(Function *f, int a, int v) {
  ENTER(cuFuncSetAttribute);
  NEED_CONTEXT;
  if (!driver.functions.count(f)) return 400;
  if (a != 8 || v < 0 || v > 232448) return 1;
  f->dynamic_limit = v;
  return 0;
}
EXPORT int cuFuncGetParamInfo(Function *f, size_t i, size_t *offset, size_t *size) {
  ENTER(cuFuncGetParamInfo);
  if (!driver.functions.count(f)) return 400;
  if (i >= (size_t)f->kernel->parameters) return 1;
  size_t at = 0;
  for (size_t k = 0; k <= i; k++) {
    size_t align = std::min<size_t>(f->kernel->sizes[k], 8);
    at = (at + align - 1) / align * align;
    *offset = at;
    at += *size = f->kernel->sizes[k];
  }
  return 0;
}
EXPORT int cuOccupancyMaxActiveBlocksPerMultiprocessor(int *n, Function *f, int block, size_t shared) {
  ENTER(cuOccupancyMaxActiveBlocksPerMultiprocessor);
  if (!driver.functions.count(f) || block <= 0) return 1;
  *n = std::min({2048 / block, 32, shared ? (int)(233472 / shared) : 32});
  return 0;
}

EXPORT int cuLaunchKernel(Function *f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned shared, Stream *s, void **a, void **) {
  ENTER(cuLaunchKernel);
  NEED_CONTEXT;
  if (!driver.functions.count(f) || !driver.streams.count(s) || s->destroyed || s->context != current_context) return 400;
  if (!gx || !gy || !gz || !bx || !by || !bz || gy > 65535 || gz > 65535 || (uint64_t)bx * by * bz > 1024 || bz > 64) return 1;
  if ((int)shared > f->dynamic_limit) return 1;
  auto block = std::make_shared<std::vector<std::vector<char>>>();  // the driver copies the arguments before it returns
  for (int i = 0; i < f->kernel->parameters; i++) block->emplace_back((char *)a[i], (char *)a[i] + f->kernel->sizes[i]);
  EmuKernel *kernel = f->kernel;
  Module *m = f->module;
  Context *c = s->context;
  Work w;
  w.cost = 0.002 + 1e-8 * gx * gy * gz * bx * by * bz;
  w.run = [=] {
    if (!driver.modules.count(m)) return c->fault = "kernel of a module that was unloaded", 700;
    std::vector<void *> table;
    for (auto &v : *block) {
      table.push_back(v.data());
      uintptr_t p = 0;
      if (v.size() != 8) continue;
      memcpy(&p, v.data(), 8);
      auto i = c->freed.upper_bound(p);
      if (i != c->freed.begin() && (--i, p < i->first + i->second)) return c->fault = std::string(kernel->name) + " was given memory that has been freed", 700;
    }
    const char *e = run_kernel(kernel, {gx, gy, gz}, {bx, by, bz}, shared, table.data(), driver.order, &driver.random, m->shared, m->shared_end);
    if (e) return c->fault = std::string(kernel->name) + ": " + e, 719;
    return 0;
  };
  return enqueue(s, "kernel", std::move(w));
}

// Graphs.
EXPORT int cuStreamBeginCapture_v2(Stream *s, int mode) {
  ENTER(cuStreamBeginCapture_v2);
  NEED_CONTEXT;
  if (!driver.streams.count(s) || mode != 1 || refuse_in_capture()) return 1;
  if (s->capture) return 401;
  current_capture = s->capture = new Capture{new Graph, s};
  s->capture->members = {s};
  driver.captures.insert(s->capture);
  s->after.clear();
  return 0;
}
// reached marks the nodes before the given ones.
static void reached(const Graph *g, const std::vector<int> &from, std::set<int> *seen) {
  for (int i : from)
    if (seen->insert(i).second) reached(g, g->nodes[(size_t)i].after, seen);
}
EXPORT int cuStreamEndCapture(Stream *s, Graph **out) {
  Entry entry("cuStreamEndCapture");
  NEED_CONTEXT;
  *out = nullptr;
  Capture *c = driver.streams.count(s) ? s->capture : nullptr;
  if (!c) return 401;
  if (c != current_capture) return 908;
  if (c->origin != s) return 903;
  std::set<int> seen;
  reached(c->graph, s->after, &seen);
  int code = entry.failure ? entry.failure : c->invalid ? 901 : 0;  // a failed call ends the capture too
  for (Stream *m : c->members) {
    for (int i : m->after)
      if (!code && !seen.count(i)) code = 904;
    m->capture = nullptr;
    m->after.clear();
  }
  for (Event *e : driver.events)
    if (e->capture == c) e->capture = nullptr, e->last = nullptr;
  current_capture = nullptr;
  driver.captures.erase(c);
  if (code) delete c->graph;
  else driver.graphs.insert(*out = c->graph);
  delete c;
  return code;
}
EXPORT int cuGraphInstantiateWithFlags(Graph **e, Graph *g, unsigned long long) {
  ENTER(cuGraphInstantiateWithFlags);
  NEED_CONTEXT;
  if (!driver.graphs.count(g)) return 1;
  if (int r = refuse_in_capture()) return r;
  driver.executables.insert(*e = new Graph(*g));
  return 0;
}
EXPORT int cuGraphLaunch(Graph *e, Stream *s) {
  ENTER(cuGraphLaunch);
  NEED_CONTEXT;
  if (!driver.executables.count(e) || !driver.streams.count(s) || s->context != current_context) return 400;
  auto nodes = std::make_shared<std::vector<Node>>(e->nodes);
  Work w;
  for (auto &n : *nodes) w.cost += n.work.cost / 2;
  w.run = [=] {  // any order that respects the edges
    std::vector<bool> done(nodes->size());
    for (size_t left = nodes->size(); left > 0; left--) {
      std::vector<size_t> may;
      for (size_t i = 0; i < nodes->size(); i++) {
        bool ok = !done[i];
        for (int a : (*nodes)[i].after) ok = ok && done[(size_t)a];
        if (ok) may.push_back(i);
      }
      size_t i = may[random_word(&driver.random) % may.size()];
      done[i] = true;
      if ((*nodes)[i].work.run)
        if (int r = (*nodes)[i].work.run()) return r;
    }
    return 0;
  };
  return enqueue(s, "graph", std::move(w));
}
EXPORT int cuGraphExecUpdate_v2(Graph *e, Graph *g, void *) {
  ENTER(cuGraphExecUpdate_v2);
  NEED_CONTEXT;
  if (!driver.executables.count(e) || !driver.graphs.count(g)) return 1;
  bool same = e->nodes.size() == g->nodes.size();
  for (size_t i = 0; same && i < e->nodes.size(); i++) same = e->nodes[i].kind == g->nodes[i].kind && e->nodes[i].after == g->nodes[i].after;
  if (!same) return 910;
  *e = *g;
  return 0;
}
EXPORT int cuGraphDestroy(Graph *g) {
  ENTER(cuGraphDestroy);
  if (!driver.graphs.erase(g)) return 1;
  delete g;
  return 0;
}
EXPORT int cuGraphExecDestroy(Graph *e) {
  ENTER(cuGraphExecDestroy);
  if (!driver.executables.erase(e)) return 1;
  delete e;
  return 0;
}
