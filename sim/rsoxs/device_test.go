// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package rsoxs

import (
	"context"
	"fmt"
	"sync"
	"testing"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/internal/pretend"
	"github.com/euryale-dev/euryale/kernels/cuda"
	"github.com/euryale-dev/euryale/kernels/cuda/drv"
	"github.com/euryale-dev/euryale/tensor"
)

// realGPU says that the tests of devices run on a GPU.
var realGPU bool

// emulated lets a test run on the pretend device, unless it is to run on a GPU.
func emulated(t testing.TB) *pretend.Library {
	t.Helper()
	if realGPU {
		return nil
	}
	return pretend.Shared(t)
}

// deviceSettings are configurations that between them have every setting, with the shape of the volume.
var deviceSettings = map[string]struct {
	shape [3]int
	cfg   Config
}{
	"one angle":        {[3]int{4, 6, 8}, Config{}},
	"angle 0 and 360":  {[3]int{4, 6, 8}, Config{Angles: Angles{0, 360, 360}}},
	"two angles":       {[3]int{3, 5, 7}, Config{Angles: Angles{10, 40, 50}, Grid: ExactGrid}},
	"angles":           {[3]int{4, 6, 8}, Config{Angles: Angles{0, 30, 360}, RotMask: true}},
	"angles, exact":    {[3]int{3, 5, 7}, Config{Angles: Angles{0, 15, 165}, Grid: ExactGrid, Interpolation: Nearest, Window: Hann}},
	"unmasked":         {[3]int{4, 6, 8}, Config{Angles: Angles{0, 25, 200}, Window: SymmetricHann}},
	"plane":            {[3]int{1, 6, 8}, Config{Angles: Angles{0, 45, 180}, RotMask: true}},
	"a line":           {[3]int{2, 1, 11}, Config{Grid: ExactGrid}},
	"collapsed":        {[3]int{5, 6, 8}, Config{CollapseZ: true, Angles: Angles{0, 45, 135}, Window: Hann}},
	"material's frame": {[3]int{4, 6, 8}, Config{Frame: MaterialFrame, Angles: Angles{0, 30, 120}, RotMask: true}},
	"oblique":          {[3]int{4, 6, 8}, Config{Case: BeamDivergence, K: [][3]float64{{0, 0, 1}, {0.05, -0.1, 1}}, Angles: Angles{0, 60, 120}, RotMask: true, CorrectBaseAngle: true}},
	"grazing":          {[3]int{3, 5, 7}, Config{Case: GrazingIncidence, K: [][3]float64{{0.1, 0.05, 1}}, Detector: [3]float64{0.1, -0.1, 1}, Grid: ExactGrid, Angles: Angles{0, 45, 135}, RotMask: true}},
}

// Patterns on a device are those of the processor, for all settings and in both precisions.
func TestDevicePatterns(t *testing.T) {
	emulated(t)
	for name, c := range deviceSettings {
		for bits, tol := range map[int]float64{64: 1e-12, 32: 2e-6} {
			t.Run(name, func(t *testing.T) {
				m, o := blend3(c.shape, 5)
				cfg := c.cfg
				cfg.Energies, cfg.Precision = []float64{284, 284.5, 285, 286, 287}, bits
				want := image(t, m, o, cfg)
				cfg.Backend = ad.CUDA{}
				sim, got := simulated(t, m, o, cfg)
				near(t, name, got.Intensity.Float64s(), want, tol)
				again, err := sim.Pattern(context.Background(), o)
				if err != nil || !bitwise(got.Intensity.Float64s(), again.Intensity.Float64s()) {
					t.Errorf("another run has other bits: %v", err)
				}
				part, err := sim.PatternOf(context.Background(), o, 1, 3)
				if err != nil {
					t.Fatal(err)
				}
				size := len(want) / 5
				near(t, "part", part.Intensity.Float64s(), got.Intensity.Float64s()[size:3*size], 1e-13)
			})
		}
	}
}

// Gradients and derivatives along directions on a device are those of the processor, too.
func TestDeviceDerivatives(t *testing.T) {
	emulated(t)
	ctx := context.Background()
	for name, c := range deviceSettings {
		for bits, tol := range map[int]float64{64: 1e-12, 32: 5e-6} {
			t.Run(name, func(t *testing.T) {
				m, o := blend3(c.shape, 5)
				cfg := c.cfg
				cfg.Energies, cfg.Precision = []float64{284, 284.5, 285, 286, 287}, bits
				cpu, p := simulated(t, m, o, cfg)
				cfg.Backend = ad.CUDA{}
				gpu, _ := simulated(t, m, o, cfg)
				by := noise(11, -1, 1, p.Intensity.Shape()...)
				want, err := cpu.Gradient(ctx, o, by)
				if err != nil {
					t.Fatal(err)
				}
				got, err := gpu.Gradient(ctx, o, by)
				if err != nil {
					t.Fatal(err)
				}
				sameGradient(t, got, want, tol)
				dm, do := []Material{{Theta: noise(12, -1, 1, c.shape[:]...)}, {Align: noise(13, -1, 1, append(c.shape[:], 3)...)}, {Vfrac: noise(14, -1, 1, c.shape[:]...).Convert(tensor.Float32)}}, constants(5, 3)
				along, err := cpu.Tangent(ctx, o, dm, do)
				if err != nil {
					t.Fatal(err)
				}
				moved, err := gpu.Tangent(ctx, o, dm, do)
				if err != nil {
					t.Fatal(err)
				}
				near(t, "tangent", moved.Float64s(), along.Float64s(), tol)
				again, err := gpu.GradientTo(ctx, nil, o, by)
				if err != nil {
					t.Fatal(err)
				}
				for i := range again.Materials {
					for k, a := range again.Materials[i].Fields() {
						if !bitwise(a.Float64s(), got.Materials[i].Fields()[k].Float64s()) {
							t.Errorf("array %d of material %d has other bits in another run", k, i+1)
						}
					}
				}
			})
		}
	}
}

