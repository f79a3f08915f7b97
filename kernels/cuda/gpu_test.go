// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package cuda

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/euryale-dev/euryale/kernels/cuda/drv"
	"github.com/euryale-dev/euryale/kernels/cuda/rtc"
)

// The tests of this file need a GPU; scripts/gpu.sh runs them on a machine that has one. They hold the
// device to what the pretend driver promised.

// gpu opens device 0 of the machine, or skips the test.
func gpu(t testing.TB, o Settings) *Device {
	t.Helper()
	d, err := Open(0, o)
	if errors.Is(err, ErrNoDriver) || errors.Is(err, ErrNoDevice) {
		t.Skipf("lacks a GPU: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := d.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	return d
}

func TestGPUDescription(t *testing.T) {
	d := gpu(t, Settings{})
	i := d.Info()
	t.Logf("driver %d.%d (%s), device %+v", i.DriverVersion/1000, i.DriverVersion%1000/10, i.DriverPath, i)
	if i.Name == "" || i.Multiprocessors == 0 || i.WarpSize != 32 || i.MaxThreads < 1024 || i.MemoryBytes < 1<<30 || i.Capability[0] < 5 {
		t.Error("the description is not that of a GPU")
	}
	free, total, err := d.MemInfo()
	if err != nil || free > total {
		t.Errorf("%d of %d B free, %v", free, total, err)
	}
	for f, name := range map[drv.Feature]string{drv.FeaturePools: "pools", drv.FeatureGraphs: "graphs", drv.FeatureGraphUpdate: "graph update",
		drv.FeatureParameters: "kernel parameters", drv.FeatureUUID: "UUID", drv.FeaturePeers: "peers"} {
		t.Logf("%s: %v", name, d.drv.Has(f))
	}
	c, err := d.Compiler()
	if err != nil {
		t.Fatalf("%v: is NVRTC in LD_LIBRARY_PATH?", err)
	}
	major, minor := c.Version()
	t.Logf("NVRTC %d.%d (%s) for %v", major, minor, c.Path(), c.Targets())
}

func TestGPUKernels(t *testing.T) {
	d := gpu(t, Settings{})
	m, err := d.Compile(sample())
	if err != nil {
		t.Fatal(err)
	}
	for range 20 {
		if err := sampleErrors(t, d, m); err != nil {
			t.Fatal(err)
		}
	}
}

func TestGPUElementwise(t *testing.T) {
	d := gpu(t, Settings{})
	e, err := d.Elementwise(Map{Name: "axpb_tanh", Inputs: []string{"x", "y"}, Expression: "tanhf(1.5f * x + y)"})
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range lengths {
		checkElementwise(t, d, e, n)
	}
}

func TestGPUPhilox(t *testing.T) {
	d := gpu(t, Settings{})
	for _, c := range philoxCases(t) {
		if c.Op == "philox_stream" {
			checkStream(t, d, c, philoxOf(t, c))
		}
	}
	for _, n := range lengths {
		checkPhiloxLength(t, d, n)
	}
}

func TestGPUCopies(t *testing.T) {
	d := gpu(t, Settings{})
	for _, n := range copySizes {
		checkCopy(t, d, n)
	}
}

func TestGPUReplayEqualsEager(t *testing.T) {
	d := gpu(t, Settings{})
	m, err := d.Compile(sample())
	if err != nil {
		t.Fatal(err)
	}
	for range 20 {
		checkReplay(t, d, m)
	}
}

func TestGPUMemory(t *testing.T) {
	for _, kind := range []Allocator{Caching, Async, Direct} {
		t.Run(fmt.Sprint(kind), func(t *testing.T) {
			d := gpu(t, Settings{Allocator: kind})
			randomBuffers(t, d)
			var short *OutOfMemoryError
			if _, err := d.Alloc(int(d.Info().MemoryBytes) + 1<<30); !errors.As(err, &short) {
				t.Errorf("got %v, want an OutOfMemoryError", err)
			}
			b := alloc(t, d, []float32{1, 2}, 8)
			if got := floats(t, d.Default(), b, 2); got[1] != 2 {
				t.Errorf("after that got %v", got)
			}
			b.Free()
		})
	}
}

// A kernel that kills its context, in a process of its own.
func TestGPUFault(t *testing.T) {
	const child = "EURYALE_TEST_GPU_FAULT"
	d := gpu(t, Settings{})
	if os.Getenv(child) == "" {
		self, err := os.Executable()
		if err != nil {
			t.Skip(err)
		}
		cmd := exec.Command(self, "-test.run", "^TestGPUFault$", "-test.v")
		cmd.Env = append(os.Environ(), child+"=1")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%v\n%s", err, out)
		}
		return
	}
	m, err := d.Compile(rtc.Source{Name: "fault.cu", Text: "extern \"C\" __global__ void fault(float* x) { x[(1ll << 50) + threadIdx.x] = 1.0f; }\n"})
	if err != nil {
		t.Fatal(err)
	}
	x := alloc(t, d, nil, 64)
	launch(t, kernel(t, m, "fault"), d.Default(), Dim{X: 1}, Dim{X: 32}, 0, x)
	err = d.Synchronize(background)
	t.Log(err)
	var e *Error
	if !errors.Is(err, ErrDeviceLost) || !errors.As(err, &e) || len(e.Recent) != 1 || e.Recent[0].Kernel != "fault" {
		t.Errorf("got %v, want ErrDeviceLost with the launch", err)
	}
	if _, err := d.Alloc(1); !errors.Is(err, ErrDeviceLost) {
		t.Errorf("got %v, want ErrDeviceLost", err)
	}
}

// Speeds are reported and not judged: host time of a launch, of a replayed one, and copies.
func TestGPUSpeed(t *testing.T) {
	d := gpu(t, Settings{})
	m, err := d.Compile(sample())
	if err != nil {
		t.Fatal(err)
	}
	f, x := kernel(t, m, "scaled"), alloc(t, d, make([]float32, 256), 1024)
	defer x.Free()
	const n = 1000
	run := func(s *Stream) error {
		for range n {
			if err := f.Launch(s, Dim{X: 1}, Dim{X: 256}, 0, x, float32(1), int32(256)); err != nil {
				return err
			}
		}
		return nil
	}
	measure := func(name string, per int, work func() error) time.Duration {
		best := time.Hour
		for range 5 {
			if err := d.Synchronize(background); err != nil {
				t.Fatal(err)
			}
			start := time.Now()
			if err := errors.Join(work(), d.Synchronize(background)); err != nil {
				t.Fatal(err)
			}
			best = min(best, time.Since(start))
		}
		t.Logf("%s: %v", name, best/time.Duration(per))
		return best
	}
	measure("a launch", n, func() error { return run(d.Default()) })
	g, err := d.Capture(run)
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	measure("a launch in a graph", n, func() error { return g.Launch(d.Default()) })
	const size = 256 << 20
	host, a, b := make([]byte, size), alloc(t, d, nil, size), alloc(t, d, nil, size)
	defer a.Free()
	defer b.Free()
	locked, err := d.AllocPinned(size)
	if err != nil {
		t.Fatal(err)
	}
	defer locked.Free()
	for _, c := range []struct {
		name string
		work func() error
	}{
		{"host to device", func() error { return d.CopyIn(background, a, 0, host) }},
		{"device to host", func() error { return d.CopyOut(background, host, a, 0) }},
		{"page-locked memory to device", func() error { return d.CopyIn(background, a, 0, locked) }},
		{"device to page-locked memory", func() error { return d.CopyOut(background, locked, a, 0) }},
		{"within device", func() error { return d.Default().Copy(b, 0, a, 0, size) }},
	} {
		took := measure(c.name, 1, c.work)
		t.Logf("%s: %.1f GB/s", c.name, float64(size)/took.Seconds()/1e9)
	}
}
