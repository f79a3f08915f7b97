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
	"github.com/euryale-dev/euryale/internal/tier"
)

// A file that a user put into a store stays, in a store of convert and in that of a run.
func TestFilesInStoresStay(t *testing.T) {
	tier.SlowOnly(t)
	apptest.TinyRun(t)
	for _, mine := range []string{"notes.txt", "posterior/notes.txt", "posterior/a/thesis.tex", "posterior/0.0", "mine/0", "posterior/.hidden"} {
		if code, _, stderr := apptest.Do(t, "convert", "run", "prec.zarr", "--overwrite"); code != exit.OK {
			t.Fatalf("exit %d: %s", code, stderr)
		}
		for _, store := range []string{"prec.zarr", "run/draws.zarr"} {
			apptest.Put(t, filepath.Join(store, mine))
		}
		for _, line := range []string{"convert run prec.zarr --overwrite", "sample expr --problem " + apptest.LineFile(t) + " --out run --overwrite", "sample expr --resume run --quiet"} {
			code, _, stderr := apptest.Do(t, strings.Fields(line)...)
			if code != exit.CannotWrite || !strings.Contains(stderr, "holds "+mine+", which is not of the store") || strings.Contains(stderr, "Try: --overwrite") {
				t.Errorf("%s with %s: exit %d: %s", line, mine, code, stderr)
			}
		}
		for _, store := range []string{"prec.zarr", "run/draws.zarr"} {
			name := filepath.Join(store, mine)
			if b, err := os.ReadFile(name); err != nil || string(b) != "mine" {
				t.Errorf("%s: %q, %v", name, b, err)
			}
			if err := os.Remove(name); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// A remedy is offered only where it works.
func TestRemediesWork(t *testing.T) {
	apptest.TinyRun(t)
	apptest.Put(t, "mine/thesis.tex")
	apptest.Put(t, "mine.nc/thesis.tex")
	apptest.Put(t, "old.json")
	line := apptest.LineFile(t)
	for args, want := range map[string]string{
		"sample expr --problem " + line + " --out mine":             "Try: another --out",
		"sample expr --problem " + line + " --out mine --overwrite": "Try: another --out",
		"sample expr --problem " + line + " --out run":              "Try: --overwrite, --resume run, or another --out",
		"demo g2 --out run":                     "Try: --overwrite, or another --out",
		"convert run mine":                      "Try: choose another name than mine",
		"convert run mine --to csv --overwrite": "Try: choose another name than mine",
		"convert run mine.nc":                   "Try: choose another name than mine.nc",
		"convert run mine --to zarr":            "Try: choose another name than mine",
		"convert run old.json":                  "Try: --overwrite, or another name than old.json",
		"convert run old.json --to csv":         "Try: choose another name than old.json",
	} {
		code, _, stderr := apptest.Do(t, strings.Fields(args)...)
		if code != exit.CannotWrite || !strings.HasSuffix(stderr, want+"\n") {
			t.Errorf("%s: exit %d: %s, want %s", args, code, stderr, want)
		}
	}
	for range 2 {
		for _, out := range []string{"d.zarr", "d.nc", "d.json", "d.arrow", "d", "old.json"} {
			if code, _, stderr := apptest.Do(t, "convert", "run", out, "--overwrite"); code != exit.OK {
				t.Errorf("%s: exit %d: %s", out, code, stderr)
			}
		}
	}
}
