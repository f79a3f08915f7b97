// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package device

import (
	"errors"
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/kernels/cuda"
)

// The checks of arrays on a GPU; scripts/gpu.sh runs them on a machine that has one.
func TestGPUArrays(t *testing.T) {
	d, err := cuda.Open(0, cuda.Settings{})
	if errors.Is(err, cuda.ErrNoDriver) || errors.Is(err, cuda.ErrNoDevice) {
		t.Skipf("lacks a GPU: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	if strings.Contains(d.Info().Name, "Pretend") {
		t.Skip("lacks a GPU: an earlier test opened the pretend driver")
	}
	e := New(d)
	for name, check := range map[string]func(*testing.T, *Engine){"maps": checkMaps, "options": checkOptions, "reductions": checkReductions, "products": checkProducts,
		"layouts": checkLayouts, "small arrays": checkSmallArrays, "errors": checkErrors, "goroutines": checkGoroutines} {
		t.Run(name, func(t *testing.T) { check(t, e) })
	}
}
