// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package draws_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/app"
	"github.com/euryale-dev/euryale/app/apptest"
	"github.com/euryale-dev/euryale/app/draws"
	"github.com/euryale-dev/euryale/app/exit"
)

// sampled runs sample expr and returns its folder.
func sampled(t *testing.T, name, problem string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), name)
	if code, _, stderr := apptest.Do(t, "sample", "expr", "--problem", apptest.Write(t, "p.json", problem), "--out", dir, "--no-report", "--quiet", "--retries", "0"); code != 0 {
		t.Fatalf("exit %d: %s", code, stderr)
	}
	return dir
}

func TestLOOAndCompare(t *testing.T) {
	line := sampled(t, "line", fmt.Sprintf(apptest.LineProblem, "a+b*x", `"b": "normal(0, 10)", `))
	flat := sampled(t, "flat", fmt.Sprintf(apptest.LineProblem, "a", ""))
	code, out, stderr := apptest.Do(t, "loo", line, "--json")
	var loo struct {
		Method, Variable string
		ELPD, SE, P, IC  float64
		Points           []struct{ ELPD, K float64 }
	}
	if err := json.Unmarshal([]byte(out), &loo); err != nil || code != 0 {
		t.Fatalf("%v, exit %d: %s", err, code, stderr)
	}
	if loo.Method != "PSIS-LOO" || loo.Variable != "y" || len(loo.Points) != 8 || loo.IC != -2*loo.ELPD || loo.P < 1 || loo.P > 5 {
		t.Errorf("%+v", loo)
	}
	code, out, stderr = apptest.Do(t, "compare", flat, line, "--json")
	var doc struct {
		Models []struct {
			Name                 string
			ELPD, Diff, Stacking float64
		}
		Verdict string
	}
	if err := json.Unmarshal([]byte(out), &doc); err != nil || code != 0 {
		t.Fatalf("%v, exit %d: %s", err, code, stderr)
	}
	if m := doc.Models; len(m) != 2 || m[0].Name != "line" || m[0].ELPD != loo.ELPD || m[1].Diff > -10 || math.Abs(m[0].Stacking+m[1].Stacking-1) > 1e-6 || doc.Verdict == "" {
		t.Errorf("%+v", doc)
	}
	// CmdStan's log_lik says the same as the group.
	var files []string
	for c := 1; c <= 2; c++ {
		var b strings.Builder
		b.WriteString("lp__,log_lik.1,log_lik.2\n")
		for i := range 300 {
			fmt.Fprintf(&b, "0,%g,%g\n", -1+0.1*math.Sin(float64(c*i)), -2+0.1*math.Cos(float64(c*i)))
		}
		files = append(files, apptest.Write(t, fmt.Sprintf("c%d.csv", c), b.String()))
	}
	if code, out, stderr := apptest.Do(t, slices.Concat([]string{"loo"}, files)...); code != 0 || !strings.Contains(out, "-3.0") {
		t.Errorf("log_lik: exit %d: %s%s", code, out, stderr)
	}
	impossible := apptest.Write(t, "never.csv", "lp__,log_lik.1,log_lik.2\n0,-1,-Inf\n"+strings.Repeat("0,-1,-2\n", 300))
	if _, out, stderr := apptest.Do(t, "loo", impossible); !strings.Contains(out, "the first is observation log_lik.2)") { // as the file counts
		t.Errorf("an impossible observation: %s%s", out, stderr)
	}
	other := sampled(t, "other", strings.Replace(fmt.Sprintf(apptest.LineProblem, "a", ""), "1.1", "1.2", 1))
	for _, c := range []struct {
		args string
		code int
		says string
	}{
		{"loo", 64, "loo needs a run or a file"},
		{"loo " + line + " " + line, 64, "rank models with euryale compare"},
		{"loo /nowhere", 66, "/nowhere"},
		{"loo " + line + " --var z", 65, `no log-likelihood of "z": the observed variables are y`},
		{"loo " + line + " --waic", 0, ""},
		{"loo " + apptest.Write(t, "x.csv", "lp__,a\n1,2\n"), 65, "no log-likelihoods"},
		{"loo " + apptest.Write(t, "x.json", `{"log_likelihood": {"y": [[[1]]], "z": [[[1]]]}}`), 65, "y, z: choose one with --var"},
		{"compare " + line, 64, "compare needs another run or file"},
		{"compare " + line + " " + flat + " --names a", 64, "1 name for 2 models"},
		{"compare " + line + " " + other, 65, "observed different y"},
		{"compare " + line + " " + line, 65, "two models are called"},
	} {
		code, _, stderr := apptest.Do(t, strings.Fields(c.args)...)
		if code != c.code || !strings.Contains(stderr, c.says) {
			t.Errorf("%s\nexit %d, want %d; standard error %q, want %q in it", c.args, code, c.code, stderr, c.says)
		}
	}
}

