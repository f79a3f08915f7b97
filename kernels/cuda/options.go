// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package cuda

import "github.com/euryale-dev/euryale/kernels/cuda/rtc"

// Allocator is how a device gets memory from its driver.
type Allocator int

const (
	// Caching keeps what was freed and gives it out again without asking the driver.
	Caching Allocator = iota
	// Async lets the driver do the same in a pool of its own, in the order of streams. It needs a
	// driver of version 11.3 and a device that supports it.
	Async
	// Direct asks the driver for every buffer. It is slow, and is for tools that watch memory.
	Direct
)

// Options are settings of a device. The zero value is the default.
type Options struct {
	Allocator   Allocator   // default Caching
	Synchronous bool        // wait after every launch, to find the one that fails; default what EURYALE_CUDA_SYNC says
	Profile     bool        // time launches and copies for Report and Trace; default off, it costs two events each
	Compiler    rtc.Options // of the run-time compiler
}
