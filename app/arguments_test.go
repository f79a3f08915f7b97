// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package app_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/app"
	"github.com/euryale-dev/euryale/app/apptest"
	"github.com/euryale-dev/euryale/app/exit"
	"github.com/euryale-dev/euryale/app/frame"
)

// A mistake on the command line is told in words that need no knowledge of Go or of the parser.
func TestMistakesOnTheCommandLine(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "d.csv")
	if err := os.WriteFile(file, []byte("tau,g2,g2_err\n1,1.1,0.1\n2,1.9,0.1\n3,3.1,0.1\n4,4,0.1\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for line, want := range map[string]string{
		"sample g2 F --bin x":                  "Error: --bin x: want a whole number\nTry: euryale sample g2 --help\n",
		"sample g2 F --bin 0":                  "Error: --bin 0: bins are counted from 1: the first is --bin 1\n",
		"sample g2 F --draws 1e3":              "Error: --draws 1e3: want a whole number, written 1000\nTry: euryale sample g2 --help\n",
		"sample g2 F --draws 1e30":             "Error: --draws 1e30: want a smaller whole number\nTry: euryale sample g2 --help\n",
		"sample g2 F --target-accept high":     "Error: --target-accept high: want a number\nTry: euryale sample g2 --help\n",
		"--seed -1 info":                       "Error: --seed -1: want a whole number from 0\nTry: euryale info --help\n",
		"fit g2 F --json=maybe":                "Error: --json maybe: want true or false, or leave the value out\nTry: euryale fit g2 --help\n",
		"fit g2 --treads 1 F":                  "Error: euryale fit g2 has no flag --treads: did you mean --threads?\nTry: euryale fit g2 --help\n",
		"fit g2 --qwertyuiop F":                "Error: euryale fit g2 has no flag --qwertyuiop\nTry: euryale fit g2 --help\n",
		"fit g2 F --model":                     "Error: --model needs a value\nTry: euryale fit g2 --help\n",
		"fit g2 F -3":                          "Error: there is no flag -3: long names begin with --, and a negative number is written after =, as in --flag=-1\nTry: euryale fit g2 --help\n",
		"fut":                                  "Error: there is no command fut\nTry: euryale fit\n",
		"version":                              "Error: there is no command version\nTry: euryale --version\n",
		"qwertyuiop":                           "Error: there is no command qwertyuiop\nTry: euryale --help\n",
		"help fit nothing":                     "Error: there is no command fit nothing\nTry: euryale --help\n",
		"completion tcsh":                      "Error: completion tcsh: want one of bash, fish, powershell, zsh\n",
		"fit":                                  "Error: fit needs a second word: one of g2, twotime, geometry, spectra, nlsq, curve, stan\n",
		"sim twotime " + dir + "/speckles.xyz": "Error: " + dir + "/speckles.xyz: the extension does not say which layout to write: end the name in .npz or .hdf, or give --layout\n",
	} {
		code, out, errs := apptest.Do(t, strings.Fields(strings.ReplaceAll(line, " F", " "+file))...)
		if code != exit.WrongUsage || out != "" || errs != want {
			t.Errorf("%s: exit code %d, %q, want %q", line, code, errs, want)
		}
	}
	plain := filepath.Join(dir, "plain")
	if err := os.WriteFile(plain, []byte("mine"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, out := range []string{plain, filepath.Join(file, "run")} {
		want := "Error: the results cannot be written to " + out + ": there is a file of this name, or in place of a folder above it\nTry: another --out\n"
		if code, _, errs := apptest.Do(t, "fit", "g2", file, "--out", out); code != exit.CannotWrite || errs != want {
			t.Errorf("exit code %d, %q, want %q", code, errs, want)
		}
	}
	if text, err := os.ReadFile(file); err != nil || len(text) == 0 {
		t.Errorf("the file is gone: %v", err)
	}
}

func TestVersion(t *testing.T) {
	if code, out, errs := apptest.Do(t, "--version"); code != 0 || errs != "" || out != "euryale "+frame.Version()+"\n" {
		t.Errorf("exit code %d: %q %q", code, out, errs)
	}
}

// A program of another name calls itself so in its help, its advice and the scripts that it makes, and leaves
// the name of the project alone.
func TestOtherProgram(t *testing.T) {
	call := func(args ...string) string {
		var out, errs strings.Builder
		frame.Run(t.Context(), app.Fields(), "lab", args, &out, &errs)
		return out.String() + errs.String()
	}
	for _, command := range [][]string{{"--help"}, {"fit", "g2", "--help"}, {"batch", "--help"}, {"fit", "g2", "--treads"}, {"fut"}, {"sim"}, {"completion", "bash"}} {
		text := call(command...)
		if strings.Contains(text, "euryale ") || !strings.Contains(text, "lab ") && !strings.Contains(text, "sim needs") {
			t.Errorf("%v:\n%s", command, text)
		}
	}
	if text := call("--help"); !strings.HasPrefix(text, "Euryale simulates") {
		t.Error(text)
	}
	t.Chdir(t.TempDir())
	for name, text := range map[string]string{"d.csv": "tau,g2,g2_err\n1,1.1,0.1\n2,1.9,0.1\n3,3.1,0.1\n4,4,0.1\n", "fits.yaml": "work: fit g2\nfiles: d.csv\n"} {
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if text := call("batch", "fits.yaml"); !strings.Contains(text, "lab batch run fits") {
		t.Error(text)
	}
	if text := call("batch", "sbatch", "fits", "--shards", "1"); !strings.Contains(text, "\nlab batch run \"$folder\"") || strings.Contains(text, "\neuryale") {
		t.Error(text)
	}
}
