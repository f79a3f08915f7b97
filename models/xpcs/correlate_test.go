package xpcs

import (
	"context"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/data/frames"
	"github.com/euryale-dev/euryale/data/hdf5"
	"github.com/euryale-dev/euryale/data/nexus"
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
	if notes := strings.Join(done.Notes(), "\n"); !strings.Contains(notes, "of the 2 static bins of bin 1, 1 have no counts in any frame, which makes its g2 too small by 50 %") {
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
