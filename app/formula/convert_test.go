// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package formula_test

import (
	"bytes"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/app/apptest"
	"github.com/euryale-dev/euryale/models/expr"
	"github.com/euryale-dev/euryale/models/stan"
)

// TestConvertProblem compares the log density of problems with that of the programs that they are written as: the difference between two
// points is the same.
func TestConvertProblem(t *testing.T) {
	for name, text := range map[string]string{
		"curve":      `{"expr": "b1*(1-exp(-b2*x))^2/2 + 1/3", "data": {"x": [1,2,3], "y": [2.1,3.9,6.2]}, "sigma": "s", "priors": {"b1": "normal(5, 2)", "b2": "lognormal(-1, 1)", "s": "halfnormal(5)"}, "derived": {"half": "log(2)/b2"}}`,
		"precedence": `{"expr": "-x^2 - (a - (b - x)) + 2^-b^2 + (-a)^2/(b*2)", "data": {"x": [1,2], "y": [2.1,3.9], "e": [0.5, 1]}, "sigma": "e", "priors": {"a": "cauchy(0, 1)", "b": "uniform(0, 2)"}}`,
		"bounds":     `{"expr": "a + c*x", "data": {"x": [1,2], "y": [2.1,3.9]}, "sigma": "2*s", "priors": {"a": "studentt(4, m, 1)", "m": "normal(0, 1)", "s": "exponential(1)"}, "bounds": {"a": [0, 3], "c": [-1, null]}, "flat": ["c"], "fixed": {"k": 2}, "tied": {"d": "k*m"}, "derived": {"z": "d + a"}}`,
		"schools":    `{"expr": "theta[school]", "data": {"school": ["A","B","C"], "y": [28,8,-3], "e": [15,10,16]}, "sigma": "e", "priors": {"mu": "normal(0, 5)", "tau": "halfcauchy(5)", "theta": "normal(mu, tau)"}, "groups": {"theta": {"over": "school"}}, "noncentred": ["theta"]}`,
		"counts":     `{"expr": "exp(a + b*x)", "data": {"x": [0,1,2], "y": [1,3,9]}, "likelihood": "poisson(mu)", "priors": {"a": "normal(0, 2)", "b": "gamma(2, 1)"}}`,
		"trials":     `{"expr": "a + b*x", "data": {"x": [0,1,2], "n": [5, 6, 7], "y": [1,3,6]}, "likelihood": "binomiallogit(n, mu)", "priors": {"a": "normal(0, 2)", "b": "laplace(0, 1)"}}`,
		"logarithm":  `{"expr": "a + b*x", "data": {"x": [1,2,3], "y": [2.1,3.9,6.2]}, "y": "log(y)", "sigma": "s", "priors": {"a": "normal(0, 5)", "b": "normal(0, 5)", "s": "halfnormal(5)"}}`,
		"robust":     `{"expr": "a + target*x", "data": {"x": [0,1,2], "c": [5, 6, 7]}, "y": "log(c)", "likelihood": "studentt(nu, mu, s)", "priors": {"a": "normal(0, 2)", "target": "normal(0, 1)", "nu": "gamma(2, 0.1)", "s": "inversegamma(3, 1)"}}`,
	} {
		p, err := expr.Parse([]byte(text))
		if err != nil {
			t.Fatal(name, err)
		}
		m, err := p.Model()
		if err != nil {
			t.Fatal(name, err)
		}
		own, err := m.Compile()
		if err != nil {
			t.Fatal(name, err)
		}
		program, data, err := p.Stan()
		if err != nil {
			t.Fatal(name, err)
		}
		parsed, err := stan.Parse(name, program, stan.Settings{})
		if err != nil {
			t.Fatalf("%s: %v in\n%s", name, err, program)
		}
		d, err := stan.ReadData(bytes.NewReader(data))
		if err != nil {
			t.Fatal(name, err)
		}
		post, err := parsed.Compile(d, stan.CompileSettings{})
		if err != nil {
			t.Fatalf("%s: %v in\n%s", name, err, program)
		}
		if post.Dim() != own.Dim() {
			t.Fatalf("%s: %d unconstrained numbers, want %d", name, post.Dim(), own.Dim())
		}
		at := func(scale float64) float64 {
			q, g := make([]float64, own.Dim()), make([]float64, own.Dim())
			for i := range q {
				q[i] = scale * math.Sin(float64(i+1))
			}
			row := make([]float64, own.Len())
			if err := own.Write(q, row); err != nil {
				t.Fatal(name, err)
			}
			want, err := own.LogProbGrad(q, g)
			if err != nil {
				t.Fatal(name, err)
			}
			// the parameters may be in another order there, so their values are carried over
			u, err := post.Unconstrain(valuesOf(own.Names(), row, post))
			if err != nil {
				t.Fatalf("%s: %v in\n%s", name, err, program)
			}
			got, err := post.LogProbGrad(u, g)
			if err != nil {
				t.Fatal(name, err)
			}
			return got - want
		}
		if a, b := at(0.3), at(0.7); !(math.Abs(a-b) < 1e-9) {
			t.Errorf("%s: the differences of the log densities are %g and %g in\n%s", name, a, b, program)
		}
	}
}

