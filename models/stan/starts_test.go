// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package stan_test

import (
	"encoding/json"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/models/stan"
)

// TestUnconstrain sees that the values of parameters lead back to the point that they come from, in all programs of language.json.
func TestUnconstrain(t *testing.T) {
	b, err := os.ReadFile("testdata/language.json")
	if err != nil {
		t.Fatal(err)
	}
	var cases []languageCase
	if err := json.Unmarshal(b, &cases); err != nil {
		t.Fatal(err)
	}
	tried := map[string]bool{}
	for _, c := range cases {
		if len(c.Error) > 0 {
			continue
		}
		post, err := compileText("MODEL.stan", c.Code, c.Data)
		if err != nil {
			t.Fatal(err)
		}
		for _, pt := range c.Points {
			if pt.Rejected {
				continue
			}
			d, err := post.Values(pt.U)
			if err != nil {
				continue // late quantities may fail
			}
			u, err := post.Unconstrain(d)
			if err != nil {
				t.Errorf("%s/%s: %v in %s", c.Group, c.Name, err, c.Code)
				break
			}
			tried[c.Group+"/"+c.Name] = true
			unit := strings.Contains(c.Code, "unit_vector") // has its direction only
			for i := range u {
				if math.IsNaN(u[i]) { // complex, or a tuple
					continue
				}
				if want := pt.U[i]; !unit && math.Abs(u[i]-want) > 1e-7*(1+math.Abs(want)) {
					t.Errorf("%s/%s: number %d is %.12g, want %.12g in %s", c.Group, c.Name, i, u[i], want, c.Code)
				}
			}
		}
	}
	t.Logf("%d programs", len(tried))
	if len(tried) < 100 {
		t.Errorf("only %d programs were tried", len(tried))
	}
}

func TestStarts(t *testing.T) {
	post, err := compileText("m.stan", `parameters { real a; real<lower=a> b; vector<lower=0, upper=1>[2] p; matrix<lower=0>[2, 2] m; simplex[3] s; }
model { a ~ normal(0, 1); b ~ normal(0, 1); to_vector(m) ~ normal(0, 1); }`, nil)
	if err != nil {
		t.Fatal(err)
	}
	starts, err := post.Starts(stan.StartSettings{Chains: 2, Seed: 1, Values: []stan.Data{{"a": json.RawMessage("1"), "b": json.RawMessage("2"), "m": json.RawMessage("[[1,2],[3,4]]")}}})
	if err != nil {
		t.Fatal(err)
	}
	row := make([]float64, post.Len())
	for _, q := range starts {
		if err := post.Write(q, row); err != nil || row[0] != 1 || math.Abs(row[1]-2) > 1e-15 || math.Abs(row[5]-3) > 1e-15 || math.Abs(row[6]-2) > 1e-15 {
			t.Errorf("%v: %v", row, err)
		}
	}
	if starts[0][2] == starts[1][2] {
		t.Error("parameters without a value start at the same place in both chains")
	}
	for _, c := range []struct{ values, says string }{
		{`{"a": 1, "b": 0.5}`, "initial value of b: b is 0.5, but must be greater than or equal to 1"},
		{`{"p": [0, 0.5]}`, "p[1] is 0, which is no value inside its bounds"},
		{`{"s": [0.5, 0.5, 0.5]}`, "sum is 1.5, but should be 1"},
		{`{"s": [0, 0.5, 0.5]}`, "lies on the edge"},
		{`{"q": 1}`, "q, which is no parameter"},
		{`{"b": 1}`, "a has no value"},
		{`{"m": [1, 2]}`, "dims declared=(2,2)"},
	} {
		d, err := stan.ReadData(strings.NewReader(c.values))
		if err == nil {
			_, err = post.Starts(stan.StartSettings{Chains: 1, Values: []stan.Data{d}})
		}
		if err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v, want %q", c.values, err, c.says)
		}
	}
}

