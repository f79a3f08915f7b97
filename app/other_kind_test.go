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
	"github.com/euryale-dev/euryale/app/frame"
	"github.com/euryale-dev/euryale/internal/docs"
)

// Every command that is named for a file of some kind exists, with its flags.
func TestCommandsForFiles(t *testing.T) {
	root, _ := apptest.Commands()
	lines := frame.CommandsForFiles()
	if len(lines) < 20 {
		t.Errorf("there are %d commands for files", len(lines))
	}
	for _, line := range lines {
		if f := docs.CommandFault(root, line); f != "" {
			t.Errorf("%s: %s", line, f)
		}
	}
}

// A file in the place of one of another kind is named with what it holds and with a command that takes it.
func TestFileOfAnotherKind(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"line.json":    `{"expr": "a*x", "data": {"x": [1, 2], "y": [1, 2]}, "start": {"a": 1}}`,
		"ball.json":    `{"model": "core_shell", "grid": {}, "parameters": {}}`,
		"curve.json":   `{"fit": "completion", "alpha": [0.1], "recovered": [10], "k": 100}`,
		"flow.yaml":    "analysis_mode: static\n",
		"config.json":  `{"command": "sample g2", "version": "1"}`,
		"g2.csv":       "tau,g2\n1,1.2\n",
		"spectrum.csv": "wave,flux\n5000,1\n",
		"im.tif":       "II*\x00",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(dir)
	for line, want := range map[string]string{
		"invert rsoxs line.json":                      `line.json holds a problem of a formula (it has the key "expr"), which invert rsoxs does not take` + "\nTry: euryale sample expr line.json",
		"sample expr --problem ball.json":             "which sample expr --problem does not take\nTry: euryale invert rsoxs ball.json",
		"sim rsoxs curve.json":                        "Try: euryale sample assembly --problem curve.json",
		"fit g2 flow.yaml":                            "Try: euryale fit twotime flow.yaml",
		"invert rsoxs config.json":                    "config.json holds the configuration of a run (it has the keys \"command\" and \"version\"), which invert rsoxs does not take\nTry: name the folder of the run",
		"sim assembly g2.csv":                         `want keys and values` + "\nTry: g2.csv is a table of g2: euryale fit g2 g2.csv",
		"plot morphology spectrum.csv x.svg":          `it is not an HDF5 file but text that begins with "wave,flux"`,
		"correlate spectrum.csv --qmap im.tif":        "Try: im.tif is a TIFF picture: euryale mask MASK.h5 --image im.tif",
		"build library stars.h5 g2.csv":               "Try: euryale build library g2.csv stars.h5, if they are the wrong way round",
		"plot morphology x.svg g2.csv":                "Try: euryale plot morphology g2.csv x.svg, if they",
		"fit nlsq --problem line.json --out fits.xls": "--out fits.xls: a table has the ending",
		"sbc line.json":                               "did you mean --problem line.json?",
		"plot morphology im.tif x.svg":                "it is not an HDF5 file but a TIFF picture",
	} {
		code, _, text := apptest.Do(t, strings.Fields(line)...)
		if code != exit.Data && code != exit.WrongUsage && code != exit.Config && code != exit.NoInput && code != exit.CannotWrite || !strings.Contains(text, want) {
			t.Errorf("%s: exit code %d\n%s\nwant %s", line, code, text, want)
		}
	}
}
