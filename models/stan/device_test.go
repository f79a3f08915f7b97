// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package stan_test

import (
	"math"
	"testing"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/internal/pretend"
	"github.com/euryale-dev/euryale/models/stan"
)

// Log densities and gradients on a GPU are those of the processor, also of programs with conditions, loops, differential equations and
// decompositions, parts of which run on the processor.
func TestOnDevice(t *testing.T) {
	pretend.Shared(t)
	for name, source := range map[string]string{
		"regression": `transformed data { vector[40] x = linspaced_vector(40, -1, 1); vector[40] y = 2 * x + sin(9 * x); }
parameters { real a; real b; real<lower=0> s; } model { a ~ normal(0, 2); s ~ exponential(1); y ~ normal(a + b * x, s); }`,
		"schools": `transformed data { vector[4] y = [28, 8, -3, 7]'; vector[4] se = [15, 10, 16, 11]'; }
parameters { real mu; real<lower=0> tau; vector<offset=mu, multiplier=tau>[4] theta; } model { mu ~ normal(0, 5); tau ~ cauchy(0, 5); theta ~ normal(mu, tau); y ~ normal(theta, se); }`,
		"conditions": `parameters { vector[4] x; } model { real s = 0; for (i in 1:4) { if (s > x[i]) s += exp(x[i]); else s -= square(x[i]); } while (s > -3) s -= 1; target += s - dot_self(x); }`,
		"equation": `functions { vector rate(real t, vector y, real k) { return [-k * y[1], k * y[1] - y[2]]'; } }
parameters { real<lower=0> k; simplex[3] p; } model { array[2] vector[2] y = ode_rk45(rate, [1, 0.5]', 0, {0.5, 1}, k); target += sum(log(y[2])) + dirichlet_lpdf(p | [2, 3, 4]'); }`,
		"decomposition": `parameters { vector[3] x; } model { complex_vector[2] l = eigenvalues([[x[1], 2], [x[2], x[3]]]); target += sum(get_real(l .* l)) - dot_self(x); }`,
		"mixture":       `parameters { ordered[2] mu; real<lower=0, upper=1> w; } model { array[4] real y = {-1, -1.2, 2, 2.5}; for (n in 1:4) target += log_mix(w, normal_lpdf(y[n] | mu[1], 1), normal_lpdf(y[n] | mu[2], 1)); }`,
	} {
		p, err := stan.Parse(name, source, stan.Settings{})
		if err != nil {
			t.Fatal(err)
		}
		var lps [2]float64
		var grads [2][]float64
		for i, b := range []ad.Backend{nil, ad.CUDA{}} {
			post, err := p.Compile(stan.Data{}, stan.CompileSettings{Backend: b})
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			u := make([]float64, post.Dim())
			for k := range u {
				u[k] = 0.3 - 0.2*float64(k)
			}
			grads[i] = make([]float64, len(u))
			if lps[i], err = post.LogProbGrad(u, grads[i]); err != nil {
				t.Fatalf("%s on backend %d: %v", name, i, err)
			}
		}
		if math.Abs(lps[1]-lps[0]) > 1e-10*math.Max(1, math.Abs(lps[0])) {
			t.Errorf("%s: the log density is %.15g on the device and %.15g on the processor", name, lps[1], lps[0])
		}
		for k, g := range grads[0] {
			if math.Abs(grads[1][k]-g) > 1e-10*math.Max(1, math.Abs(g)) {
				t.Errorf("%s: gradient %d is %.15g on the device and %.15g on the processor", name, k, grads[1][k], g)
			}
		}
	}
}