// valuesOf are the parameters of a program, in numbers with columns of the same names.
func valuesOf(names []string, row []float64, post *stan.Posterior) stan.Data {
	d := stan.Data{}
	for _, v := range post.Variables() {
		if v.Kind != stan.Parameter {
			continue
		}
		var numbers []float64
		for i, n := range names {
			base, _, _ := strings.Cut(n, "[")
			if base == v.Name || "v_"+base == v.Name {
				numbers = append(numbers, row[i])
			}
		}
		if len(v.Shape) == 0 {
			d[v.Name] = jsonOf(numbers[0])
		} else {
			d[v.Name] = jsonOf(numbers)
		}
	}
	return d
}

// TestConvertCommand writes files that sample stan takes.
func TestConvertCommand(t *testing.T) {
	in := apptest.Write(t, "line.json", `{"expr": "a + b*x", "data": {"x": [1,2,3,4], "y": [2.1,3.9,6.2,7.8]}, "sigma": "s", "priors": {"a": "normal(0, 5)", "b": "normal(0, 5)", "s": "halfnormal(5)"}}`)
	out := filepath.Join(t.TempDir(), "line.stan")
	if code, _, stderr := apptest.Do(t, "convert", in, out); code != 0 {
		t.Fatal(stderr)
	}
	if code, _, stderr := apptest.Do(t, "sample", "stan", out, "--data", strings.TrimSuffix(out, ".stan")+".data.json", "--out", filepath.Join(t.TempDir(), "run"), "--warmup", "200", "--draws", "200", "--quiet", "--no-report"); code != 0 {
		t.Error(stderr)
	}
	if code, _, stderr := apptest.Do(t, "convert", in, out); code == 0 || !strings.Contains(stderr, "exists") {
		t.Errorf("again: exit %d: %s", code, stderr)
	}
	clash := apptest.Write(t, "clash.json", `{"expr": "theta[g] + N_g*x", "data": {"x": [1,2], "y": [2.1,3.9], "g": ["A", "B"]}, "sigma": "s", "priors": {"N_g": "normal(0, 5)", "theta": "normal(0, 5)", "s": "halfnormal(5)"}, "groups": {"theta": {"over": "g"}}}`)
	if code, _, stderr := apptest.Do(t, "convert", clash, filepath.Join(filepath.Dir(out), "clash.stan")); code == 0 || !strings.Contains(stderr, "clash with those that the program needs") {
		t.Errorf("exit %d: %s", code, stderr)
	}
	odd := apptest.Write(t, "odd.json", `{"expr": "a + x", "data": {"x": [1,2], "y": [2.1,3.9]}, "sigma": "s", "priors": {"a": "moyal(0, 5)", "s": "halfnormal(5)"}}`)
	if code, _, stderr := apptest.Do(t, "convert", odd, filepath.Join(filepath.Dir(out), "odd.stan")); code == 0 || !strings.Contains(stderr, "the prior of a: moyal has no counterpart in Stan") {
		t.Errorf("exit %d: %s", code, stderr)
	}
	if _, err := os.Stat(filepath.Join(filepath.Dir(out), "odd.stan")); err == nil {
		t.Error("a program that is wrong was written")
	}
}

func jsonOf(x any) json.RawMessage {
	b, err := json.Marshal(x)
	if err != nil {
		panic(err)
	}
	return b
}
