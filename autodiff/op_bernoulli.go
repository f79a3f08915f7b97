// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package autodiff

import "github.com/euryale-dev/euryale/autodiff/internal/special"

// BernoulliLogLik returns k log p + m log(1-p), the log-likelihood of a probability
// p after k successes and m failures; 0 log 0 is 0.
//
// Gradient: log p, log(1-p), and (k - (k+m) p)/(p (1-p)) for p, whose difference is
// rounded once. At p = 0 after no success and at p = 1 after no failure the last is -m and k.
func BernoulliLogLik(k, m, p *Node) *Node { return apply(bernoulliOp, k, m, p) }

var bernoulliOp, bernoulliScoreOp *Op

func init() {
	bernoulliOp = Ternary{
		Name: "bernoulli_loglik",
		CPU:  special.BernoulliLogLik,
		CUDA: "((x != 0.0 ? x * log(z) : 0.0) + (y != 0.0 ? y * log1p(-z) : 0.0))",
		VJP: func(g, k, m, p *Node) (dk, dm, dp *Node) {
			return Mul(g, Log(p)), Mul(g, Log1p(Neg(p))), Mul(g, apply(bernoulliScoreOp, k, m, p))
		},
		Domain: Interval{0.2, 0.9},
	}.Define()
	bernoulliScoreOp = Ternary{
		Name: "bernoulli_score",
		CPU:  special.BernoulliScore,
		CUDA: "(x == 0.0 && y == 0.0 ? 0.0 : x == 0.0 ? -y / (1.0 - z) : y == 0.0 ? x / z : -fma(x + y, z, -x) / (z * (1.0 - z)))",
		VJP: func(g, k, m, p *Node) (dk, dm, dp *Node) {
			q := Sub(Scalar(1), p)
			none := func(count, fall *Node) *Node { return Where(Equal(count, Scalar(0)), Scalar(0), fall) }
			fall := Add(none(k, Div(k, Square(p))), none(m, Div(m, Square(q))))
			return Div(g, p), Neg(Div(g, q)), Neg(Mul(g, fall))
		},
		Domain: Interval{0.2, 0.9},
	}.Define()
}
