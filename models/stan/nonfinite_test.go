// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package stan_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/infer"
	"github.com/euryale-dev/euryale/models/stan"
)

// Where the density is 0 or not a number, the statement that gives it is named, and the assignment that the trouble comes from.
func TestStatementsThatAreNotFinite(t *testing.T) {
	for _, c := range []struct {
		source string
		at     float64
		says   []string
	}{
		{"parameters { real x; }\nmodel {\n  x ~ normal(0, 1);\n  x ~ uniform(2, 3);\n}", 0.5, []string{"gives -Inf is m.stan, line 4: x ~ uniform(2, 3)"}},
		{"parameters { real x; }\ntransformed parameters {\n  real m = log(x);\n}\nmodel {\n  1.0 ~ normal(m, 1);\n}", -1,
			[]string{"gives NaN is m.stan, line 6", "that of m.stan, line 3: real m = log(x)", "declare a lower bound"}},
		{"parameters { real x; }\nmodel {\n  matrix[2, 2] K = [[1, x], [x, 1]];\n  matrix[2, 2] L;\n  L = cholesky_decompose(K);\n  [0, 0]' ~ multi_normal_cholesky([0, 0]', L);\n}", 2,
			[]string{"line 6", "line 5: L = cholesky_decompose(K); the matrix is not positive definite there: add a small number"}},
		{"functions { real f(real x) {\n  real a = 2 * x;\n  return sqrt(a);\n} }\nparameters { real x; }\nmodel {\n  target += f(x);\n}", -1, []string{"line 7: target += f(x)"}},
		{"parameters { real x; }\ntransformed parameters {\n  real<lower=0> s = x;\n}\nmodel { x ~ normal(0, 1); }", -1, []string{"gives -Inf is m.stan, line 3: real<lower=0> s = x"}},
		{"parameters { vector[5] x; }\nmodel {\n  for (i in 1:5)\n    x[i] ~ lognormal(0, 1);\n}", -1, []string{"line 4: x[i] ~ lognormal"}},
		{"parameters { real x; }\nmodel {\n  real y = 0;\n  if (x > 0) { y = log(x); } else { reject(\"x is \", x); }\n  x ~ normal(y, 1);\n}", -1, []string{"line 4"}},
	} {
		post, err := compileText("m.stan", c.source, nil)
		if err != nil {
			t.Fatalf("%s: %v", c.source, err)
		}
		q := make([]float64, post.Dim())
		for i := range q {
			q[i] = c.at
		}
		got := post.Explain(q)
		for _, want := range c.says {
			if !strings.Contains(got, want) {
				t.Errorf("%s\nis explained by %q, want %q in it", c.source, got, want)
			}
		}
	}
	post, err := compileText("m.stan", "parameters { real x; } model { x ~ normal(0, 1); }", nil)
	if err != nil || post.Explain([]float64{1}) != "" {
		t.Errorf("a point with a finite density is explained: %v", err)
	}
	post, err = compileText("m.stan", "parameters { real x; }\nmodel {\n  x ~ uniform(2, 3);\n}", nil)
	if err == nil {
		_, err = post.Starts(stan.StartSettings{Chains: 1, Radius: 1})
	}
	if err == nil || !strings.Contains(err.Error(), "m.stan, line 3") {
		t.Errorf("the error of starts is %v, and should name line 3", err)
	}
}

// Differential equations that cannot be solved at a point are told in words of the language, with the line.
func TestUnsolvedEquations(t *testing.T) {
	const explodes = "functions { vector f(real t, vector y) { return square(y); } }\nparameters { real<lower=0> x; }\nmodel {\n  vector[1] y0 = [x]';\n  target += %s[1][1];\n}"
	for call, says := range map[string]string{
		"ode_rk45(f, y0, 0, {5.0})":                       "m.stan, line 5: ode_rk45 could not go on at t = 1, where its steps became too small",
		"ode_bdf_tol(f, y0, 0, {5.0}, 1e-6, 1e-6, 10000)": "m.stan, line 5: ode_bdf_tol could not go on at t = 1",
		"ode_rk45(f, y0, 0, {x - 2})":                     "m.stan, line 5: ode_rk45: time 1 of the solution is -1",
	} {
		post, err := compileText("m.stan", strings.Replace(explodes, "%s", call, 1), nil)
		if err != nil {
			t.Fatalf("%s: %v", call, err)
		}
		_, err = post.LogProbGrad([]float64{0}, make([]float64, 1))
		if err == nil || !errors.Is(err, infer.ErrReject) || !strings.Contains(err.Error(), says) || strings.Contains(err.Error(), "Rodas") {
			t.Errorf("%s: the error is %v, and should reject the point and say %q", call, err, says)
		}
	}
}
