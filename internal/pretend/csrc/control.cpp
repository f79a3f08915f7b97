// What tests set, ask and break.
#include "state.h"

EXPORT void pretend_reset() {
  std::lock_guard<std::recursive_mutex> lock(driver.mutex);
  reset();
}
// is_device_memory reports whether an address lies in an allocation of a device.
static bool is_device_memory(uintptr_t at) {
  for (auto &c : driver.contexts) {
    auto next = c->memory.upper_bound(at);
    if (next == c->memory.begin()) continue;
    --next;
    if (at < next->first + next->second.bytes) return true;
  }
  return false;
}
EXPORT int pretend_set(const char *key, long long v) {
  std::lock_guard<std::recursive_mutex> lock(driver.mutex);
  std::string k = key;
  if (k == "devices") driver.devices = (int)v;
  else if (k == "version") driver.version = (int)v;
  else if (k == "capability") driver.capability = (int)v;
  else if (k == "memory") driver.limit = (size_t)v;
  else if (k == "mode") driver.mode = (Mode)v;
  else if (k == "order") driver.order = (Order)v;
  else if (k == "count") driver.counting = v != 0;
  else if (k == "peers") driver.peers_allowed = v != 0;
  else if (k == "trace") trace_traffic((driver.tracing = v != 0) ? is_device_memory : nullptr);
  else if (k == "seed") driver.random = 0x9e3779b97f4a7c15ull * (uint64_t)(v + 1);
  else return 1;
  return 0;
}
// A call fails after a number of successes, as often as said.
EXPORT void pretend_fail(const char *call, long long after, long long times, int code) {
  std::lock_guard<std::recursive_mutex> lock(driver.mutex);
  driver.failures[call] = {after, times, code};
}
EXPORT long long pretend_get(const char *key) {
  std::lock_guard<std::recursive_mutex> lock(driver.mutex);
  std::string k = key;
  long long n = 0;
  if (k == "leaks") {  // what belongs to no context counts once all of them are released
    for (auto &c : driver.contexts)
      if (c->users > 0) return driver.leaks;
    return driver.leaks + (long long)(driver.host.size() + driver.graphs.size() + driver.executables.size());
  }
  if (k == "compiles") return driver.compiles;
  if (k == "early frees") return driver.early_frees;
  if (k == "allocations") {
    for (auto &c : driver.contexts) n += (long long)c->memory.size();
    return n;
  }
  if (k == "used") {
    for (auto &c : driver.contexts) n += (long long)c->used;
    return n;
  }
  if (k == "waiting") {
    for (Stream *s : driver.streams) n += (long long)s->work.size();
    return n;
  }
  if (k == "sectors") return traffic().sectors;
  if (k == "turns") return traffic().turns;
  if (k == "touched") return traffic().touched;
  if (k == "streams") return (long long)driver.streams.size();
  if (k == "events") return (long long)driver.events.size();
  auto i = driver.calls.find(k);
  return i == driver.calls.end() ? 0 : i->second;
}
EXPORT const char *pretend_fault() {
  std::lock_guard<std::recursive_mutex> lock(driver.mutex);
  static std::string text;
  text.clear();
  for (auto &c : driver.contexts) text += c->fault;
  return text.c_str();
}
