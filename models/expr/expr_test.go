// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package expr_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/infer"
	"github.com/euryale-dev/euryale/models/expr"
)

const line = `{"expr": "a+b*x", "data": {"x": [0, 1, 2, 3, 4], "y": [1.1, 2.9, 5.2, 7.1, 8.8]}, %s}`

// schools is Rubin's eight schools, doi:10.3102/10769986006004377.
const schools = `{"expr": "theta[school]", "y": "effect", "sigma": "sd",
"data": {"school": ["A", "B", "C", "D", "E", "F", "G", "H"], "effect": [28, 8, -3, 7, -1, 1, 18, 12], "sd": [15, 10, 16, 11, 9, 11, 10, 18]},
"priors": {"mu": "normal(0, 5)", "tau": "halfcauchy(5)", "theta": "normal(mu, tau)"},
"groups": {"theta": {"over": "school"}}, "noncentred": ["theta"], "derived": {"shrink": "100/(100+tau^2)"}}`

func compile(t *testing.T, text string) (*expr.Problem, *infer.Posterior) {
	t.Helper()
	p, err := expr.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	m, err := p.Model()
	if err != nil {
		t.Fatal(err)
	}
	post, err := m.Compile()
	if err != nil {
		t.Fatal(err)
	}
	return p, post
}

func run(t *testing.T, post *infer.Posterior, c infer.Settings) *infer.Fit {
	t.Helper()
	c.Seed = 5
	fit, err := infer.Sample(context.Background(), post, c)
	if err != nil {
		t.Fatal(err)
	}
	return fit
}

// TestConjugate compares with the exact posterior of a normal mean: precision
// 1/100 + 5/4, and the weighted mean.
func TestConjugate(t *testing.T) {
	_, post := compile(t, `{"expr": "m", "data": {"y": [1, 2, 3, 4, 6]}, "sigma": "2", "priors": {"m": "normal(0, 10)"}, "derived": {"twice": "2*m"}}`)
	s := run(t, post, infer.Settings{Draws: 4000}).Summary()
	precision := 1./100 + 5./4
	mean, sd := 16./4/precision, math.Sqrt(1/precision)
	r, twice := s.Row("m"), s.Row("twice")
	if math.Abs(r.Mean-mean) > 4*r.MCSEMean || math.Abs(r.SD/sd-1) > 0.05 || math.Abs(twice.Mean-2*r.Mean) > 1e-9 {
		t.Errorf("mean %g, sd %g, twice %g: want %g, %g", r.Mean, r.SD, twice.Mean, mean, sd)
	}
}

// TestEightSchools compares with the reference posterior of posteriordb
// (eight_schools_noncentered: mu 4.4, tau 3.6, theta[1] 6.2).
func TestEightSchools(t *testing.T) {
	_, post := compile(t, schools)
	fit := run(t, post, infer.Settings{})
	s := fit.Summary()
	for name, want := range map[string]float64{"mu": 4.4, "tau": 3.6, "theta[A]": 6.2} {
		r := s.Row(name)
		if r == nil || math.Abs(r.Mean-want) > 4*r.MCSEMean+0.1 {
			t.Fatalf("%s: %+v, want a mean of %g", name, r, want)
		}
	}
	ll, err := fit.LogLik("effect")
	if err != nil || len(ll[0][0]) != 8 {
		t.Errorf("log likelihood: %v", err)
	}
}

