#include "fibers.h"
#include <map>
#include <set>
#include <sys/mman.h>
#include <tuple>
#include <unistd.h>
#include <vector>

static EmuRuntime runtime;
EmuRuntime *emu_runtime() { return &runtime; }

uint64_t random_word(uint64_t *s) {
  *s ^= *s << 13;
  *s ^= *s >> 7;
  *s ^= *s << 17;
  return *s;
}

// A fiber gives up the processor by a switch of stacks that keeps only the registers that a call
// keeps; it is about ten times faster than swapcontext, which changes the signal mask twice.
extern "C" void fiber_switch(void **save, void *load);
#if defined(__x86_64__)
asm(R"(
.text
.globl fiber_switch
.hidden fiber_switch
.type fiber_switch,@function
fiber_switch:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp,(%rdi)
  movq %rsi,%rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
.size fiber_switch,.-fiber_switch
)");
static void *first_frame(char *stack, size_t bytes, void (*entry)()) {
  void **top = (void **)(stack + bytes);
  *--top = nullptr;        // aligns the stack as a call would
  *--top = (void *)entry;  // where the first switch returns to
  for (int r = 0; r < 6; r++) *--top = nullptr;
  return top;
}
#elif defined(__aarch64__)
asm(R"(
.text
.globl fiber_switch
.hidden fiber_switch
.type fiber_switch,@function
fiber_switch:
  sub sp, sp, #160
  stp x19, x20, [sp, #0]
  stp x21, x22, [sp, #16]
  stp x23, x24, [sp, #32]
  stp x25, x26, [sp, #48]
  stp x27, x28, [sp, #64]
  stp x29, x30, [sp, #80]
  stp d8, d9, [sp, #96]
  stp d10, d11, [sp, #112]
  stp d12, d13, [sp, #128]
  stp d14, d15, [sp, #144]
  mov x9, sp
  str x9, [x0]
  mov sp, x1
  ldp x19, x20, [sp, #0]
  ldp x21, x22, [sp, #16]
  ldp x23, x24, [sp, #32]
  ldp x25, x26, [sp, #48]
  ldp x27, x28, [sp, #64]
  ldp x29, x30, [sp, #80]
  ldp d8, d9, [sp, #96]
  ldp d10, d11, [sp, #112]
  ldp d12, d13, [sp, #128]
  ldp d14, d15, [sp, #144]
  add sp, sp, #160
  ret
.size fiber_switch,.-fiber_switch
)");
static void *first_frame(char *stack, size_t bytes, void (*entry)()) {
  void **top = (void **)(stack + bytes - 160);
  memset(top, 0, 160);
  top[11] = (void *)entry;  // x30
  return top;
}
#else
#error "the emulator needs a context switch for this processor"
#endif

namespace {
enum State { READY, AT_BARRIER, AT_WARP, PAUSED, DONE };
struct Fiber {
  void *sp;
  EmuThread thread;
  State state;
  uint64_t slot;        // what it offers to its warp
  unsigned mask;        // lanes that it waits for
  int predicate, kind;  // what it brings to a barrier
  char *stack;
};
// Long kernels, which are not optimised, keep every intermediate value in their frame: hundreds of KiB.
const size_t stack_bytes = 1 << 20;
std::vector<Fiber> fibers;
Fiber *current;
void *scheduler;
EmuKernel *kernel;
void **arguments;
const char *fault;
int barrier_result;

void entry() {
  kernel->run(arguments);
  current->state = DONE;
  fiber_switch(&current->sp, scheduler);
  abort();
}

void wait(State s) {
  Fiber *f = current;
  f->state = s;
  fiber_switch(&f->sp, scheduler);
}

int barrier(int predicate, int kind) {
  current->predicate = predicate;
  current->kind = kind;
  wait(AT_BARRIER);
  return barrier_result;
}

// Two waits: one until all lanes have offered their value, one until all have read the others'.
unsigned vote(int predicate, unsigned mask) {
  Fiber *me = current;
  me->slot = predicate != 0;
  me->mask = mask;
  wait(AT_WARP);
  unsigned result = 0, first = me->thread.linear & ~31u;
  for (unsigned l = 0; l < 32 && first + l < fibers.size(); l++)
    if ((mask >> l & 1) && fibers[first + l].state != DONE && fibers[first + l].slot) result |= 1u << l;
  wait(AT_WARP);
  return result;
}

uint64_t shuffle(uint64_t v, int kind, int arg, int width, unsigned mask) {
  Fiber *me = current;
  me->slot = v;
  me->mask = mask;
  wait(AT_WARP);
  int lane = (int)me->thread.lane, low = lane & ~(width - 1), from = lane;
  switch (kind) {
    case 0: from = low + (arg & (width - 1)); break;
    case 1: from = lane - arg < low ? lane : lane - arg; break;
    case 2: from = lane + arg >= low + width ? lane : lane + arg; break;
    case 3: from = (lane ^ arg) >= low + width ? lane : lane ^ arg; break;
  }
  unsigned i = (me->thread.linear & ~31u) + (unsigned)from;
  uint64_t r = ~uint64_t(0);  // the value of a lane outside the mask is not defined
  if (i < fibers.size() && (mask >> from & 1) && fibers[i].state != DONE) r = fibers[i].slot;
  wait(AT_WARP);
  return r;
}

void pause() {
  if (current) return wait(PAUSED);
  fault = "a kernel without barriers waits for other threads";
}

void trap() {
  fault = "the kernel executed __trap";
  if (current) wait(DONE);
}

void set_thread(EmuThread *t, unsigned l, dim3 b) {
  t->index = {l % b.x, l / b.x % b.y, l / b.x / b.y};
  t->lane = l & 31;
  t->linear = l;
}

// release_warps lets lanes go on whose whole mask has arrived; lanes that have ended do not count.
bool release_warps(unsigned n) {
  bool any = false;
  for (unsigned l = 0; l < n; l++) {
    if (fibers[l].state != AT_WARP) continue;
    unsigned mask = fibers[l].mask, first = l & ~31u;
    bool all = true;
    for (unsigned k = 0; k < 32 && first + k < n && all; k++) {
      Fiber &f = fibers[first + k];
      if ((mask >> k & 1) && f.state != DONE) all = f.state == AT_WARP && f.mask == mask;
    }
    if (!all) continue;
    for (unsigned k = 0; k < 32 && first + k < n; k++)
      if ((mask >> k & 1) && fibers[first + k].state == AT_WARP) fibers[first + k].state = READY;
    any = true;
  }
  return any;
}

// release_block lets the threads of a block go on if all of them are at a barrier.
bool release_block(unsigned n) {
  int count = 0;
  for (unsigned l = 0; l < n; l++) {
    if (fibers[l].state != AT_BARRIER || fibers[l].kind != fibers[0].kind) return false;
    count += fibers[l].predicate;
  }
  switch (fibers[0].kind) {
    case 1: barrier_result = count; break;
    case 2: barrier_result = count == (int)n; break;
    case 3: barrier_result = count != 0; break;
  }
  for (unsigned l = 0; l < n; l++) fibers[l].state = READY;
  return true;
}

// new_stack returns a stack above a page that ends the process when it is touched: memory beside a stack that overflows stays whole.
// Pages take memory once they are used.
char *new_stack() {
  size_t page = (size_t)sysconf(_SC_PAGESIZE);
  void *low = mmap(nullptr, page + stack_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (low == MAP_FAILED || mprotect(low, page, PROT_NONE)) abort();
  return (char *)low + page;
}

// make_fibers makes the fibers of a block of n threads, the one in a slot of those that run at once. Stacks are kept for the next block: to map them
// anew and to touch their pages takes longer than most kernels run.
void make_fibers(unsigned n, unsigned slot = 0) {
  static std::vector<char *> stacks;
  while (stacks.size() < (slot + 1) * n) stacks.push_back(new_stack());
  fibers.assign(n, Fiber());
  for (unsigned l = 0; l < n; l++) fibers[l].stack = stacks[slot * n + l];
}

void shuffle_order(std::vector<unsigned> &v, uint64_t *random) {
  for (size_t i = v.size(); i > 1; i--) std::swap(v[i - 1], v[random_word(random) % i]);
}

std::vector<unsigned> ordered(unsigned n, Order order, uint64_t *random) {
  std::vector<unsigned> v(n);
  for (unsigned i = 0; i < n; i++) v[i] = order == DESCENDING ? n - 1 - i : i;
  if (order >= SHUFFLED) shuffle_order(v, random);
  return v;
}

// begin_cooperating makes the fibers of a block ready.
void begin_cooperating() {
  for (unsigned l = 0; l < fibers.size(); l++) {
    set_thread(&fibers[l].thread, l, runtime.threads);
    fibers[l].state = READY;
    fibers[l].sp = first_frame(fibers[l].stack, stack_bytes, entry);
  }
}

// Round is what came of letting every fiber of a block go on once: it has ended, or somebody did more than pause, or nobody did.
enum Round { ENDED, WORKED, WAITED };

Round run_round(std::vector<unsigned> &order, bool reshuffle, uint64_t *random) {
  if (reshuffle) shuffle_order(order, random);
  bool worked = false;
  for (unsigned l : order) {
    if (fibers[l].state != READY && fibers[l].state != PAUSED) continue;
    bool paused = fibers[l].state == PAUSED;
    fibers[l].state = READY;
    current = &fibers[l];
    runtime.thread = &current->thread;
    fiber_switch(&scheduler, current->sp);
    worked |= !paused || current->state != PAUSED;
    current = nullptr;
    if (fault) return ENDED;
  }
  unsigned n = (unsigned)fibers.size(), done = 0, paused = 0;
  for (Fiber &f : fibers) done += f.state == DONE, paused += f.state == PAUSED;
  if (done == n) return ENDED;
  if (release_warps(n) || release_block(n)) return WORKED;
  if (!paused) fault = "divergent barrier: some threads of the block have ended or wait elsewhere";
  return worked ? WORKED : WAITED;
}

// run_cooperating runs the fibers of a block until all have ended.
void run_cooperating(std::vector<unsigned> &order, bool reshuffle, uint64_t *random) {
  begin_cooperating();
  for (;;) {
    Round r = run_round(order, reshuffle, random);
    if (r == WAITED && !fault) fault = "a block waits for another that has not begun";
    if (r == ENDED || fault) return;
  }
}

// Held is a block that has begun, with its own copy of the shared memory that the module declares.
struct Held {
  unsigned slot;
  uint3 block;
  std::vector<Fiber> fibers;
  std::vector<char> shared;
  std::vector<double> dynamic;
};

// run_interleaved holds a few blocks at once. The one that began first is behind the others mostly.
void run_interleaved(dim3 grid, std::vector<unsigned> &order, uint64_t *random, char *shared, size_t bytes, size_t dynamic) {
  const unsigned most = 4;
  std::vector<unsigned> waiting = ordered(grid.x * grid.y * grid.z, SHUFFLED, random), slots;
  for (unsigned s = 0; s < most; s++) slots.push_back(s);
  std::vector<Held> held;
  unsigned n = (unsigned)order.size(), idle = 0;
  while (!waiting.empty() || !held.empty()) {
    if (!waiting.empty() && !slots.empty() && (held.empty() || random_word(random) % 4 == 0)) {
      unsigned b = waiting.back(), slot = slots.back();
      waiting.pop_back();
      slots.pop_back();
      make_fibers(n, slot);
      begin_cooperating();
      held.push_back({slot, {b % grid.x, b / grid.x % grid.y, b / grid.x / grid.y}, {}, std::vector<char>(bytes, (char)0xFF), std::vector<double>(dynamic)});
      memset(held.back().dynamic.data(), 0xFF, 8 * dynamic);
      held.back().fibers.swap(fibers);
      idle = 0;
    }
    size_t k = random_word(random) % held.size();
    if (k == 0 && random_word(random) % 4) k = random_word(random) % held.size();
    Held &h = held[k];
    fibers.swap(h.fibers);
    runtime.block = h.block;
    runtime.dynamic = h.dynamic.data();
    if (bytes) memcpy(shared, h.shared.data(), bytes);
    Round r = run_round(order, true, random);
    if (bytes) memcpy(h.shared.data(), shared, bytes);
    fibers.swap(h.fibers);
    if (fault) return;
    idle = r == WAITED ? idle + 1 : 0;
    if (r == ENDED) {
      slots.push_back(h.slot);
      held.erase(held.begin() + (long)k);
    } else if (idle > 1000 && (waiting.empty() || slots.empty())) {
      fault = "blocks wait for each other, or for one that cannot begin";
      return;
    }
  }
}

// What is traced of a block: the accesses of a warp at a place of the code, each time that it comes there, and how often threads came there.
struct Warp { std::vector<std::pair<uintptr_t, unsigned>> list; };
std::map<std::tuple<void *, bool, unsigned, unsigned>, Warp> accesses;
std::map<std::pair<void *, unsigned>, unsigned> visits;
std::set<uintptr_t> touched[2];  // sectors that the launch read and wrote
bool (*device_memory)(uintptr_t);
Traffic counted;

void note_access(uintptr_t at, unsigned bytes, bool write, void *where) {
  if (!device_memory(at)) return;
  unsigned thread = runtime.thread->linear, visit = visits[{where, thread}]++;
  accesses[{where, write, thread / 32, visit}].list.push_back({at, bytes});
}

void end_block() {
  for (auto &a : accesses) {
    auto &list = a.second.list;
    bool same = list[0].second == 8 && !std::get<1>(a.first);
    for (auto &x : list) same = same && x == list[0];
    if (same) continue;
    std::set<uintptr_t> sectors, lines;
    for (auto &x : list)
      for (uintptr_t s = x.first / 32; s <= (x.first + x.second - 1) / 32; s++) {
        sectors.insert(s);
        lines.insert(s / 4);
        touched[std::get<1>(a.first)].insert(s);
      }
    counted.sectors += (long long)sectors.size();
    counted.turns += (long long)lines.size();
  }
  accesses.clear();
  visits.clear();
}

void end_launch() {
  for (auto &t : touched) {
    counted.touched += 32 * (long long)t.size();
    t.clear();
  }
}
}  // namespace

void trace_traffic(bool (*is_memory)(uintptr_t)) {
  device_memory = is_memory;
  runtime.access = is_memory ? note_access : nullptr;
  counted = {};
}
const Traffic &traffic() { return counted; }

const char *run_kernel(EmuKernel *k, dim3 grid, dim3 block, unsigned dynamic, void **parameters, Order order, uint64_t *random, char *shared, char *shared_end) {
  unsigned n = block.x * block.y * block.z;
  static std::vector<double> dynamic_memory;
  dynamic_memory.resize(dynamic / 8 + 1);
  runtime.threads = block;
  runtime.blocks = grid;
  runtime.dynamic = dynamic_memory.data();
  runtime.barrier = barrier;
  runtime.shuffle = shuffle;
  runtime.vote = vote;
  runtime.trap = trap;
  runtime.pause = pause;
  kernel = k;
  arguments = parameters;
  fault = nullptr;
  current = nullptr;
  if (k->cooperates && fibers.size() != n) make_fibers(n);
  std::vector<unsigned> threads = ordered(n, order, random);
  if (order == INTERLEAVED && k->cooperates && !runtime.access) {
    run_interleaved(grid, threads, random, shared, (size_t)(shared_end - shared), dynamic_memory.size());
    fibers.clear();
    return fault;
  }
  for (unsigned b : ordered(grid.x * grid.y * grid.z, order, random)) {
    runtime.block = {b % grid.x, b / grid.x % grid.y, b / grid.x / grid.y};
    if (shared_end > shared) memset(shared, 0xFF, (size_t)(shared_end - shared));
    memset(runtime.dynamic, 0xFF, dynamic_memory.size() * 8);
    if (k->cooperates) {
      run_cooperating(threads, order >= SHUFFLED, random);
    } else {
      EmuThread t;
      runtime.thread = &t;
      for (unsigned l : threads) {
        set_thread(&t, l, block);
        k->run(parameters);
        if (fault) break;
      }
    }
    if (fault) return fault;
    if (runtime.access) end_block();
  }
  if (runtime.access) end_launch();
  return nullptr;
}
