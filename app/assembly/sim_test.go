// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package assembly_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"image/png"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/app"
	"github.com/euryale-dev/euryale/app/apptest"
	"github.com/euryale-dev/euryale/app/assembly"
	"github.com/euryale-dev/euryale/app/exit"
	"github.com/euryale-dev/euryale/app/frame"
	"github.com/euryale-dev/euryale/internal/foreign"

	brains "github.com/euryale-dev/euryale/sim/assembly"
)

func TestSimAssembly(t *testing.T) {
	apptest.ScriptFile(t, apptest.AssemblyScript)
	code, out, stderr := apptest.Do(t, "sim", "assembly", "s.yaml", "--out", "run", "--json", "--quiet", "--profile", "--threads", "1")
	if code != 0 {
		t.Fatalf("exit %d: %s", code, stderr)
	}
	var doc assembly.AssemblyDoc
	if err := json.Unmarshal([]byte(out), &doc); err != nil {
		t.Fatal(err)
	}
	if doc.Mode != "lazy-exact" || doc.Seed != 4 || doc.Steps != 65 || len(doc.Measures) != 6 || doc.Areas[0].Fired != 50 || doc.Areas[0].Support < 50 {
		t.Errorf("%+v", doc)
	}
	if len(doc.Profile) != 5 || doc.Profile[0].Calls == 0 || doc.Memory.Peak == 0 {
		t.Errorf("profile %+v, memory %+v", doc.Profile, doc.Memory)
	}
	for _, f := range []string{"config.json", "trace.csv", "measures.csv", "summary.json", "brain.snapshot", "profile.txt", "snapshots/formed.snapshot",
		"plots/support.svg", "plots/support.png", "plots/overlap.svg", "plots/raster.png"} {
		if !foreign.Exists(filepath.Join("run", f)) {
			t.Errorf("no %s", f)
		}
	}
	trace, _ := os.ReadFile("run/trace.csv")
	if lines := strings.Split(strings.TrimSpace(string(trace)), "\n"); len(lines) != 41 || !strings.Contains(lines[1], "lazy-exact") || len(strings.Fields(lines[1])) != 50 {
		t.Errorf("trace.csv of %d lines, %q", len(lines), lines[1])
	}
	f, err := os.Open("run/snapshots/formed.snapshot")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := brains.Load(f, nil); err != nil {
		t.Error(err)
	}
	result, err := assembly.ReadAssemblyResult("run")
	var again bytes.Buffer
	if err == nil {
		err = result.WriteTrace(&again)
	}
	if err != nil || len(result.Rounds) != 40 || !bytes.Equal(again.Bytes(), trace) {
		t.Errorf("the tables read back otherwise: %v", err)
	}
}

// Seeds change what happens, threads do not.
func TestSimAssemblySeeds(t *testing.T) {
	apptest.ScriptFile(t, strings.Replace(apptest.AssemblyScript, "p: 0.05", "p: 0.05\nmode: exact", 1))
	trace := func(args ...string) string {
		code, out, stderr := apptest.Do(t, append([]string{"sim", "assembly", "s.yaml", "--out", "run", "--overwrite", "--quiet"}, args...)...)
		if code != 0 || !strings.Contains(out, "mode exact") || !strings.Contains(out, "half") {
			t.Fatalf("exit %d: %s%s", code, out, stderr)
		}
		b, err := os.ReadFile("run/trace.csv")
		brain, err2 := os.ReadFile("run/brain.snapshot")
		if err := errors.Join(err, err2); err != nil {
			t.Fatal(err)
		}
		return string(b) + string(brain)
	}
	a := trace("--threads", "1")
	if b := trace("--threads", "3"); a != b {
		t.Error("threads change the result")
	}
	if b := trace("--seed", "5"); a == b {
		t.Error("the seed does not change the result")
	}
}

