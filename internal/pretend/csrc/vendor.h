// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

// What the pretend cuBLAS, cuFFT, cuSOLVER, cuDNN and NCCL share: handles, and work that is put on the
// streams of the pretend driver.
#pragma once
#include "state.h"

// Span is memory that work reads or writes.
struct Span { uintptr_t p; size_t n; };

// vendor_stream reports whether work may be put on a stream by the calling thread.
inline bool vendor_stream(Stream *s) { return driver.streams.count(s) && !s->destroyed && known_context(current_context) && s->context == current_context; }

// vendor_find returns a handle if it exists and belongs to the current context, or null.
template <class T> T *vendor_find(void *h) {
  for (Vendor *v : driver.vendors)
    if (v == h && v->context == current_context) return dynamic_cast<T *>(v);
  return nullptr;
}
template <class T> T *vendor_new(Context *c) {
  T *t = new T;
  t->context = c;
  driver.vendors.insert(t);
  return t;
}
inline int vendor_delete(void *h) {
  for (Vendor *v : driver.vendors)
    if (v == h) return driver.vendors.erase(v), delete v, 0;
  return 1;
}

// vendor_queue puts work on a stream. Its memory must exist now and when it runs; f returns null, or
// what is wrong. The work has two parts, of which the first signs the workspace and the second looks
// for the signature, so that two pieces of work in one workspace are noticed. It returns false if the
// memory does not exist.
bool vendor_queue(Stream *s, const char *kind, std::vector<Span> ranges, Span work, double cost, std::function<const char *()> f);

// matrix is the memory of a matrix by columns.
template <class T> Span matrix(const T *p, int64_t rows, int64_t cols, int64_t ld) {
  return {(uintptr_t)p, rows > 0 && cols > 0 ? (size_t)((cols - 1) * ld + rows) * sizeof(T) : 0};
}