func TestSBC(t *testing.T) {
	problem := `{"expr": "m", "data": {"y": [0, 0, 0]}, "sigma": "1", "priors": {"m": "normal(0, 2)"}}`
	code, out, stderr := apptest.Do(t, "sbc", "--problem", apptest.Write(t, "p.json", problem), "--fits", "100", "--warmup", "300", "--draws", "400", "--quiet", "--json")
	var doc struct {
		Fits       int
		OK         bool
		Quantities map[string]struct {
			Histogram []int
			PChi      float64 `json:"p_chi"`
		}
	}
	if err := json.Unmarshal([]byte(out), &doc); err != nil || code != 0 {
		t.Fatalf("%v, exit %d: %s", err, code, stderr)
	}
	if m := doc.Quantities["m"]; doc.Fits != 100 || !doc.OK || m.PChi < 1e-3 || len(m.Histogram) < 2 {
		t.Errorf("%+v", doc)
	}
	for args, want := range map[string]string{
		"sbc":                              "sbc needs --problem",
		"sbc --problem x.json --fits 0":    "--fits 0",
		"sbc --problem x.json --draws 50":  "--draws 50: want at least the number of ranks, 99",
		"sbc --problem x.json --ranks -50": "--ranks -50",
	} {
		if code, _, stderr := apptest.Do(t, strings.Fields(args)...); code != 64 || !strings.Contains(stderr, want) {
			t.Errorf("%s: exit %d: %s", args, code, stderr)
		}
	}
	flat := apptest.Write(t, "f.json", `{"expr": "m", "data": {"y": [0, 0, 0]}, "sigma": "1", "flat": ["m"]}`)
	if code, _, stderr := apptest.Do(t, "sbc", "--problem", flat, "--quiet"); code != exit.Data || !strings.Contains(stderr, "no prior") {
		t.Errorf("flat: exit %d: %s", code, stderr)
	}
}

