// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

// Package gpu tells tests whether the machine has a GPU.
//
//	gpu.Need(t) // skips the test where there is only the emulated device
package gpu

import (
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/kernels/cuda"
)

// Need skips a test on a machine without an NVIDIA GPU, and returns the GPUs otherwise.
func Need(t testing.TB) []cuda.Info {
	t.Helper()
	all, err := cuda.Devices()
	if err != nil || len(all) == 0 || strings.HasPrefix(all[0].Name, "Pretend") {
		t.Skip("lacks a GPU: there is no NVIDIA device besides the emulated one")
	}
	return all
}
