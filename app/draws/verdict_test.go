// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package draws_test

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/app/apptest"
	"github.com/euryale-dev/euryale/app/exit"
)

func second(x, y, _ []float64) {
	for i := range x {
		y[i] += 0.06 * math.Exp(-2*x[i]/2)
	}
}

func TestFitsSayWhenTheModelIsWrong(t *testing.T) {
	bad, good := apptest.MisfitCSV(t, second), apptest.MisfitCSV(t, nil)
	code, out, stderr := apptest.Do(t, "fit", "g2", bad, "--json", "--strict")
	var doc struct {
		Bins []struct {
			Status string
			Check  struct {
				OK       bool
				P        float64
				Expected [2]float64
				Flags    []struct{ Kind, Text, Where, Remedy string }
				Notes    []struct{ Text string }
			} `json:"model_check"`
		}
	}
	if err := json.Unmarshal([]byte(out), &doc); err != nil || code != exit.Failed || !strings.Contains(stderr, "disagrees with the data") {
		t.Fatalf("exit %d, %v: %s", code, err, stderr)
	}
	b := doc.Bins[0]
	if b.Status != "converged" || b.Check.OK || b.Check.P > 1e-6 || !(b.Check.Expected[0] < 1 && b.Check.Expected[1] > 1) || b.Check.Flags[0].Text == "" || b.Check.Flags[0].Remedy == "" || !strings.Contains(fmt.Sprint(b.Check.Notes), "the model double") {
		t.Errorf("%+v", b)
	}
	if code, out, _ := apptest.Do(t, "fit", "g2", bad); code != exit.OK || !strings.Contains(out, "misfit") || !strings.Contains(out, "a second decay near") || !strings.Contains(out, "Try: the model double") || strings.Count(out, "\n") != 3 {
		t.Errorf("exit %d: %s", code, out)
	}
	if _, out, _ := apptest.Do(t, "fit", "g2", bad, "--verbose"); !strings.Contains(out, "bin 1: a second decay") || !strings.Contains(out, "bin 1: note: the model double") {
		t.Errorf("with --verbose: %s", out)
	}
	if code, out, stderr := apptest.Do(t, "fit", "g2", good, "--strict"); code != exit.OK || !strings.Contains(out, "agrees") {
		t.Errorf("exit %d: %s%s", code, out, stderr)
	}
}

func TestStartsOutsideBoundsAreRefused(t *testing.T) {
	file := apptest.MisfitCSV(t, nil)
	for want, args := range map[string][]string{
		"start of tau is -3":                         {"fit", "g2", file, "--start", "tau=-3"},
		"contrast is fixed at 0.9, outside":          {"fit", "g2", file, "--fixed", "contrast=0.9", "--bounds", "contrast=0.1:0.5"},
		"tau is fixed at 3 but also has a prior":     {"sample", "g2", file, "--fixed", "tau=3", "--prior", "tau=uniform(5,6)"},
		"the start of tau is 0.05, where its prior,": {"sample", "g2", file, "--start", "tau=0.05", "--prior", "tau=uniform(5,6)"},
	} {
		if code, _, stderr := apptest.Do(t, args...); code != exit.WrongUsage || strings.Count(stderr, want) != 1 {
			t.Errorf("%v: exit %d: %s", args, code, stderr)
		}
	}
}

func TestInvalidPointsAreLeftOut(t *testing.T) {
	file := apptest.MisfitCSV(t, func(_, y, _ []float64) { y[7] = math.NaN() })
	if code, _, stderr := apptest.Do(t, "fit", "g2", file); code != exit.Data || !strings.Contains(stderr, "--drop-invalid") {
		t.Errorf("exit %d: %s", code, stderr)
	}
	if code, out, stderr := apptest.Do(t, "fit", "g2", file, "--drop-invalid", "--strict", "--verbose"); code != exit.OK || !strings.Contains(out, "1 of 60 points was left out") {
		t.Errorf("exit %d: %s%s", code, out, stderr)
	}
}

