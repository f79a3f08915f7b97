// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package special

import (
	"math"

	"github.com/euryale-dev/euryale/internal/subnormal"
)

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
		odds := eta - subnormal.Log(phi)
		fall := phi * math.Log1p(mu/phi)
		if mu/phi > 1e300 {
			fall = phi * odds
		}
		if k > 0 {
			fall += k * Softplus(-odds)
		}
		return subnormal.Log(choose) - fall
	}
	n := k + phi
	rest := StirlingError(0, n) - StirlingError(0, phi) - LogFactorialRest(k) + 0.5*subnormal.Log(phi/n)
	if mu > hugeMean && mu > 1e20*phi { // the share of phi underflows
		return rest - PoissonDeviance(k, n) - phi*(eta-subnormal.Log(n)-1)
	}
	share := n / (mu + phi)
	if k > 0 && mu < 1/hugeMean && mu < 1e-20*phi { // the share of k underflows
		return rest - k*(subnormal.Log(k/n*phi)-eta-1) - PoissonDeviance(phi, n)
	}
	return rest - PoissonDeviance(k, share*mu) - PoissonDeviance(phi, share*phi)
}

// hugeMean is a mean whose ratio to a number of ordinary size may leave the range of float64.
const hugeMean = 1e250

// NegBinomialScore is the derivative with respect to phi.
func NegBinomialScore(k, eta, phi float64) float64 {
	mu := math.Exp(eta)
	d, fall, n := (k-mu)/(mu+phi), math.Log1p(mu/phi), k+phi
	if mu/phi > 1e300 {
		d, fall = -1, eta-subnormal.Log(phi)
	}
	switch {
	case k <= fewCounts && phi < 1e2:
		sum := 0.0
		for j := 0.0; j < k; j++ {
			sum += 1 / (phi + j)
		}
		return sum - fall - d
	case phi < 10:
		return Digamma(n) - Digamma(phi) - fall - d
	case d < -0.5: // 1 + d = n/(mu+phi) would lose digits
		return subnormal.Log(n/phi) - fall - d + digammaRest(phi) - digammaRest(n)
	}
	return log1pmx(d) + digammaRest(phi) - digammaRest(n)
}

const CUDANegBinomial = `
__device__ double eu_neg_binomial(double k, double eta, double phi) {
	double mu = exp(eta);
	if (k <= 24.0 && phi < 1e6) {
		double choose = 1.0, u = log(phi) - eta;
		for (double j = 0.0; j < k; j += 1.0) choose *= (phi + j) / (j + 1.0);
		double fall = phi * (mu / phi > 1e300 ? -u : log1p(mu / phi));
		if (k > 0.0) fall += k * (log1p(exp(-fabs(u))) + fmax(u, 0.0));
		return log(choose) - fall;
	}
	double n = k + phi;
	double rest = eu_stirling_error(0, n) - eu_stirling_error(0, phi) - eu_log_factorial_rest(k) + 0.5 * log(phi / n);
	if (mu > 1e250 && mu > 1e20 * phi) return rest - eu_poisson_deviance(k, n) - phi * (eta - log(n) - 1.0);
	if (k > 0.0 && mu < 1e-250 && mu < 1e-20 * phi) return rest - k * (log(k / n * phi) - eta - 1.0) - eu_poisson_deviance(phi, n);
	double share = n / (mu + phi);
	return rest - eu_poisson_deviance(k, share * mu) - eu_poisson_deviance(phi, share * phi);
}
`

const CUDANegBinomialScore = `
__device__ double eu_digamma_rest_of(double a) {
	return 0.5 / a - eu_stirling_error(1, a);
}
__device__ double eu_neg_binomial_score(double k, double eta, double phi) {
	double mu = exp(eta), d = (k - mu) / (mu + phi), fall = log1p(mu / phi), n = k + phi;
	if (mu / phi > 1e300) {
		d = -1.0;
		fall = eta - log(phi);
	}
	if (k <= 24.0 && phi < 1e2) {
		double sum = 0.0;
		for (double j = 0.0; j < k; j += 1.0) sum += 1.0 / (phi + j);
		return sum - fall - d;
	}
	if (phi < 10.0) return eu_digamma(n) - eu_digamma(phi) - fall - d;
	if (d < -0.5) return log(n / phi) - fall - d + eu_digamma_rest_of(phi) - eu_digamma_rest_of(n);
	return eu_log1pmx(d) + eu_digamma_rest_of(phi) - eu_digamma_rest_of(n);
}
`
