// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package xpcs

import (
	"context"
	"errors"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/data/frames"
	"github.com/euryale-dev/euryale/data/hdf5"
	"github.com/euryale-dev/euryale/data/nexus"
	"github.com/euryale-dev/euryale/internal/pretend"
	"github.com/euryale-dev/euryale/kernels/cuda"
	"github.com/euryale-dev/euryale/kernels/cuda/drv"
	"github.com/euryale-dev/euryale/sim/xpcs"
	"github.com/euryale-dev/euryale/sim/xpcs/correlate"
)

// job is a correlation of 20 frames of 2 x 3 pixels in two bins, the first of which has two static bins.
func job(t *testing.T) Job {
	t.Helper()
	name := filepath.Join(t.TempDir(), "m.h5")
	w, err := hdf5.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	counts := make([]uint16, 20*6)
	for i := range counts {
		if i%6 > 0 {
			counts[i] = uint16(1 + i*i%7)
		}
	}
	w.Write("/entry/data/data", counts, hdf5.Layout{Shape: []int{20, 2, 3}})
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	f, err := frames.Open(name, frames.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	q := &nexus.QMap{Dynamic: nexus.Partition{Axis0: []float64{1, 2}, Cells: []int{0, 1}}, Static: nexus.Partition{Axis0: []float64{1, 2, 3}, Cells: []int{0, 1, 2}},
		Maps: &nexus.Maps{Height: 2, Width: 3, Mask: []bool{true, true, true, true, true, true}, Dynamic: []int32{1, 1, 1, 2, 2, 2}, Static: []int32{1, 2, 2, 3, 3, 3}}}
	return Job{Frames: f, Map: q, FrameTime: 1, Multitau: true}
}

// What a two-time correlation refuses is said before the multi-tau correlation begins, and so is a q map that does not agree with itself.
func TestMistakesComeFirst(t *testing.T) {
	for want, change := range map[string]func(j *Job){
		"no dynamic bin 3":         func(j *Job) { j.Settings.Bins = []int{3} },
		"bin 1 is named twice":     func(j *Job) { j.Settings.Bins = []int{1, 1} },
		"smoothing \"none\"":       func(j *Job) { j.Settings.Smooth = "none" },
		"no pixels in dynamic bin": func(j *Job) { j.Map.Maps.Dynamic = []int32{1, 1, 1, 0, 0, 0} },
	} {
		j := job(t)
		j.Twotime = true
		j.Progress = func(what string, done, all int) { t.Errorf("%s: %d frames were read before", want, done) }
		change(&j)
		if _, err := Correlate(context.Background(), j, filepath.Join(t.TempDir(), "r.hdf")); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}

// A static bin without any count makes g2 of its bin too small, which is told.
func TestDarkStaticBins(t *testing.T) {
	j := job(t)
	out := filepath.Join(t.TempDir(), "r.hdf")
	done, err := Correlate(context.Background(), j, out)
	if err != nil {
		t.Fatal(err)
	}
	if done.Dark != (Dark{1, 1, 2}) {
		t.Errorf("%+v", done.Dark)
	}
	if notes := strings.Join(done.Notes(), "\n"); !strings.Contains(notes, "of the 2 static bins of bin 1, 1 had no counts in any frame, which makes its g2 too small by 50 %") {
		t.Error(notes)
	}
	if g2 := done.Result.Multitau.G2.At(0, 0); math.Abs(g2-0.5) > 0.1 {
		t.Errorf("g2 is %g, want about one half", g2)
	}
	if d := darkest(correlate.Maps{Dynamic: []int32{1, 1, 2, 2, 2, 0}, Static: []int32{1, 2, 3, 4, 5, 6}}, []float64{0, 1, 0, 0, 2, 0}); d != (Dark{2, 2, 3}) {
		t.Errorf("%+v", d)
	}
	if d := darkest(correlate.Maps{Dynamic: []int32{1, 2}, Static: []int32{1, 2}}, []float64{3, 1}); d != (Dark{}) {
		t.Errorf("%+v", d)
	}
}

// A file that a GPU made has the numbers of the processor's, and so have the maps of bins; a GPU without the room is told before the work begins.
func TestCorrelateOnDevice(t *testing.T) {
	lib := pretend.Shared(t)
	if m := Movie(job(t).Frames); m.Raw == nil || m.Raw.Type != "uint16" || !m.Raw.Marks {
		t.Errorf("frames cross the bus as %+v", m.Raw)
	}
	var results [2]*nexus.Result
	for k, b := range []ad.Backend{nil, ad.CUDA{}} {
		j := job(t)
		j.Twotime, j.Settings.Backend, j.Settings.Precision, j.Pixels = true, b, 64, true
		done, err := Correlate(context.Background(), j, filepath.Join(t.TempDir(), "r.hdf"))
		if err != nil {
			t.Fatal(err)
		}
		results[k] = done.Result
	}
	for what, pair := range map[string][2]*nexus.Matrix{"g2": {results[0].Multitau.G2, results[1].Multitau.G2}, "errors": {results[0].Multitau.Err, results[1].Multitau.Err},
		"image": {results[0].Image, results[1].Image}, "two-time g2": {results[0].Twotime.G2, results[1].Twotime.G2}} {
		for i, w := range pair[0].Data {
			if v := pair[1].Data[i]; !(math.Abs(v-w) <= 1e-12*max(1, math.Abs(w))) && !(math.IsNaN(v) && math.IsNaN(w)) {
				t.Errorf("%s %d is %v, want %v", what, i, v, w)
			}
		}
	}
	g := xpcs.Geometry{Height: 40, Width: 50, CenterRow: 12.5, CenterCol: 20, PixelSize: 75e-6, Distance: 5, Energy: 10}
	want, err := Setup{Geometry: g}.Partition(nil)
	if err != nil {
		t.Fatal(err)
	}
	got, err := Setup{Geometry: g, Backend: ad.CUDA{}}.Partition(nil)
	if err != nil || !slices.Equal(got.Dynamic.Of, want.Dynamic.Of) || !slices.Equal(got.Static.Of, want.Static.Of) {
		t.Errorf("other bins: %v", err)
	}
	lib.Set("devices", 3)
	lib.Set("memory", 1<<16)
	defer lib.Set("memory", 1<<30)
	j := job(t)
	j.Twotime, j.Settings.Backend = true, ad.CUDA{Device: 2}
	j.Progress = func(string, int, int) { t.Error("frames were read") }
	var room *cuda.RoomError
	if _, err := Correlate(context.Background(), j, filepath.Join(t.TempDir(), "r.hdf")); !errors.As(err, &room) {
		t.Errorf("on 64 KiB: %v", err)
	}
}

// A GPU that fails in a two-time correlation does not take the multi-tau correlation with it, nor the maps that were finished.
func TestFailureKeepsWhatIsFinished(t *testing.T) {
	lib := pretend.Shared(t)
	run := func(out string) error {
		j := job(t)
		j.Twotime, j.Settings.Backend = true, ad.CUDA{}
		_, err := Correlate(context.Background(), j, out)
		return err
	}
	before := lib.Get("cuLaunchKernel")
	if err := run(filepath.Join(t.TempDir(), "r.hdf")); err != nil {
		t.Fatal(err)
	}
	launches := lib.Get("cuLaunchKernel") - before
	out := filepath.Join(t.TempDir(), "r.hdf")
	lib.Fail("cuLaunchKernel", launches-1, 1, int32(drv.OutOfMemory))
	err := run(out)
	lib.Fail("cuLaunchKernel", 0, 0, 0)
	if err == nil || !ad.IsDeviceFault(err) || !strings.Contains(err.Error(), "has the multi-tau correlation and") {
		t.Fatalf("got %v", err)
	}
	r, err := nexus.Open(out)
	if err == nil {
		defer r.Close()
	}
	if err != nil || r.Multitau == nil || r.Attrs["incomplete"] == "" {
		t.Errorf("%+v, %v", r, err)
	}
}