// An interrupted run says how it goes on, and comes to the same files.
func TestSimAssemblyResumes(t *testing.T) {
	apptest.ScriptFile(t, apptest.AssemblyScript)
	if code, _, stderr := apptest.Do(t, "sim", "assembly", "s.yaml", "--out", "whole", "--quiet", "--winners"); code != 0 {
		t.Fatal(stderr)
	}
	var out, w bytes.Buffer
	ctx := &apptest.Countdown{Context: t.Context()}
	ctx.Left.Store(50)
	if code := app.Run(ctx, []string{"sim", "assembly", "s.yaml", "--out", "part", "--winners"}, &out, &w); code != exit.Interrupted {
		t.Fatalf("exit %d: %s", code, w.String())
	}
	if text := w.String(); !strings.Contains(text, "interrupted at step") || !strings.Contains(text, "Try: euryale sim assembly --resume part") {
		t.Errorf("it says %s", text)
	}
	if foreign.Exists("part/summary.json") || !foreign.Exists("part/checkpoint") || !foreign.Exists("part/trace.csv") {
		t.Error("the files are not those of a part of a run")
	}
	if code, _, stderr := apptest.Do(t, "sim", "assembly", "--resume", "part", "--quiet"); code != 0 {
		t.Fatalf("exit %d: %s", code, stderr)
	}
	for _, f := range []string{"trace.csv", "measures.csv", "brain.snapshot", "plots/raster.svg"} {
		a, err1 := os.ReadFile(filepath.Join("whole", f))
		b, err2 := os.ReadFile(filepath.Join("part", f))
		if err1 != nil || err2 != nil || !bytes.Equal(a, b) {
			t.Errorf("%s differs: %v %v", f, err1, err2)
		}
	}
	if code, out, stderr := apptest.Do(t, "sim", "assembly", "--resume", "part", "--json"); code != 0 || !strings.Contains(stderr, "is complete") || !strings.Contains(out, `"engine": "assembly"`) {
		t.Errorf("exit %d: %s%s", code, out, stderr)
	}
}

// A run that is killed goes on from the last checkpoint.
func TestSimAssemblyKilled(t *testing.T) {
	apptest.ScriptFile(t, apptest.AssemblyScript)
	a := frame.New(nil, frame.Euryale, io.Discard, io.Discard)
	a.Quiet, a.Out = true, "run"
	ctx := &apptest.Countdown{Context: t.Context()}
	ctx.Left.Store(70)
	if err := assembly.StartAssembly(ctx, a, assembly.AssemblyConfig{File: "s.yaml", Every: "1ns"}, false); exit.CodeOf(err) != exit.Interrupted {
		t.Fatal(err)
	}
	a.Release() // as the end of the process does
	last, err := os.ReadFile("run/checkpoint")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove("run/checkpoint"); err != nil { // as if killed before the first
		t.Fatal(err)
	}
	if code, _, stderr := apptest.Do(t, "sim", "assembly", "--resume", "run", "--quiet"); code != 0 {
		t.Fatal(stderr)
	}
	whole, _ := os.ReadFile("run/measures.csv")
	os.Remove("run/summary.json")
	if err := os.WriteFile("run/checkpoint", last, 0o644); err != nil {
		t.Fatal(err)
	}
	if code, _, stderr := apptest.Do(t, "sim", "assembly", "--resume", "run", "--quiet"); code != 0 {
		t.Fatal(stderr)
	}
	if again, _ := os.ReadFile("run/measures.csv"); !bytes.Equal(again, whole) || len(whole) < 100 {
		t.Error("measures differ")
	}
}