// Forms that say the same have one density.
func TestFormsAgree(t *testing.T) {
	at := func(more string, q ...float64) float64 {
		_, post := compile(t, fmt.Sprintf(line, more))
		lp, err := post.LogProbGrad(q, make([]float64, len(q)))
		if err != nil {
			t.Fatal(err)
		}
		return lp
	}
	want := at(`"sigma": "s", "priors": {"a": "normal(0, 10)", "b": "normal(0, 10)", "s": "halfnormal(1)"}`, 1, 2, -1)
	for _, more := range []string{
		`"likelihood": "normal(mu, s)", "priors": {"a": "normal(0, 10)", "b": "Gaussian(0, 2*5)", "s": "half_normal(1)"}`,
		`"priors": {"a": "normal(0, 10)", "b": "normal(0, 10)", "sigma": "halfnormal(1)"}`,
		`"sigma": "s", "priors": {"a": "normal(0, w)", "b": "normal(0, w)", "s": "halfnormal(1)"}, "fixed": {"w": 10}`,
		`"sigma": "s*(1+0*x)", "priors": {"a": "normal(0, w)", "b": "normal(0, w)", "s": "halfnormal(h)"}, "tied": {"w": "10*h"}, "fixed": {"h": 1}`,
		`"sigma": "s", "priors": {"a": "normal(0, 10)", "b": "normal(0, 10)", "s": "halfnormal(1)"}, "fixed": {"unused": 1}, "derived": {"z": "unused*a"}`,
	} {
		if got := at(more, 1, 2, -1); math.Abs(got-want) > 1e-12*math.Abs(want) {
			t.Errorf("%s: %.15g, want %.15g", more, got, want)
		}
	}
	// A normal within (0, inf) is twice as dense there.
	free := at(`"sigma": "1", "priors": {"a": "normal(0, 3)", "b": "normal(0, 10)"}`, math.Exp(0.5), 2)
	cut := at(`"sigma": "1", "priors": {"a": "normal(0, 3)", "b": "normal(0, 10)"}, "bounds": {"a": [0, null]}`, 0.5, 2)
	if d := cut - free - 0.5; math.Abs(d-math.Ln2) > 1e-12 { // less the Jacobian of exp
		t.Errorf("truncation adds %g: want log 2", d)
	}
	_, flat := compile(t, fmt.Sprintf(line, `"sigma": "1", "flat": ["a"], "bounds": {"b": [-5, 5]}`))
	if flat.Dim() != 2 {
		t.Errorf("%d parameters", flat.Dim())
	}
}

func TestLikelihoods(t *testing.T) {
	for _, text := range []string{
		`{"expr": "exp(a+b*x)", "data": {"x": [0, 1, 2], "y": [1, 3, 9]}, "likelihood": "poisson(mu)", "priors": {"a": "normal(0, 1)", "b": "normal(0, 1)"}}`,
		`{"expr": "a+b*x", "data": {"x": [0, 1, 2], "y": [0, 1, 1]}, "likelihood": "bernoulli(sigmoid(mu))", "priors": {"a": "normal(0, 1)", "b": "normal(0, 1)"}}`,
		`{"expr": "a+b*x", "data": {"x": [0, 1, 2], "y": [0, 1, 1], "n": [4, 5, 6]}, "likelihood": "binomiallogit(n, mu)", "priors": {"a": "normal(0, 1)", "b": "normal(0, 1)"}}`,
		`{"expr": "a+b*x", "data": {"x": [0, 1, 2], "y": [0, 1, 8]}, "sigma": "s", "likelihood": "studentt(4, mu, sigma)", "priors": {"a": "normal(0, 1)", "b": "normal(0, 1)", "s": "exponential(1)"}}`,
		`{"expr": "a[g]+b*x", "y": "log(y)", "data": {"g": [1, 1, 7], "x": [0, 1, 2], "y": [1, 2, 8]}, "sigma": "s[g]", "groups": {"a": {"over": "g"}, "s": {"over": "g"}}, "priors": {"a": "normal(0, 1)", "b": "normal(0, 1)", "s": "exponential(1)"}}`,
	} {
		_, post := compile(t, text)
		q, g := make([]float64, post.Dim()), make([]float64, post.Dim())
		if lp, err := post.LogProbGrad(q, g); err != nil || math.IsNaN(lp) || math.IsInf(lp, 0) {
			t.Errorf("%s: %g, %v", text, lp, err)
		}
	}
}

