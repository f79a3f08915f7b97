// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package xpcs_test

import (
	"encoding/csv"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/app/apptest"
	"github.com/euryale-dev/euryale/app/exit"
)

// rows reads a table as CSV.
func rows(t *testing.T, name string) [][]string {
	t.Helper()
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	all, err := csv.NewReader(f).ReadAll()
	if err != nil || len(all) < 2 {
		t.Fatalf("%s: %q: %v", name, all, err)
	}
	return all
}

// cell returns the cell of a column.
func cell(t *testing.T, all [][]string, row int, name string) string {
	t.Helper()
	at := slices.Index(all[0], name)
	if at < 0 {
		t.Fatalf("there is no column %q in %q", name, all[0])
	}
	return all[row][at]
}

// A fit of one file writes a table too, in its folder or alone, with units, errors, bounds and the verdict.
func TestFitsOfOneFileAreATable(t *testing.T) {
	t.Chdir(filepath.Dir(apptest.DemoFile(t)))
	if code, stdout, stderr := apptest.Do(t, strings.Fields("fit g2 demo.hdf --out run --bins 2,3 --bounds contrast=0.01:0.05")...); code != exit.OK || !strings.Contains(stdout, "fits.csv") {
		t.Fatalf("exit %d: %s%s", code, stdout, stderr)
	}
	all := rows(t, "run/fits.csv")
	if head := strings.Join(all[0], ","); len(all) != 3 || !strings.HasPrefix(head, "file,bin,q (1/A),phi (deg),tau (s),tau_sd (s),tau_bound,baseline,") {
		t.Errorf("%q", all)
	}
	if cell(t, all, 1, "bin") != "2" || cell(t, all, 1, "contrast_bound") != "upper" || cell(t, all, 1, "tau_bound") != "" || cell(t, all, 1, "model") == "" || cell(t, all, 1, "tau_sd (s)") == "" || !strings.Contains(cell(t, all, 1, "flags"), "bound") {
		t.Errorf("%q", all[1])
	}
	for _, name := range []string{"tau.csv", "tau.xlsx", "tau.parquet"} {
		if code, stdout, stderr := apptest.Do(t, "fit", "g2", "demo.hdf", "--bins", "2", "--out", name); code != exit.OK || !strings.Contains(stdout, "wrote "+name) {
			t.Errorf("%s: exit %d: %s%s", name, code, stdout, stderr)
		}
		if st, err := os.Stat(name); err != nil || st.IsDir() {
			t.Errorf("%s: %v", name, err)
		}
	}
	if code, _, stderr := apptest.Do(t, "fit", "g2", "demo.hdf", "--out", "tau.csv"); code != exit.CannotWrite || !strings.Contains(stderr, "--overwrite") {
		t.Errorf("exit %d: %s", code, stderr)
	}
	if code, _, stderr := apptest.Do(t, strings.Fields("fit g2 tau.csv --overwrite --out tau.csv")...); code == exit.OK || len(rows(t, "tau.csv")) != 2 {
		t.Errorf("exit %d: %s", code, stderr)
	}
	if err := os.WriteFile("in.csv", []byte(apptest.DecayCSV("")), 0o644); err != nil {
		t.Fatal(err)
	}
	if code, _, stderr := apptest.Do(t, strings.Fields("fit g2 in.csv --overwrite --out ./in.csv")...); code != exit.WrongUsage || !strings.Contains(stderr, "this is the input") {
		t.Errorf("exit %d: %s", code, stderr)
	}
	if code, _, stderr := apptest.Do(t, strings.Fields("fit g2 demo.hdf demo.hdf --bins 2 --out both.csv")...); code != exit.OK || len(rows(t, "both.csv")) != 3 {
		t.Errorf("exit %d: %s", code, stderr)
	}
}

// A fit that cannot begin leaves no folder behind.
func TestFitThatFailsLeavesNoFolder(t *testing.T) {
	t.Chdir(filepath.Dir(apptest.DemoFile(t)))
	if code, _, stderr := apptest.Do(t, strings.Fields("fit g2 demo.hdf --bins 2 --out run --start tau=-1")...); code == exit.OK {
		t.Error(stderr)
	}
	if _, err := os.Stat("run"); !os.IsNotExist(err) {
		t.Error(err)
	}
}

// The fit of a table of ages has the ages in its rows, and a picture against them.
func TestFitsOfAges(t *testing.T) {
	correlated(t)
	if code, _, stderr := apptest.Do(t, strings.Fields("reduce ages a_results.hdf ages.csv --bin 3 --ages 50,150 --half 10")...); code != exit.OK {
		t.Fatal(stderr)
	}
	code, stdout, stderr := apptest.Do(t, strings.Fields("fit g2 ages.csv --out run")...)
	all := rows(t, "run/fits.csv")
	if code != exit.OK || cell(t, all, 1, "age (s)") != "0.5" || cell(t, all, 2, "age (s)") != "1.5" || cell(t, all, 1, "q (1/A)") == "" || !strings.Contains(stdout, "age (s)") {
		t.Errorf("exit %d: %q %s%s", code, all, stdout, stderr)
	}
	if _, err := os.Stat("run/plots/parameters.svg"); err != nil {
		t.Error(err)
	}
	page, err := os.ReadFile("run/report.html")
	if err != nil || !strings.Contains(string(page), "<th>age (s)</th>") {
		t.Error(err)
	}
}
