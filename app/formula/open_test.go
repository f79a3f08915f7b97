// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package formula_test

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/app/apptest"
	"github.com/euryale-dev/euryale/app/exit"
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

// Formulas of counts are compared by the Poisson likelihood, with errors at the counts that each predicts, and mistakes are told before anything is fitted.
func TestComparisonsOfCounts(t *testing.T) {
	data := apptest.Write(t, "n.csv", "x,n\n0,22\n1,14\n2,16\n3,9\n4,11\n5,6\n6,9\n7,4\n8,6\n9,3\n10,5\n11,2\n12,3\n13,1\n14,2\n15,1\n")
	code, text, stderr := apptest.Do(t, "fit", "curve", data, "a*exp(-x/tau)", "--sigma", "poisson", "--compare", "a*exp(-x/tau) + c", "--profile", "--json")
	var doc struct {
		X       map[string]float64
		Ends    map[string][]float64 `json:"interval68"`
		Choices []struct{ AICc float64 }
	}
	if code != 0 || json.Unmarshal([]byte(text), &doc) != nil || len(doc.Choices) != 2 {
		t.Fatalf("exit %d: %s%s", code, text, stderr)
	}
	deviance := 0.0 // of the fit, by hand
	for i, n := range []float64{22, 14, 16, 9, 11, 6, 9, 4, 6, 3, 5, 2, 3, 1, 2, 1} {
		m := doc.X["a"] * math.Exp(-float64(i)/doc.X["tau"])
		deviance += 2 * (m - n + n*math.Log(n/m))
	}
	if want := deviance + 2*2 + 2*2*3/13.; math.Abs(doc.Choices[0].AICc-want) > 1e-5 || len(doc.X) != 2 {
		t.Errorf("AICc %g, want %g; %v", doc.Choices[0].AICc, want, doc.X)
	}
	if below, above := doc.X["tau"]-doc.Ends["tau"][0], doc.Ends["tau"][1]-doc.X["tau"]; !(below > 0 && above > 1.05*below) {
		t.Errorf("the interval of tau is %v about %g", doc.Ends["tau"], doc.X["tau"])
	}
	for _, args := range [][]string{{"--prior", "tua=normal(1, 1)"}, {"--derived", "q=a/b"}, {"--prior", "tau=norml(1, 1)"}} {
		code, _, stderr := apptest.Do(t, append([]string{"fit", "curve", data, "a*exp(-x/tau)"}, args...)...)
		if want := map[string]int{"--prior": exit.WrongUsage, "--derived": exit.Data}[args[0]]; code != want || strings.Contains(stderr, "starts were found") {
			t.Errorf("%v: exit %d: %s", args, code, stderr)
		}
	}
}
