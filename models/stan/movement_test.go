// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package stan_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/infer"
	"github.com/euryale-dev/euryale/infer/diag"
	"github.com/euryale-dev/euryale/models/stan"
)

// A hierarchy that a program writes centred, before its parents are declared, is sampled in coordinates without a neck. Quantiles of tau are those of
// quadrature.
func TestHierarchiesOfProgramsAreRecentred(t *testing.T) {
	for _, prior := range []string{"theta ~ normal(mu, tau);", "target += normal_lpdf(theta | mu, tau);", "for (j in 1:J) theta[j] ~ normal(mu, tau);", "for (j in 1:J) { theta[j] ~ normal(m[j], tau); }",
		"theta ~ multi_normal(m, diag_matrix(rep_vector(square(tau), J)));", "theta ~ multi_normal_cholesky(m, diag_matrix(rep_vector(tau, J)));",
		"target += multi_normal_prec_lpdf(theta | m, diag_matrix(rep_vector(1 / square(tau), J)));"} {
		t.Run(prior, func(t *testing.T) { recentred(t, prior) })
	}
}

func recentred(t *testing.T, prior string) {
	program, err := stan.Parse("schools.stan", `
data { int J; vector[J] y; vector[J] s; }
parameters { vector[J] theta; real mu; real<lower=0> tau; }
transformed parameters { vector[J] m = rep_vector(mu, J); }
model { mu ~ normal(0, 5); tau ~ cauchy(0, 5); `+prior+` y ~ normal(theta, s); }
`, stan.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	data, err := stan.ReadData(strings.NewReader(`{"J": 8, "y": [28, 8, -3, 7, -1, 1, 18, 12], "s": [15, 10, 16, 11, 9, 11, 10, 18]}`))
	if err != nil {
		t.Fatal(err)
	}
	post, err := program.Compile(data, stan.CompileSettings{})
	if err != nil {
		t.Fatal(err)
	}
	for first, settings := range map[string]infer.Settings{"theta is sampled": {Seed: 4, NoMarginals: true}, "theta is integrated out": {Seed: 4}} {
		fit, err := infer.Sample(t.Context(), post, settings)
		if err != nil || len(fit.Coordinates()) != 2 || !strings.HasPrefix(fit.Coordinates()[0], first) {
			t.Fatal(err, fit.Coordinates())
		}
		tauIsRight(t, post, fit)
	}
}

// tauIsRight compares quantiles of the scale of the schools with those by quadrature.
func tauIsRight(t *testing.T, post infer.Target, fit *infer.Fit) {
	t.Helper()
	tau := fit.Draws("tau")
	all := slices.Sorted(slices.Values(slices.Concat(tau...)))
	for p, want := range map[float64]float64{0.05: 0.246, 0.5: 2.749, 0.95: 9.841} {
		if got, sd := all[int(p*float64(len(all)))], diag.MCSEQuantile(tau, p); got < want-5*sd || got > want+5*sd {
			t.Errorf("quantile %g of tau is %.3f +- %.3f, want %.3f", p, got, sd, want)
		}
	}
	lp, g := 0.0, make([]float64, post.Dim())
	var err error
	if lp, err = post.LogProbGrad(fit.Unconstrained(1, 7), g); err != nil || lp-fit.Stats(1)[7].LogProb > 1e-9 || fit.Stats(1)[7].LogProb-lp > 1e-9 {
		t.Errorf("log density %v, recorded %v: %v", lp, fit.Stats(1)[7].LogProb, err)
	}
}
