// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package rsoxs

import (
	"context"
	"errors"
	"strings"
	"testing"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/internal/pretend"
	"github.com/euryale-dev/euryale/internal/tier"
	"github.com/euryale-dev/euryale/kernels/cuda"
	"github.com/euryale-dev/euryale/tensor"
)

// wide is a volume of an aligned material and two isotropic ones, all of whose arrays are one in the memory of
// the host, and its simulator on a device that only counts.
func wide(t *testing.T, shape [3]int, d tensor.DType, cfg Config, memory int) (*Simulator, *Morphology, *cuda.Device) {
	t.Helper()
	number := pretend.Shared(t).Count(t, memory)
	a := tensor.New(d, shape[:]...)
	m := &Morphology{PhysSize: 2.5, Materials: []Material{{Vfrac: a, S: a, Theta: a, Psi: a}, {Vfrac: a}, {Vfrac: a}}}
	cfg.Backend, cfg.Precision = ad.CUDA{Device: number}, 32
	s, err := New(shape, m.PhysSize, cfg)
	if err != nil {
		t.Fatal(err)
	}
	g, err := cuda.Open(number, cuda.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { closed(g) })
	return s, m, g
}

// closed closes a device for all who opened it, because the next test has one of another size.
func closed(d *cuda.Device) {
	for range 16 {
		d.Close()
	}
}

// h200 is the memory of an H200 in bytes.
const h200 = 141_000_000_000

// With a morphology on the device, another pattern sends constants and fetches images: far less than a tenth of
// what the reference sends for each simulation, all arrays in float32.
func TestTrafficOfPatterns(t *testing.T) {
	shape := [3]int{32, 512, 512}
	s, m, d := wide(t, shape, tensor.Float32, Config{Energies: []float64{285}, Angles: Angles{0, 5, 165}}, h200)
	ctx, o := context.Background(), constants(1, 3)
	voxels := 32 * 512 * 512
	d.ResetPeak()
	if err := s.Transform(ctx, m); err != nil {
		t.Fatal(err)
	}
	first := d.Stats()
	if _, err := s.Pattern(ctx, o); err != nil {
		t.Fatal(err)
	}
	d.ResetPeak()
	p, err := s.Pattern(ctx, o)
	if err != nil {
		t.Fatal(err)
	}
	again := d.Stats()
	d.ResetPeak()
	g, err := s.Gradient(ctx, o, p.Intensity)
	if err != nil {
		t.Fatal(err)
	}
	back := d.Stats()
	t.Logf("a morphology sent %d bytes, a pattern %d and fetched %d, a gradient %d and %d; %.1f bytes a voxel at most", first.Sent, again.Sent, again.Fetched, back.Sent, back.Fetched, float64(back.PeakReserved)/float64(voxels))
	staging := uint64(4 * 6 * voxels)
	if again.Sent > 1<<12 || again.Fetched != 8*512*512 || again.Sent+again.Fetched > staging/10 || first.Sent > staging+staging/20 {
		t.Errorf("a repeated pattern sent %d and fetched %d bytes, the morphology %d: the reference sends %d", again.Sent, again.Fetched, first.Sent, staging)
	}
	if want := uint64(4*6*voxels + 8*3*4); back.Sent > 1<<12+8*512*512 || back.Fetched < want || back.Fetched > want+1<<12 || len(g.Materials) != 3 {
		t.Errorf("a gradient sent %d and fetched %d bytes", back.Sent, back.Fetched)
	}
	if per := float64(back.PeakReserved) / float64(voxels); per > 71 { // what the reference takes for patterns
		t.Errorf("%.1f bytes a voxel", per)
	}
}

