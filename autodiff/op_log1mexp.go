// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package autodiff

import "github.com/euryale-dev/euryale/autodiff/internal/special"

// Log1mExp returns log(1 - exp(x)) for x < 0, exact near 0 and far below. It is the logarithm of
// the complement of a probability given by its logarithm. It is -Inf at 0 and NaN above.
//
// Gradient: -1/(exp(-x) - 1).
func Log1mExp(x *Node) *Node { return apply(log1mexpOp, x) }

var log1mexpOp *Op

func init() {
	log1mexpOp = Unary{
		Name:   "log1mexp",
		CPU:    special.Log1mexp,
		CUDA:   "(x > -0.69314718055994530942 ? log(-expm1(x)) : log1p(-exp(x)))",
		VJP:    func(g, _, x *Node) *Node { return Neg(Div(g, Expm1(Neg(x)))) },
		Domain: Interval{-4, -0.1},
	}.Define()
}
