// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package app_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/app/apptest"
	"github.com/euryale-dev/euryale/app/exit"
)

// Flags that would do nothing are refused, with the flag that they need.
func TestFlagsThatDoNothing(t *testing.T) {
	for line, want := range map[string]string{
		"correlate a.h5 --qmap q.hdf --bins 1,2":          "--bins does nothing without --correlation both: leave it out, or add --correlation both",
		"correlate a.h5 --qmap q.hdf --idle 10s":          "--idle does nothing without --watch",
		"qmap q.hdf --shape 10x10 --incidence 0.2":        "--incidence does nothing without --reflection",
		"invert rsoxs problem.json --time 10":             "--time does nothing without --choose-energies",
		"sample curve d.csv a*x --sampler smc --warmup 9": "--warmup does nothing with --sampler smc",
	} {
		if code, _, text := apptest.Do(t, strings.Fields(line)...); code != exit.WrongUsage || !strings.Contains(text, want) {
			t.Errorf("%s: exit code %d: %s", line, code, text)
		}
	}
}

// A folder of runs in the place of a run names the runs in it.
func TestFolderOfRuns(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "q1"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "q1", "config.json"), []byte("{}"), 0o644); err != nil {
		t.Fatal(err)
	}
	if code, _, text := apptest.Do(t, "plot", "twotime", dir, filepath.Join(dir, "x.svg")); code == 0 || !strings.Contains(text, "is not a run folder, but holds "+filepath.Join(dir, "q1")) {
		t.Errorf("exit code %d: %s", code, text)
	}
}
