// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package xpcs_test

import (
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/app/apptest"
	"github.com/euryale-dev/euryale/data/hdf5"
	"github.com/euryale-dev/euryale/data/nexus"
)

// A detector that pyFAI 2026.9 describes has its q and azimuths (AzimuthalIntegrator.qArray and chiArray), with its roll.
func TestQMapOfPONI(t *testing.T) {
	t.Chdir(t.TempDir())
	text := `poni_version: 2.1
Detector: Detector
Detector_config: {"pixel1": 7.5e-05, "pixel2": 7.5e-05, "orientation": 3, "max_shape": [40, 60]}
Distance: 0.5
Poni1: 0.0012
Poni2: 0.0021
Rot1: 0.21
Rot2: -0.13
Rot3: 0.05
Wavelength: 1.2e-10
`
	if err := os.WriteFile("a.poni", []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	if code, _, stderr := apptest.Do(t, strings.Fields("qmap q.hdf --from a.poni --dynamic 1x1 --static 2400x1 --axes q,phi")...); code != 0 {
		t.Fatal(stderr)
	}
	q, err := nexus.OpenQMap("q.hdf")
	if err != nil {
		t.Fatal(err)
	}
	// The bin of a pixel tells its q to half a width of 0.0001/2 of the range.
	for _, p := range []struct {
		row, col int
		q        float64
	}{{0, 0, 1.262701803294323}, {0, 59, 1.3018673328822437}, {39, 0, 1.2791340092404542}, {17, 33, 1.291536055466235}} {
		bin := int(q.Maps.Static[p.row*60+p.col])
		if got, _ := q.Static.Values(bin); math.Abs(got-p.q) > 2e-5 {
			t.Errorf("row %d, column %d: q = %.8g, want %.8g", p.row, p.col, got, p.q)
		}
	}
}

// Frames have the shape and their frame time, and the metadata beside them the rest; files that --from names after others complete them.
func TestFromSeveralFiles(t *testing.T) {
	t.Chdir(t.TempDir())
	apptest.WriteMovie(t, "movie.h5", apptest.Speckles(t, 20, 3))
	w, err := hdf5.Create("geometry.h5")
	if err != nil {
		t.Fatal(err)
	}
	for key, v := range map[string]float64{"detector/distance": 5, "detector/x_pixel_size": 75e-6, "detector/beam_center_x": 19.5, "detector/beam_center_y": 19.5, "incident_beam/incident_energy": 10, "detector/frame_time": 0.01} {
		w.Write("/entry/instrument/"+key, v, hdf5.Layout{})
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	movie, err := os.ReadFile("movie.h5")
	if err != nil {
		t.Fatal(err)
	}
	for _, ending := range []string{"A012.h5", "A012_00001.h5"} {
		if err := os.WriteFile(ending, movie, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	const bins = " --dynamic 4 --static 8"
	if code, _, stderr := apptest.Do(t, strings.Fields("qmap a.hdf --from movie.h5 --from geometry.h5"+bins)...); code != 0 || !strings.Contains(stderr, "read from geometry.h5") {
		t.Fatalf("exit %d: %s", code, stderr)
	}
	// What flags give is not said to be from the file.
	code, _, stderr := apptest.Do(t, strings.Fields("qmap flags.hdf --from movie.h5 --from geometry.h5 --pixel-size 50um --beam-x 3"+bins)...)
	if code != 0 || !strings.Contains(stderr, "given by flags: pixel size 50 um, beam at column 3\n") || !strings.Contains(stderr, "read from geometry.h5: energy 10 keV, distance 5 m, beam at row 19.5, frame time") {
		t.Errorf("exit %d: %s", code, stderr)
	}
	// A file of metadata without a frame time leaves that of the frames.
	w, err = hdf5.Create("distance.h5")
	if err != nil {
		t.Fatal(err)
	}
	w.Write("/entry/instrument/detector/distance", 5.0, hdf5.Layout{})
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if code, _, stderr := apptest.Do(t, strings.Fields("correlate movie.h5 --qmap a.hdf --metadata distance.h5 --prefix d")...); code != 0 {
		t.Errorf("exit %d: %s", code, stderr)
	}
	if err := os.Rename("geometry.h5", "A012_metadata.hdf"); err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{"qmap b.hdf --from A012.h5" + bins, "correlate A012_00001.h5 --qmap b.hdf"} {
		if code, _, stderr := apptest.Do(t, strings.Fields(line)...); code != 0 {
			t.Fatalf("%s: exit %d: %s", line, code, stderr)
		}
	}
	a, err := nexus.OpenQMap("a.hdf")
	b, err2 := nexus.OpenQMap("b.hdf")
	if err != nil || err2 != nil || !slices.Equal(a.BinQ, b.BinQ) || a.Distance != b.Distance {
		t.Error(err, err2)
	}
}
