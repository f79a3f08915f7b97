// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package stan_test

import (
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/models/stan"
)

// Parameters without a lower bound that stand where a distribution wants a number above 0 are noted once.
func TestScalesWithoutBound(t *testing.T) {
	for _, c := range []struct {
		declared, model string
		notes           int
	}{
		{"real sigma;", "y ~ normal(0, sigma); target += cauchy_lpdf(y | 0, sigma);", 1},
		{"real<lower=0> sigma;", "y ~ normal(0, sigma);", 0},
		{"vector[2] tau; real<upper=3> k;", "y ~ student_t(k, 0, tau[1]);", 2},
		{"positive_ordered[2] tau;", "y ~ normal(0, tau[2]);", 0},
		{"real a;", "y ~ normal(a, exp(a));", 0},
		{"real r;", "target += poisson_lpmf(3 | r);", 1},
	} {
		p, err := stan.Parse("MODEL.stan", "transformed data { real y = 1; } parameters { "+c.declared+" } model { "+c.model+" }", stan.Settings{})
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for _, note := range p.Notes {
			if strings.Contains(note, "without a lower bound") {
				n++
			}
		}
		if n != c.notes {
			t.Errorf("%s %s: %d notes, want %d: %q", c.declared, c.model, n, c.notes, p.Notes)
		}
	}
}

// A name that is not in scope is told where it is declared.
func TestOutOfScope(t *testing.T) {
	for code, says := range map[string]string{
		"parameters { real m; } model { { real b = m; } target += b; }":                                   "known only up to the end of the braces",
		"parameters { real m; } model { target += b; } generated quantities { real b = m; }":              "in the generated quantities block, which comes later",
		"functions { real f(real x) { return x + m; } } parameters { real m; } model { target += f(m); }": "functions know their arguments only",
		"transformed data { real c = d; real d = 2; } parameters { real m; } model { target += m; }":      "after this",
		"parameters { real mean_x; } model { target += meanx; }":                                          `Did you mean "mean_x"?`,
	} {
		if _, err := stan.Parse("MODEL.stan", code, stan.Settings{}); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v, want %q", code, err, says)
		}
	}
}
