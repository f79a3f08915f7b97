// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

// Lets g++ compile CUDA C kernels as a shared library that the pretend driver loads and runs on the
// processor. Blocks run one after another, or in turns; the threads of a block are fibers of one thread, and every
// name of CUDA that depends on the thread is looked up in the runtime that the driver passes.
#pragma once
#include "emu_types.h"
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <math.h>
#include <type_traits>
#include <utility>

#define EMU 1
#define __global__
#define __device__
#define __noinline__ __attribute__((noinline))
#define __host__
#define __constant__
#define __forceinline__ inline
#define __launch_bounds__(...)
#define __shared__ static __attribute__((section("emu_shared")))

static EmuRuntime *emu;
static EmuKernel *emu_kernels;

#define threadIdx (emu->thread->index)
#define blockIdx (emu->block)
#define blockDim (emu->threads)
#define gridDim (emu->blocks)
#define warpSize 32
#define __syncthreads() ((void)emu->barrier(0, 0))
#define __syncthreads_count(p) (emu->barrier((p) != 0, 1))
#define __syncthreads_and(p) (emu->barrier((p) != 0, 2))
#define __syncthreads_or(p) (emu->barrier((p) != 0, 3))
#define DYN_SHARED(T, name) T *name = (T *)emu->dynamic
#define __trap() emu->trap()
#define __threadfence()
#define __threadfence_block()
#define __nanosleep(ns) emu->pause()

template <class T> static inline T emu_shuffle(T v, int kind, int arg, int width, unsigned mask) {
  uint64_t u = 0;
  memcpy(&u, &v, sizeof(T));
  u = emu->shuffle(u, kind, arg, width, mask);
  memcpy(&v, &u, sizeof(T));
  return v;
}
template <class T> static inline T __shfl_sync(unsigned m, T v, int lane, int w = 32) { return emu_shuffle(v, 0, lane, w, m); }
template <class T> static inline T __shfl_up_sync(unsigned m, T v, unsigned d, int w = 32) { return emu_shuffle(v, 1, (int)d, w, m); }
template <class T> static inline T __shfl_down_sync(unsigned m, T v, unsigned d, int w = 32) { return emu_shuffle(v, 2, (int)d, w, m); }
template <class T> static inline T __shfl_xor_sync(unsigned m, T v, int x, int w = 32) { return emu_shuffle(v, 3, x, w, m); }
static inline unsigned __ballot_sync(unsigned m, int p) { return emu->vote(p, m); }
static inline int __any_sync(unsigned m, int p) { return emu->vote(p, m) != 0; }
static inline int __all_sync(unsigned m, int p) { return emu->vote(!p, m) == 0; }
static inline void __syncwarp(unsigned m = 0xffffffffu) { emu->vote(1, m); }

// Fibers change only where threads wait for each other, so an ordinary update is atomic.
template <class T> static inline T atomicAdd(T *p, T v) { T o = *p; *p = o + v; return o; }
template <class T> static inline T atomicMax(T *p, T v) { T o = *p; *p = o > v ? o : v; return o; }
template <class T> static inline T atomicMin(T *p, T v) { T o = *p; *p = o < v ? o : v; return o; }
template <class T> static inline T atomicOr(T *p, T v) { T o = *p; *p = o | v; return o; }
template <class T> static inline T atomicExch(T *p, T v) { T o = *p; *p = v; return o; }
template <class T> static inline T atomicCAS(T *p, T c, T v) { T o = *p; if (o == c) *p = v; return o; }

