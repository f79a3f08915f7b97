// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package xpcs_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/app/apptest"
	"github.com/euryale-dev/euryale/app/exit"
	"github.com/euryale-dev/euryale/app/xpcs"
	"github.com/euryale-dev/euryale/data/nexus"
	"github.com/euryale-dev/euryale/demo"
)

// A bin that could not be fitted shows a dash for every number, and the reason below the
// table and in the report.
func TestFailedBinsShowNoNumbers(t *testing.T) {
	var b strings.Builder
	b.WriteString("bin,tau,g2,g2_err\n")
	for i := range 20 {
		b.WriteString("1," + []string{"0.001,1.2,0.01", "0.1,1.05,0.01", "1,1.001,0.01"}[i%3] + "\n")
		b.WriteString("2,0.01,nan,0.01\n")
	}
	out := filepath.Join(t.TempDir(), "run")
	code, text, stderr := apptest.Do(t, "fit", "g2", apptest.Write(t, "g2.csv", b.String()), "--out", out)
	var rows []string
	for line := range strings.Lines(text) {
		if f := strings.Fields(line); len(f) > 0 && f[0] == "2" {
			rows = append(rows, strings.Join(f, " "))
		}
	}
	if code != exit.OK || len(rows) != 1 || rows[0] != "2 - - - - - failed -" || !strings.Contains(text, "bin 2: g2 of point 1 is NaN") {
		t.Errorf("exit %d, %q: %s%s", code, rows, text, stderr)
	}
	report, err := os.ReadFile(filepath.Join(out, "report.html"))
	if err != nil || strings.Contains(string(report), "-1</td>") || !strings.Contains(string(report), "failed: g2 of point 1 is NaN") {
		t.Errorf("%v: %.3000s", err, report)
	}
}

func TestFitsAreNotResumed(t *testing.T) {
	file, dir := apptest.MisfitCSV(t, nil), t.TempDir()
	old := filepath.Join(dir, "fo")
	if code, _, stderr := apptest.Do(t, "fit", "g2", file, "--out", old); code != exit.OK {
		t.Fatal(stderr)
	}
	for _, args := range [][]string{{"fit", "g2", file, "--resume", old}, {"fit", "g2", file, "--resume", filepath.Join(dir, "none")}} {
		if code, out, stderr := apptest.Do(t, args...); code != exit.WrongUsage || out != "" || !strings.Contains(stderr, "has no run to continue") {
			t.Errorf("%v: exit %d: %s%s", args, code, out, stderr)
		}
	}
	if code, _, stderr := apptest.Do(t, "correlate", "frames.h5", "--resume", old); code != exit.WrongUsage || !strings.Contains(stderr, "the same command, given again, goes on") {
		t.Errorf("exit %d: %s", code, stderr)
	}
	if code, _, stderr := apptest.Do(t, "fit", "g2", file, "--out", old); code != exit.CannotWrite || strings.Contains(stderr, "--resume") || !strings.Contains(stderr, "--overwrite") {
		t.Errorf("exit %d: %s", code, stderr)
	}
	if code, _, stderr := apptest.Do(t, "fit", "g2", file, "--out", old, "--overwrite"); code != exit.OK {
		t.Error(stderr)
	}
}

// Bins along another axis than q are headed by its name and unit.
func TestBinsOfAnotherAxis(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "x.hdf")
	if err := os.WriteFile(file, demo.Correlations(), 0o644); err != nil {
		t.Fatal(err)
	}
	r, err := nexus.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	r.QMap.Names, r.QMap.Units = []string{"x", "y"}, []string{"pixel", "pixel"}
	file = filepath.Join(dir, "y.hdf")
	if err := nexus.Write(file, r); err != nil {
		t.Fatal(err)
	}
	code, out, stderr := apptest.Do(t, "fit", "g2", file, "--out", filepath.Join(dir, "run"))
	if code != exit.OK || !strings.Contains(out, "x (pixel)") || strings.Contains(out, "q (1/A)") {
		t.Errorf("exit %d: %s%s", code, out, stderr)
	}
	report, err := os.ReadFile(filepath.Join(dir, "run", "report.html"))
	if err != nil || !strings.Contains(string(report), "<th>x (pixel)</th>") || strings.Contains(string(report), "q (1/Å)") || strings.Contains(string(report), ", q = ") {
		t.Errorf("%v: %.500s", err, report)
	}
}

// Several files are fitted by one command: a file that fails is reported, and the others have their folders and rows.
func TestFitFiles(t *testing.T) {
	correlated(t)
	os.WriteFile("notes.csv", []byte("hello\n"), 0o644)
	os.Mkdir("other", 0o755)
	b, err := os.ReadFile("a_results.hdf")
	if err != nil {
		t.Fatal(err)
	}
	os.WriteFile("other/a_results.hdf", b, 0o644)
	code, stdout, stderr := apptest.Do(t, strings.Fields("fit g2 a_results.hdf a_half_results.hdf notes.csv --bins 1,2 --out fits --json")...)
	var doc xpcs.FitsDoc
	if err := json.Unmarshal([]byte(stdout), &doc); err != nil || code != exit.Data || !strings.Contains(stderr, "1 of 3 files failed, and the others were fitted: notes.csv") {
		t.Fatalf("exit %d, %v: %s", code, err, stderr)
	}
	if len(doc.Files) != 3 || doc.Files[0].Status != "fitted" || len(doc.Files[1].Bins) != 2 || doc.Files[2].Status != "failed" || doc.Files[2].Message == "" {
		t.Errorf("%+v", doc)
	}
	table, err := os.ReadFile("fits/fits.csv")
	if err != nil || strings.Count(string(table), "\n") != 5 || !strings.HasPrefix(string(table), "file,bin,q (1/A),phi (deg),tau (s),tau_sd (s),") {
		t.Errorf("%v: %s", err, table)
	}
	for _, name := range []string{"fits/a/fit.json", "fits/a_half/report.html"} {
		if _, err := os.Stat(name); err != nil {
			t.Error(err)
		}
	}
	if want := fitted(t, "a_results.hdf --bins 2").Bins[0]; doc.Files[0].Bins[1].X["tau"] != want.X["tau"] {
		t.Errorf("tau %g, alone %g", doc.Files[0].Bins[1].X["tau"], want.X["tau"])
	}
	for line, want := range map[string]string{"fit g2 a_results.hdf a_half_results.hdf --out fits": "exists", "fit g2 a_results.hdf other/a_results.hdf --out x": "would both go to x/a"} {
		if code, _, stderr := apptest.Do(t, strings.Fields(line)...); code == 0 || !strings.Contains(stderr, want) {
			t.Errorf("%s: exit %d: %s", line, code, stderr)
		}
	}
	if code, stdout, stderr := apptest.Do(t, strings.Fields("fit g2 a_results.hdf other/a_results.hdf --bins 2")...); code != 0 || strings.Count(stdout, "agrees") < 2 {
		t.Errorf("exit %d: %s%s", code, stdout, stderr)
	}
}
