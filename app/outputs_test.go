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

// outputs are command lines of all commands that name an output last, with the extension of the output. Their inputs do not exist, so that only a look at
// the output before anything else can find what is wrong with it. Outputs without an extension are folders, which are made with those above them.
var outputs = map[string]string{
	"qmap":             "qmap OUT.hdf",
	"mask":             "mask OUT.h5 --image none",
	"average":          "average none none2 OUT.hdf",
	"fit geometry":     "fit geometry none OUT.json --rings agbh",
	"reduce saxs":      "reduce saxs none OUT.csv",
	"reduce ages":      "reduce ages none OUT.csv",
	"reduce intensity": "reduce intensity none OUT.csv",
	"reduce rsoxs":     "reduce rsoxs none OUT.csv",
	"sim twotime":      "sim twotime OUT.npz",
	"sim rsoxs":        "sim rsoxs none OUT",
	"convert":          "convert none OUT.nc",
	"build catalogue":  "build catalogue none OUT.csv",
	"build library":    "build library none OUT.h5 --setup blue --lambda0 3600 --lambda1 3700 --step 1 --resolution 3000",
	"build convert":    "build convert none OUT.h5",
	"train spectrum":   "train spectrum none OUT.h5",
	"plot":             "plot trace none OUT.svg",
}

// Every command that writes a file looks whether it can before it reads or computes, and says what to do.
func TestOutputsAreCheckedFirst(t *testing.T) {
	_, all := apptest.Commands()
	for _, c := range all {
		path := strings.TrimPrefix(c.CommandPath(), "euryale ")
		if !strings.Contains(c.Use, "OUT") || strings.HasPrefix(path, "plot ") {
			continue
		}
		if outputs[path] == "" {
			t.Errorf("%s writes an output, but no line of this test does", path)
		}
	}
	lines := outputs
	for _, c := range all {
		if path := strings.TrimPrefix(c.CommandPath(), "euryale "); strings.HasPrefix(path, "plot ") {
			lines[path] = path + " none OUT.svg"
		}
	}
	dir := t.TempDir()
	t.Chdir(dir)
	if err := os.Mkdir("folder", 0o755); err != nil {
		t.Fatal(err)
	}
	for path, line := range lines {
		if path == "sim rsoxs" { // makes its folder, once it knows the morphology
			continue
		}
		words := strings.Fields(line)
		for at, want := range map[string]string{filepath.Join("missing", "x"): "mkdir -p missing", "folder": "is a folder", "old": "exists"} {
			if path == "train spectrum" && at == "old" { // which it goes on with, if a run was killed while it wrote
				continue
			}
			var args []string
			for _, w := range words {
				if name, ok := strings.CutPrefix(w, "OUT"); ok {
					w = at + name
					var err error
					switch at {
					case "folder":
						err = os.MkdirAll(w, 0o755)
					case "old":
						err = os.WriteFile(w, []byte("mine"), 0o644)
					}
					if err != nil {
						t.Fatal(err)
					}
				}
				args = append(args, w)
			}
			code, _, stderr := apptest.Do(t, args...)
			if code != exit.CannotWrite || !strings.Contains(stderr, want) || !strings.Contains(stderr, "\nTry: ") {
				t.Errorf("%q: exit %d: %s, want %q", args, code, stderr, want)
			}
		}
	}
}
