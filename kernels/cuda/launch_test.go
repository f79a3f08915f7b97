// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package cuda

import (
	"bytes"
	"encoding/binary"
	"errors"
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/internal/pretend"
	"github.com/euryale-dev/euryale/kernels/cuda/drv"
	"github.com/euryale-dev/euryale/kernels/cuda/rtc"
)

func TestLaunchGeometry(t *testing.T) {
	lib := pretend.LookPath(t)
	d := device(t, lib, Settings{})
	m, err := d.Compile(sample())
	if err != nil {
		t.Fatal(err)
	}
	f := kernel(t, m, "scaled")
	b := alloc(t, d, nil, 64)
	defer b.Free()
	for _, x := range []struct {
		grid, block Dim
		shared      int
		want        string // in the error; none if empty
	}{
		{Dim{X: 1}, Dim{X: 16}, 0, ""},
		{Dim{}, Dim{X: 16}, 0, ""},
		{Dim{X: 1, Y: 1, Z: 1}, Dim{X: 4, Y: 2, Z: 2}, 200000, ""},
		{Dim{X: 1}, Dim{X: 1025}, 0, "along X a block must have 1 to 1024"},
		{Dim{X: 1}, Dim{X: 64, Y: 32}, 0, "2048 threads: use at most 1024"},
		{Dim{X: 1}, Dim{X: 1, Z: 65}, 0, "along Z a block must have 1 to 64"},
		{Dim{X: 1}, Dim{}, 0, "along X a block"},
		{Dim{X: 1, Y: 65536}, Dim{X: 1}, 0, "along Y a grid must have 1 to 65535"},
		{Dim{X: -1}, Dim{X: 1}, 0, "along X a grid"},
		{Dim{X: 1}, Dim{X: 1}, 232449, "a block has 232448 B"},
		{Dim{X: 1}, Dim{X: 1}, -1, "-1 B"},
	} {
		err := f.Launch(d.Default(), x.grid, x.block, x.shared, b, float32(1), int32(16))
		if x.want == "" && err != nil || x.want != "" && (!errors.Is(err, ErrGeometry) || !strings.Contains(err.Error(), x.want) || !strings.Contains(err.Error(), "scaled")) {
			t.Errorf("grid %v, block %v, %d B: got %v, want %q", x.grid, x.block, x.shared, err, x.want)
		}
	}
	if n := lib.Get("cuLaunchKernel"); n != 2 {
		t.Errorf("the driver saw %d launches, want 2", n)
	}
}

