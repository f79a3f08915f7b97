#include "vendor.h"

static int missing(Context *c, const std::string &kind, const std::vector<Span> &ranges) {
  for (auto &r : ranges)
    if (r.n && check_memory(c, r.p, r.n)) {
      c->fault = kind + " of memory that does not exist";
      return 700;
    }
  return 0;
}

bool vendor_queue(Stream *s, const char *kind, std::vector<Span> ranges, Span work, double cost, std::function<const char *()> f) {
  ranges.push_back(work);
  for (auto &r : ranges)
    if (r.n && check_memory(s->context, r.p, r.n)) return false;
  static uint64_t serial;
  uint64_t token = 0x9e3779b97f4a7c15ull * ++serial;
  std::string name = kind;
  Context *c = s->context;
  Work begin, end;
  begin.cost = cost / 2;
  begin.run = [=] {
    if (int r = missing(c, name, ranges)) return r;
    if (work.n >= 16) memcpy((void *)work.p, &token, 8), memcpy((void *)(work.p + work.n - 8), &token, 8);
    return 0;
  };
  end.cost = cost / 2;
  end.run = [=] {
    if (int r = missing(c, name, ranges)) return r;
    if (work.n >= 16 && (memcmp((void *)work.p, &token, 8) || memcmp((void *)(work.p + work.n - 8), &token, 8)))
      return c->fault = name + ": other work wrote into the workspace", 719;
    if (const char *e = f()) return c->fault = name + ": " + e, 719;
    if (work.n) memset((void *)work.p, 0xFF, std::min<size_t>(work.n, 4096));
    return 0;
  };
  return enqueue(s, kind, std::move(begin)) == 0 && enqueue(s, kind, std::move(end)) == 0;
}
