// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package autodiff

import "github.com/euryale-dev/euryale/autodiff/internal/special"

// NegBinomialLogProb returns the log probability of the count k under the negative
// binomial distribution of mean exp(eta) and variance mu + mu^2/phi, fused for likelihoods of
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

// negBinomialShares returns (k-mu)/(mu+phi) and mu/(mu+phi) without computing mu = exp(eta), which may overflow.
func negBinomialShares(k, eta, phi *Node) (d, share *Node) {
	above, one := Greater(eta, Scalar(0)), Scalar(1)
	e := Exp(Neg(Abs(eta)))
	whole := Where(above, Add(one, Mul(phi, e)), Add(e, phi))
	return Div(Where(above, Sub(Mul(k, e), one), Sub(k, e)), whole), Div(Where(above, one, e), whole)
}

func init() {
	negBinomialOp = Ternary{
		Name:   "neg_binomial_logprob",
		CPU:    special.NegBinomialLogProb,
		CUDA:   "eu_neg_binomial(x, y, z)",
		Helper: special.CUDAStirling + special.CUDALog1pmx + special.CUDAPoissonDeviance + special.CUDAFactorialRest + special.CUDANegBinomial,
		Double: true,
		VJP: func(g, k, eta, phi *Node) (dk, deta, dphi *Node) {
			d, _ := negBinomialShares(k, eta, phi)
			return nil, Mul(g, Mul(phi, d)), Mul(g, apply(negBinomialScoreOp, k, eta, phi))
		},
		Domain: Interval{0.3, 2.5},
	}.Define()
	negBinomialScoreOp = Ternary{
		Name:   "neg_binomial_score",
		CPU:    special.NegBinomialScore,
		CUDA:   "eu_neg_binomial_score(x, y, z)",
		Helper: special.CUDAStirling + special.CUDALog1pmx + special.CUDADigamma + special.CUDANegBinomialScore,
		Double: true,
		VJP: func(g, k, eta, phi *Node) (dk, deta, dphi *Node) {
			d, share := negBinomialShares(k, eta, phi)
			n := Add(k, phi)
			rest := func(x *Node) *Node { return Sub(Reciprocal(x), Polygamma(1, x)) }
			second := Add(Div(Square(d), n), Sub(rest(phi), rest(n)))
			return nil, Mul(g, Mul(d, share)), Mul(g, second)
		},
		Domain: Interval{0.3, 2.5},
	}.Define()
	for _, op := range []*Op{negBinomialOp, negBinomialScoreOp} {
		op.Sample = func(in Source) []*Node {
			return []*Node{apply(op, Const([]float64{0, 1, 7, 40}), in(-1, 2.5, 4), in(0.3, 2.5, 4))}
		}
	}
}
