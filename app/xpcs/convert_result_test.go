// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package xpcs_test

import (
	"encoding/json"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/app/apptest"
	"github.com/euryale-dev/euryale/app/exit"
	"github.com/euryale-dev/euryale/app/xpcs"
)

// fitted runs fit g2 and returns its document.
func fitted(t *testing.T, line string) xpcs.FitDoc {
	t.Helper()
	code, stdout, stderr := apptest.Do(t, strings.Fields("fit g2 --json "+line)...)
	var doc xpcs.FitDoc
	if err := json.Unmarshal([]byte(stdout), &doc); code != 0 || err != nil {
		t.Fatalf("%s: exit %d, %v: %s", line, code, err, stderr)
	}
	return doc
}

// Fits of a table that convert has written are those of the result, because the table has the covariance of the points.
func TestFitsOfConvertedTable(t *testing.T) {
	correlated(t)
	for _, line := range []string{"convert a_results.hdf g2.csv", "convert a_results.hdf plain.csv --no-covariance"} {
		if code, _, stderr := apptest.Do(t, strings.Fields(line)...); code != 0 || strings.Contains(stderr, "covariance") != strings.Contains(line, "g2.csv") {
			t.Fatalf("%s: exit %d: %s", line, code, stderr)
		}
	}
	want, got, plain := fitted(t, "a_results.hdf"), fitted(t, "g2.csv"), fitted(t, "plain.csv")
	for i, b := range want.Bins {
		if q := got.Bins[i].Q; q != b.Q {
			t.Errorf("bin %d: q is %v in the table, %v in the result", b.Bin, q, b.Q)
		}
		for name, v := range b.X {
			if x, sd := got.Bins[i].X[name], got.Bins[i].SD[name]; math.Abs(float64(x-v)) > 1e-3*float64(b.SD[name]) || math.Abs(float64(sd/b.SD[name]-1)) > 1e-3 {
				t.Errorf("bin %d: %s is %g +- %g of the table, %g +- %g of the result", b.Bin, name, x, sd, v, b.SD[name])
			}
		}
	}
	if plain.Bins[1].SD["tau"] == want.Bins[1].SD["tau"] {
		t.Error("the plain table has the covariance")
	}
	// Without one row, the covariances are those of others.
	b, err := os.ReadFile("g2.csv")
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(string(b), "\n")
	os.WriteFile("less.csv", []byte(strings.Join(append(lines[:20:20], lines[21:]...), "\n")), 0o644)
	if code, _, stderr := apptest.Do(t, strings.Fields("fit g2 less.csv")...); code != exit.Data || !strings.Contains(stderr, "rows were removed, added or reordered") {
		t.Errorf("exit %d: %s", code, stderr)
	}
}
