// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package stan_test

import (
	"math"
	"testing"
)

// What is observed by regressions and vectors has the density of the statement: that of its numbers one by one, each given those before.
func TestObservedVectors(t *testing.T) {
	const data = "data { vector[3] y; array[2] vector[3] z; array[3] int c; array[3] int b; array[3] int k; vector[2] cut; matrix[3, 2] x; }\nparameters { real<lower=0> s; vector[2] beta; }\n"
	const values = `{"y": [0.5, 1.5, -1], "z": [[1, 2, 0.5], [0, -1, 1]], "c": [2, 0, 5], "b": [1, 0, 1], "k": [1, 3, 2], "cut": [-0.4, 0.8], "x": [[1, 2], [0.5, -1], [3, 1]]}`
	const sigma = "add_diag(rep_matrix(0.4, 3, 3), s)"
	for _, c := range []struct {
		model  string
		number int
	}{
		{"target += multi_normal_lpdf(y | rep_vector(beta[1], 3), " + sigma + ");", 0},
		{"y ~ multi_normal(rep_vector(beta[1], 3), " + sigma + ");", 3},
		{"y ~ multi_normal_cholesky(rep_vector(beta[1], 3), cholesky_decompose(" + sigma + "));", 3},
		{"z ~ multi_normal_prec(rep_vector(beta[1], 3), inverse_spd(" + sigma + "));", 6},
		{"z ~ multi_normal({rep_vector(beta[1], 3), y * beta[2]}, " + sigma + ");", 6},
		{"k ~ ordered_logistic(y * beta[1], cut);", 3},
		{"for (i in 1:3) k[i] ~ ordered_probit(beta[i % 2 + 1], append_row(-1, exp(rep_vector(beta[1], 1))));", 3},
		{"k ~ categorical(softmax(append_row(beta, 0)));", 3},
		{"for (i in 1:3) k[i] ~ categorical_logit(append_row(beta * y[i], 0));", 3},
		{"y ~ normal_id_glm(x, 0.3, beta, s);", 3},
		{"c ~ poisson_log_glm(x, beta[1], beta);", 3},
		{"c ~ neg_binomial_2_log_glm(x, y, beta, s);", 3},
		{"b ~ bernoulli_logit_glm(x, 0.1, beta);", 3},
		{"c ~ binomial_logit_glm({3, 4, 5}, x, 0.1, beta);", 3},
	} {
		code := data + "model { s ~ exponential(1); beta ~ normal(0, 1); " + c.model + " }"
		post, err := compileText("MODEL.stan", code, []byte(values))
		if err != nil {
			t.Fatal(err)
		}
		seen := post.Observations()
		if c.number == 0 {
			if seen != nil {
				t.Errorf("%s says what is observed", c.model)
			}
			continue
		}
		if seen == nil {
			t.Errorf("%s does not say what is observed", c.model)
			continue
		}
		bare, err := compileText("MODEL.stan", data+"model { s ~ exponential(1); beta ~ normal(0, 1); }", []byte(values))
		if err != nil {
			t.Fatal(err)
		}
		// The likelihood is the density without that of the parameters, but for the constants that ~ drops: differences between two points.
		u, w := []float64{0.3, -0.2, 0.4}, []float64{-0.4, 0.5, 0.1}
		g := make([]float64, 3)
		lp := func(f func(q, g []float64) (float64, error), q []float64) float64 {
			v, err := f(q, g)
			if err != nil {
				t.Fatal(err)
			}
			return v
		}
		whole := lp(post.LogProbGrad, u) - lp(post.LogProbGrad, w) - lp(bare.LogProbGrad, u) + lp(bare.LogProbGrad, w)
		own := lp(seen.LogProbGrad, u) - lp(seen.LogProbGrad, w)
		if math.Abs(whole-own) > 1e-9 {
			t.Errorf("%s: the difference is %.12g, and %.12g of the observations", c.model, whole, own)
		}
	}
}
