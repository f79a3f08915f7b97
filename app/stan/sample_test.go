// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package stan_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/app/apptest"
	"github.com/euryale-dev/euryale/app/exit"
)

func TestMain(m *testing.M) { apptest.Main(m) }

const line = `data { int<lower=0> N; vector[N] x; vector[N] y; }
parameters { real a; real b; real<lower=0> sigma; }
model {
  a ~ normal(0, 10);
  b ~ normal(0, 10);
  sigma ~ exponential(1);
  y ~ normal(a + b * x, sigma);
}
generated quantities {
  matrix[2, 3] m = [[a, 2, 3], [4, 5, b]];
  array[N] real y_rep;
  for (n in 1:N) y_rep[n] = normal_rng(a + b * x[n], sigma);
}
`

const lineData = `{"N": 8, "x": [0, 1, 2, 3, 4, 5, 6, 7], "y": [1.1, 2.9, 5.2, 6.8, 9.1, 11.2, 12.7, 15.1]}`

func TestSampleStan(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	model, data := apptest.Write(t, "line.stan", line), apptest.Write(t, "line.json", lineData)
	code, out, stderr := apptest.Do(t, "sample", "stan", model, "--data", data, "--out", dir, "--seed", "7", "--quiet", "--json", "--no-report")
	if code != 0 {
		t.Fatalf("exit %d: %s", code, stderr)
	}
	var doc struct {
		Engine      string
		Summary     map[string]map[string]any
		Diagnostics struct{ OK bool }
		Check       struct{ Agrees *bool } `json:"model_check"`
	}
	if err := json.Unmarshal([]byte(out), &doc); err != nil {
		t.Fatalf("%v in %s", err, out)
	}
	if b, _ := doc.Summary["b"]["mean"].(float64); doc.Engine != "stan" || !doc.Diagnostics.OK || b < 1.9 || b > 2.1 {
		t.Errorf("%s", out)
	}
	if s, _ := doc.Summary["y_rep[8]"]["sd"].(float64); s < 0.1 || s > 1 {
		t.Errorf("the predicted y[8] has a standard deviation of %g", s)
	}
	b, err := os.ReadFile(filepath.Join(dir, "chain-1.csv"))
	if err != nil || !strings.Contains(string(b), "energy__,a,b,sigma,m.1.1,m.2.1,m.1.2,m.2.2,m.1.3,m.2.3,y_rep.1,") {
		t.Errorf("the columns of CmdStan's files are not there: %v in %.1200s", err, b)
	}
	before := apptest.Chains(t, dir)
	os.Remove(data) // the folder has all that is needed
	if code, _, stderr := apptest.Do(t, "sample", "stan", "--resume", dir, "--quiet"); code != 0 || apptest.Chains(t, dir) != before {
		t.Errorf("resume: exit %d: %s", code, stderr)
	}
}

func TestSampleStanMistakes(t *testing.T) {
	model, data := apptest.Write(t, "line.stan", line), apptest.Write(t, "line.json", lineData)
	for _, c := range []struct {
		args string
		code int
		says string
	}{
		{"sample stan", 64, "needs a program"},
		{"sample stan /nowhere.stan", 66, "/nowhere.stan"},
		{"sample stan " + model, 65, "variable does not exist"},
		{"sample stan " + model + " --data /nowhere.json", 66, "/nowhere.json"},
		{"sample stan " + model + " --data " + apptest.Write(t, "short.json", `{"N": 9, "x": [1], "y": [1]}`), 65, "dims declared=(9); dims found=(1)"},
		{"sample stan " + model + " --data " + apptest.Write(t, "lower.json", `{"n": 1, "x": [1], "y": [1]}`), 65, `did you mean "n" to be "N"?`},
		{"sample stan " + data + " --data " + model, 64, "the other way round"},
		{"sample stan " + apptest.Write(t, "bad.stan", "parameters { real x }"), 65, `Expected ";" after variable declaration`},
		{"sample stan " + apptest.Write(t, "none.stan", "model { }"), 65, "has no parameters"},
		{"sample stan " + model + " --data " + data + " --resume " + t.TempDir(), 64, "leave out the file, --data and --init"},
		{"info " + apptest.Write(t, "name.stan", "parameters { real alpha; } model { alpah ~ normal(0, 1); }"), 65, `Did you mean "alpha"?`},
	} {
		code, _, stderr := apptest.Do(t, strings.Fields(c.args)...)
		if code != c.code || !strings.Contains(stderr, c.says) {
			t.Errorf("%s\nexit %d, want %d; standard error %q, want %q in it", c.args, code, c.code, stderr, c.says)
		}
	}
}

