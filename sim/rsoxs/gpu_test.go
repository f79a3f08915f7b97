// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package rsoxs

import (
	"context"
	"testing"
	"time"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/internal/gpu"
	"github.com/euryale-dev/euryale/kernels/cuda"
	"github.com/euryale-dev/euryale/tensor"
)

// onGPU skips a test without a GPU.
func onGPU(t *testing.T) *cuda.Device {
	gpu.Need(t)
	d, err := cuda.Open(0, cuda.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	return d
}

// On a machine with a GPU the tests of the pretend device run on it; scripts/gpu.sh starts this.
func TestGPUScattering(t *testing.T) {
	onGPU(t)
	realGPU = true
	defer func() { realGPU = false }()
	t.Run("patterns", TestDevicePatterns)
	t.Run("derivatives", TestDeviceDerivatives)
	t.Run("pieces", TestDeviceInPieces)
	t.Run("nodes", TestNodesOnDevice)
	t.Run("fields that stay", TestFieldsStayOnDevice)
	if all, _ := cuda.Devices(); len(all) > 1 {
		t.Run("several", TestSeveralDevices)
	}
}

// Times of a film of 32 x 512 x 512 voxels and three materials in float32, of one energy, of its gradient and of
// 101 energies with 361 angles, are reported and not judged; docs/PERFORMANCE.md has them on paper.
func TestGPUSpeedScattering(t *testing.T) {
	d := onGPU(t)
	ctx, shape := context.Background(), [3]int{32, 512, 512}
	array := func(seed, scale float32) *tensor.Tensor {
		a := tensor.New(tensor.Float32, shape[:]...)
		for i, v := 0, a.Data().([]float32); i < len(v); i++ {
			seed = seed*3.9 - seed*seed*3.9 // the logistic map
			v[i] = scale * seed
		}
		return a
	}
	m := &Morphology{PhysSize: 2.5, Materials: []Material{
		{Vfrac: array(0.1, 1), S: array(0.2, 1), Theta: array(0.3, 3), Psi: array(0.4, 6)}, {Vfrac: array(0.6, 1)}, {Vfrac: array(0.7, 1)}}}
	for _, c := range []struct {
		name     string
		energies int
		angles   Angles
	}{{"one energy", 1, Angles{}}, {"one energy, 34 angles", 1, Angles{0, 5, 165}}, {"one energy, 361 angles", 1, Angles{0, 1, 360}}, {"101 energies, 361 angles", 101, Angles{0, 1, 360}}} {
		cfg := Config{Angles: c.angles, Precision: 32, RotMask: true, Backend: ad.CUDA{}}
		for e := range c.energies {
			cfg.Energies = append(cfg.Energies, 270+0.3*float64(e))
		}
		s, p := simulated(t, m, constants(c.energies, 3), cfg)
		o := constants(c.energies, 3)
		by := tensor.New(tensor.Float64, p.Intensity.Shape()...)
		measure := func(what string, f func() error) {
			best := time.Hour
			for range 4 {
				start := time.Now()
				if err := f(); err != nil {
					t.Fatal(err)
				}
				if err := d.Synchronize(ctx); err != nil {
					t.Fatal(err)
				}
				took := time.Since(start)
				if best = min(best, took); took > 3*time.Second {
					break
				}
			}
			t.Logf("%s: %s: %v", c.name, what, best)
		}
		measure("fields on the device again", func() error {
			g := s.devices.parts[0]
			if err := g.sumSlices(ctx, s, s.devices.forms, g.fields, g.arrays, nil, g.sums); err != nil {
				return err
			}
			return g.centre(s.devices.forms, "centre", g.sums)
		})
		measure("morphology from the host", func() error { return s.Transform(ctx, m) })
		measure("images", func() error { _, err := s.Pattern(ctx, o); return err })
		measure("gradient by the sums", func() error { return s.devices.gradients(ctx, s, o, o.zeros(), fromHost(ctx, by.Float64s())) })
		var grad *Gradient
		measure("gradient, fetched", func() (err error) { grad, err = s.GradientTo(ctx, grad, o, by); return err })
		st := d.Stats()
		t.Logf("%s: %.1f bytes a voxel at most", c.name, float64(st.PeakReserved)/(32*512*512))
		d.ResetPeak()
	}
}
