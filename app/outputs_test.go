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
	"reduce nexafs":    "reduce nexafs none OUT.csv",
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
		if path == "sim rsoxs" { // makes its folder
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

// sim rsoxs looks at its folder before it reads the configuration and the morphology, neither of which is there.
func TestFolderOfPatternsIsCheckedFirst(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, name := range []string{"file", "others/Energy_280.00.h5"} {
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte("mine"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for line, want := range map[string]string{"sim rsoxs none file": "is a file, not a folder", "sim rsoxs none file/below": "file", "sim rsoxs none others": "of another program",
		"sim rsoxs none --out others": "of another program"} {
		code, _, stderr := apptest.Do(t, strings.Fields(line)...)
		if code != exit.CannotWrite || !strings.Contains(stderr, want) || strings.Contains(stderr, "none") || !strings.Contains(stderr, "\nTry: ") {
			t.Errorf("%s: exit %d: %s, want %q", line, code, stderr, want)
		}
	}
	if code, _, stderr := apptest.Do(t, strings.Fields("sim rsoxs none --resume others")...); code != exit.NoInput || !strings.Contains(stderr, "no run to continue") {
		t.Errorf("exit %d: %s", code, stderr)
	}
	if code, _, stderr := apptest.Do(t, strings.Fields("sim rsoxs none new")...); code == exit.CannotWrite || code == 0 {
		t.Errorf("exit %d: %s", code, stderr)
	}
	if _, err := os.Stat("new"); err == nil {
		t.Error("a folder was made before anything was read")
	}
}
