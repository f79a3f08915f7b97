// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package stan_test

import (
	"slices"
	"testing"

	"github.com/euryale-dev/euryale/infer"
	"github.com/euryale-dev/euryale/models/stan"
)

// Generated quantities of chains that run at once are those of chains that run one after another: functions of the library that are kept compiled from draw
// to draw belong to one chain.
func TestGeneratedQuantitiesOfChainsAtOnce(t *testing.T) {
	program, err := stan.Parse("late.stan", `
parameters { vector[3] x; }
model { x ~ normal(0, 1); }
generated quantities {
  array[60] vector[3] p;
  array[60] int z;
  for (t in 1:60) { p[t] = softmax(x + (t > 1 ? z[t - 1] : 0) * cumulative_sum(x)); z[t] = categorical_rng(p[t]); }
}
`, stan.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	sampled := func(parallel int) *infer.Fit {
		t.Helper()
		post, err := program.Compile(stan.Data{}, stan.CompileSettings{Seed: 1})
		if err != nil {
			t.Fatal(err)
		}
		fit, err := infer.Sample(t.Context(), post, infer.Settings{Seed: 2, Chains: 4, Warmup: 30, Draws: 40, Parallel: parallel})
		if err != nil {
			t.Fatal(err)
		}
		return fit
	}
	alone, together := sampled(1), sampled(4)
	for c := range 4 {
		for i := range 40 {
			if !slices.Equal(alone.Row(c, i), together.Row(c, i)) {
				t.Fatalf("draw %d of chain %d differs", i, c)
			}
		}
	}
}
