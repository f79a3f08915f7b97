// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package gradtest

import (
	"math"
	"testing"

	"github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/kernels/cuda"
)

// Device compares a program on a GPU with the same program on the CPU, in float64 and in float32, for operations with
// kernels of their own. No step may fall back to the CPU. The tolerances are relative to the largest element of an
// output. The test is skipped if there is no GPU with a compiler.
func Device(t *testing.T, outputs, inputs []*autodiff.Node, values [][]float64, tolerance64, tolerance32 float64) {
	t.Helper()
	d, err := cuda.Open(0, cuda.Settings{})
	if err == nil {
		_, err = d.Compiler()
	}
	if err != nil {
		t.Skipf("lacks a GPU: %v", err)
	}
	for bits, tolerance := range map[int]float64{64: tolerance64, 32: tolerance32} {
		var want [][]float64
		for _, backend := range []autodiff.Backend{autodiff.CPU{}, autodiff.CUDA{Strict: true}} {
			p, err := autodiff.Compile(outputs, autodiff.Settings{Inputs: inputs, Precision: bits, Backend: backend})
			if err != nil {
				t.Fatal(err)
			}
			st := p.NewState()
			for k, v := range values {
				if err := st.SetInput(k, v); err != nil {
					t.Fatal(err)
				}
			}
			for range 2 { // the second run finds what the first left behind
				if err := st.Run(); err != nil {
					t.Fatal(err)
				}
			}
			for k := range outputs {
				got := st.OutputFloat64(k)
				if _, cpu := backend.(autodiff.CPU); cpu {
					want = append(want, append([]float64(nil), got...))
					continue
				}
				largest := 0.0
				for _, v := range want[k] {
					largest = max(largest, math.Abs(v))
				}
				for i, v := range want[k] {
					if d := math.Abs(got[i] - v); !(d <= tolerance*largest) && !(math.IsNaN(v) && math.IsNaN(got[i])) {
						t.Errorf("output %d, element %d, in %d bits: %.15g on the GPU, %.15g on the CPU", k, i, bits, got[i], v)
						break
					}
				}
			}
		}
	}
}
