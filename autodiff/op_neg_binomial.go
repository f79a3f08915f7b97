package autodiff

import "math"

// NegBinomialLogProb returns the log probability of the count k under the negative
// binomial law of mean exp(eta) and variance mu + mu^2/phi, fused for likelihoods of
// many counts:
//
//	log C(k+phi-1, k) + phi log(phi/(mu+phi)) + k log(mu/(mu+phi)), mu = exp(eta)
//
// exact for phi far above k and for large counts.
//
// Gradient: phi (k-mu)/(mu+phi) for eta; for phi Digamma(k+phi) - Digamma(phi) -
// log(1 + mu/phi) + (mu-k)/(mu+phi); none for k.
func NegBinomialLogProb(k, eta, phi *Node) *Node { return apply(negBinomialOp, k, eta, phi) }

var negBinomialOp, negBinomialScoreOp *Op

// fewCounts is up to where products are quicker than Stirling's series.
const fewCounts = 24

func negBinomialLogProb(k, eta, phi float64) float64 {
	mu := math.Exp(eta)
	if k <= fewCounts && phi < 1e6 {
		choose := 1.0
		for j := 0.0; j < k; j++ {
			choose *= (phi + j) / (j + 1)
		}
		return math.Log(choose) - phi*math.Log1p(mu/phi) - k*softplus(math.Log(phi)-eta)
	}
	n := k + phi
	share := n / (mu + phi)
	rest := stirlingError(0, n) - stirlingError(0, phi) - logFactorialRest(k) + 0.5*math.Log(phi/n)
	return rest - poissonDeviance(k, share*mu) - poissonDeviance(phi, share*phi)
}

// negBinomialScore is the derivative with respect to phi.
func negBinomialScore(k, eta, phi float64) float64 {
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
		return digamma(k+phi) - digamma(phi) - math.Log1p(mu/phi) - d
	}
	return log1pmx(d) + digammaRest(phi) - digammaRest(k+phi)
}

func init() {
	negBinomialOp = Ternary{
		Name:   "neg_binomial_logprob",
		CPU:    negBinomialLogProb,
		CUDA:   "eu_neg_binomial(x, y, z)",
		Helper: cudaStirling + cudaLog1pmx + cudaPoissonDeviance + cudaFactorialRest + cudaNegBinomial,
		VJP: func(g, k, eta, phi *Node) (dk, deta, dphi *Node) {
			mu := Exp(eta)
			return nil, Mul(g, Div(Mul(phi, Sub(k, mu)), Add(mu, phi))), Mul(g, apply(negBinomialScoreOp, k, eta, phi))
		},
		Domain: Interval{0.3, 2.5},
	}.define()
	negBinomialScoreOp = Ternary{
		Name:   "neg_binomial_score",
		CPU:    negBinomialScore,
		CUDA:   "eu_neg_binomial_score(x, y, z)",
		Helper: cudaStirling + cudaLog1pmx + cudaDigamma + cudaNegBinomialScore,
		// With n = k + phi and a = mu + phi.
		VJP: func(g, k, eta, phi *Node) (dk, deta, dphi *Node) {
			mu := Exp(eta)
			n, a := Add(k, phi), Add(mu, phi)
			d := Div(Sub(k, mu), a)
			rest := func(x *Node) *Node { return Sub(Reciprocal(x), Polygamma(1, x)) }
			second := Add(Div(Square(d), n), Sub(rest(phi), rest(n)))
			return nil, Mul(g, Mul(mu, Div(d, a))), Mul(g, second)
		},
		Domain: Interval{0.3, 2.5},
	}.define()
	for _, op := range []*Op{negBinomialOp, negBinomialScoreOp} {
		op.Sample = func(in Source) []*Node {
			return []*Node{apply(op, Const([]float64{0, 1, 7, 40}), in(-1, 2.5, 4), in(0.3, 2.5, 4))}
		}
	}
}

const cudaNegBinomial = `
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

const cudaNegBinomialScore = `
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
