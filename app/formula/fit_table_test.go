// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package formula_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/app/apptest"
	"github.com/euryale-dev/euryale/app/exit"
)

// A fit of a formula is a table with a row for each parameter, with its unit and the bound that it lies on, and so is an old document of one.
func TestFitsOfFormulasAreTables(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.WriteFile("p.json", []byte(`{"expr": "a+b*x", "data": {"x": [0, 1, 2, 3, 4], "y": [1.1, 2.9, 5.2, 7.1, 8.8]}, "start": {"a": 1, "b": 1}, "bounds": {"b": [0, 1.5]}, "units": {"b": "1/s"}}`), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, out := range []string{"run", "t.csv"} {
		if code, text, stderr := apptest.Do(t, "fit", "nlsq", "--problem", "p.json", "--out", out); code != exit.OK || !strings.Contains(text, " 1/s\n") || !strings.Contains(stderr, out) {
			t.Fatalf("exit %d: %s%s", code, text, stderr)
		}
	}
	for _, name := range []string{"report.html", filepath.Join("plots", "fit.svg"), filepath.Join("plots", "residuals.svg")} {
		if _, err := os.Stat(filepath.Join("run", name)); err != nil {
			t.Errorf("the fit has no picture: %v", err)
		}
	}
	old := `{"engine":"nlsq","x":{"a":1,"b":1.5},"sd":{"a":0.1,"b":"NaN"},"active":{"a":0,"b":1},"cost":1,"status":"converged"}`
	if err := os.WriteFile("old.json", []byte(old), 0o644); err != nil {
		t.Fatal(err)
	}
	if code, _, stderr := apptest.Do(t, "convert", "old.json", "old.csv"); code != exit.OK {
		t.Fatalf("exit %d: %s", code, stderr)
	}
	for _, name := range []string{filepath.Join("run", "fits.csv"), "t.csv", "old.csv"} {
		all := apptest.Rows(t, name)
		if len(all) != 3 || apptest.Cell(t, all, 2, "parameter") != "b" || apptest.Cell(t, all, 2, "bound") != "upper" || apptest.Cell(t, all, 1, "bound") != "" || name != "old.csv" && apptest.Cell(t, all, 2, "unit") != "1/s" || apptest.Cell(t, all, 2, "value") != "1.5" {
			t.Errorf("%s: %q", name, all)
		}
	}
	if code, _, stderr := apptest.Do(t, "convert", "p.json", "new.csv"); code != exit.Data || !strings.Contains(stderr, "p.json holds a problem of a formula") {
		t.Errorf("exit %d: %s", code, stderr)
	}
}