func TestInfoOfProgram(t *testing.T) {
	code, out, stderr := apptest.Do(t, "info", apptest.Write(t, "old.stan", "data { int N; real y[N]; } parameters { real m; } model { y ~ normal(m, 1); }"))
	if code != 0 || !strings.Contains(out, "array[N] real y") || !strings.Contains(out, "parameters\n  real m") {
		t.Errorf("exit %d: %s%s", code, out, stderr)
	}
}

// TestFailedQuantities sees that quantities which cannot be computed at some draws are told.
func TestFailedQuantities(t *testing.T) {
	model := apptest.Write(t, "half.stan", "parameters { real x; } model { x ~ std_normal(); } generated quantities { int k = 1; real z; if (x > 0) reject(\"x is above 0\"); z = normal_rng(x, 1); }")
	code, out, stderr := apptest.Do(t, "sample", "stan", model, "--out", filepath.Join(t.TempDir(), "run"), "--draws", "50", "--warmup", "100", "--retries", "0", "--quiet", "--no-report")
	if code != 0 || !strings.Contains(out, "generated quantities are NaN at ") || !strings.Contains(out, "x is above 0") {
		t.Errorf("exit %d: %s%s", code, out, stderr)
	}
}

// TestStanGoesOnWithItsSeed sees that an interrupted run has the random numbers of the run that was not, whatever seed the second command has.
func TestStanGoesOnWithItsSeed(t *testing.T) {
	model := apptest.Write(t, "seed.stan", "transformed data { real d = normal_rng(0, 1); } parameters { real x; } model { x ~ normal(d, 1); } generated quantities { real z = normal_rng(x, 1); }")
	dir := t.TempDir()
	args := func(name string) []string {
		return []string{"sample", "stan", model, "--out", filepath.Join(dir, name), "--seed", "7", "--draws", "3000", "--warmup", "1000", "--chains", "2", "--checkpoint", "1ms", "--quiet", "--no-report"}
	}
	if code, _, stderr := apptest.Do(t, args("whole")...); code != 0 {
		t.Fatal(stderr)
	}
	apptest.KillAt(t, 20, args("cut"))
	if _, err := os.Stat(filepath.Join(dir, "cut", "summary.json")); err == nil {
		t.Fatal("the run was not killed before its end")
	}
	if code, _, stderr := apptest.Do(t, "sample", "stan", "--resume", filepath.Join(dir, "cut"), "--quiet"); code != 0 {
		t.Fatal(stderr)
	}
	if apptest.Chains(t, filepath.Join(dir, "whole")) != apptest.Chains(t, filepath.Join(dir, "cut")) {
		t.Error("the chains of the run that was cut differ")
	}
}

// Why a run was repeated is told under --quiet as well, and in the document.
func TestRepeated(t *testing.T) {
	model := apptest.Write(t, "two.stan", `parameters { real x; } model { target += log_mix(0.5, normal_lpdf(x | -20, 1), normal_lpdf(x | 20, 1)); }`)
	args := []string{"sample", "stan", model, "--quiet", "--no-report", "--draws", "50", "--warmup", "50", "--seed", "1", "--out"}
	_, out, stderr := apptest.Do(t, append(args, filepath.Join(t.TempDir(), "a"))...)
	if !strings.Contains(out+stderr, "attempt 1 was repeated: ") {
		t.Errorf("%s%s", out, stderr)
	}
	_, out, _ = apptest.Do(t, append(args, filepath.Join(t.TempDir(), "b"), "--json")...)
	var doc struct {
		Attempts int
		Repeated []string
	}
	if err := json.Unmarshal([]byte(out), &doc); err != nil || doc.Attempts != 2 || len(doc.Repeated) != 1 || doc.Repeated[0] == "" {
		t.Errorf("%v: %d attempts, repeated %q", err, doc.Attempts, doc.Repeated)
	}
}

// What --explain says of loops, conditions, solvers and generated quantities.
func TestExplain(t *testing.T) {
	model := apptest.Write(t, "m.stan", `functions { vector f(real t, vector y, real k) { return -k * y; } }
parameters { real<lower=0> k; vector[9] v; }
model {
  array[2] vector[1] z = ode_rk45(f, [1.0]', 0, {1.0, 2.0}, k);
  real s = 0;
  for (i in 1:9) target += -square(v[i]) * k;
  for (i in 2:9) s = 0.5 * s + v[i];
  if (s > 1) target += -s; else target += -square(s);
  while (s < 2) s += exp(-k);
  target += -z[1, 1] - k - square(s);
}
generated quantities {
  real x;
  x = normal_rng(0, 1);
}
`)
	code, out, stderr := apptest.Do(t, "sample", "stan", model, "--explain")
	if code != 0 {
		t.Fatalf("exit %d: %s", code, stderr)
	}
	for _, want := range []string{"line 4: ode_rk45: steps of order 8", "line 6: the 9 repetitions over i run at once", "line 7: the 8 repetitions over i run one after another, since they depend",
		"line 8: the condition depends on parameters", "line 9: the condition depends on parameters: a loop of the graph", "line 14: runs for each draw, as a Go function", "10 unconstrained parameters"} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is missing in\n%s", want, out)
		}
	}
	if code, out, _ := apptest.Do(t, "sample", "stan", model, "--explain", "--json"); code != 0 || !strings.Contains(out, `"explain"`) {
		t.Errorf("exit %d: %s", code, out)
	}
}