// sameGradient compares gradients array by array.
func sameGradient(t testing.TB, got, want *Gradient, tol float64) {
	t.Helper()
	for i := range want.Materials {
		fields := got.Materials[i].Fields()
		for k, a := range want.Materials[i].Fields() {
			if fields[k].DType() != a.DType() {
				t.Errorf("array %d of material %d holds %v, want %v", k, i+1, fields[k].DType(), a.DType())
			}
			near(t, fmt.Sprintf("array %d of material %d", k, i+1), fields[k].Float64s(), a.Float64s(), tol)
		}
	}
	near(t, "constants", flatOptics(got.Optics), flatOptics(want.Optics), tol)
}

func flatOptics(o Optics) (all []float64) {
	for _, row := range o {
		for _, c := range row {
			all = append(all, c.DeltaPara, c.BetaPara, c.DeltaPerp, c.BetaPerp)
		}
	}
	return all
}

// Patterns and gradients of the reference are those of a device, too.
func TestDeviceReferences(t *testing.T) {
	emulated(t)
	testCases(t, ad.CUDA{})
	gradientOfReferences(t, ad.CUDA{})
}

// smaller cuts the work into pieces as small as those of large volumes on a small device, until the test ends.
func smaller(t *testing.T, slab, image, resident int) {
	a, b, c, d := slabBytes, imageBytes, residentBytes, slabSums
	slabBytes, imageBytes, residentBytes, slabSums = slab, image, resident, 0
	t.Cleanup(func() { slabBytes, imageBytes, residentBytes, slabSums = a, b, c, d })
}

// Slabs, batches of views, blocks of turns and a morphology that is sent slab by slab give what one piece gives,
// for arrays of all precisions.
func TestDeviceInPieces(t *testing.T) {
	if lib := emulated(t); lib != nil { // work waits, and runs in any order that events allow
		lib.Set("mode", pretend.Random)
		defer lib.Set("mode", pretend.Eager)
	}
	smaller(t, 1, 1, 0)
	ctx := context.Background()
	for _, name := range []string{"angles", "material's frame", "collapsed", "oblique"} {
		c := deviceSettings[name]
		for bits, tol := range map[int]float64{64: 1e-12, 32: 5e-6} {
			t.Run(name, func(t *testing.T) {
				m, o := blend3(c.shape, 3)
				for _, f := range []**tensor.Tensor{&m.Materials[0].S, &m.Materials[1].Align} {
					*f = (*f).Convert(tensor.Float16)
				}
				m.Materials[0].Psi = m.Materials[0].Psi.Convert(tensor.Float32)
				m.Materials[2].Vfrac = m.Materials[2].Vfrac.Convert(tensor.Float16)
				cfg := c.cfg
				cfg.Energies, cfg.Precision = []float64{284, 285, 287}, bits
				cpu, want := simulated(t, m, o, cfg)
				cfg.Backend = ad.CUDA{}
				gpu, got := simulated(t, m, o, cfg)
				near(t, "pattern", got.Intensity.Float64s(), want.Intensity.Float64s(), tol)
				if p := gpu.devices.parts[0]; p.resident || p.slices != 1 || p.views != 1 {
					t.Errorf("plan %+v", p.plan)
				}
				by := noise(11, -1, 1, want.Intensity.Shape()...)
				g, err := gpu.Gradient(ctx, o, by)
				if err != nil {
					t.Fatal(err)
				}
				w, err := cpu.Gradient(ctx, o, by)
				if err != nil {
					t.Fatal(err)
				}
				if sameGradient(t, g, w, max(tol, 5e-7)); g.Materials[0].S.DType() != tensor.Float32 { // which rounds
					t.Errorf("derivatives by half precision are %v", g.Materials[0].S.DType())
				}
				along, err := cpu.Tangent(ctx, o, []Material{{S: m.Materials[0].S}, {}, {}}, nil)
				if err != nil {
					t.Fatal(err)
				}
				moved, err := gpu.Tangent(ctx, o, []Material{{S: m.Materials[0].S}, {}, {}}, nil)
				if err != nil {
					t.Fatal(err)
				}
				near(t, "tangent", moved.Float64s(), along.Float64s(), tol)
			})
		}
	}
}

