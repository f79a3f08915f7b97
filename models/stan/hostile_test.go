// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package stan_test

import (
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/models/stan"
)

// TestHostilePrograms sees that programs which are wrong, endless or huge end with an error that names the place.
func TestHostilePrograms(t *testing.T) {
	p := "parameters { real x; }\n"
	for name, c := range map[string]struct{ code, data, says string }{
		"endless loop":              {"transformed data { int i = 0; while (1) i = i; }\n" + p + "model { }", "", "does the loop or the recursion end"},
		"endless recursion":         {"functions { real f(real x) { return f(x); } }\n" + p + "model { target += f(x); }", "", "does the recursion end"},
		"huge array":                {"transformed data { array[100000, 100000] real y; }\n" + p + "model { }", "", "1e+10 elements"},
		"negative size":             {"data { int N; } transformed data { vector[N] y; }\n" + p + "model { }", `{"N": -1}`, "want one of at least 0"},
		"index out of range":        {"transformed data { vector[3] y = [1, 2, 3]'; real z = y[4]; }\n" + p + "model { }", "", "index 4 is out of range"},
		"division by zero":          {"transformed data { int i = 3 / 0; }\n" + p + "model { }", "", "division of integers by 0"},
		"deep parentheses":          {p + "model { target += " + strings.Repeat("(", 3000) + "x" + strings.Repeat(")", 3000) + "; }", "", "nest more than"},
		"deep blocks":               {p + "model " + strings.Repeat("{", 3000) + strings.Repeat("}", 3000), "", "nest more than"},
		"deep unary":                {p + "model { target += " + strings.Repeat("-", 5000) + "x; }", "", "nest more than"},
		"unended comment":           {p + "model { /* ", "", "does not end"},
		"unended string":            {p + "model { print(\"x); }", "", "does not end"},
		"unended block":             {p + "model { ", "", `"}" that is missing`},
		"hostile unicode":           {p + "model { target += x\u202e; }", "", "cannot stand here"},
		"typographic apostrophe":    {p + "model { target += sum([x, x]\u2019); }", "", "straight apostrophe"},
		"typographic minus":         {p + "model { target += x \u2212 1; }", "", "minus is the hyphen"},
		"huge integer":              {p + "model { target += x * 99999999999; }", "", "2_147_483_647"},
		"sizes that differ":         {p + "model { vector[2] a = [1, 2]'; vector[3] b = [1, 2, 3]'; target += x * sum(a + b); }", "", "sizes do not match"},
		"loop up to a parameter":    {p + "model { for (i in 1:(x > 0 ? 2 : 3)) target += x; }", "", "must be known before sampling"},
		"size from a parameter":     {p + "model { vector[x > 0 ? 1 : 2] y; }", "", "must be known before sampling"},
		"string for a number":       {"data { real y; }\n" + p + "model { }", `{"y": "1"}`, "string values not allowed"},
		"boolean for a number":      {"data { int y; }\n" + p + "model { }", `{"y": true}`, "boolean values not allowed"},
		"null for a number":         {"data { real y; }\n" + p + "model { }", `{"y": null}`, "null values not allowed"},
		"object for a number":       {"data { real y; }\n" + p + "model { }", `{"y": {"a": 1}}`, "JSON object"},
		"ragged data":               {"data { array[2, 2] real y; }\n" + p + "model { }", `{"y": [[1, 2], [3]]}`, "same length"},
		"missing data":              {"data { real y; }\n" + p + "model { }", `{}`, "variable does not exist"},
		"short name missing":        {"data { int K; }\n" + p + "model { }", `{"N": 1}`, "which have N"},
		"data of another spelling":  {"data { int N_obs; }\n" + p + "model { }", `{"n.obs": 1}`, `did you mean "n.obs" to be "N_obs"?`},
		"invalid simplex":           {"data { simplex[2] y; }\n" + p + "model { }", `{"y": [0.5, 0.6]}`, "sum is 1.1, but should be 1"},
		"not positive definite":     {"data { cov_matrix[2] y; }\n" + p + "model { }", `{"y": [[1, 2], [2, 1]]}`, "not positive definite"},
		"negative scale of data":    {"data { real s; }\n" + p + "model { x ~ normal(0, s); }", `{"s": -1}`, "normal_lpdf"},
		"observation that is NaN":   {"data { vector[2] y; }\n" + p + "model { y ~ normal(x, 1); }", `{"y": [1, "NaN"]}`, "observation 2 of y is NaN"},
		"name of a function":        {p + "model { x ~ norml(0, 1); }", "", `Did you mean "normal"?`},
		"distribution as value":     {p + "model { target += normal(x, 0, 1); }", "", "It is a distribution"},
		"rejected data":             {"transformed data { reject(\"no\"); }\n" + p + "model { }", "", "no"},
		"name of R":                 {p + "model { vector[2] a = c(1, 2); }", "", "In Stan this is {x, y} for an array"},
		"distribution of JAGS":      {p + "model { x ~ dnorm(0, 1); }", "", "not the precision of JAGS"},
		"constant of Python":        {p + "model { int a = True; }", "", "In Stan this is 1."},
		"word of Python":            {p + "model { if (x > 0 and x < 1) target += x; }", "", `Write "&&" for "and"`},
		"elif":                      {p + "model { if (x > 0) { target += x; } elif (x < -1) { target += 1; } }", "", `Write "else if" for "elif"`},
		"power of Python":           {p + "model { target += x**2; }", "", `Write "^" for a power`},
		"named arguments":           {p + "model { x ~ normal(mu=0, sigma=1); }", "", "Arguments have no names"},
		"sized argument":            {"functions { real f(vector[3] a) { return a[1]; } }\n" + p + "model { }", "", `write "vector x"`},
		"single quotes":             {p + "model { print('x'); }", "", "double quotation marks"},
		"wide parenthesis":          {p + "model { x ~ normal\uff080, 1); }", "", "the wide form of '('"},
		"product of Python":         {p + "model { target += x @ x; }", "", "multiplied with *"},
		"long chain":                {p + "model { target += x" + strings.Repeat("+x", 20000) + "; }", "", "More than 10000 operators follow each other"},
		"quoted number":             {"data { int N; }\n" + p + "model { }", `{"N": "2"}`, "write 2 without quotation marks"},
		"list of rows":              {"data { int N; }\n" + p + "model { }", `[{"N": 2}]`, "one list for each column"},
		"huge parameter":            {"data { int N; }\nparameters { vector[N] x; }\nmodel { }", `{"N": 200000000}`, "line 2: the parameters up to this one have 200000000"},
		"misspelt type":             {"parameters { rael x; } model { }", "", `There is no type "rael". Did you mean "real"?`},
		"misspelt block":            {"paramters { real x; } model { }", "", `Did you mean "parameters"?`},
		"bounds in reverse":         {"parameters { real<lower=2, upper=1> x; } model { }", "", "lower bound 2 is not below the upper bound 1"},
		"negative size of x":        {"transformed data { int n = -2; }\nparameters { vector[n] x; } model { }", "", "line 2: the size n is -2"},
		"density that is NaN":       {p + "model { target += log(-1); }", "", "not a number, whatever the parameters are"},
		"rejection everywhere":      {p + "model { reject(\"no \", x); }", "", "no point is accepted: no [x]: put a condition"},
		"doubled recursion":         {"functions { real f(int n, real x); real f(int n, real x) { if (n == 0) return x; return f(n - 1, x) + f(n - 1, x); } }\n" + p + "model { target += f(40, x); }", "", "does the loop or the recursion end?"},
		"number beyond the range":   {"data { real y; }\n" + p + "model { }", `{"y": 1e400}`, "variable y has the number 1e400"},
		"whole number with a point": {"data { int y; }\n" + p + "model { }", `{"y": 2.0}`, "write whole numbers"},
		"bound that is no number":   {"data { real a; } parameters { real<lower=a> x; } model { }", `{"a": "NaN"}`, "not a number"},
	} {
		_, err := compileText("MODEL.stan", c.code, []byte(c.data))
		if err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: the error is %v, want %q in it", name, err, c.says)
		}
	}
}

