// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package cuda

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/internal/pretend"
	"github.com/euryale-dev/euryale/kernels/cuda/drv"
	"github.com/euryale-dev/euryale/kernels/cuda/rtc"
)

// tunable is the same product with a number in several geometries; on the pretend device the virtual
// time of a launch grows with its threads. The last kernel is wrong in one element.
const tunable = `extern "C" __global__ void twice(double* y, const double* x, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) y[i] = 2 * x[i];
}
extern "C" __global__ void wrong(double* y, const double* x, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) y[i] = 2 * x[i] + (i == 7 ? 1e-9 : 0);
}
`

type tuneWork struct {
	x, y *Buffer
	t    Tuning
	runs map[string]int
}

func newTuneWork(t *testing.T, d *Device, n int, wide, narrow int) *tuneWork {
	t.Helper()
	m, err := d.Compile(rtc.Source{Name: "tunable.cu", Text: tunable})
	if err != nil {
		t.Fatal(err)
	}
	w := &tuneWork{x: alloc(t, d, nil, 8*n), y: alloc(t, d, nil, 8*n), runs: map[string]int{}}
	variant := func(name, kernel string, blocks int) Variant {
		f, err := m.Function(kernel)
		if err != nil {
			t.Fatal(err)
		}
		return Variant{Name: name, Run: func(s *Stream) error {
			w.runs[name]++
			return f.Launch(s, Dim{X: blocks}, Dim{X: 256}, 0, w.y, w.x, int32(n))
		}}
	}
	w.t = Tuning{Family: "twice", Type: Float64, Shape: []int{n}, Inputs: []TuneArray{{w.x.At(0), Float64, n}}, Outputs: []TuneArray{{w.y.At(0), Float64, n}},
		Variants: []Variant{variant("default", "twice", 64), variant("wide", "twice", wide), variant("narrow", "twice", narrow), variant("wrong", "wrong", 1)}}
	return w
}

// tuneDevice opens a device whose cache is a folder.
func tuneDevice(t *testing.T, folder string) *Device {
	t.Helper()
	return device(t, pretend.LookPath(t), Settings{Compiler: rtc.Settings{Cache: folder}})
}

// The fastest variant that agrees with the default wins; a slow one is given up, a wrong one never timed.
func TestTune(t *testing.T) {
	d := tuneDevice(t, t.TempDir())
	w := newTuneWork(t, d, 1000, 4096, 4)
	defer free(w.x, w.y)
	r, err := d.Tune(background, w.t)
	if err != nil {
		t.Fatal(err)
	}
	if r.Winner != 2 || r.Known || len(r.Trials) != 4 {
		t.Fatalf("got %+v", r)
	}
	for i, runs := range []int{tuneRuns, tuneEarly, tuneRuns, 0} {
		trial := r.Trials[i]
		if trial.Runs != runs || math.IsNaN(trial.MS) != (runs == 0) {
			t.Errorf("%+v, want %d runs", trial, runs)
		}
		if total := runs + tuneWarmups + 1; runs > 0 && w.runs[trial.Name] != total {
			t.Errorf("%s ran %d times, want %d", trial.Name, w.runs[trial.Name], total)
		}
	}
	if ms := r.Trials[0].MS; math.Abs(ms-0.00216) > 0.0001 { // 2 us and 10 ps for each thread
		t.Errorf("64 blocks of 256 take %g virtual ms", ms)
	}
	if refused := r.Trials[3].Refused; !strings.Contains(refused, "number 7 of output 0") || w.runs["wrong"] != 1 {
		t.Errorf("the wrong variant: %q after %d runs", refused, w.runs["wrong"])
	}
	if r, err := d.Tune(background, w.t); err != nil || !r.Known || r.Winner != 2 || w.runs["default"] != tuneRuns+tuneWarmups+1 {
		t.Errorf("again: %+v, %v", r, err)
	}
}

