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
