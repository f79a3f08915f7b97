// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package formula_test

import (
	"os"
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/app/apptest"
	"github.com/euryale-dev/euryale/app/exit"
)

// Columns of a table are drawn by name, and names that it does not have are told.
func TestPlotTable(t *testing.T) {
	file := apptest.Write(t, "data.csv", "q (1/nm),colour,tau (s),sd,n\n1,a,9,0.5,1\n2,b,4,0.4,2\n3,c,2,0.2,3\n")
	t.Chdir(t.TempDir())
	for line, want := range map[string]string{
		"plot table " + file + " a.svg":                                        "tau (s)",
		"plot table " + file + " b.svg --x tau --y n --log-x":                  "n",
		"plot table " + file + " c.svg --y tau --error sd --log-y --overwrite": "tau (s)",
	} {
		args := strings.Fields(line)
		if code, _, stderr := apptest.Do(t, args...); code != exit.OK {
			t.Errorf("%s: exit %d: %s", line, code, stderr)
			continue
		}
		if b, err := os.ReadFile(args[3]); err != nil || !strings.Contains(string(b), ">"+want+"<") {
			t.Errorf("%s: %v: the picture lacks %q", line, err, want)
		}
	}
	for line, says := range map[string]string{
		"--y tua": "did you mean tau?", "--x colour": "want one of the columns of numbers: q, tau, sd, n", "--error sd": "name one column with --y",
	} {
		if code, _, stderr := apptest.Do(t, append([]string{"plot", "table", file, "d.svg"}, strings.Fields(line)...)...); code != exit.WrongUsage || !strings.Contains(stderr, says) {
			t.Errorf("%s: exit %d: %s", line, code, stderr)
		}
	}
}

// Columns without a number are left out of a picture of a table, unless they are asked for.
func TestPlotTableOfEmptyColumns(t *testing.T) {
	file := apptest.Write(t, "fits.csv", "bin,tau,tau_bound,alpha\n1,2,,3\n2,3,,4\n")
	t.Chdir(t.TempDir())
	if code, _, stderr := apptest.Do(t, "plot", "table", file, "a.svg"); code != exit.OK {
		t.Fatalf("exit %d: %s", code, stderr)
	}
	if b, err := os.ReadFile("a.svg"); err != nil || !strings.Contains(string(b), ">alpha<") || strings.Contains(string(b), "tau_bound") {
		t.Errorf("%v: the picture shows other columns", err)
	}
	empty := apptest.Write(t, "none.csv", "bin,a,b\n1,,\n2,,\n")
	if code, _, stderr := apptest.Do(t, "plot", "table", empty, "b.svg"); code != exit.Data || !strings.Contains(stderr, "number") {
		t.Errorf("exit %d: %s", code, stderr)
	}
}
