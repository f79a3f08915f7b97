// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package cuda

import "github.com/euryale-dev/euryale/kernels/cuda/rtc"

// Allocator is the way in which a device gets memory from its driver.
type Allocator int

const (
	// Caching keeps freed memory and reuses it without asking the driver.
	Caching Allocator = iota
	// Async lets the driver reuse memory, in a pool of its own and in the order of streams. It
	// needs a driver of version 11.3 or newer and a device that supports it.
	Async
	// Direct asks the driver for every buffer. It is slow, and meant for tools that check memory.
	Direct
)

// Settings are the settings of a device. The zero value is the default.
type Settings struct {
	Allocator Allocator // source of memory; default Caching
	// Synchronous makes every launch wait, so that the one that fails can be found. It is also set
	// by EURYALE_CUDA_SYNC=1.
	Synchronous bool
	// Profile times launches and copies for Report and Trace, at the cost of two events each.
	Profile  bool
	Compiler rtc.Settings // settings of the run-time compiler
}
