// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package stan_test

import (
	"math"
	"strings"
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

// The search for the mode begins where the settings say, and settings that make no sense are refused.
func TestHiddenSettings(t *testing.T) {
	program := func(settings string) string {
		return `functions {
  real ll(vector theta, real m) { return log_mix(0.9, normal_lpdf(theta[1] | m, 0.5), normal_lpdf(theta[1] | -m, 0.5)); }
  matrix K(real k) { return [[k]]; }
}
parameters { real x; }
model { target += laplace_marginal_tol(ll, (5.0,), 1, K, (100.0 + 0 * x,), ` + settings + `); }`
	}
	high, _ := gradientOf(t, program("([4]', 1e-8, 100, 1, 10, 1)"), []float64{0})
	low, _ := gradientOf(t, program("([-4]', 1e-8, 100, 1, 10, 1)"), []float64{0})
	if math.Abs(high-low-math.Log(9)) > 1e-6 {
		t.Errorf("the modes differ by %g, want log 9", high-low)
	}
	for settings, says := range map[string]string{
		"([4, 1]', 1e-8, 100, 1, 10, 1)": "the initial values have 2 elements, and there are 1 hidden numbers",
		"([4]', -1, 100, 1, 10, 1)":      "the tolerance is -1",
		"([4]', 1e-8, 0, 1, 10, 1)":      "the number of steps is 0",
		"([4]', 1e-8, 100, 7, 10, 1)":    "the solver is 7: want 1, 2 or 3",
		"([4]', 1e-8, 100, 1, -1, 1)":    "line search are -1",
		"([4]', 1e-8, 100, 1, 10, 2)":    "fall back to another solver is 2",
	} {
		if _, err := compileText("m.stan", program(settings), nil); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v, want %q", settings, err, says)
		}
	}
}