// TestTuplesAndComplex reads tuples and complex numbers as data and as initial values, and writes them.
func TestTuplesAndComplex(t *testing.T) {
	d := func(text string) stan.Data {
		d, err := stan.ReadData(strings.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	p, err := stan.Parse("m.stan", `data { tuple(int, vector[2]) d; array[2] tuple(real, complex) e; }
parameters { complex z; complex_vector[2] w; tuple(real<lower=0>, simplex[2]) t; array[2, 1] tuple(real, array[2] real) a; }
model { target += d.1 * t.1 - square(get_real(z) - d.2[2]) - square(get_imag(e[2].2) - t.1) - square(get_imag(w[2])) - square(a[2, 1].1); }`, stan.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	data := `{"d": {"1": 3, "2": [1, 2]}, "e": [{"1": 0.5, "2": [1, 2]}, {"1": 0.5, "2": [3, 4]}]}`
	post, err := p.Compile(d(data), stan.CompileSettings{})
	if err != nil {
		t.Fatal(err)
	}
	values := `{"z": [0.5, -1], "w": [[1, 2], [3, 4]], "t": {"1": 2, "2": [0.25, 0.75]}, "a": [[{"1": 5, "2": [6, 7]}], [{"1": 8, "2": [9, 10]}]]}`
	u, err := post.Unconstrain(d(values))
	if err != nil {
		t.Fatal(err)
	}
	back, err := post.Values(u)
	if err != nil {
		t.Fatal(err)
	}
	again, err := post.Unconstrain(back)
	if err != nil {
		t.Fatalf("%s: %v", back, err)
	}
	for i := range u {
		if math.Abs(u[i]-again[i]) > 1e-14 {
			t.Errorf("number %d is %g, and %g after it was written: %s", i, u[i], again[i], back)
		}
	}
	lp, err := post.LogProbGrad(u, make([]float64, post.Dim()))
	jacobian := math.Log(2) + math.Log(0.25*0.75) + 0.5*math.Log(2) // of the scale 2 and of the simplex
	if want := 3*2 - 1.5*1.5 - 4 - 16 - 64 + jacobian; err != nil || math.Abs(lp-want) > 1e-12 {
		t.Errorf("the log density is %g, want %g: %v", lp, want, err)
	}
	for _, c := range []struct{ data, says string }{
		{`{"d": [3, [1, 2]], "e": []}`, `variable d is a tuple of 2: write it as a JSON object {"1": ..., "2": ...}`},
		{`{"d": {"1": 3, "3": [1, 2]}, "e": []}`, `the tuple d has no element "2"`},
		{`{"d": {"1": 3, "2": [1, 2, 3]}, "e": []}`, `variable name=d.2; position=0; dims declared=(2); dims found=(3)`},
		{strings.Replace(data, "[3, 4]", "[3]", 1), `variable name=e[2].2`},
		{`{"d": {"1": 3, "2": [1, 2]}, "e": [1]}`, "variable e is an array of 2 tuples"},
		{`{"d": {"1": 3, "2": [1, 2]}}`, "variable name=e; base type=tuple"},
	} {
		if _, err := p.Compile(d(c.data), stan.CompileSettings{}); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v, want %q", c.data, err, c.says)
		}
	}
}

// TestDump reads assignments of R.
func TestDump(t *testing.T) {
	d, err := stan.ReadData(strings.NewReader("# made by rstan\nN <- 3\n\"y\" <-\nc(1.5, -2e3, NaN,\nInf)\nm <- structure(c(1, 2, 3, 4, 5, 6), .Dim = c(2L, 3L))\nk = 2:4; e <- integer(0)\nz <- structure(double(0), .Dim = c(0L, 2L)); a.b <- -1L\n"))
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"N": "3", "y": `[1.5,-2000,"NaN","Inf"]`, "m": "[[1,3,5],[2,4,6]]", "k": "[2,3,4]", "e": "[]", "z": "[]", "a_b": "-1"} {
		if string(d[name]) != want {
			t.Errorf("%s is %s, want %s", name, d[name], want)
		}
	}
	for text, says := range map[string]string{
		"N <- ":                "line 1: found the end of the file where a number",
		"N <- 3\ny <- list(1)": `line 2: found "list(1)"`,
		"y <- c(1 2)":          `found "2)" where , or ) is wanted`,
		"y <- structure(c(1, 2), .Dim = c(2, 2))": "has 2 numbers, and .Dim = [2 2] wants 4",
		"y <- \"text\"": "where a number",
	} {
		if _, err := stan.ReadData(strings.NewReader(text)); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%q: %v, want %q", text, err, says)
		}
	}
}

// TestColumns reads a table, whose number of rows is counted.
func TestColumns(t *testing.T) {
	p, err := stan.Parse("m.stan", "data { int<lower=0> n; int K; vector[n] x; array[n] int y; } parameters { real b; } model { y ~ poisson_log(b * x); }", stan.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	d, err := stan.ReadColumns([]byte("\"\";x;y\n1;0,5;2\n2;1,5;3\n"))
	if err != nil {
		t.Fatal(err)
	}
	d["K"] = json.RawMessage("1")
	if got := p.CountRows(d); len(got) != 1 || string(d["n"]) != "2" || string(d["x"]) != "[0.5,1.5]" {
		t.Errorf("%v %s", got, d)
	}
	if _, err := p.Compile(d, stan.CompileSettings{}); err != nil {
		t.Error(err)
	}
	if _, err := stan.ReadColumns([]byte("x,school\n1,Deerfield\n")); err == nil || !strings.Contains(err.Error(), `row 1 of the table: "Deerfield" of column school is not a number`) {
		t.Error(err)
	}
}
