package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

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
	code, text, stderr := do(t, "fit", "g2", write(t, "g2.csv", b.String()), "--out", out)
	var rows []string
	for line := range strings.Lines(text) {
		if f := strings.Fields(line); len(f) > 0 && f[0] == "2" {
			rows = append(rows, strings.Join(f, " "))
		}
	}
	if code != exitOK || len(rows) != 1 || rows[0] != "2 - - - - - failed -" || !strings.Contains(text, "bin 2: g2: bin 2: y of point 1 is NaN") {
		t.Errorf("exit %d, %q: %s%s", code, rows, text, stderr)
	}
	report, err := os.ReadFile(filepath.Join(out, "report.html"))
	if err != nil || strings.Contains(string(report), "-1</td>") || !strings.Contains(string(report), "failed: g2: bin 2: y of point 1 is NaN") {
		t.Errorf("%v: %.3000s", err, report)
	}
}

func TestFitsAreNotResumed(t *testing.T) {
	file, dir := misfitCSV(t, nil), t.TempDir()
	old := filepath.Join(dir, "fo")
	if code, _, stderr := do(t, "fit", "g2", file, "--out", old); code != exitOK {
		t.Fatal(stderr)
	}
	for _, args := range [][]string{{"fit", "g2", file, "--resume", old}, {"fit", "g2", file, "--resume", filepath.Join(dir, "none")}, {"fit", "nlsq", "--problem", file, "--resume", old}} {
		if code, out, stderr := do(t, args...); code != exitUsage || out != "" || !strings.Contains(stderr, "has no run to go on with") {
			t.Errorf("%v: exit %d: %s%s", args, code, out, stderr)
		}
	}
	if code, _, stderr := do(t, "fit", "g2", file, "--out", old); code != exitCannotWrite || strings.Contains(stderr, "--resume") || !strings.Contains(stderr, "--overwrite") {
		t.Errorf("exit %d: %s", code, stderr)
	}
	if code, _, stderr := do(t, "fit", "g2", file, "--out", old, "--overwrite"); code != exitOK {
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
	code, out, stderr := do(t, "fit", "g2", file, "--out", filepath.Join(dir, "run"))
	if code != exitOK || !strings.Contains(out, "x (pixel)") || strings.Contains(out, "q (1/A)") {
		t.Errorf("exit %d: %s%s", code, out, stderr)
	}
	report, err := os.ReadFile(filepath.Join(dir, "run", "report.html"))
	if err != nil || !strings.Contains(string(report), "<th>x (pixel)</th>") || strings.Contains(string(report), "q (1/Å)") || strings.Contains(string(report), ", q = ") {
		t.Errorf("%v: %.500s", err, report)
	}
}
