// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

// Package cuda generates CUDA C from the compiler's programs.
//
// A loop becomes one kernel or a few, and consecutive loops over the same rows become one together.
// Elements go to threads in strides of the grid, so that neighbouring threads read neighbouring
// elements, in packs of 16 bytes where a loop reads whole arrays; what a thread computes of an
// element stays in its registers. Sums of a loop are taken where the elements are computed if every
// sum goes to one number (per block, then over blocks) or to one number per row (by the threads of
// the row). Any other sum has a kernel of its own, in which threads walk the elements of each result
// and compute them again. Partial sums are float64 and are added in an order that depends on shapes
// alone, so that every run gives the same bits.
//
// Kernels read and write arrays through a table of addresses, one for each array of the program,
// so that an array can be bound elsewhere without generating or capturing anything again.
package cuda
