// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package stan_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/infer"
	"github.com/euryale-dev/euryale/infer/check"
	"github.com/euryale-dev/euryale/models/stan"
)

// Where target += or a statement that is not judged has data, verdicts do not take these for priors, and say that they were not judged.
func TestDataBesideObservations(t *testing.T) {
	data, err := stan.ReadData(strings.NewReader(`{"y": [0.2, 0.5, 0.4, 0.9, 0.3, 0.7, 0.6, 0.1], "c": [1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1]}`))
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		model  string
		partly bool
	}{
		"censored":  {"y ~ exponential(1 / m); target += exponential_lccdf(c | 1 / m);", true},
		"truncated": {"y ~ exponential(1 / m); for (i in 1:30) c[i] ~ exponential(1 / m) T[0.5, ];", true},
		"alone":     {"y ~ exponential(1 / m); m ~ normal(0, 10);", false},
	} {
		p, err := stan.Parse("p.stan", "data { vector[8] y; vector[30] c; } parameters { real<lower=0> m; } model { "+c.model+" }", stan.Settings{})
		if err != nil {
			t.Fatal(err)
		}
		post, err := p.Compile(data, stan.CompileSettings{})
		if err != nil {
			t.Fatal(err)
		}
		fit, err := infer.Sample(t.Context(), post, infer.Settings{Seed: 1, Draws: 200})
		if err != nil {
			t.Fatal(err)
		}
		v, err := fit.CheckModel(infer.CheckSettings{})
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Contains(fmt.Sprint(v.Notes), "beside what is observed"); got != c.partly || v.Has(check.KindPrior) {
			t.Errorf("%s: %v, notes %v", name, v, v.Notes)
		}
	}
}
