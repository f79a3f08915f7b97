// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

// Runs one kernel of a module on the processor.
#pragma once
#include "emu_types.h"
#include <cstddef>
#include <cstdlib>
#include <cstring>

// Order is the order in which blocks and threads run. INTERLEAVED holds a few blocks at once, begun in any order, and lets one of them at random go on to its next
// barrier, shuffle or pause; blocks whose threads do not wait for each other are shuffled.
enum Order { ASCENDING, DESCENDING, SHUFFLED, INTERLEAVED };

EmuRuntime *emu_runtime();
uint64_t random_word(uint64_t *state);

// Traffic is what the warps of kernels asked memory for since tracing began.
struct Traffic {
  long long sectors = 0;  // of 32 bytes, each warp and access for itself, without those in which all threads read the same 8 bytes, as a kernel's table of addresses
  long long turns = 0;    // lines of 128 bytes, likewise
  long long touched = 0;  // bytes of sectors that launches read, and those that they wrote, each once in a launch
};
// trace_traffic counts the traffic of memory that is the device's from now on, or stops counting for null.
void trace_traffic(bool (*is_memory)(uintptr_t at));
const Traffic &traffic();

// run_kernel runs a grid and returns null, or what the kernel did wrong. Shared memory is filled with
// the bytes 0xFF, which are NaN and -1, before every block.
const char *run_kernel(EmuKernel *k, dim3 grid, dim3 block, unsigned dynamic, void **parameters, Order order, uint64_t *random, char *shared, char *shared_end);