// Data that are read wrong without being told.
func TestHostileData(t *testing.T) {
	for text, says := range map[string]string{
		`{"y": [1, 2], "N": {"y": 3}, "y": [3, 4]}`: "have the variable y twice",
		"\xff\xfe{\x00}\x00":                        "UTF-16",
	} {
		if _, err := stan.ReadData(strings.NewReader(text)); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%q: %v, want %q", text, err, says)
		}
	}
	if _, err := stan.ReadData(strings.NewReader(`{"a": {"1": 2}, "b": {"1": 2}, "c\"d": "\"e\":"}`)); err != nil {
		t.Error(err)
	}
}

// TestDeprecatedPrograms reads what Stan 2.33 dropped.
func TestDeprecatedPrograms(t *testing.T) {
	const old = `# an old program
data { int N; real y[N]; }
parameters { real m; real<lower=0> s[2]; }
model {
  real z[2];
  z[1] <- m;
  z[2] <- 1;
  y ~ normal(z[1], z[2]);
  increment_log_prob(-s[1] - s[2]);
}`
	if _, err := stan.Parse("old.stan", old, stan.Settings{}); err == nil {
		t.Error("read without being asked to")
	}
	p, err := stan.Parse("old.stan", old, stan.Settings{Deprecated: true})
	if err != nil {
		t.Fatal(err)
	}
	if len(p.Notes) < 3 {
		t.Errorf("notes: %q", p.Notes)
	}
	d, err := stan.ReadData(strings.NewReader(`{"N": 2, "y": [1, 2]}`))
	if err != nil {
		t.Fatal(err)
	}
	post, err := p.Compile(d, stan.CompileSettings{})
	if err != nil {
		t.Fatal(err)
	}
	g := make([]float64, 3)
	lp, err := post.LogProbGrad([]float64{1.5, 0, 0}, g)
	if want := -0.25 - 2; err != nil || !near(lp, want, 1e-12) || !near(g[1], 0, 1e-12) {
		t.Errorf("%g, %v, %v", lp, g, err)
	}
}

