// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package formula_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/app/apptest"
)

// Sides of intervals that the data leave open are told as such, and those that hold the others are never narrower: a straight line is a decay whose amplitude, time and background go to infinity.
func TestOpenIntervalsAreTold(t *testing.T) {
	rows := []string{"x,y"}
	for i, e := range []float64{0.3, -0.5, 0.1, 0.7, -0.9, 0.4, -0.2, 0.6, -0.6, 0.1, -0.4, 0.5} {
		rows = append(rows, fmt.Sprintf("%d,%.2f", i, 1+0.5*float64(i)+0.1*e))
	}
	data := apptest.Write(t, "line.csv", strings.Join(rows, "\n")+"\n")
	code, text, stderr := apptest.Do(t, "fit", "curve", data, "a*exp(-x/tau) + c", "--profile", "--limits")
	if code != 0 || !strings.Contains(text, "68 %: open on both sides   95 %: open on both sides") || !strings.Contains(text, "a          no limit") {
		t.Errorf("exit %d: %s%s", code, text, stderr)
	}
	// Of a sum the data do not determine its terms, and starts are the shortest.
	code, text, stderr = apptest.Do(t, "fit", "curve", data, "a + b*x + c*x", "--profile")
	if code != 0 || strings.Count(text, "open on both sides") != 4 || strings.Contains(text, "e+") {
		t.Errorf("exit %d: %s%s", code, text, stderr)
	}
}

// Values whose squares are no 64-bit numbers are fitted, with results in the units of the table, and refused with their row where they are sampled.
func TestExtremeUnits(t *testing.T) {
	data := apptest.Write(t, "d.csv", "x,y\n0,6e200\n1,4.9e200\n2,4.1e200\n3,3.3e200\n4,2.9e200\n5,2.4e200\n6,2.2e200\n")
	out := t.TempDir() + "/o"
	code, text, stderr := apptest.Do(t, "fit", "curve", data, "a*exp(-x/tau) + c", "--profile", "--out", out)
	if code != 0 || !strings.Contains(text, "a            4.89e+200") || !strings.Contains(text, "e+200 +- ") || !strings.Contains(text, "e+200 to 5.") || !strings.Contains(stderr, "with y in units of 1e+200") {
		t.Errorf("exit %d: %s%s", code, text, stderr)
	}
	if curve := apptest.Rows(t, out+"/curve.csv"); !strings.Contains(fmt.Sprint(curve), "e+200") {
		t.Errorf("%v", curve)
	}
	code, _, stderr = apptest.Do(t, "sample", "curve", data, "a*exp(-x/tau) + c", "--out", out+"2")
	if code != 65 || !strings.Contains(stderr, "y is 6e+200 in row 1 of") {
		t.Errorf("exit %d: %s", code, stderr)
	}
}
