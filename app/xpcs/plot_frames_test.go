// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package xpcs_test

import (
	"os"
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/app/apptest"
	"github.com/euryale-dev/euryale/app/exit"
)

// The mean of the frames and single frames are drawn, and numbers of frames that are not there are told.
func TestPlotFrames(t *testing.T) {
	t.Chdir(t.TempDir())
	apptest.WriteMovie(t, "a.h5", apptest.Speckles(t, 60, 1))
	for line, want := range map[string]string{"plot frames a.h5 --overwrite": "mean of 60 frames", "plot frames a.h5 frames.svg --frame 60 --linear --overwrite": "frame 60 of 60"} {
		if code, _, stderr := apptest.Do(t, strings.Fields(line)...); code != exit.OK {
			t.Fatalf("%s: exit %d: %s", line, code, stderr)
		}
		if b, err := os.ReadFile("frames.svg"); err != nil || !strings.Contains(string(b), want) {
			t.Errorf("%s: %v: the picture is not called %q", line, err, want)
		}
	}
	if code, _, stderr := apptest.Do(t, "plot", "frames", "a.h5", "--frame", "61", "--overwrite"); code != exit.WrongUsage || !strings.Contains(stderr, "from 1 to 60") {
		t.Errorf("exit %d: %s", code, stderr)
	}
	for _, kind := range []string{"frames", "image", "qmap", "volume", "table"} {
		if code, _, stderr := apptest.Do(t, "plot", kind, "a.h5", "picture.xyz", "--overwrite"); code != exit.WrongUsage || !strings.Contains(stderr, "picture.xyz: one file is drawn") {
			t.Errorf("%s: exit %d: %s", kind, code, stderr)
		}
	}
}