func TestIncludes(t *testing.T) {
	text, err := stan.Expand("functions {\n  #include \"f.stan\"\n}\nparameters { real x; } model { x ~ normal(f(), 1); }", func(name string) (string, error) {
		return "real f() { return 2; }", nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := stan.Parse("m.stan", text, stan.Settings{}); err != nil {
		t.Error(err)
	}
	if _, err := stan.Expand("#include a", func(string) (string, error) { return "#include a", nil }); err == nil || !strings.Contains(err.Error(), "remove the #include") || strings.Count(err.Error(), "#include a") > 1 {
		t.Errorf("a file that includes itself: %v", err)
	}
}

// FuzzParse sees that no text makes the parser or the checker panic.
func FuzzParse(f *testing.F) {
	for _, s := range []string{"", "model { }", "parameters { array[2] simplex[3] x; } model { x[1] ~ dirichlet([1, 2, 3]'); }",
		"functions { tuple(real, int) f(data array[,] real x) { return (x[1, 1], 2); } } model { (real a, int b) = f({{1}}); }",
		"data { int N; real y[N]; } model { for (n in 1:N) y[n] ~ normal(0, 1) T[0, ]; }"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		for _, old := range []bool{false, true} {
			if p, err := stan.Parse("fuzz.stan", s, stan.Settings{Deprecated: old}); err == nil {
				p.Describe()
			}
		}
	})
}
