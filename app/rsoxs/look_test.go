// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package rsoxs_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/euryale-dev/euryale/app/apptest"
	"github.com/euryale-dev/euryale/app/frame"
	"github.com/euryale-dev/euryale/app/rsoxs"
	"github.com/euryale-dev/euryale/runs"
)

// Tables of intensities are measured patterns if they say so; draws of runs, which may be large, are not opened to find out.
func TestLookAtTablesAndRuns(t *testing.T) {
	run := filepath.Join(t.TempDir(), "run")
	if err := os.MkdirAll(filepath.Join(run, runs.DrawsFolder), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{runs.MarkerFile, "film_285eV.dat"} {
		if err := os.WriteFile(filepath.Join(run, name), []byte("q,I\n0.1,2\n0.2,1\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for name, want := range map[string]string{
		apptest.Write(t, "film_285.1eV.dat", "q (1/nm),I,dI\n0.1,2,.1\n0.2,1,.1\n"): "Measured patterns",
		apptest.Write(t, "scan.csv", "energy,q,I\n284,0.1,2\n285,0.1,1\n"):          "Measured patterns",
		apptest.Write(t, "film.dat", "q,I\n0.1,2\n0.2,1\n"):                         "",
		apptest.Write(t, "plain_285eV.csv", "1,2\n2,3\n"):                           "",
		apptest.Write(t, "counts.csv", "day,count\n1,2\n2,3\n"):                     "",
		filepath.Join(run, "film_285eV.dat"):                                        "",
		filepath.Join(run, runs.DrawsFolder):                                        "",
	} {
		info, err := os.Stat(name)
		if err != nil {
			t.Fatal(err)
		}
		kind := ""
		if l := frame.LookOf([]frame.Field{rsoxs.Field()}, name, info.IsDir()); l != nil {
			kind = l.Kind
		}
		if kind != want {
			t.Errorf("%s is listed as %q, want %q", name, kind, want)
		}
	}
}