func TestPosteriorsSayWhenThePriorIsWrong(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	code, out, stderr := apptest.Do(t, "sample", "g2", apptest.MisfitCSV(t, nil), "--prior", "tau=uniform(5,6)", "--out", dir, "--strict", "--warmup", "300", "--draws", "300", "--retries", "0")
	if code != exit.Failed || !strings.Contains(out, "lies far out in a tail of its prior uniform(5, 6)") || strings.Contains(out, "satisfactory") {
		t.Errorf("exit %d: %s%s", code, out, stderr)
	}
	code, out, _ = apptest.Do(t, "diagnose", dir, "--strict")
	if code != exit.Failed || !strings.Contains(out, "the data pull most strongly on tau") {
		t.Errorf("diagnose: exit %d: %s", code, out)
	}
	report, err := os.ReadFile(filepath.Join(dir, "report.html"))
	if err != nil || !strings.Contains(string(report), "Model against data") {
		t.Errorf("report: %v", err)
	}
}

func TestFormulasSayWhenTheModelIsWrong(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 5))
	var x, y, s []string
	for i := range 50 {
		v := float64(i) / 10
		x, s = append(x, fmt.Sprint(v)), append(s, "0.1")
		y = append(y, fmt.Sprint(1+2*v+0.1*v*v+0.1*r.NormFloat64()))
	}
	columns := fmt.Sprintf(`"data": {"x": [%s], "y": [%s], "s": [%s]}, "sigma": "s"`, strings.Join(x, ","), strings.Join(y, ","), strings.Join(s, ","))
	write := func(text string) string {
		name := filepath.Join(t.TempDir(), "problem.json")
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return name
	}
	fit := write(`{"expr": "a+b*x", "start": {"a": 0, "b": 1}, ` + columns + `}`)
	if code, out, _ := apptest.Do(t, "fit", "nlsq", "--problem", fit, "--strict"); code != exit.Failed || !strings.Contains(out, "pattern along x") {
		t.Errorf("exit %d: %s", code, out)
	}
	sample := write(`{"expr": "a+b*x", "priors": {"a": "normal(0,5)", "b": "normal(0,5)"}, ` + columns + `}`)
	if code, out, _ := apptest.Do(t, "sample", "expr", "--problem", sample, "--strict", "--out", filepath.Join(t.TempDir(), "run"), "--no-report", "--warmup", "300", "--draws", "300"); code != exit.Failed || !strings.Contains(out, "pattern along x") {
		t.Errorf("exit %d: %s", code, out)
	}
}

// A fit that ran out of evaluations is not said to agree with the data, and the advice
// names the key of the problem file.
func TestFitsThatDidNotConverge(t *testing.T) {
	problem := `{"expr": "a*exp(-b*x)", "start": {"a": 1, "b": 9}, "max_nfev": 1, "data": {"x": [1, 2, 3, 4, 5, 6, 7, 8], "y": [9.1, 8.2, 7.3, 6.7, 6.1, 5.4, 5.0, 4.5]}}`
	file := apptest.Write(t, "problem.json", problem)
	code, out, stderr := apptest.Do(t, "fit", "nlsq", "--problem", file)
	if code != exit.OK || strings.Contains(out, "agrees with") || strings.Contains(out, "MaxEvaluations") || !strings.Contains(out, "raise the limit on evaluations (max_nfev)") || !strings.Contains(out, "did not converge") {
		t.Errorf("exit %d: %s%s", code, out, stderr)
	}
	code, out, stderr = apptest.Do(t, "fit", "nlsq", "--problem", file, "--json", "--strict")
	var doc struct {
		Status, Message string
		Check           struct {
			OK      bool
			Summary string
			Flags   []struct{ Kind, Remedy string }
		} `json:"model_check"`
	}
	if err := json.Unmarshal([]byte(out), &doc); err != nil || code != exit.Failed || doc.Check.OK || len(doc.Check.Flags) == 0 || doc.Check.Flags[0].Kind != "not converged" ||
		strings.Contains(out+stderr, "MaxEvaluations") || !strings.Contains(doc.Message, "max_nfev") || !strings.Contains(doc.Check.Flags[0].Remedy, "max_nfev") {
		t.Errorf("%v, exit %d: %s%s", err, code, out, stderr)
	}
	if code, out, _ = apptest.Do(t, "fit", "nlsq", "--problem", apptest.Write(t, "whole.json", strings.Replace(problem, `"max_nfev": 1, `, "", 1))); code != exit.OK || strings.Contains(out, "did not converge") {
		t.Errorf("exit %d: %s", code, out)
	}
}