// Laplace's approximation is used where it is asked for, and its check is told; where it is too rough, or nothing can be integrated out, all parameters are sampled, which is told.
func TestLaplaceIsTold(t *testing.T) {
	const program = `data { int J; array[J] int y; real width; }
parameters { real mu; vector[J] x; }
model { mu ~ normal(0, 2); x ~ normal(mu, width); y ~ bernoulli_logit(x); }
`
	model, dir := apptest.Write(t, "groups.stan", program), filepath.Join(t.TempDir(), "run")
	run := func(width string, more ...string) (code int, stderr string) {
		data := apptest.Write(t, "groups.json", `{"J": 12, "y": [0, 1, 1, 0, 1, 0, 0, 1, 1, 1, 0, 1], "width": `+width+`}`)
		code, _, stderr = apptest.Do(t, append([]string{"sample", "stan", model, "--data", data, "--out", dir, "--overwrite", "--no-report", "--coordinates", "laplace", "--draws", "150", "--chains", "2"}, more...)...)
		return code, stderr
	}
	if code, stderr := run("0.5"); code != 0 || !strings.Contains(stderr, "x is integrated out by Laplace's approximation") || !strings.Contains(stderr, "Pareto shape of the weights that correct it") {
		t.Errorf("exit %d: %s", code, stderr)
	}
	if code, stderr := run("40"); code != 0 || !strings.Contains(stderr, "no parameter is integrated out, since only 5") || !strings.Contains(stderr, "of the draws of Laplace's approximation would be taken") {
		t.Errorf("exit %d: %s", code, stderr)
	}
	if code, stderr := run("0.5", "--warmup", "100"); code != exit.WrongUsage || !strings.Contains(stderr, "150 draws or more") {
		t.Errorf("exit %d: %s", code, stderr)
	}
	model = apptest.Write(t, "one.stan", "data { int J; array[J] int y; real width; } parameters { real mu; } model { mu ~ normal(0, width); y ~ bernoulli_logit(mu); }")
	if code, stderr := run("1"); code != 0 || !strings.Contains(stderr, "no parameters were found that are normal but for what data tell of each of them") {
		t.Errorf("exit %d: %s", code, stderr)
	}
}

// A density that is unbounded is told after one attempt.
func TestUnboundedDensityIsNotRepeated(t *testing.T) {
	model := apptest.Write(t, "constant.stan", "data { vector[6] y; } parameters { real mu; real<lower=0> sigma; } model { y ~ normal(mu, sigma); }")
	data := apptest.Write(t, "constant.json", `{"y": [3, 3, 3, 3, 3, 3]}`)
	code, _, stderr := apptest.Do(t, "sample", "stan", model, "--data", data, "--out", filepath.Join(t.TempDir(), "run"), "--no-report", "--draws", "100", "--chains", "2", "--strict")
	if code != exit.Failed || !strings.Contains(stderr, "bounded density") || strings.Contains(stderr, "sampling again") {
		t.Errorf("exit %d: %s", code, stderr)
	}
}

// The coordinates that were chosen are told, if they are others than those of the model.
func TestCoordinatesAreTold(t *testing.T) {
	schools := apptest.Write(t, "schools.stan", `data { int J; vector[J] y; vector[J] s; }
parameters { real mu; real<lower=0> tau; vector[J] theta; }
model { mu ~ normal(0, 5); tau ~ cauchy(0, 5); theta ~ normal(mu, tau); y ~ normal(theta, s); }
`)
	data := apptest.Write(t, "schools.json", `{"J": 8, "y": [28, 8, -3, 7, -1, 1, 18, 12], "s": [15, 10, 16, 11, 9, 11, 10, 18]}`)
	for coordinates, told := range map[string]bool{"chosen": true, "declared": false} {
		code, _, stderr := apptest.Do(t, "sample", "stan", schools, "--data", data, "--out", filepath.Join(t.TempDir(), "run"), "--seed", "7", "--no-report", "--coordinates", coordinates, "--retries", "0", "--warmup", "300", "--draws", "300")
		if code != 0 || strings.Contains(stderr, "coordinates of the chains: theta is integrated out exactly and drawn back; tau by a softplus") != told {
			t.Errorf("%s: exit %d: %s", coordinates, code, stderr)
		}
	}
}
