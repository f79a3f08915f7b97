// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package basic

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/kernels/cuda"
)

// The driver of a GPU takes the PTX, and its kernels compute. scripts/gpu.sh runs this where there is one.
func TestGPUPTX(t *testing.T) {
	d, err := cuda.Open(0, cuda.Settings{})
	if errors.Is(err, cuda.ErrNoDriver) || errors.Is(err, cuda.ErrNoDevice) {
		t.Skipf("lacks a GPU: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	if strings.Contains(d.Info().DriverPath, "pretend") {
		t.Skip("lacks a GPU: this process has the pretend driver")
	}
	for _, s := range append(Sources(), cuda.PhiloxSource()) {
		m, err := d.Load(s.PTX, s.Name)
		if err != nil {
			t.Fatal(err)
		}
		for name := range kernels(s.Text, inText) {
			if _, err := m.Function(name); err != nil {
				t.Error(err)
			}
		}
		if s.Name != "maps_f64.cu" {
			continue
		}
		tanh, err := find("tanh", cuda.Float64)
		if err != nil {
			t.Fatal(err)
		}
		e, err := m.Elementwise(tanh)
		if err != nil {
			t.Fatal(err)
		}
		v := make([]float64, 1001)
		for i := range v {
			v[i] = float64(i-500) / 100
		}
		x, err := d.Alloc(8 * len(v))
		if err != nil {
			t.Fatal(err)
		}
		out := make([]float64, len(v))
		if err := errors.Join(d.CopyIn(t.Context(), x, 0, v), e.Run(d.Default(), len(v), x, x), d.CopyOut(t.Context(), out, x, 0)); err != nil {
			t.Fatal(err)
		}
		for i, got := range out {
			if want := math.Tanh(v[i]); math.Abs(got-want) > 1e-15 {
				t.Fatalf("tanh(%g) is %g, want %g", v[i], got, want)
			}
		}
	}
}
