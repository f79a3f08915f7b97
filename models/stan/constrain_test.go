// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package stan_test

import (
	"math"
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/models/stan"
)

// Functions whose names end in _jacobian stand where the language has them, and what they and jacobian += add is left out with the Jacobian.
func TestJacobianFunctions(t *testing.T) {
	source := "functions { real positive_jacobian(real y) { jacobian += y; return exp(y); } }\nparameters { vector[2] y; }\ntransformed parameters { real s = positive_jacobian(y[1]); real v = lower_bound_jacobian(y[2], 1); }\nmodel { target += -s - v; }\n"
	p, err := stan.Parse("m.stan", source, stan.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	for _, without := range []bool{false, true} {
		post, err := p.Compile(stan.Data{}, stan.CompileSettings{NoJacobian: without})
		if err != nil {
			t.Fatal(err)
		}
		u := []float64{0.3, -0.4}
		want := -math.Exp(u[0]) - 1 - math.Exp(u[1])
		if !without {
			want += u[0] + u[1]
		}
		if lp, err := post.LogProbGrad(u, make([]float64, 2)); err != nil || math.Abs(lp-want) > 1e-14 {
			t.Errorf("without the Jacobian: %t: the log density is %g, want %g: %v", without, lp, want, err)
		}
	}
	for source, says := range map[string]string{
		"parameters { real y; } model { target += lower_bound_jacobian(y, 0); }":                                                               "transformed parameters block and in functions with that suffix",
		"parameters { vector[3] y; } model { matrix[3, 3] m = corr_matrix_constrain(y); }":                                                     "expected 2 arguments but found 1",
		"parameters { matrix[2, 2] y; } model { vector[3] m = simplex_constrain(y); }":                                                         "pass a vector",
		"parameters { vector[3] y; } model { vector[3] m = lower_bound_constrain(y, [1, 2]'); matrix[3, 3] n = corr_matrix_constrain(y, 4); }": "pass one bound, or one for each",
		"parameters { vector[3] y; } model { matrix[4, 4] n = corr_matrix_constrain(y, 4); }":                                                  "has 6 unconstrained numbers, and the vector has 3",
	} {
		if _, err := compileText("m.stan", source, nil); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v, want %q", source, err, says)
		}
	}
}

// Random numbers have the means of their distributions.
func TestMeansOfRandomNumbers(t *testing.T) {
	post, err := compileText("m.stan", `parameters { real x; }
generated quantities {
  real yule = 0; real betas = 0; real product = 0; real inverse = 0; real probit = 0;
  for (i in 1:500) {
    yule += yule_simon_rng(6) / 500.0;
    betas += beta_neg_binomial_rng(3, 8, 2) / 500.0;
    matrix[2, 2] l = wishart_cholesky_rng(5, [[1, 0], [0.5, 2]]);
    product += (l * l')[2, 1] / 500;
    matrix[2, 2] k = inv_wishart_cholesky_rng(9, [[1, 0], [0.5, 2]]);
    inverse += (k * k')[2, 2] / 500;
    probit += ordered_probit_rng(0.5, [0, 1]') / 500.0;
  }
}`, nil)
	if err != nil {
		t.Fatal(err)
	}
	row := make([]float64, post.Len())
	if err := post.Write([]float64{0}, row); err != nil {
		t.Fatal(err)
	}
	phi := func(x float64) float64 { return 0.5 * math.Erfc(-x/math.Sqrt2) }
	for i, want := range map[int]float64{1: 6.0 / 5, 2: 3 * 2.0 / 7, 3: 5 * 0.5, 4: 4.25 / 6, 5: 1 + phi(0.5) + phi(-0.5)} {
		if math.Abs(row[i]-want) > 0.2*want {
			t.Errorf("the mean of %s is %g, want %g", post.Names()[i], row[i], want)
		}
	}
}
