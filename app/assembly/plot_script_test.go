// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package assembly_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/app/apptest"
	"github.com/euryale-dev/euryale/app/assembly"
	"github.com/euryale-dev/euryale/app/exit"
	"github.com/euryale-dev/euryale/app/frame"
)

const smallScript = "p: 0.1\nstimuli: {S: 30}\nareas:\n  A: {n: 300, k: 15}\n  B: {n: 200, k: 10, beta: 0.2}\nrun:\n  - {form: A, stimulus: S, steps: 5}\n  - {remember: formed, area: A}\n  - {measure: kept, overlap: [A, formed]}\n"

// A script is run on the spot with its numbers multiplied, and printed so that sim assembly runs it too.
func TestPlotScript(t *testing.T) {
	t.Chdir(t.TempDir())
	write := func(name, text string) {
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("small.yaml", smallScript)
	write("large.yaml", strings.Replace(smallScript, "n: 300", "n: 3000000", 1))
	write("wrong.yaml", "areas: {A: {n: 3}}\nrun:\n  - {forn: A}\n")
	write("other.yaml", "template_lib: library.h5\n")
	for _, show := range []string{"support", "raster", "overlap"} {
		if code, _, stderr := apptest.Do(t, "plot", "script", "small.yaml", show+".svg", "--show", show, "--beta-times", "2", "--seed", "3"); code != exit.OK {
			t.Errorf("%s: exit %d: %s", show, code, stderr)
		}
	}
	code, text, stderr := apptest.Do(t, "plot", "script", "small.yaml", "--script", "--n-times", "2", "--k-times", "0.5", "--p-times", "20", "--beta-times", "2")
	for _, want := range []string{"p: 1\n", "A: {n: 600, k: 8}", "B: {n: 400, k: 5, beta: 0.4}", "\nbeta: 0.1\n"} {
		if code != exit.OK || !strings.Contains(text, want) {
			t.Errorf("exit %d: %s%s: want %q", code, text, stderr, want)
		}
	}
	if _, text, _ := apptest.Do(t, "plot", "script", "small.yaml", "--script"); text != smallScript {
		t.Errorf("factors of 1 changed the script: %s", text)
	}
	for line, want := range map[string]struct {
		code int
		says string
	}{
		"small.yaml x.svg --k-times 100": {exit.WrongUsage, "these factors make no script"}, "small.yaml --n-times 0": {exit.WrongUsage, "want a number above 0"}, "small.yaml --show tracks": {exit.WrongUsage, "--show tracks"},
		"large.yaml": {exit.WrongUsage, "sim assembly runs scripts of any size"}, "wrong.yaml": {exit.Config, "forn"}, "none.yaml": {exit.NoInput, "none.yaml"},
	} {
		if code, _, stderr := apptest.Do(t, append([]string{"plot", "script"}, strings.Fields(line)...)...); code != want.code || !strings.Contains(stderr, want.says) {
			t.Errorf("%s: exit %d: %s", line, code, stderr)
		}
	}
	fields := []frame.Field{assembly.Field()}
	for name, kind := range map[string]string{"small.yaml": "Assembly scripts", "wrong.yaml": "Assembly scripts", "other.yaml": ""} {
		if l := frame.LookOf(fields, name, false); l == nil && kind != "" || l != nil && (l.Kind != kind || len(l.Pictures) != 3 || l.Works[0] != "sim assembly") {
			t.Errorf("%s: %+v", name, l)
		}
	}
}

// A run that goes on has tables of its steps so far, which are drawn.
func TestRunIsDrawnWhileItGoesOn(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.WriteFile("small.yaml", []byte(smallScript), 0o644); err != nil {
		t.Fatal(err)
	}
	restore := assembly.SetLiveEvery(0)
	defer restore()
	if code, _, stderr := apptest.Do(t, "sim", "assembly", "small.yaml", "--out", "run", "--quiet"); code != exit.OK {
		t.Fatalf("exit %d: %s", code, stderr)
	}
	if err := os.Remove(filepath.Join("run", "summary.json")); err != nil { // as before the end
		t.Fatal(err)
	}
	l := frame.LookOf([]frame.Field{assembly.Field()}, "run", true)
	if l == nil || l.Kind != "Runs of assembly scripts" {
		t.Fatalf("%+v", l)
	}
	if code, _, stderr := apptest.Do(t, "plot", "support", "run", "a.svg"); code != exit.OK {
		t.Errorf("exit %d: %s", code, stderr)
	}
}
