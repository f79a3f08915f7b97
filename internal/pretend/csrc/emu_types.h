// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

// Types that kernels and the driver that runs them share.
#pragma once
#include <cstdint>

#define __align__(n) __attribute__((aligned(n)))

struct uint3 { unsigned x, y, z; };
struct dim3 { unsigned x, y, z; };
struct __align__(8) float2 { float x, y; };
struct __align__(16) float4 { float x, y, z, w; };
struct __align__(16) double2 { double x, y; };
struct __align__(8) int2 { int x, y; };
struct __align__(16) int4 { int x, y, z, w; };
struct __align__(8) uint2 { unsigned x, y; };
struct __align__(16) uint4 { unsigned x, y, z, w; };
static inline float2 make_float2(float x, float y) { return {x, y}; }
static inline float4 make_float4(float x, float y, float z, float w) { return {x, y, z, w}; }
static inline double2 make_double2(double x, double y) { return {x, y}; }
static inline uint4 make_uint4(unsigned x, unsigned y, unsigned z, unsigned w) { return {x, y, z, w}; }

struct EmuThread { uint3 index; unsigned lane, linear; };

// EmuRuntime is what the driver gives to a module.
struct EmuRuntime {
  EmuThread *thread;
  uint3 block;
  dim3 threads, blocks;
  void *dynamic;                                                             // dynamic shared memory
  int (*barrier)(int predicate, int kind);                                   // 0 plain, 1 count, 2 and, 3 or
  uint64_t (*shuffle)(uint64_t v, int kind, int arg, int width, unsigned mask);
  unsigned (*vote)(int predicate, unsigned mask);
  void (*trap)();
  void (*access)(uintptr_t at, unsigned bytes, bool write, void *where);  // of a thread, where the driver traces them; else null
  void (*pause)();                                                        // lets other threads and blocks go on
};

// EmuKernel describes one kernel of a module.
struct EmuKernel {
  const char *name;
  void (*run)(void **parameters);
  bool cooperates;  // threads of a block wait for each other
  int parameters;
  const unsigned *sizes;
  EmuKernel *next;
};
