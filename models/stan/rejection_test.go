// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package stan_test

import (
	"math"
	"testing"
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
