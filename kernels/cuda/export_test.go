// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package cuda

import "gorgonia.org/tensor"

// What the tests in package cuda_test need of those in package cuda.
var (
	PretendDevice = device
	SampleSource  = sample
	NarrowCheck   = narrowCheck
)

// A buffer is memory to Gorgonia's arrays.
var _ tensor.Memory = (*Buffer)(nil)
