// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package stan_test

import (
	"math"
	"testing"
)

// Draws of hidden numbers have the mean and the variance of the approximation. For one Poisson count y and theta ~ normal(0, k), the mode
// solves theta = k (y - exp(theta + m)), and the variance is 1/(1/k + exp(theta + m)).
func TestHiddenDraws(t *testing.T) {
	post, err := compileText("MODEL.stan", `functions { matrix K(real k) { return [[k]]; } }
parameters { real x; } model { x ~ normal(0, 1); }
generated quantities { vector[1] h = laplace_latent_poisson_log_rng({4}, {1}, [0.5]', 1, K, (2.0,)); }`, nil)
	if err != nil {
		t.Fatal(err)
	}
	theta := 0.0
	for range 100 {
		e := math.Exp(theta + 0.5)
		theta -= (theta/2 - 4 + e) / (0.5 + e)
	}
	variance := 1 / (0.5 + math.Exp(theta+0.5))
	const n = 150
	sum, square := 0.0, 0.0
	row := make([]float64, post.Len())
	for i := range n {
		if err := post.Write([]float64{float64(i)}, row); err != nil {
			t.Fatal(err)
		}
		z := (row[1] - theta) / math.Sqrt(variance)
		sum, square = sum+z, square+z*z
	}
	if z := sum / math.Sqrt(n); math.Abs(z) > 4 {
		t.Errorf("the mean is %g standard errors off", z)
	}
	if z := (square - n) / math.Sqrt(2*n); math.Abs(z) > 4 {
		t.Errorf("the variance is %g standard errors off", z)
	}
}
