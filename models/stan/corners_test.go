// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package stan_test

import (
	"math"
	"slices"
	"strings"
	"testing"
)

// TestRefusedCorners has programs and data that are refused, and a part of the sentence that says why.
func TestRefusedCorners(t *testing.T) {
	for _, c := range []struct{ code, data, want string }{
		{"parameters { real x; } model { real a; (a, a) = (x, x); }", `{}`, "multiple times in one assignment: a"},
		{"functions { real f(real x, int y) { return x; } real f(int x, real y) { return y; } } parameters { real x; } model { x ~ normal(f(1, 1), 1); }", `{}`, "lines 1 and 1 take these arguments equally well"},
		{"parameters { real x; } model { while (x) { } }", `{}`, "Condition in while-loop must be of type int. Instead found type real"},
		{"transformed data { int c = choose(40, 20); } parameters { real x; } model { x ~ normal(c, 1); }", `{}`, "1.3784652882e+11, which is above the largest integer, 2147483647"},
		{"data { int i; } parameters { vector[3] x; } model { x[i] ~ normal(0, 1); }", `{"i": 0}`, "index 0 is out of range: i has to be from 1 to 3"},
	} {
		_, err := compileText("m.stan", c.code, []byte(c.data))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("want %q in: %v\n%s", c.want, err, c.code)
		}
	}
}

// TestProductsWithZero has densities with a term that is 0 where it is a number at all.
func TestProductsWithZero(t *testing.T) {
	for _, term := range []string{"0 * log(x)", "log(x) - log(x)", "a * log(x)", "dot_product(rep_vector(a, 2), log([x, x + 3]'))", "0 * sqrt(x) + 0 * log(x)", "a * sum(log(rep_vector(x, 4)))",
		"sum(log(x) * rep_vector(a, 3))", "sum(rep_vector(a, 3) / log(x + 0.5))", "(x - x) * log(x)"} {
		post, err := compileText("m.stan", "data { real a; } parameters { real x; } model { x ~ normal(0, 1); target += "+term+"; }", []byte(`{"a": 0}`))
		if err != nil {
			t.Fatal(err)
		}
		g := make([]float64, 1)
		if lp, err := post.LogProbGrad([]float64{-1}, g); err == nil && lp > math.Inf(-1) {
			t.Errorf("%s: the log density at -1 is %v", term, lp)
		}
		if lp, err := post.LogProbGrad([]float64{1}, g); lp != -0.5 || err != nil || g[0] != -1 {
			t.Errorf("%s: the log density at 1 is %v, %v, with the slope %v", term, lp, err, g[0])
		}
	}
}

// TestSlopeOfCorners looks at the derivatives of densities that are linear in their parameter.
func TestSlopeOfCorners(t *testing.T) {
	for _, c := range []struct {
		code, data string
		want       float64
	}{
		{"data { real a; } parameters { real x; } model { target += log(a) * x; }", `{"a": 4e-320}`, -735.440946529854},
		{"data { real a; } parameters { real x; } model { target += lgamma(a) * x; }", `{"a": 4e-320}`, 735.440946529854},
		{"data { real a; } parameters { real x; } model { target += log10(a) * x; }", `{"a": 4e-320}`, -735.440946529854 / math.Ln10},
		{"data { real a; } parameters { real x; } model { target += poisson_lpmf(3 | a) * x; }", `{"a": 4e-320}`, -3*735.440946529854 - math.Log(6)},
		{"data { int a; } transformed data { int c = -a; } parameters { real x; } model { target += c * x; }", `{"a": -2147483648}`, -2147483648},
	} {
		post, err := compileText("m.stan", c.code, []byte(c.data))
		if err != nil {
			t.Fatal(err)
		}
		g := make([]float64, 1)
		if _, err := post.LogProbGrad([]float64{0.5}, g); err != nil || math.Abs(g[0]-c.want) > 1e-10*math.Abs(c.want) {
			t.Errorf("the slope is %.15g, %v, want %.15g\n%s", g[0], err, c.want, c.code)
		}
	}
}

// TestKnownImpossible names the statement that makes the density 0 whatever the parameters are.
func TestKnownImpossible(t *testing.T) {
	for code, want := range map[string]string{
		"parameters { real m; } model { 2.5 ~ normal(m, 1) T[0, 2]; m ~ normal(0, 1); }":    "-Inf is m.stan, line 1: 2.5 ~ normal(m, 1) T[0, 2]",
		"parameters { real m; } model { m ~ normal(0, 1); target += negative_infinity(); }": "-Inf is m.stan, line 1: target += negative_infinity()",
	} {
		post, err := compileText("m.stan", code, []byte(`{}`))
		if err != nil {
			t.Fatal(err)
		}
		if said := post.Explain([]float64{0.5}); !strings.Contains(said, want) {
			t.Errorf("want %q in: %s", want, said)
		}
	}
}

// TestCoordinates names the unconstrained parameters.
func TestCoordinates(t *testing.T) {
	post, err := compileText("m.stan", "parameters { real<lower=0> s; vector[2] v; simplex[3] p; matrix[1, 2] m; } model { }", []byte(`{}`))
	if err != nil {
		t.Fatal(err)
	}
	if got, want := post.Coordinates(), []string{"s", "v[1]", "v[2]", "p.1", "p.2", "m.1", "m.2"}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