func TestMistakes(t *testing.T) {
	for more, want := range map[string]string{
		`"prior": {}`:  `unknown field "prior": did you mean "priors"?`,
		`"Priors": {}`: `did you mean "priors"?`,
		`"priors": 3`:  "column 93: field priors is a number: want an object {...}",
		`"priors": {`:  "line 1, column",
		`"priors": {"a": "normal(0, 1)"}, "sigma": "1"`:                                                       `expr: "b" is neither a column nor a parameter`,
		`"priors": {"a": "normal(0, 1)", "b": "normal(0, 1)"}`:                                                "sigma is missing: name a column",
		`"sigma": "1", "priors": {"a": "norml(0, 1)", "b": "normal(0, 1)"}`:                                   "prior of a: \"norml(0, 1)\": dist: there is no distribution \"norml\": did you mean normal?",
		`"sigma": "1", "priors": {"a": "normal(0, 1, 2)", "b": "normal(0, 1)"}`:                               "has 3 arguments: want normal(mu, sigma)",
		`"sigma": "1", "priors": {"a": "normal(0)", "b": "normal(0, 1)"}`:                                     "has 1 argument: want normal(mu, sigma)",
		`"sigma": "1", "priors": {"a": "normal(0, -1)", "b": "normal(0, 1)"}`:                                 "sigma = -1",
		`"sigma": "1", "priors": {"a": "normal(0, #)", "b": "normal(0, 1)"}`:                                  `prior of a: formula: found "#" instead of a number, a name or ( at position 11`,
		`"sigma": "1", "priors": {"a": "normal(b, 1)", "b": "normal(a, 1)"}`:                                  "depends on itself (a -> b -> a)",
		`"sigma": "1", "priors": {"a": "normal(0, 1)", "b": "normal(0, 1)", "bb": "normal(0, 1)"}`:            `priors names bb, which no formula uses: did you mean "b"?`,
		`"sigma": "1", "priors": {"a": "normal(0, 1)", "b": "normal(0, 1)"}, "groups": {"b": {"over": "xx"}}`: `over "xx", which is not a column: did you mean "x"?`,
		`"sigma": "1", "priors": {"a": "normal(0, 1)", "b": "normal(0, 1)"}, "groups": {"b": {"over": "x"}}`:  "must be written b[x], as it is a vector",
		`"sigma": "a[x]", "priors": {"a": "normal(0, 1)", "b": "normal(0, 1)"}`:                               "no group is over it",
		`"sigma": "1", "priors": {"a": "poisson(3)", "b": "normal(0, 1)"}`:                                    "whole numbers",
		`"sigma": "1", "priors": {"a": "normal(0, 1)", "b": "normal(0, 1)"}, "noncentred": ["c"]`:             "noncentred names c",
		`"sigma": "1", "priors": {"a": "normal(0, 1)", "b": "normal(0, 1)"}, "flat": ["a"]`:                   "a is in priors and in flat",
		`"sigma": "1", "priors": {"a": "normal(0, 1)", "b": "normal(0, 1)"}, "loss": "huber"`:                 "least squares",
		`"sigma": "1", "start": {"a": 1}, "priors": {"b": "normal(0, 1)"}`:                                    "a has a start but no prior",
		`"sigma": "x", "priors": {"a": "normal(0, 1)", "b": "normal(0, 1)"}`:                                  "x is 0 in row 1: want errors above 0",
		`"sigma": "1", "bounds": {"a": [3, 1]}`:                                                               "lower bound is not below the upper",
		`"sigma": "1", "y": "yy", "priors": {}`:                                                               `did you mean "y"`,
		`"sigma": "1", "likelihood": "normal(mu, sig)", "priors": {"a": "normal(0, 1)", "b": "normal(0, 1)"}`: `"sig" is neither`,
	} {
		p, err := expr.Parse([]byte(fmt.Sprintf(line, more)))
		if err == nil {
			_, err = p.Model()
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s:\n%v\nwant %q", more, err, want)
		}
	}
}

// A document that is written and read again is the same.
func TestDocumentRoundTrip(t *testing.T) {
	for _, text := range []string{schools, fmt.Sprintf(line, `"sigma": "1", "start": {"a": 1, "b": [1, 2]}, "bounds": {"a": [null, 3]}, "absolute_sigma": true`)} {
		p, err := expr.Parse([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		b, err := json.Marshal(p)
		if err != nil {
			t.Fatal(err)
		}
		again, err := expr.Parse(b)
		if err != nil || !reflect.DeepEqual(again, p) {
			t.Errorf("%s: %v\n%+v\n%+v", b, err, p, again)
		}
	}
}

func TestStartsAndX(t *testing.T) {
	p, post := compile(t, fmt.Sprintf(line, `"sigma": "s", "start": {"a": 1, "b": 2, "s": 0.1}, "priors": {"a": "normal(0, 10)", "b": "normal(0, 10)", "s": "halfnormal(1)"}`))
	starts, err := p.Starts(post, 3, 1)
	if err != nil || len(starts) != 3 || math.Abs(starts[0][0]-1) > 0.5 || starts[0][0] == starts[1][0] {
		t.Errorf("%v %v", starts, err)
	}
	if name, x, ok := p.X(); name != "x" || len(x) != 5 || !ok {
		t.Error(name, x, ok)
	}
	p.Start = map[string]expr.Values{"a": {1}}
	if _, err := p.Starts(post, 3, 1); err == nil || !strings.Contains(err.Error(), "lacks b") {
		t.Errorf("%v", err)
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(schools))
	f.Add([]byte(fmt.Sprintf(line, `"sigma": "s", "priors": {"a": "normal(b, 1)", "b": "normal(a, 1)"}`)))
	f.Fuzz(func(t *testing.T, b []byte) {
		p, err := expr.Parse(b)
		if err != nil {
			return
		}
		if _, err := p.Model(); err == nil {
			p.X()
		}
		p.LeastSquares()
	})
}