template <class T> static inline T __ldg(const T *p) { return *p; }
static inline int __float_as_int(float f) { int i; memcpy(&i, &f, 4); return i; }
static inline unsigned __float_as_uint(float f) { unsigned i; memcpy(&i, &f, 4); return i; }
static inline float __int_as_float(int i) { float f; memcpy(&f, &i, 4); return f; }
static inline float __uint_as_float(unsigned i) { float f; memcpy(&f, &i, 4); return f; }
static inline long long __double_as_longlong(double f) { long long i; memcpy(&i, &f, 8); return i; }
static inline double __longlong_as_double(long long i) { double f; memcpy(&f, &i, 8); return f; }
static inline unsigned __umulhi(unsigned a, unsigned b) { return (unsigned)(((uint64_t)a * b) >> 32); }
static inline unsigned long long __umul64hi(unsigned long long a, unsigned long long b) { return (unsigned long long)(((unsigned __int128)a * b) >> 64); }
static inline int __popc(unsigned x) { return __builtin_popcount(x); }
static inline int __ffs(int x) { return __builtin_ffs(x); }
static inline int __clz(int x) { return x ? __builtin_clz((unsigned)x) : 32; }
static inline float rsqrtf(float x) { return 1.0f / sqrtf(x); }
static inline double rsqrt(double x) { return 1.0 / sqrt(x); }
static inline void sincospif(float x, float *s, float *c) { *s = (float)sin(M_PI * (double)x); *c = (float)cos(M_PI * (double)x); }
static inline void sincospi(double x, double *s, double *c) { *s = sin(M_PI * x); *c = cos(M_PI * x); }
static inline float emu_expf(float x) { return expf(x); }
#define __expf emu_expf  // the C library declares a function of this name
static inline float __fdividef(float a, float b) { return a / b; }
template <class T> static inline T min(T a, T b) { return a < b ? a : b; }
template <class T> static inline T max(T a, T b) { return a > b ? a : b; }

#ifdef EMU_TRACE
// The hooks that g++ calls before each access to memory, with the place in the code.
#define EMU_UNTRACED extern "C" __attribute__((no_sanitize_thread, noinline, visibility("hidden")))
#define EMU_HOOK(name, bytes, write) \
  EMU_UNTRACED void __tsan_##name(void *p) { if (emu && emu->access) emu->access((uintptr_t)p, bytes, write, __builtin_return_address(0)); }
#define EMU_HOOKS(n) EMU_HOOK(read##n, n, false) EMU_HOOK(write##n, n, true) EMU_HOOK(unaligned_read##n, n, false) EMU_HOOK(unaligned_write##n, n, true)
EMU_HOOKS(1) EMU_HOOKS(2) EMU_HOOKS(4) EMU_HOOKS(8) EMU_HOOKS(16)
EMU_UNTRACED void __tsan_read_range(void *p, unsigned long n) { if (emu && emu->access) emu->access((uintptr_t)p, (unsigned)n, false, __builtin_return_address(0)); }
EMU_UNTRACED void __tsan_write_range(void *p, unsigned long n) { if (emu && emu->access) emu->access((uintptr_t)p, (unsigned)n, true, __builtin_return_address(0)); }
EMU_UNTRACED void __tsan_vptr_update(void *, void *) {}
EMU_UNTRACED void __tsan_func_entry(void *) {}
EMU_UNTRACED void __tsan_func_exit() {}
EMU_UNTRACED void __tsan_init() {}
#endif

template <class... A, size_t... I> static inline void emu_apply(void (*f)(A...), void **a, std::index_sequence<I...>) {
  f(*(std::remove_cv_t<A> *)a[I]...);
}
template <class... A> static inline void emu_call(void (*f)(A...), void **a) { emu_apply(f, a, std::index_sequence_for<A...>{}); }
template <class... A> struct EmuSizes { static constexpr unsigned of[sizeof...(A) + 1] = {sizeof(A)..., 0}; };
template <class... A> static inline void emu_register(EmuKernel *k, const char *name, void (*run)(void **), bool cooperates, void (*)(A...)) {
  *k = {name, run, cooperates, (int)sizeof...(A), EmuSizes<A...>::of, emu_kernels};
  emu_kernels = k;
}
#define EMU_KERNEL(f, cooperates)                                    \
  static void emu_run_##f(void **a) { emu_call(f, a); }               \
  static EmuKernel emu_kernel_##f;                                    \
  __attribute__((constructor)) static void emu_register_##f() { emu_register(&emu_kernel_##f, #f, emu_run_##f, cooperates, f); }

extern "C" {
// The linker gives the bounds of this module's shared memory.
extern char __start_emu_shared[] __attribute__((weak, visibility("hidden")));
extern char __stop_emu_shared[] __attribute__((weak, visibility("hidden")));
// emu_open ties the module to the driver and returns its kernels and shared memory.
EmuKernel *emu_open(EmuRuntime *r, char **begin, char **end) {
  emu = r;
  *begin = __start_emu_shared;
  *end = __stop_emu_shared;
  return emu_kernels;
}
}
