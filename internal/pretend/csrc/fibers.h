// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

// Runs one kernel of a module on the processor.
#pragma once
#include "emu_types.h"
#include <cstddef>
#include <cstdlib>
#include <cstring>

// Order is the order in which blocks and threads run.
enum Order { ASCENDING, DESCENDING, SHUFFLED };

EmuRuntime *emu_runtime();
uint64_t random_word(uint64_t *state);

// run_kernel runs a grid and returns null, or what the kernel did wrong. Shared memory is filled with
// the bytes 0xFF, which are NaN and -1, before every block.
const char *run_kernel(EmuKernel *k, dim3 grid, dim3 block, unsigned dynamic, void **parameters, Order order, uint64_t *random, char *shared, char *shared_end);
