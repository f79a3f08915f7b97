// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package stan_test

import (
	"testing"

	"github.com/euryale-dev/euryale/infer"
	"github.com/euryale-dev/euryale/models/stan"
)

// Runs of programs with two modes of which all chains come to one do not pass.
func TestProgramsWithTwoModes(t *testing.T) {
	for name, source := range map[string]string{
		"far apart": `parameters { real x; } model { target += log_mix(0.5, normal_lpdf(x | 0, 1), normal_lpdf(x | 30, 1)); }`,
		"with others": `parameters { real x; vector[4] z; real<lower=0> s; }
model { target += log_mix(0.5, normal_lpdf(x | 0, 1), normal_lpdf(x | 300, 1)); s ~ normal(0, 1); z ~ normal(0, s + 1); }`,
		"labels": `transformed data { vector[6] y = [-0.5, 0.3, 0.1, 29.5, 30.2, 30.4]'; }
parameters { vector[2] mu; } model { for (i in 1:6) target += log_mix(0.5, normal_lpdf(y[i] | mu[1], 1), normal_lpdf(y[i] | mu[2], 1)); }`,
	} {
		program, err := stan.Parse(name, source, stan.Settings{})
		if err != nil {
			t.Fatal(err)
		}
		post, err := program.Compile(stan.Data{}, stan.CompileSettings{})
		if err != nil {
			t.Fatal(err)
		}
		for seed := range uint64(3) {
			fit, err := infer.Sample(t.Context(), post, infer.Settings{Seed: seed, Draws: 500})
			if err != nil {
				t.Fatal(err)
			}
			if fit.Diagnose().OK() {
				t.Errorf("%s, seed %d: the run passes", name, seed)
			}
		}
	}
}
