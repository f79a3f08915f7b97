// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package notebook_test

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/demo"
	"github.com/euryale-dev/euryale/internal/tier"
	"github.com/euryale-dev/euryale/models/xpcs"
	nb "github.com/euryale-dev/euryale/notebook"
)

// The movie of the demonstration is correlated and fitted in cells, and diffusion is what comes out.
func TestMovie(t *testing.T) {
	tier.SlowOnly(t)
	dir := t.TempDir()
	if tier.Slow {
		displays(t, "demonstration", nb.DemoMovie(), "2000 of 96 x 112 pixels", "8 bins for correlations")
	}
	frames := demo.Particles(0)
	frames.Frames = 600
	if err := frames.Write(dir); err != nil {
		t.Fatal(err)
	}
	movie := nb.OpenMovie(filepath.Join(dir, "movie.h5")).ReadMap(filepath.Join(dir, "qmap.hdf"))
	displays(t, "movie", movie, "600 of 96 x 112 pixels", "0.001 s", "8 bins for correlations")
	result := movie.Correlate(filepath.Join(dir, "a_results.hdf"), nb.Correlating{Twotime: true, Bins: []int{2}, Parts: 2})
	displays(t, "result", result, "600 frames in 8 bins")
	for _, title := range []string{"Stability", "Two-time correlation of bin 2", "Detector"} {
		if !strings.Contains(result.HTML(), title) {
			t.Errorf("no %s", title)
		}
	}
	if n := len(result.Twotime(2)); n != 2 {
		t.Errorf("%d pictures", n)
	}
	result.Report(filepath.Join(dir, "a.html"))
	tau := result.G2().Fit("single").Tau()
	if f := tau.Fit("power").Fits[0]; math.Abs(f.X[1]-2) > max(3*f.SD[1], 0.02) {
		t.Errorf("tau ~ q^-%.3g +- %.2g", f.X[1], f.SD[1])
	}

	qmap := filepath.Join(dir, "qmap.hdf")
	movie.MakeMap(nil, xpcs.Setup{Dynamic: [2]int{4, 2}}).WriteMap(qmap)
	again := nb.OpenMovie(movie.File)
	displays(t, "movie without a map", again, "none yet")
	fails(t, "movie.MakeMap", func() { again.Correlate(filepath.Join(dir, "none.hdf")) })
	again = again.ReadMap(qmap)
	if n := again.Correlate(filepath.Join(dir, "b_results.hdf"), nb.Correlating{First: 100, Last: 300}).Done; n.Frames != 200 || n.Result.QMap.Dynamic.Bins() != 8 {
		t.Errorf("%d frames in %d bins", n.Frames, n.Result.QMap.Dynamic.Bins())
	}
	again.Metadata.FrameTime = math.NaN()
	fails(t, "set movie.Metadata.FrameTime", func() { again.Correlate(filepath.Join(dir, "none.hdf")) })
	fails(t, "Correlating{Twotime: true}", func() { movie.Correlate("", nb.Correlating{Last: 60}).Twotime(1) })
	fails(t, "bin 3 has no two-time correlation: choose one of the bins [2]", func() { result.Twotime(3) })
	fails(t, "nowhere.h5", func() { nb.OpenMovie("nowhere.h5") })
	if _, err := os.Stat(filepath.Join(dir, "none.hdf")); err == nil {
		t.Error("a correlation that failed left a file")
	}
}