// Two devices share slices and views.
func TestSeveralDevices(t *testing.T) {
	if lib := emulated(t); lib != nil {
		lib.Set("mode", pretend.Random)
		defer lib.Set("mode", pretend.Eager)
	}
	ctx := context.Background()
	for _, name := range []string{"angles", "oblique", "collapsed", "plane"} {
		c := deviceSettings[name]
		t.Run(name, func(t *testing.T) {
			m, o := blend3(c.shape, 3)
			cfg := c.cfg
			cfg.Energies = []float64{284, 285, 287}
			cpu, want := simulated(t, m, o, cfg)
			cfg.Backend = ad.Several{{Device: 0}, {Device: 1}}
			gpu, got := simulated(t, m, o, cfg)
			near(t, "pattern", got.Intensity.Float64s(), want.Intensity.Float64s(), 1e-12)
			by := noise(11, -1, 1, want.Intensity.Shape()...)
			w, err := cpu.Gradient(ctx, o, by)
			if err != nil {
				t.Fatal(err)
			}
			g, err := gpu.Gradient(ctx, o, by)
			if err != nil {
				t.Fatal(err)
			}
			sameGradient(t, g, w, 1e-12)
			for _, p := range gpu.devices.parts {
				if p.sums == nil || name == "angles" && p.high-p.low != c.shape[0]/2 {
					t.Errorf("%v has slices %d to %d", p.d, p.low, p.high)
				}
			}
		})
	}
}

// A device without memory in the middle of a transform says so, and the simulator goes on once there is some.
func TestDeviceOutOfMemory(t *testing.T) {
	lib := emulated(t)
	ctx := context.Background()
	m, o := blend3([3]int{4, 6, 8}, 2)
	cfg := Config{Energies: []float64{284, 287}, Backend: ad.CUDA{}}
	s, err := New(m.Shape(), m.PhysSize, cfg)
	if err != nil {
		t.Fatal(err)
	}
	for after := range 12 {
		lib.Fail("cuLaunchKernel", after, 1, int32(drv.OutOfMemory))
		err := s.Transform(ctx, m)
		if err == nil {
			_, err = s.Pattern(ctx, o)
		}
		lib.Fail("cuLaunchKernel", 0, 0, 0)
		if err != nil && !ad.IsDeviceFault(err) {
			t.Errorf("after %d launches: %v", after, err)
		}
	}
	if err := s.Transform(ctx, m); err != nil {
		t.Fatal(err)
	}
	p, err := s.Pattern(ctx, o)
	if err != nil {
		t.Fatal(err)
	}
	cfg.Backend = nil
	near(t, "pattern", p.Intensity.Float64s(), image(t, m, o, cfg), 1e-12)
}

// With cuFFT the results are the same up to rounding.
func TestDeviceWithLibraries(t *testing.T) {
	lib := emulated(t)
	d, err := cuda.Open(1, cuda.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	closed(d) // what is open has looked for libraries
	lib.Libraries(t)
	m, o := blend3([3]int{4, 16, 32}, 1) // as large as cuFFT is taken for
	cfg := Config{Energies: []float64{285}}
	cpu, want := simulated(t, m, o, cfg)
	cfg.Backend = ad.CUDA{Device: 1}
	gpu, got := simulated(t, m, o, cfg)
	near(t, "pattern", got.Intensity.Float64s(), want.Intensity.Float64s(), 1e-12)
	var list [2]*Gradient
	for i, s := range []*Simulator{cpu, gpu} {
		if list[i], err = s.Gradient(context.Background(), o, want.Intensity); err != nil {
			t.Fatal(err)
		}
	}
	sameGradient(t, list[1], list[0], 1e-12)
	gpu.Close()
	if _, err := gpu.Pattern(context.Background(), o); err == nil {
		t.Error("a pattern without a morphology")
	}
	if lib.Get("cufftExecZ2Z") == 0 {
		t.Error("no transform by cuFFT")
	}
	if d, err = cuda.Open(1, cuda.Settings{}); err == nil {
		closed(d)
	}
}

// Clones on one device may be prepared and used at the same time.
func TestClonesOnDevice(t *testing.T) {
	emulated(t)
	m, o := blend3([3]int{3, 5, 7}, 1)
	s, err := New(m.Shape(), m.PhysSize, Config{Energies: []float64{284}, Backend: ad.CUDA{}})
	if err != nil {
		t.Fatal(err)
	}
	want := make([]*Pattern, 4)
	errs := make([]error, len(want))
	var wait sync.WaitGroup
	for i := range want {
		c := s.Clone()
		wait.Go(func() {
			if errs[i] = c.Transform(t.Context(), m); errs[i] == nil {
				want[i], errs[i] = c.Pattern(t.Context(), o)
			}
		})
	}
	wait.Wait()
	for i, err := range errs {
		if err != nil {
			t.Fatal(err)
		}
		for k, v := range want[0].Image(0, 0) {
			if w := want[i].Image(0, 0)[k]; w != v && w == w {
				t.Fatalf("clone %d, pixel %d: %g, want %g", i, k, w, v)
			}
		}
	}
}