// A volume that does not fit is sent slab by slab, and one of which not even a slab fits is refused with numbers
// before anything runs.
func TestVolumesBeyondTheDevice(t *testing.T) {
	shape := [3]int{64, 256, 256}
	s, m, d := wide(t, shape, tensor.Float16, Config{Energies: []float64{285}}, 64<<20)
	ctx, o := context.Background(), constants(1, 3)
	if err := s.Transform(ctx, m); err != nil {
		t.Fatal(err)
	}
	p, err := s.Pattern(ctx, o)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Gradient(ctx, o, p.Intensity); err != nil {
		t.Fatal(err)
	}
	if g := s.devices.parts[0]; g.resident || g.slices < 1 || d.Stats().PeakReserved > 64<<20/10*8 {
		t.Errorf("plan %+v, at most %d bytes of %d", g.plan, d.Stats().PeakReserved, 64<<20)
	} else {
		t.Logf("plan %+v, at most %d bytes of %d", g.plan, d.Stats().PeakReserved, 64<<20)
	}
}

// Auto leaves small volumes to the processor.
func TestAutoDevice(t *testing.T) {
	emulated(t)
	for want, b := range map[string]ad.Backend{"cpu": ad.Auto{}, "cuda:0": ad.Auto{Least: -1}, "cuda:0,1": ad.Several{{}, {Device: 1}}} {
		s, err := New([3]int{2, 8, 8}, 1, Config{Energies: []float64{285}, Backend: b})
		if err != nil || s.Device() != want {
			t.Errorf("%#v: %v, want %s: %v", b, s.Device(), want, err)
		}
	}
}

func TestVolumesAreRefused(t *testing.T) {
	number := pretend.Shared(t).Count(t, 16<<20)
	_, err := New([3]int{4, 1024, 1024}, 1, Config{Energies: []float64{285}, Backend: ad.CUDA{Device: number}})
	if d, err := cuda.Open(number, cuda.Settings{}); err == nil {
		defer closed(d)
	}
	var e *cuda.RoomError
	if !errors.As(err, &e) || !ad.IsDeviceFault(err) || !strings.Contains(err.Error(), "rsoxs: cuda: a scattering pattern of 4 x 1024 x 1024 voxels needs at least") {
		t.Errorf("%v", err)
	}
}

// A volume of 1024^3 voxels of three materials in half precision stays on the device, with its gradient, and
// fills a third of it.
func TestLargestVolume(t *testing.T) {
	tier.SlowOnly(t)
	if testing.Short() {
		t.Skip("a short run")
	}
	shape := [3]int{1024, 1024, 1024}
	s, m, d := wide(t, shape, tensor.Float16, Config{Energies: []float64{285}, Angles: Angles{0, 5, 165}}, h200)
	ctx, o := context.Background(), constants(1, 3)
	d.ResetPeak()
	if err := s.Transform(ctx, m); err != nil {
		t.Fatal(err)
	}
	p, err := s.Pattern(ctx, o)
	if err != nil {
		t.Fatal(err)
	}
	forward := d.Stats()
	if err := s.devices.gradients(ctx, s, o, o.zeros(), fromHost(ctx, p.Intensity.Float64s())); err != nil {
		t.Fatal(err)
	}
	var to []target
	for range 6 { // derivatives of all arrays, which a program would keep on the device
		b, err := d.Alloc(4 << 30)
		if err != nil {
			t.Fatal(err)
		}
		defer b.Free()
		to = append(to, target{part: b.At(0), per: 1, size: 4})
	}
	if err := s.devices.parts[0].back(ctx, s, s.devices.forms, to); err != nil {
		t.Fatal(err)
	}
	st := d.Stats()
	t.Logf("plan %+v\nforward %.2f GB, with the gradient %.2f GB of %.0f GB; %d launches; sent %.2f GB, fetched %.3f GB", s.devices.parts[0].plan, float64(forward.PeakReserved)/1e9,
		float64(st.PeakReserved)/1e9, h200/1e9, pretendLaunches(t), float64(st.Sent)/1e9, float64(st.Fetched)/1e9)
	if st.PeakReserved > h200/10*8 || !s.devices.parts[0].resident {
		t.Errorf("%d bytes of %d", st.PeakReserved, h200)
	}
}

// pretendLaunches returns how often the pretend driver was asked to launch something.
func pretendLaunches(t *testing.T) int {
	l := pretend.Shared(t)
	return l.Get("cuLaunchKernel") + l.Get("cuGraphLaunch")
}
