// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package xpcs_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/app/apptest"
	"github.com/euryale-dev/euryale/app/exit"
)

// A flag that would do nothing is refused, with what it needs.
func TestFlagsThatDoNothing(t *testing.T) {
	out := filepath.Join(t.TempDir(), "out.hdf")
	for line, want := range map[string]string{
		"reduce saxs a.hdf --weight 0.9":                  "--weight does nothing without --background",
		"reduce saxs a.hdf --bins 20":                     "--bins does nothing without --sector or --ring",
		"reduce intensity a.hdf --cut 5":                  "--cut does nothing without --spectrum",
		"average a.hdf b.hdf OUT --non-zero":              "--non-zero does nothing without --pixels",
		"average a.hdf b.hdf OUT --all --high 1.1":        "--high chooses repeats, and --all takes all of them",
		"mask OUT --shape 9x9 --circle 4,4,2 --fold 2":    "--fold is for the q map on the page of --edit",
		"mask OUT --shape 9x9 --list-from-one":            "--list-from-one does nothing without --list",
		"qmap OUT --shape 9x9 --orientation west":         "--orientation does nothing without --reflection",
		"correlate a.h5 --qmap q.hdf --idle 3s":           "--idle does nothing without --watch",
		"correlate a.h5 --qmap q.hdf --no-age-errors":     "--no-age-errors does nothing without --correlation both",
		"correlate a.h5 --qmap q.hdf --smooth symmetric":  "--smooth does nothing without --correlation both",
		"average a.hdf OUT --all --pixels --window 3":     "--window chooses repeats",
		"mask OUT --shape 9x9 --listen 127.0.0.1:0":       "--listen is for the q map on the page of --edit",
		"mask OUT --shape 9x9 --list-row-first --fold 2":  "--list-row-first does nothing without --list",
		"reduce saxs a.hdf --weight 0.9 --sector -30:30 ": "--weight does nothing",
	} {
		code, _, stderr := apptest.Do(t, strings.Fields(strings.ReplaceAll(line, "OUT", out))...)
		if code != exit.WrongUsage || !strings.Contains(stderr, want) {
			t.Errorf("%s: exit code %d: %s", line, code, stderr)
		}
	}
}
