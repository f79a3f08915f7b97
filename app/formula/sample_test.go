// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package formula_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/app/apptest"
	"github.com/euryale-dev/euryale/app/exit"
)

func TestSampleExpr(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	code, out, stderr := apptest.Do(t, "sample", "expr", "--problem", apptest.LineFile(t), "--out", dir, "--seed", "7", "--quiet", "--json")
	if code != 0 {
		t.Fatalf("exit %d: %s", code, stderr)
	}
	var doc struct {
		Engine, Run string
		Summary     map[string]map[string]float64
		Diagnostics struct{ OK bool }
		Timing      map[string]float64
	}
	if err := json.Unmarshal([]byte(out), &doc); err != nil {
		t.Fatalf("%v in %s", err, out)
	}
	if b := doc.Summary["b"]["mean"]; doc.Engine != "expr" || doc.Run != dir || !doc.Diagnostics.OK || b < 1.95 || b > 2.05 || doc.Timing["gradients"] == 0 {
		t.Errorf("%+v", doc)
	}
	for _, f := range []string{"config.json", "chain-4.csv", "draws.zarr/.zgroup", "summary.json", "diagnose.txt", "report.html", "plots/predictive.svg", "checkpoint"} {
		if st, err := os.Stat(filepath.Join(dir, f)); err != nil || st.Size() == 0 {
			t.Errorf("run folder: %s: %v", f, err)
		}
	}
	before := apptest.Chains(t, dir)
	if code, _, stderr := apptest.Do(t, "sample", "expr", "--resume", dir, "--quiet"); code != 0 || apptest.Chains(t, dir) != before {
		t.Errorf("resume: exit %d: %s", code, stderr)
	}
	if code, _, stderr := apptest.Do(t, "sample", "g2", "--resume", dir); code != exit.Config || !strings.Contains(stderr, `a run of "sample expr"`) {
		t.Errorf("resume as g2: exit %d: %s", code, stderr)
	}
	if code, _, stderr := apptest.Do(t, "sample", "expr", "--problem", apptest.LineFile(t), "--out", dir); code != exit.CannotWrite {
		t.Errorf("existing folder: exit %d: %s", code, stderr)
	}
}

func TestSampleExprMistakes(t *testing.T) {
	file := apptest.LineFile(t)
	for _, c := range []struct {
		args string
		code int
		says string
	}{
		{"sample expr", 64, "needs --problem"},
		{"sample expr --problem " + file + " --resume " + t.TempDir(), 64, "leave out --problem"},
		{"sample expr --problem " + file + " --target-accept 2 --chains 0", 64, "--chains 0: want 1 to 65536; --target-accept 2"},
		{"sample expr --problem /nowhere.json", 66, "/nowhere.json"},
		{"sample expr --problem " + apptest.Write(t, "p.json", `{"expr": "a"`), 65, "line 1, column"},
		{"sample expr --problem " + apptest.Write(t, "p.json", `{"exp": "a"}`), 65, `p.json: unknown field "exp": did you mean "expr"?`},
		{"sample expr --problem " + apptest.Write(t, "p.json", fmt.Sprintf(apptest.LineProblem, "a+c*x", "")), 65, `"c" is neither`},
		{"sample expr --problem " + apptest.Write(t, "p.json", `{"expr": "a+lp__", "data": {"y": [1, 2]}, "sigma": "1", "priors": {"a": "normal(0, 1)", "lp__": "normal(0, 1)"}}`), 65, `parameter "lp__": names that end in __, such as lp__, are reserved`},
		{"sample expr --problem " + apptest.Write(t, "p.json", `{"expr": "a", "data": {"y": [1, 2]}, "sigma": "1", "priors": {"a": "normal(0, 1)"}, "derived": {"divergent__": "2*a"}}`), 65, `parameter "divergent__"`},
		{"fit nlsq --problem " + apptest.Write(t, "p.json", `{"expr": "lp__", "data": {"y": [1, 2]}, "start": {"lp__": 1}}`), 65, `parameter "lp__"`},
		{"sbc --problem " + apptest.Write(t, "p.json", `{"expr": "lp__", "data": {"y": [1, 2]}, "flat": ["lp__"]}`), 65, `parameter "lp__"`},
		{"sbc --problem " + apptest.Write(t, "p.json", `{"expr": "a*x", "data": {"x": [1, 2], "y": [1, 2]}, "sigma": "1", "sigma_x": {"x": "0.1"}, "priors": {"a": "normal(0, 1)", "x": "normal(0, 1)"}}`), 65, `none of x, whose true values have a prior`},
		{"sample expr --resume " + t.TempDir(), 66, "not a run folder"},
		{"fit nlsq --problem " + file, 65, "sample"},
	} {
		code, out, stderr := apptest.Do(t, strings.Fields(c.args)...)
		if code != c.code || !strings.Contains(stderr, c.says) || out != "" {
			t.Errorf("%s\nexit %d, want %d; standard error %q, want %q in it", c.args, code, c.code, stderr, c.says)
		}
	}
}

// A fit without degrees of freedom has no reduced chi-square, and what it cannot know is infinite as in other documents.
func TestFitWithoutFreedom(t *testing.T) {
	problem := apptest.Write(t, "two.json", `{"expr": "a+b*x", "y": "y", "sigma": "e", "start": {"a": 1, "b": 0.5}, "data": {"x": [1, 2], "y": [2, 3], "e": [0.1, 0.1]}}`)
	if _, out, stderr := apptest.Do(t, "fit", "nlsq", "--problem", problem); strings.Contains(out, "NaN") || !strings.Contains(out, "could not be judged") {
		t.Errorf("%s%s", out, stderr)
	}
	free := apptest.Write(t, "free.json", `{"expr": "a+b*x", "y": "y", "start": {"a": 1, "b": 0.5}, "data": {"x": [1, 2], "y": [2, 3]}}`)
	_, out, stderr := apptest.Do(t, "fit", "nlsq", "--problem", free, "--json")
	var doc struct{ SD map[string]any }
	if err := json.Unmarshal([]byte(out), &doc); err != nil || doc.SD["a"] != "Infinity" {
		t.Errorf("%v, %v: %s", doc, err, stderr)
	}
}
