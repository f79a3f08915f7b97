// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package special

import "math"

// fewCounts is the largest count for which products are faster than Stirling's series.
const fewCounts = 24

// NegBinomialLogProb returns the logarithm of the probability of k under the negative
// binomial distribution of mean exp(eta) and size phi.
func NegBinomialLogProb(k, eta, phi float64) float64 {
	mu := math.Exp(eta)
	if k <= fewCounts && phi < 1e6 {
		choose := 1.0
		for j := 0.0; j < k; j++ {
			choose *= (phi + j) / (j + 1)
		}
		return math.Log(choose) - phi*math.Log1p(mu/phi) - k*Softplus(math.Log(phi)-eta)
	}
	n := k + phi
	share := n / (mu + phi)
	rest := StirlingError(0, n) - StirlingError(0, phi) - LogFactorialRest(k) + 0.5*math.Log(phi/n)
	return rest - PoissonDeviance(k, share*mu) - PoissonDeviance(phi, share*phi)
}

// NegBinomialScore is the derivative with respect to phi.
func NegBinomialScore(k, eta, phi float64) float64 {
	mu := math.Exp(eta)
	d := (k - mu) / (mu + phi)
	switch {
	case k <= fewCounts && phi < 1e2:
		sum := 0.0
		for j := 0.0; j < k; j++ {
			sum += 1 / (phi + j)
		}
		return sum - math.Log1p(mu/phi) - d
	case phi < 10:
		return Digamma(k+phi) - Digamma(phi) - math.Log1p(mu/phi) - d
	}
	return log1pmx(d) + digammaRest(phi) - digammaRest(k+phi)
}

const CUDANegBinomial = `
__device__ double eu_neg_binomial(double k, double eta, double phi) {
	double mu = exp(eta);
	if (k <= 24.0 && phi < 1e6) {
		double choose = 1.0, u = log(phi) - eta;
		for (double j = 0.0; j < k; j += 1.0) choose *= (phi + j) / (j + 1.0);
		return log(choose) - phi * log1p(mu / phi) - k * (log1p(exp(-fabs(u))) + fmax(u, 0.0));
	}
	double n = k + phi, share = n / (mu + phi);
	double rest = eu_stirling_error(0, n) - eu_stirling_error(0, phi) - eu_log_factorial_rest(k) + 0.5 * log(phi / n);
	return rest - eu_poisson_deviance(k, share * mu) - eu_poisson_deviance(phi, share * phi);
}
`

const CUDANegBinomialScore = `
__device__ double eu_digamma_rest_of(double a) {
	return 0.5 / a - eu_stirling_error(1, a);
}
__device__ double eu_neg_binomial_score(double k, double eta, double phi) {
	double mu = exp(eta), d = (k - mu) / (mu + phi);
	if (k <= 24.0 && phi < 1e2) {
		double sum = 0.0;
		for (double j = 0.0; j < k; j += 1.0) sum += 1.0 / (phi + j);
		return sum - log1p(mu / phi) - d;
	}
	if (phi < 10.0) return eu_digamma(k + phi) - eu_digamma(phi) - log1p(mu / phi) - d;
	return eu_log1pmx(d) + eu_digamma_rest_of(phi) - eu_digamma_rest_of(k + phi);
}
`
