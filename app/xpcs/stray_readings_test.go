// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package xpcs_test

import (
	"math"
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/app/apptest"
)

// A cosmic ray in one pixel of one frame is named with its place by the correlation, by the average of repeats and by the fits of its results, and not
// once its frame is left out.
func TestStrayReadingsAreNamed(t *testing.T) {
	t.Chdir(t.TempDir())
	all := apptest.Speckles(t, 150, 3)
	all[77*apptest.MovieSide*apptest.MovieSide+12*apptest.MovieSide+9] = 20000
	apptest.WriteMovie(t, "a.h5", all)
	const reading = "pixel (row 12, column 9) has 20000 counts in frame 77"
	for _, c := range []struct {
		line  string
		named bool
	}{
		{apptest.QmapLine, false},
		{"correlate a.h5 --qmap q.hdf --correlation both --out res", true},
		{"correlate a.h5 --qmap q.hdf --correlation twotime --out two", true},
		{"correlate a.h5 --qmap q.hdf --out skipped --skip 77", false},
		{"fit g2 res/a_results.hdf --json", true},
		{"fit g2 skipped/a_results.hdf --json", false},
		{"sample g2 res/a_results.hdf --bin 2 --draws 100 --warmup 100 --chains 1 --retries 0 --no-report --out run --json", true},
		{"sample g2 --resume run --draws 120 --json", true},
		{"average res/a_results.hdf skipped/a_results.hdf mean.hdf --all", false},
		{"fit g2 mean.hdf --json", true},
		{"fit twotime res/a_results.hdf --q 0.0008 --fixed D_offset=0 --fixed alpha=0 --json", true},
	} {
		code, stdout, stderr := apptest.Do(t, strings.Fields(c.line)...)
		if text := stdout + stderr; code != 0 || strings.Contains(text, reading) != c.named || c.named && !strings.Contains(text, "(--skip 77)") {
			t.Errorf("%s: exit %d, want the reading named: %t: %s", c.line, code, c.named, text)
		}
	}
}

// A counter that is full and a gain are named as such by the correlation, and not as a dead time; the fits repeat the first.
func TestReadingsThatAreNoCountsAreNamed(t *testing.T) {
	t.Chdir(t.TempDir())
	if code, _, stderr := apptest.Do(t, strings.Fields(apptest.QmapLine)...); code != 0 {
		t.Fatal(stderr)
	}
	for name, change := range map[string]func(n float64) float64{
		"full": func(n float64) float64 { return min(n, 3) },
		"gain": func(n float64) float64 { return math.Round(1.3 * n) },
	} {
		all := apptest.Speckles(t, 150, 3)
		for i, v := range all {
			all[i] = float32(change(float64(v)))
		}
		apptest.WriteMovie(t, name+".h5", all)
	}
	for _, c := range [][2]string{
		{"correlate gain.h5 --qmap q.hdf --out res", "not counts of photons: 2 is never read"},
		{"correlate full.h5 --qmap q.hdf --correlation both --out res", "are 3, which many pixels have and none exceeds"},
		{"fit g2 res/full_results.hdf --json", "counter is full there (saturation)"},
		{"fit twotime res/full_results.hdf --q 0.0008 --fixed D_offset=0 --fixed alpha=0 --json", "counter is full there (saturation)"},
	} {
		code, stdout, stderr := apptest.Do(t, strings.Fields(c[0])...)
		if text := stdout + stderr; code != 0 || !strings.Contains(text, c[1]) || strings.Contains(text, "(dead time)") {
			t.Errorf("%s: exit %d, without %q or with a dead time: %s", c[0], code, c[1], text)
		}
	}
}
