// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package xpcs_test

import (
	"encoding/json"
	"math"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/euryale-dev/euryale/app/apptest"
	"github.com/euryale-dev/euryale/app/exit"
	"github.com/euryale-dev/euryale/app/xpcs"
	"github.com/euryale-dev/euryale/data/hdf5"
	"github.com/euryale-dev/euryale/data/maskfile"
	"github.com/euryale-dev/euryale/data/nexus"
)

// writeDetectorFile writes frames as an EIGER detector does: bad pixels have the largest number, and a picture beside the frames
// says which they are. Two bad rows, and a pixel that is much too bright.
func writeDetectorFile(t *testing.T, name string, all []float32) {
	t.Helper()
	counts, bad := make([]uint32, len(all)), make([]uint32, apptest.MovieSide*apptest.MovieSide)
	for i, v := range all {
		counts[i] = uint32(v)
		switch p := i % len(bad); {
		case p/apptest.MovieSide == 10 || p/apptest.MovieSide == 11:
			counts[i], bad[p] = math.MaxUint32, 1
		case p == 5*apptest.MovieSide+7:
			counts[i] = 5000
		}
	}
	w, err := hdf5.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Discard()
	const at = "/entry/instrument/detector/"
	w.Write("/entry/data/data", counts, hdf5.Layout{Shape: []int{len(all) / len(bad), apptest.MovieSide, apptest.MovieSide}, Gzip: 1})
	w.Write(at+"detectorSpecific/pixel_mask", bad, hdf5.Layout{Shape: []int{apptest.MovieSide, apptest.MovieSide}})
	for key, v := range map[string]struct {
		value float64
		unit  string
	}{at + "frame_time": {10, "ms"}, at + "x_pixel_size": {75, "um"}, at + "beam_center_x": {19.5 * 0.075, "mm"}, at + "beam_center_y": {19.5, "pixel"},
		at + "detector_distance": {5000, "mm"}, "/entry/instrument/beam/incident_wavelength": {0.123984, "nm"}} {
		w.Write(key, v.value, hdf5.Layout{})
		w.Attr(key, "units", v.unit)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
}

// A file of a detector is enough: its bad pixels are masked, its units are heeded, and the picture of its bad pixels is not taken for
// the image.
func TestDetectorFile(t *testing.T) {
	t.Chdir(t.TempDir())
	writeDetectorFile(t, "a_master.h5", apptest.Speckles(t, 300, 21))
	code, stdout, stderr := apptest.Do(t, strings.Fields("qmap q.hdf --from a_master.h5 --dynamic 4 --static 12 --json")...)
	var doc xpcs.QmapDoc
	if err := json.Unmarshal([]byte(stdout), &doc); code != 0 || err != nil || !strings.Contains(stderr, "masked 80 pixels") {
		t.Fatalf("exit %d, %v: %s", code, err, stderr)
	}
	if v := doc.Values; doc.Kept != 1520 || doc.Dynamic != 4 || math.Abs(float64(v["beam_x"])-19.5) > 1e-9 || v["pixel_size"] != 75e-6 || v["distance"] != 5 || math.Abs(float64(v["energy"])-10) > 1e-4 {
		t.Errorf("%+v", doc)
	}
	for _, line := range []string{"mask m.h5 --image a_master.h5 --outliers mad:30", "qmap qm.hdf --from a_master.h5 --mask m.h5 --dynamic 4", "correlate a_master.h5 --qmap qm.hdf --report",
		"plot mask m.h5", "plot mask a_master.h5 bad.svg", "plot image a_master_results.hdf"} {
		if code, _, stderr := apptest.Do(t, strings.Fields(line)...); code != 0 {
			t.Fatalf("%s: exit %d: %s", line, code, stderr)
		}
	}
	for name, masked := range map[string][]int{"m.h5": {10 * apptest.MovieSide, 5*apptest.MovieSide + 7}, "a_master.h5": {10 * apptest.MovieSide}} {
		m, err := maskfile.Read(name, maskfile.Settings{Height: apptest.MovieSide, Width: apptest.MovieSide})
		if err != nil {
			t.Fatal(err)
		}
		for p, keep := range m.Keep {
			if keep == (p/apptest.MovieSide == 10 || p/apptest.MovieSide == 11 || slices.Contains(masked, p)) {
				t.Fatalf("%s: pixel %d is kept: %v", name, p, keep)
			}
		}
	}
	r, err := nexus.Open("a_master_results.hdf")
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if r.FrameTime != 0.01 || len(r.Attrs["replaced_frames"]) > 0 {
		t.Errorf("frame time %g s, %v", r.FrameTime, r.Attrs)
	}
}

// Parts of a movie that a master file joins are not correlated by themselves, and it waits until they are whole.
func TestWatchedMasterFile(t *testing.T) {
	t.Chdir(t.TempDir())
	for name, age := range map[string]time.Duration{"a_master.h5": time.Hour, "a_data_000001.h5": time.Minute, "a_data_000002.h5": 0, "b_master.h5": time.Hour, "b_data_000001.h5": time.Hour} {
		os.WriteFile(name, nil, 0o644)
		os.Chtimes(name, time.Time{}, time.Now().Add(-age))
	}
	names, growing, err := xpcs.Arrived(xpcs.CorrelateFlags{Watch: "."}, map[string]*xpcs.Arrival{})
	if err != nil || !slices.Equal(names, []string{"b_master.h5"}) || !growing {
		t.Errorf("%v, %v, %v", names, growing, err)
	}
}

// Results are not mixed up, and flags that do not fit are told.
func TestCorrelateMistakes(t *testing.T) {
	t.Chdir(t.TempDir())
	os.Mkdir("other", 0o755)
	all := apptest.Speckles(t, 60, 3)
	apptest.WriteMovie(t, "a.h5", all)
	apptest.WriteMovie(t, "other/a.h5", all)
	apptest.WriteMovie(t, "other/a.hdf", all)
	for _, line := range []string{apptest.QmapLine, "correlate a.h5 --qmap q.hdf", "mask m.h5 --shape 40x40 --circle 5,5,2"} {
		if code, _, stderr := apptest.Do(t, strings.Fields(line)...); code != 0 {
			t.Fatalf("%s: exit %d: %s", line, code, stderr)
		}
	}
	for line, want := range map[string]struct {
		code       int
		NumberText string
	}{
		"correlate a.h5 other/a.h5 --qmap q.hdf --out x":     {exit.WrongUsage, "would both be written to x/a_results.hdf"},
		"correlate other/a.hdf --qmap q.hdf":                 {exit.CannotWrite, "is the result of a.h5"},
		"correlate a.h5 --qmap q.hdf --out x --type both":    {exit.WrongUsage, "--correlation both chooses"},
		"correlate a.h5 --qmap q.hdf --out x --type <u2":     {exit.WrongUsage, "a.h5 is hdf5"},
		"correlate a.h5 --qmap m.h5 --out x":                 {exit.Data, "neither a q map nor a result"},
		"correlate a.h5 --qmap q.hdf --frame-time 0 --out x": {exit.WrongUsage, "want a time above 0"},
		"average a_results.hdf b.hdf --all --pixels":         {exit.Data, "a_results.hdf has no correlations of pixels: correlate its frames again"},
	} {
		if code, _, stderr := apptest.Do(t, strings.Fields(line)...); code != want.code || !strings.Contains(stderr, want.NumberText) {
			t.Errorf("%s: exit %d: %s", line, code, stderr)
		}
	}
	if code, stdout, _ := apptest.Do(t, strings.Fields("correlate a.h5 --qmap q.hdf")...); code != 0 || !strings.Contains(stdout, "was kept; use --overwrite to replace it") {
		t.Errorf("exit %d: %s", code, stdout)
	}
}