// Winners live in the cache: for later runs, the same bucket of shapes and the same variants only.
func TestTuneIsKept(t *testing.T) {
	pretend.Shared(t) // or skip it as a whole, since each part needs what those before it kept
	folder := t.TempDir()
	t.Run("first", func(t *testing.T) {
		d := tuneDevice(t, folder)
		w := newTuneWork(t, d, 1000, 8, 128)
		defer free(w.x, w.y)
		if r, err := d.Tune(background, w.t); err != nil || r.Winner != 1 {
			t.Fatalf("got %+v, %v", r, err)
		}
	})
	t.Run("later", func(t *testing.T) {
		d := tuneDevice(t, folder)
		w := newTuneWork(t, d, 600, 8, 128) // 513 to 1023 have the same powers of two
		defer free(w.x, w.y)
		if r, err := d.Tune(background, w.t); err != nil || r.Winner != 1 || !r.Known || w.runs["default"] != 0 {
			t.Errorf("got %+v, %v", r, err)
		}
		other := w.t
		other.Variants = []Variant{w.t.Variants[0], w.t.Variants[2]} // the winner is gone
		if r, err := d.Tune(background, other); err != nil || r.Known {
			t.Errorf("without the winner: %+v, %v", r, err)
		}
		other = w.t
		other.Shape = []int{2000}
		if r, err := d.Tune(background, other); err != nil || r.Known {
			t.Errorf("another shape: %+v, %v", r, err)
		}
	})
	t.Run("other driver", func(t *testing.T) {
		p := pretend.LookPath(t)
		p.Set("version", 12040)
		d := device(t, p, Settings{Compiler: rtc.Settings{Cache: folder}})
		w := newTuneWork(t, d, 1000, 8, 128)
		defer free(w.x, w.y)
		if r, err := d.Tune(background, w.t); err != nil || r.Known {
			t.Errorf("got %+v, %v", r, err)
		}
	})
	t.Run("damaged", func(t *testing.T) {
		files, _ := filepath.Glob(filepath.Join(folder, "notes", "*.json"))
		if len(files) < 3 {
			t.Fatalf("found %v", files)
		}
		for _, f := range files {
			if err := os.WriteFile(f, []byte("{"), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		d := tuneDevice(t, folder)
		w := newTuneWork(t, d, 1000, 8, 128)
		defer free(w.x, w.y)
		if r, err := d.Tune(background, w.t); err != nil || r.Known || r.Winner != 1 {
			t.Errorf("got %+v, %v", r, err)
		}
	})
}

// Nothing runs while a graph is captured: the winner if it is known, or else the default.
func TestTuneInCapture(t *testing.T) {
	d := tuneDevice(t, t.TempDir())
	w := newTuneWork(t, d, 1000, 8, 128)
	defer free(w.x, w.y)
	for _, want := range []TuneResult{{Winner: 0}, {Winner: 1, Known: true}} {
		g, err := d.Capture(func(s *Stream) error {
			r, err := d.Tune(background, w.t)
			if err != nil || r.Winner != want.Winner || r.Known != want.Known {
				t.Errorf("got %+v, %v, want %+v", r, err, want)
			}
			return w.t.Variants[r.Winner].Run(s)
		})
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(g.Launch(d.Default()), g.Close()); err != nil {
			t.Fatal(err)
		}
		if !want.Known {
			if w.runs["default"] != 1 {
				t.Errorf("%d runs", w.runs["default"])
			}
			if _, err := d.Tune(background, w.t); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// Failures of variants: the default's is an error, another's keeps it from winning, a lost device ends
// it all.
func TestTuneFailures(t *testing.T) {
	p := pretend.LookPath(t)
	d := device(t, p, Settings{Compiler: rtc.Settings{NoCache: true}})
	w := newTuneWork(t, d, 1000, 8, 128)
	defer free(w.x, w.y)
	broken := Variant{Name: "broken", Run: func(*Stream) error { return errors.New("on purpose") }}
	first := w.t
	first.Variants = append([]Variant{broken}, w.t.Variants...)
	if _, err := d.Tune(background, first); err == nil || !strings.Contains(err.Error(), "on purpose") {
		t.Errorf("got %v", err)
	}
	if _, err := d.Tune(background, Tuning{Family: "none"}); !errors.Is(err, ErrArgument) {
		t.Errorf("no variants: %v", err)
	}
	last := w.t
	last.Variants = append(last.Variants[:3:3], broken)
	r, err := d.Tune(background, last)
	if err != nil || r.Winner != 1 || !strings.Contains(r.Trials[3].Refused, "on purpose") {
		t.Errorf("got %+v, %v", r, err)
	}
	if r, err := d.Tune(background, last); err != nil || !r.Known { // without a disk, for this device
		t.Errorf("got %+v, %v", r, err)
	}
	gone, cancel := context.WithCancel(background)
	cancel()
	last.Shape = []int{5}
	if _, err := d.Tune(gone, last); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	if err := d.Synchronize(background); err != nil {
		t.Fatal(err)
	}
	p.Fail("cuEventRecord", 20, 1, int32(drv.LaunchFailed))
	p.Fail("cuLaunchKernel", 9, 1, int32(drv.IllegalAddress))
	if _, err := d.Tune(background, last); !errors.Is(err, ErrDeviceLost) {
		t.Errorf("lost: %v", err)
	}
}

// Arrays longer than a million numbers are random to the end.
func TestTuneRandomNumbers(t *testing.T) {
	d := tuneDevice(t, t.TempDir())
	n := 1<<20 + 12345
	for _, typ := range []Type{Float32, Float64} {
		b := alloc(t, d, nil, n*typ.Size())
		r := &tuneRun{d: d, s: d.Default(), t: Tuning{Inputs: []TuneArray{{b.At(0), typ, n}}}}
		if err := r.prepare(background); err != nil {
			t.Fatal(err)
		}
		sum, squares := 0.0, 0.0
		for _, v := range download(t, d.Default(), typ, b, n) {
			sum, squares = sum+v, squares+v*v
		}
		if mean, variance := sum/float64(n), squares/float64(n); math.Abs(mean) > 0.005 || math.Abs(variance-1.0/3) > 0.005 {
			t.Errorf("%v: mean %g, mean square %g", typ, mean, variance)
		}
		b.Free()
	}
	if got := median([]float64{3, 1, 2, 10}); got != 2.5 {
		t.Error(fmt.Sprint("the median is ", got))
	}
}
