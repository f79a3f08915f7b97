// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

// State of the pretend driver: devices, contexts, memory, streams with work that is done later, events
// with a virtual clock, and graphs.
#pragma once
#include "fibers.h"
#include <algorithm>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

enum Mode { EAGER, LAZY, RANDOM };

struct Stream;
struct Capture;

// Record is one recording of an event: it is done once the stream comes to it.
struct Record {
  bool done = false;
  double time = 0;  // virtual ms
  Stream *stream = nullptr;
};
using Wait = std::shared_ptr<Record>;

// Work is an entry of a stream.
struct Work {
  std::function<int()> run;  // null for waits and records
  double cost = 0;           // virtual ms
  std::vector<Wait> waits;
  Wait record;
};

struct Node {
  Work work;
  std::string kind;
  std::vector<int> after;
};
struct Graph { std::vector<Node> nodes; };

struct Allocation {
  size_t bytes;
  char *block;     // with a red zone on both sides
  bool pooled;
  uintptr_t pool;
  size_t mapped;   // bytes of address space without memory; 0 for memory
};

struct Context {
  int device = 0, users = 0, sticky = 0;
  size_t used = 0, limit = 0, pooled = 0;
  std::map<uintptr_t, Allocation> memory;
  std::map<uintptr_t, size_t> freed;  // remembered, so that late uses are noticed
  std::string fault;
};

struct Stream {
  Context *context;
  std::deque<Work> work{};
  double clock = 0;
  bool destroyed = false;
  Capture *capture = nullptr;
  std::vector<int> after{};  // last nodes of a capture
};

struct Capture {
  Graph *graph;
  Stream *origin;
  bool invalid = false;
  std::set<Stream *> members{};
};

struct Event {
  Context *context;
  bool timing;
  Wait last{};
  Capture *capture = nullptr;
  std::vector<int> after{};
};

struct Pool {
  Context *context;
  size_t reserved = 0, used = 0;
  unsigned long long threshold = 0;
};

struct Module {
  Context *context;
  void *library;
  EmuKernel *kernels = nullptr;
  char *shared = nullptr, *shared_end = nullptr;
};

struct Function {
  Module *module;
  EmuKernel *kernel;
  int dynamic_limit;
};

// Vendor is a handle, plan or descriptor of a pretend library.
struct Vendor {
  Context *context = nullptr;
  virtual ~Vendor() {}
};

struct Failure { long long after, times; int code; };

struct Driver {
  std::recursive_mutex mutex;
  // configuration
  int devices, version, capability;
  size_t limit;
  Mode mode;
  Order order;
  uint64_t random;
  bool peers_allowed;  // devices can read each other's memory
  bool counting;       // memory is only counted, and kernels and copies do nothing
  bool tracing;        // kernels are compiled so that their accesses to memory are counted
  bool host_checked;   // asynchronous copies must use page-locked memory
  std::map<std::string, Failure> failures;
  // state
  std::vector<std::unique_ptr<Context>> contexts;
  std::set<Stream *> streams;
  std::set<Event *> events;
  std::set<Module *> modules;
  std::set<Function *> functions;
  std::set<Pool *> pools;
  std::set<Graph *> graphs, executables;
  std::set<Capture *> captures;
  std::set<Vendor *> vendors;
  std::set<std::pair<Context *, Context *>> peers;  // who was let read whose memory
  std::map<uintptr_t, size_t> host;
  std::map<std::string, long long> calls;
  long long leaks = 0, compiles = 0, early_frees = 0;
};
extern Driver driver;

// What the thread has: its current context and the capture that it began.
extern thread_local Context *current_context;
extern thread_local Capture *current_capture;

void reset();
bool known_context(Context *c);  // it is retained by somebody; threads may hold older ones
int check_memory(Context *c, uintptr_t p, size_t bytes);  // 0, or 1 if the range is not one of the device
void check_red_zones(Context *c);
void discard(const Allocation &a);  // gives its block back to the system
int enqueue(Stream *s, const char *kind, Work w);
void progress();
int run_until(const std::function<bool()> &done, Stream *needed);
int refuse_in_capture();
std::string library_folder();
bool compile_kernel(const std::string &source, int arch, std::string *log, std::string *image);

// ENTER begins an entry point: it counts the call and fails if a test asked for that.
struct Entry {
  std::lock_guard<std::recursive_mutex> lock;
  int failure;
  explicit Entry(const char *name);
};
#define ENTER(name)          \
  Entry entry(#name);        \
  if (entry.failure) return entry.failure
#define NEED_CONTEXT                            \
  if (!known_context(current_context)) return 201; \
  if (current_context->sticky) return current_context->sticky
#define EXPORT extern "C" __attribute__((visibility("default")))
