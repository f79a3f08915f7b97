// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package rsoxs

import (
	"context"
	"math"
	"testing"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/internal/pretend"
	"github.com/euryale-dev/euryale/tensor"
)

// The work that is declared of sums over slices is what their kernels do on the emulated device.
func TestWorkOfSumsIsDone(t *testing.T) {
	lib := pretend.Shared(t)
	lib.Set("capability", 89) // for which no other test compiles, so that kernels are compiled now, to be traced
	lib.Set("trace", 1)
	lib.Set("devices", 8)
	defer lib.Set("trace", 0)
	shape := [3]int{6, 32, 64}
	array := func(scale float32) *tensor.Tensor {
		a := tensor.New(tensor.Float32, shape[:]...)
		for i, v := 0, a.Data().([]float32); i < len(v); i++ {
			v[i] = scale * float32(i%7) / 7
		}
		return a
	}
	m := &Morphology{PhysSize: 2.5, Materials: []Material{{Vfrac: array(1), S: array(1), Theta: array(3), Psi: array(6)}, {Vfrac: array(1)}, {Vfrac: array(0.5)}}}
	cfg := Config{Precision: 32, RotMask: true, Energies: []float64{270}, Backend: ad.CUDA{Device: 7, Strict: true, OwnKernels: true}}
	s, err := New(shape, 2.5, cfg)
	if err != nil {
		t.Fatal(err)
	}
	ctx := context.Background()
	if err := s.Transform(ctx, m); err != nil {
		t.Fatal(err)
	}
	g := s.devices.parts[0]
	lib.Set("capability", 90)
	lib.Set("trace", 1) // from here on
	if err := g.sumSlices(ctx, s, s.devices.forms, g.fields, g.arrays, nil, g.sums); err != nil {
		t.Fatal(err)
	}
	touched, sectors := float64(lib.Get("touched")), float64(lib.Get("sectors"))
	list, err := sumsWork(s, s.devices.forms.fields(), g.slices, 24, 2)
	if err != nil {
		t.Fatal(err)
	}
	bytes, asked := 0.0, 0.0
	for _, l := range list {
		bytes, asked = bytes+l.Work.Bytes(), asked+l.Work.Sectors
	}
	t.Logf("%d slices, %d elements: %.0f bytes touched, %.0f declared; %.0f sectors, %.0f declared", g.slices, s.layout.size, touched, bytes, sectors, asked)
	// The emulated device takes the two halves of a complex number one after the other, where a GPU takes them at once.
	if math.Abs(bytes/touched-1) > 0.15 || sectors < asked || sectors > 2.2*asked {
		t.Errorf("sums touch %.0f bytes in %.0f sectors, %.0f and %.0f are declared", touched, sectors, bytes, asked)
	}
}
