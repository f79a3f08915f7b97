// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package xpcs_test

import (
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