// An interrupted calibration prints the ranks of the fits that were complete.
func TestSBCInterrupted(t *testing.T) {
	problem := apptest.Write(t, "p.json", `{"expr": "m", "data": {"y": [0, 0, 0]}, "sigma": "1", "priors": {"m": "normal(0, 2)"}}`)
	for _, kind := range []string{"--json", "--strict"} {
		ctx, cancel := context.WithCancel(t.Context())
		var out strings.Builder
		stderr := &cancelAt{text: " of 2000 fits", cancel: cancel}
		code := app.Run(ctx, []string{"sbc", "--problem", problem, "--fits", "2000", "--warmup", "100", "--draws", "200", kind}, &out, stderr)
		cancel()
		if code != exit.Interrupted || !strings.Contains(stderr.all.String(), "interrupted after ") || !strings.Contains(stderr.all.String(), "Try: use --fits ") {
			t.Errorf("exit %d: %s", code, stderr.all.String())
		}
		var doc draws.SBCDoc
		if kind == "--json" {
			if err := json.Unmarshal([]byte(out.String()), &doc); err != nil || doc.Fits < 200 || doc.Fits >= 2000 || len(doc.Quantities["m"].Histogram) < 2 {
				t.Errorf("%v: %s", err, out.String())
			}
		} else if !strings.Contains(out.String(), " gave ranks") {
			t.Error(out.String())
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var out, stderr strings.Builder
	if code := app.Run(ctx, []string{"sbc", "--problem", problem}, &out, &stderr); code != exit.Interrupted || !strings.Contains(stderr.String(), "before a fit was complete") || out.Len() > 0 {
		t.Errorf("exit %d: %s", code, stderr.String())
	}
}

// cancelAt ends a context when a text is written to it.
type cancelAt struct {
	all    strings.Builder
	text   string
	cancel func()
}

func (w *cancelAt) Write(b []byte) (int, error) {
	if strings.Contains(string(b), w.text) {
		w.cancel()
	}
	return w.all.Write(b)
}

// A derived quantity that is NaN where the priors allow it leaves the ranks of the other quantities alone.
func TestSBCLeavesOutUndefinedQuantities(t *testing.T) {
	problem := apptest.Write(t, "p.json", `{"expr": "a*x + b", "data": {"x": [1, 2, 3, 4], "y": [0, 0, 0, 0]}, "sigma": "0.5",
		"priors": {"a": "normal(0, 1)", "b": "normal(0, 1)"}, "derived": {"edge": "log(b)", "twice": "2*a", "more": "edge + 1"}}`)
	args := []string{"sbc", "--problem", problem, "--fits", "20", "--ranks", "19", "--warmup", "100", "--draws", "100"}
	code, out, stderr := apptest.Do(t, append(args, "--json")...)
	var doc draws.SBCDoc
	if err := json.Unmarshal([]byte(out), &doc); err != nil || code != 0 {
		t.Fatalf("exit %d, %v: %s", code, err, stderr)
	}
	if doc.Fits != 20 || doc.Failed != 0 || len(doc.Quantities) != 3 || len(doc.LeftOut) != 2 || doc.LeftOut[0].Name != "edge" || doc.LeftOut[0].NaN < 300 {
		t.Errorf("%+v", doc)
	}
	if !strings.Contains(stderr, "edge gets no ranks: it is not finite at ") {
		t.Error(stderr)
	}
	if code, out, _ := apptest.Do(t, append(args, "--quiet")...); code != 0 || !strings.Contains(out, "20 fits: 20 gave ranks") || !strings.Contains(out, ", none failed") {
		t.Errorf("exit %d: %s", code, out)
	}
}

// A run that predicted observations by draws about a fit without them, as inversions of measured patterns do, is judged and compared by
// these, and by its evidence if that can be trusted.
func TestRefittedObservationsAreTakenOver(t *testing.T) {
	line := sampled(t, "line", fmt.Sprintf(apptest.LineProblem, "a+b*x", `"b": "normal(0, 10)", `))
	flat := sampled(t, "flat", fmt.Sprintf(apptest.LineProblem, "a", ""))
	elpd := func() (float64, int) {
		t.Helper()
		_, out, stderr := apptest.Do(t, "loo", line, "--json")
		var doc struct {
			ELPD   float64
			Points []struct{ ELPD float64 }
		}
		if err := json.Unmarshal([]byte(out), &doc); err != nil {
			t.Fatal(err, stderr)
		}
		return doc.ELPD - doc.Points[0].ELPD, len(doc.Points)
	}
	others, n := elpd()
	for i, run := range []string{line, flat} {
		name := filepath.Join(run, "summary.json")
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		var doc map[string]any
		if err := json.Unmarshal(b, &doc); err != nil {
			t.Fatal(err)
		}
		doc["loo"] = map[string]any{"blocks": n, "refitted": []any{map[string]any{"index": 0, "elpd": -50, "lppd": -1, "k": 0.1, "n_eff": 100, "mcse": 0.1}}}
		doc["evidence"] = map[string]any{"log": -10 - i, "se": 0.1, "pareto_k": 0.1}
		if b, err = json.Marshal(doc); err == nil {
			err = os.WriteFile(name, b, 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if after, _ := elpd(); math.Abs(after-others) > 1e-9 {
		t.Errorf("the estimates of the others add up to %g and %g", others, after)
	}
	if _, out, _ := apptest.Do(t, "loo", line, "--json"); !strings.Contains(out, `"elpd":-50`) && !strings.Contains(out, `"elpd": -50`) {
		t.Errorf("the refit was not taken over: %s", out)
	}
	if _, out, _ := apptest.Do(t, "compare", line, flat); !strings.Contains(out, "Log evidence: line -10 +- 0.1; flat -11 +- 0.1, which is 1 +- 0.14 less") {
		t.Error(out)
	}
}
