// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package stan_test

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/app/apptest"
	"github.com/euryale-dev/euryale/data/stancsv"
)

const coin = `data { int n; int k; } parameters { real<lower=0, upper=1> p; } model { k ~ binomial(n, p); } generated quantities { real odds = p / (1 - p); }`

// TestFitStan finds modes that are known: 3/10 of the parameter itself, and that of its logit.
func TestFitStan(t *testing.T) {
	dir := t.TempDir()
	model, data := apptest.Write(t, "coin.stan", coin), apptest.Write(t, "coin.R", "n <- 100L\nk <- 30L\n")
	for _, c := range []struct {
		flags string
		want  float64
	}{{"", 0.3}, {"--jacobian", 31.0 / 102}} {
		out := filepath.Join(dir, "fit"+c.flags)
		args := append([]string{"fit", "stan", model, "--data", data, "--out", out, "--json"}, strings.Fields(c.flags)...)
		code, text, stderr := apptest.Do(t, args...)
		if code != 0 {
			t.Fatalf("exit %d: %s", code, stderr)
		}
		var doc struct {
			X, SD   map[string]float64
			ParetoK float64 `json:"pareto_k"`
		}
		if err := json.Unmarshal([]byte(text), &doc); err != nil {
			t.Fatal(err)
		}
		if math.Abs(doc.X["p"]-c.want) > 1e-6 || math.Abs(doc.SD["p"]-0.0458) > 0.004 || !(doc.ParetoK < 0.7) {
			t.Errorf("%s: %s", c.flags, text)
		}
		draws, err := stancsv.Open(filepath.Join(out, "laplace.csv"))
		if err != nil || !draws.Approximate() || len(draws.Column("odds")) != 1000 {
			t.Errorf("laplace.csv: %v", err)
		}
		for _, name := range []string{"fits.csv", "report.html"} {
			if _, err := os.Stat(filepath.Join(out, name)); err != nil {
				t.Error(err)
			}
		}
		if code, _, stderr := apptest.Do(t, "sample", "stan", model, "--data", data, "--init", filepath.Join(out, "mode.json"), "--out", filepath.Join(dir, "run"+c.flags), "--draws", "100", "--warmup", "100", "--quiet", "--no-report"); code != 0 {
			t.Errorf("the mode as --init: exit %d: %s", code, stderr)
		}
	}
}

// TestFitStanWithoutMode sees that a density that grows without end is told, and one that no normal distribution is like.
func TestFitStanWithoutMode(t *testing.T) {
	for _, c := range []struct {
		program, says string
		code          int
	}{
		{"parameters { real x; } model { target += x; }", "no mode was found", 1},
		{"parameters { real y; vector[5] x; } model { y ~ normal(0, 3); x ~ normal(0, exp(y / 2)); }", "Pareto k 1", 0},
		{"parameters { real x; } model { x ~ cauchy(0, 1); }", "(Pareto k 1", 0},
		{"parameters { real x; } model { target += log_mix(0.6, normal_lpdf(x | -1, 0.2), normal_lpdf(x | 1, 0.2)); }", "ended at another, lower mode", 0},
	} {
		code, out, stderr := apptest.Do(t, "fit", "stan", apptest.Write(t, "m.stan", c.program))
		if code != c.code || !strings.Contains(out+stderr, c.says) {
			t.Errorf("%s\nexit %d: %s%s", c.program, code, out, stderr)
		}
	}
}

// An approximation that is poor does not blame the model: eight schools, whose mode lies where tau is 0.
func TestFitStanPoorly(t *testing.T) {
	model := apptest.Write(t, "schools.stan", `data { int J; vector[J] y; vector[J] s; } parameters { real mu; real<lower=0> tau; vector[J] theta; }
model { theta ~ normal(mu, tau); mu ~ normal(0, 5); tau ~ cauchy(0, 5); y ~ normal(theta, s); }`)
	data := apptest.Write(t, "schools.json", `{"J": 8, "y": [28, 8, -3, 7, -1, 1, 18, 12], "s": [15, 10, 16, 11, 9, 11, 10, 18]}`)
	_, out, stderr := apptest.Do(t, "fit", "stan", model, "--data", data, "--jacobian")
	if all := out + stderr; !strings.Contains(all, "the approximation at the mode is poor") && !strings.Contains(all, "no mode was found") {
		t.Errorf("%s", all)
	}
}

func TestInit(t *testing.T) {
	model, data := apptest.Write(t, "coin.stan", coin), apptest.Write(t, "coin.json", `{"n": 10, "k": 3}`)
	for _, c := range []struct{ init, says string }{
		{"-1", "want a radius from 0 to 100"},
		{"/nowhere.json", "/nowhere.json"},
		{apptest.Write(t, "one.json", `{"p": 1}`), "no value inside its bounds"},
		{apptest.Write(t, "two.json", `{"q": 1}`), "no parameter of the program"},
	} {
		if code, _, stderr := apptest.Do(t, "sample", "stan", model, "--data", data, "--init", c.init, "--out", t.TempDir()+"/r"); code == 0 || !strings.Contains(stderr, c.says) {
			t.Errorf("--init %s: exit %d: %s", c.init, code, stderr)
		}
	}
	for _, init := range []string{"0", "0.1", apptest.Write(t, "half.json", `{"p": 0.5}`)} {
		if code, _, stderr := apptest.Do(t, "sample", "stan", model, "--data", data, "--init", init, "--out", t.TempDir()+"/r", "--draws", "50", "--warmup", "50", "--retries", "0", "--quiet", "--no-report"); code != 0 {
			t.Errorf("--init %s: exit %d: %s", init, code, stderr)
		}
	}
}
