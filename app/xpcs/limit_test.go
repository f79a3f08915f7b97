// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package xpcs_test

import (
	"os"
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/app/apptest"
)

// The limit of pixels holds for images and frames, and what is beyond it tells the flag that raises it.
func TestPixelLimit(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.WriteFile("a.txt", []byte("1 2 3\n4 5 6\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	apptest.WriteMovie(t, "a.h5", apptest.Speckles(t, 20, 3))
	if code, _, stderr := apptest.Do(t, strings.Fields(apptest.QmapLine)...); code != 0 {
		t.Fatal(stderr)
	}
	for _, line := range []string{"mask m.h5 --image a.txt --max-pixels 5", "mask m.h5 --image a.h5 --max-pixels 5", "correlate a.h5 --qmap q.hdf --max-pixels 5"} {
		if code, _, stderr := apptest.Do(t, strings.Fields(line)...); code != 65 || !strings.Contains(stderr, "--max-pixels") {
			t.Errorf("%s: exit %d: %s", line, code, stderr)
		}
	}
	if code, _, stderr := apptest.Do(t, strings.Fields("mask m.h5 --image a.txt --max-pixels 6")...); code != 0 {
		t.Errorf("exit %d: %s", code, stderr)
	}
	if code, _, stderr := apptest.Do(t, strings.Fields("mask m.h5 --image a.txt --max-pixels none")...); code != 64 || !strings.Contains(stderr, "whole number") {
		t.Errorf("exit %d: %s", code, stderr)
	}
}
