// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package stan_test

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/infer"
)

// Points outside the support of a density, or with parameters out of range, are rejected whatever formula computes the density.
func TestRejections(t *testing.T) {
	for _, c := range []struct {
		density string
		bad     float64
		good    float64
	}{
		{"x ~ exponential(1);", -1, 1},
		{"x ~ gamma(1, 2);", -1, 1},
		{"x ~ gamma(3, 2);", -1, 1},
		{"x ~ inv_gamma(2, 2);", -1, 1},
		{"x ~ beta(1, 1);", 1.5, 0.5},
		{"x ~ beta(1, 2);", -0.5, 0.5},
		{"x ~ uniform(0, 1);", 1.5, 0.5},
		{"x ~ lognormal(0, 1);", -1, 1},
		{"0.3 ~ normal(0, x);", -1, 1},
		{"0.3 ~ normal(0, x);", 0, 1},
		{"0.3 ~ cauchy(0, x);", -1, 1},
		{"0.3 ~ student_t(4, 0, x);", -1, 1},
		{"0.3 ~ exponential(x);", -1, 1},
		{"0.3 ~ gamma(2, x);", -1, 1},
		{"0 ~ bernoulli(x);", -0.5, 0.5},
		{"1 ~ bernoulli(x);", 1.5, 0.5},
		{"2 ~ binomial(4, x);", 1.5, 0.5},
		{"0 ~ poisson(x);", -1, 1},
		{"{1, 0, 1} ~ bernoulli(x);", -0.5, 0.5},
	} {
		source := "parameters { real x; } model { " + c.density + " }"
		if lp, _ := gradientOf(t, source, []float64{c.bad}); !math.IsInf(lp, -1) {
			t.Errorf("%s: the log density at %g is %g, want -Inf", c.density, c.bad, lp)
		}
		if lp, g := gradientOf(t, source, []float64{c.good}); math.IsInf(lp, 0) || math.IsNaN(g[0]) {
			t.Errorf("%s: the log density at %g is %g with the slope %g, want finite numbers", c.density, c.good, lp, g[0])
		}
	}
	// Probabilities may be 0 and 1 where the outcome agrees.
	for _, source := range []string{
		"parameters { real x; } model { 0 ~ bernoulli(fmin(x, 0)); target += -square(x); }",
		"parameters { real x; } model { 1 ~ bernoulli(fmax(x, 1)); target += -square(x); }",
		"parameters { real x; } model { 0 ~ poisson(fmin(x, 0)); target += -square(x); }",
	} {
		if lp, _ := gradientOf(t, source, []float64{0.5}); math.IsInf(lp, 0) {
			t.Errorf("%s: the log density is %g, want a finite one", source, lp)
		}
	}
}

// A loop that does not end at a point rejects it, and says where it stands and what to do; one in a branch that is not chosen does not.
func TestEndlessLoop(t *testing.T) {
	post, err := compileText("m.stan", "parameters { real x; }\nmodel {\n  real y = 1;\n  while (y > x) y *= 0.999;\n  target += -square(y);\n}\n", nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := post.LogProbGrad([]float64{0.9}, make([]float64, 1)); err != nil {
		t.Error(err)
	}
	_, err = post.LogProbGrad([]float64{-1}, make([]float64, 1))
	if err == nil || !errors.Is(err, infer.ErrReject) || !strings.Contains(err.Error(), "m.stan, line 4: the loop ran 10000 times") || !strings.Contains(err.Error(), "a second one on a counter") {
		t.Errorf("the error is %v, and should reject the point and name line 4", err)
	}
	chosen := "parameters { real x; } model { real y = 1; if (x > 0) { while (y > x) y *= 0.999; } target += -square(y); }"
	if lp, _ := gradientOf(t, chosen, []float64{-1}); lp != -1 {
		t.Errorf("the log density is %g where the loop does not run, want -1", lp)
	}
}
