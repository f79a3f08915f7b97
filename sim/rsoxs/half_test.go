// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package rsoxs

import (
	"context"
	"testing"

	"github.com/euryale-dev/euryale/tensor"
)

// halved returns the morphology in half precision, and what it holds in float64.
func halved(m *Morphology) (half, wide *Morphology) {
	half, wide = &Morphology{PhysSize: m.PhysSize}, &Morphology{PhysSize: m.PhysSize}
	for i := range m.Materials {
		a, b := m.Materials[i], m.Materials[i]
		for _, f := range a.fields() {
			*f.at = (*f.at).Convert(tensor.Float16)
		}
		for _, f := range b.fields() {
			*f.at = (*f.at).Convert(tensor.Float16).Convert(tensor.Float64)
		}
		half.Materials, wide.Materials = append(half.Materials, a), append(wide.Materials, b)
	}
	return half, wide
}

// Arrays in half precision give the bits that their numbers in float64 do, and
// gradients in float32; what rounding them costs stays below their closure.
func TestHalfPrecision(t *testing.T) {
	m, o := blend3([3]int{4, 9, 8}, 2)
	half, wide := halved(m)
	cfg := testConfig()
	for _, bits := range []int{64, 32} {
		cfg.Precision = bits
		s, p := simulated(t, half, o, cfg)
		want := image(t, wide, o, cfg)
		if !bitwise(p.Intensity.Float64s(), want) {
			t.Errorf("%d bits: the image is not that of the same numbers", bits)
		}
		near(t, "rounding", want, image(t, m, o, cfg), 2e-3)
		g, err := s.Gradient(context.Background(), o, p.Intensity)
		if err != nil {
			t.Fatal(err)
		}
		other, _ := simulated(t, wide, o, cfg)
		w, err := other.Gradient(context.Background(), o, p.Intensity)
		if err != nil {
			t.Fatal(err)
		}
		for i := range g.Materials {
			fields := w.Materials[i].fields()
			for k, f := range g.Materials[i].fields() {
				if (*f.at).DType() != tensor.Float32 {
					t.Errorf("gradient of %s holds %v", f.name, (*f.at).DType())
				}
				near(t, f.name, (*f.at).Float64s(), (*fields[k].at).Float64s(), 1e-7)
			}
		}
	}
	n := checked()
	half, _ = halved(n)
	if err := half.Check(0); err != nil {
		t.Error(err)
	}
	if err := half.Check(ClosureTolerance); err == nil {
		t.Error("halves sum to 1 within the tolerance of float32")
	}
}