func TestSimAssemblyRefuses(t *testing.T) {
	apptest.ScriptFile(t, apptest.AssemblyScript)
	for name, text := range map[string]string{"large.yaml": "p: 0.1\nmode: exact\nareas: {A: {n: 2e9, k: 2}}\nrun: [{clear: A}]\n", "still.yaml": "p: 0.1\nareas: {A: {n: 10, k: 2}}\nrun: [{clear: A}]\n", "bad.yaml": "p: 0.1\nareas: {A: {n: 10, k: 20}}\nrun: [{frm: A}]\n", "fails.yaml": "p: 0.1\nareas: {A: {n: 10, k: 2}}\nrun: [{activate: A, block: 3}]\n"} {
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if code, _, stderr := apptest.Do(t, "sim", "assembly", "s.yaml", "--out", "run", "--quiet"); code != 0 {
		t.Fatal(stderr)
	}
	if code, _, stderr := apptest.Do(t, "sim", "assembly", "still.yaml", "--out", "still", "--quiet"); code != 0 {
		t.Fatal(stderr)
	}
	for _, dir := range []string{"broken", "foreign", "bare", "torn"} {
		if err := os.CopyFS(dir, os.DirFS("run")); err != nil {
			t.Fatal(err)
		}
	}
	os.WriteFile("broken/checkpoint", []byte("EURYALE-SCRIPT 1\nno"), 0o644)
	os.WriteFile("bare/config.json", []byte("{}"), 0o644)
	os.WriteFile("torn/config.json", []byte("{"), 0o644)
	os.WriteFile("broken/trace.csv", []byte("a,b\n"), 0o644)
	os.WriteFile("foreign/config.json", []byte(`{"command": "sample g2"}`), 0o644)
	for _, c := range []struct {
		args string
		code int
		says string
	}{
		{"sim assembly", 64, "needs SCRIPT.yaml"},
		{"sim assembly s.yaml --checkpoint soon", 64, "want a time such as 10s"},
		{"sim assembly none.yaml", 66, "none.yaml"},
		{"sim assembly bad.yaml", 78, "bad.yaml:3:8: there is no step \"frm\": did you mean form?"},
		{"sim assembly bad.yaml", 78, "k = 20 is more than n = 10"},
		{"sim assembly large.yaml", 78, "area A (n = 2000000000, k = 2) takes about"},
		{"sim assembly --resume bare", 65, "names no command"},
		{"sim assembly --resume torn", 65, "config.json"},
		{"plot support still", 65, "nothing that this figure shows"},
		{"plot overlap still", 65, "nothing that this figure shows"},
		{"plot raster still", 65, "with --winners"},
		{"sim assembly fails.yaml --out f", 1, "fails.yaml:3:8: activate"},
		{"sim assembly s.yaml --out run", 73, "not empty"},
		{"sim assembly s.yaml --resume run", 64, "leave out s.yaml"},
		{"sim assembly --resume run --seed 3", 64, "leave out --seed"},
		{"sim assembly --resume none", 66, "not a run folder"},
		{"sim assembly --resume foreign", 78, "sample g2"},
		{"sim assembly --resume broken", 65, "checkpoint"},
		{"plot support none", 66, "not a run folder"},
		{"plot support broken", 65, "columns"},
		{"plot support run --var B", 64, "accepts A"},
		{"plot raster run run", 64, "one file is drawn"},
	} {
		if code, _, stderr := apptest.Do(t, strings.Fields(c.args)...); code != c.code || !strings.Contains(stderr, c.says) {
			t.Errorf("%s\nexit %d, want %d: %s", c.args, code, c.code, stderr)
		}
	}
}

// A run that ends in an error keeps what came before.
func TestSimAssemblyKeepsWhatFailed(t *testing.T) {
	apptest.ScriptFile(t, `
p: 0.05
stimuli: {S: 50}
areas: {A: {n: 2000, k: 50}, B: {n: 2000, k: 50}}
run:
  - {form: A, stimulus: S, steps: 50}
  - {measure: wide, support: A}
  - {measure: x, block: B}
`)
	code, _, stderr := apptest.Do(t, "sim", "assembly", "s.yaml", "--out", "run")
	for _, says := range []string{"s.yaml:8:6: measure: ", "area B does not fire", "stopped at step 50 of 50, measure at 8:6", "trace.csv, measures.csv and the checkpoint up to that step are kept in run", "Try: "} {
		if !strings.Contains(stderr, says) {
			t.Errorf("%q is not in %s", says, stderr)
		}
	}
	r, err := assembly.ReadAssemblyResult("run")
	if code != exit.Failed || err != nil || len(r.Rounds) != 50 || len(r.Measures) != 1 {
		t.Fatalf("exit %d: %v, %+v", code, err, r)
	}
	if code, _, stderr := apptest.Do(t, "plot", "support", "run", "x.svg"); code != 0 {
		t.Error(stderr)
	}
	if code, _, stderr := apptest.Do(t, "sim", "assembly", "--resume", "run"); code != exit.Failed || !strings.Contains(stderr, "s.yaml:8:6") || foreign.Exists("run/summary.json") {
		t.Errorf("resumed, exit %d: %s", code, stderr)
	}
}

// Steps that project nothing are warned of, in the document and on the terminal; what
// needs an area to fire that does not is an error with line and column, not a measure.
func TestSimAssemblySilence(t *testing.T) {
	const head = "p: 0.05\nstimuli: {S: 50}\nareas: {A: {n: 2000, k: 50}, B: {n: 2000, k: 50}}\nrun:\n"
	apptest.ScriptFile(t, head+"  - {inhibit: A}\n  - {project: S>A, steps: 2}\n  - {measure: n, active: A}\n")
	code, out, stderr := apptest.Do(t, "sim", "assembly", "s.yaml", "--json")
	var doc assembly.AssemblyDoc
	if err := json.Unmarshal([]byte(out), &doc); err != nil || code != 0 {
		t.Fatalf("exit %d, %v: %s", code, err, stderr)
	}
	if len(doc.Warnings) != 1 || doc.Warnings[0].Line != 6 || doc.Warnings[0].Column != 6 || !strings.Contains(stderr, "warning: ") || !strings.Contains(stderr, "s.yaml:6:6: project: the fibres S>A or their areas are inhibited") {
		t.Errorf("%+v: %s", doc.Warnings, stderr)
	}
	for step, says := range map[string]string{
		"{project: A>B}":                       "s.yaml:5:6: project: fibre A>B: area A does not fire, and never has",
		"{complete: A, part: 0.5}":             "s.yaml:5:6: complete: winners of area A",
		"{measure: x, overlap: [A, A]}":        "s.yaml:5:6: measure: winners of area A",
		"{branch: [{measure: x, density: A}]}": "s.yaml:5:16: measure: density of area A",
	} {
		if err := os.WriteFile("s.yaml", []byte(head+"  - "+step+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		code, out, stderr := apptest.Do(t, "sim", "assembly", "s.yaml", "--json", "--overwrite")
		measures, _ := os.ReadFile("run-s/measures.csv")
		if code != exit.Failed || !strings.Contains(stderr, says) || out != "" || bytes.Count(measures, []byte("\n")) != 1 {
			t.Errorf("%s: exit %d: %s%s\n%s", step, code, out, stderr, measures)
		}
	}
}

func TestPlotAssembly(t *testing.T) {
	apptest.ScriptFile(t, apptest.AssemblyScript)
	if code, _, stderr := apptest.Do(t, "sim", "assembly", "s.yaml", "--quiet"); code != 0 {
		t.Fatal(stderr)
	}
	for _, args := range []string{"support run-s x.png", "overlap run-s y.png --var half", "raster run-s z.png --var A"} {
		code, out, stderr := apptest.Do(t, append([]string{"plot"}, append(strings.Fields(args), "--json")...)...)
		if code != 0 || !strings.Contains(out, `"file"`) {
			t.Errorf("%s: exit %d: %s", args, code, stderr)
		}
	}
	for _, f := range []string{"x.png", "y.png", "z.png"} {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		if im, err := png.Decode(bytes.NewReader(b)); err != nil || im.Bounds().Dy() < 300 {
			t.Errorf("%s: %v", f, err)
		}
	}
}

// The demonstration forms, associates and completes.
func TestDemoAssembly(t *testing.T) {
	t.Chdir(t.TempDir())
	code, out, stderr := apptest.Do(t, "demo", "assembly", "--quiet")
	if code != 0 || !strings.Contains(out, "Look at") {
		t.Fatalf("exit %d: %s", code, stderr)
	}
	r, err := assembly.ReadAssemblyResult("demo-assembly/associate")
	if err != nil || len(r.Measures) != 20 {
		t.Fatal(err)
	}
	if first, last := r.Measures[0].Value, r.Measures[19].Value; first > 0.2 || last < 0.5 {
		t.Errorf("assemblies come from overlap %g to %g, want below 0.2 to above 0.5", first, last)
	}
	if code, out, stderr := apptest.Do(t, "demo", "assembly", "--overwrite", "--json", "--quiet"); code != 0 || !strings.Contains(out, `"pictures"`) {
		t.Errorf("again, exit %d: %s", code, stderr)
	}
}