func TestLaunchArguments(t *testing.T) {
	lib := pretend.LookPath(t)
	d := device(t, lib, Settings{})
	m, err := d.Compile(sample())
	if err != nil {
		t.Fatal(err)
	}
	f, b := kernel(t, m, "scaled"), alloc(t, d, nil, 64)
	defer b.Free()
	empty := alloc(t, d, nil, 0)
	for want, args := range map[string][]any{
		"takes 3 arguments, but was given 2":  {b, float32(1)},
		"argument 1":                          {b, 1.0, int32(1)},
		"a float64 of 8 B, but the parameter": {b, 1.0, int32(1)},
		"write int32(n) or int64(n)":          {b, float32(1), 1},
		"a string":                            {b, float32(1), "x"},
		"the buffer is empty":                 {empty, float32(1), int32(1)},
		"[]byte":                              {b, float32(1), struct{}{}},
	} {
		if err := f.Launch(d.Default(), Dim{X: 1}, Dim{X: 1}, 0, args...); !errors.Is(err, ErrArgument) || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
	if _, err := m.Function("nosuch"); !errors.Is(err, drv.NotFound) || !strings.Contains(err.Error(), "nosuch") {
		t.Errorf("got %v", err)
	}
	// A struct by value, and a truth value.
	x := []float64{1, 2, 3, 4, 5}
	v := alloc(t, d, x, 40)
	defer v.Free()
	var raw bytes.Buffer
	for _, field := range []any{2.0, 0.5, int32(1), int32(4)} {
		binary.Write(&raw, binary.NativeEndian, field)
	}
	for _, skip := range []bool{true, false} {
		launch(t, kernel(t, m, "affine"), d.Default(), Dim{X: 1}, Dim{X: 2}, 0, v, raw.Bytes(), skip)
	}
	if err := d.CopyOut(background, x, v, 0); err != nil {
		t.Fatal(err)
	}
	for i, want := range []float64{1, 4.5, 6.5, 8.5, 5} {
		if x[i] != want {
			t.Errorf("element %d is %g, want %g", i, x[i], want)
		}
	}
	// A part of a buffer.
	launch(t, kernel(t, m, "affine"), d.Default(), Dim{X: 1}, Dim{X: 2}, 0, v.At(8), raw.Bytes(), false)
	if err := d.CopyOut(background, x, v, 0); err != nil {
		t.Fatal(err)
	}
	if x[1] != 4.5 || x[2] != 13.5 || x[3] != 17.5 || x[4] != 10.5 {
		t.Errorf("from the second element on: %v", x)
	}
	for _, part := range []Part{v.At(41), v.At(-8), {}} {
		if err := f.Launch(d.Default(), Dim{X: 1}, Dim{X: 1}, 0, part, float32(1), int32(1)); !errors.Is(err, ErrArgument) {
			t.Errorf("part at %d: got %v, want ErrArgument", part.Offset, err)
		}
	}
	if n, err := f.Occupancy(256, 0); n != 8 || err != nil {
		t.Errorf("occupancy %d, %v", n, err)
	}
}

// A driver that is older than the compiler refuses its code; PTX is tried then, and the image that
// does not help is not kept.
func TestOldDriverTakesPTX(t *testing.T) {
	lib := pretend.LookPath(t)
	d := device(t, lib, Settings{Compiler: rtc.Settings{Cache: t.TempDir()}})
	lib.Fail("cuModuleLoadDataEx", 0, 1, int32(drv.UnsupportedPTXVersion))
	m, err := d.Compile(sample())
	if err != nil {
		t.Fatal(err)
	}
	if err := votes(t, d, m); err != nil {
		t.Error(err)
	}
	if n := lib.Get("cuModuleLoadDataEx"); n != 2 {
		t.Errorf("%d loads, want 2", n)
	}
	c, err := rtc.Open(d.options.Compiler)
	if err != nil {
		t.Fatal(err)
	}
	if image, err := c.Compile(sample(), rtc.Target{Major: 9}); err != nil || image.Cached {
		t.Errorf("the image that the driver refused was kept: %v", err)
	}
	if again, err := d.Compile(sample()); again != m || err != nil {
		t.Errorf("the same program gives another module, %v", err)
	}
	lib.Fail("cuModuleLoadDataEx", 0, 2, int32(drv.UnsupportedPTXVersion))
	if _, err := d.Compile(rtc.Source{Name: "other.cu", Text: sampleText + "\n"}); !errors.Is(err, drv.UnsupportedPTXVersion) || !strings.Contains(err.Error(), "older NVRTC") {
		t.Errorf("got %v", err)
	}
	var wrong *rtc.CompileError
	if _, err := d.Compile(rtc.Source{Name: "bad.cu", Text: "nonsense"}); !errors.As(err, &wrong) {
		t.Errorf("got %v, want a CompileError", err)
	}
}

// A new architecture gets PTX of the newest that the compiler knows.
func TestNewDeviceTakesPTX(t *testing.T) {
	lib := pretend.LookPath(t)
	lib.Set("capability", 120)
	d := device(t, lib, Settings{})
	m, err := d.Compile(sample())
	if err != nil {
		t.Fatal(err)
	}
	if err := votes(t, d, m); err != nil {
		t.Error(err)
	}
}

func BenchmarkLaunch(b *testing.B) {
	lib := pretend.LookPath(b)
	lib.Set("mode", pretend.Lazy)
	d := device(b, lib, Settings{})
	m, err := d.Compile(sample())
	if err != nil {
		b.Fatal(err)
	}
	f, err := m.Function("scaled")
	if err != nil {
		b.Fatal(err)
	}
	x := alloc(b, d, nil, 64)
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		if err := f.Launch(d.Default(), Dim{X: 1}, Dim{X: 1}, 0, x, float32(1), int32(1)); err != nil {
			b.Fatal(err)
		}
		if i%1000 == 999 {
			b.StopTimer()
			d.Synchronize(background)
			b.StartTimer()
		}
	}
}
