// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package autodiff

import (
	"math"

	"github.com/euryale-dev/euryale/autodiff/internal/special"
)

// Log1mExp returns log(1 - exp(x)) for x < 0, exact near 0 and far below. It is the logarithm of
// the complement of a probability given by its logarithm. It is -Inf at 0 and NaN above.
//
// Gradient: -1/(exp(-x) - 1).
func Log1mExp(x *Node) *Node { return apply(log1mexpOp, x) }

var log1mexpOp, log1mexpSlopeOp *Op

func init() {
	log1mexpOp = Unary{
		Name:   "log1mexp",
		CPU:    special.Log1mexp,
		CUDA:   "(x > -0.69314718055994530942 ? log(-expm1(x)) : log1p(-exp(x)))",
		VJP:    func(g, _, x *Node) *Node { return Mul(g, apply(log1mexpSlopeOp, x)) },
		Domain: Interval{-4, -0.1},
	}.Define()
	log1mexpSlopeOp = Unary{
		Name:   "log1mexp_slope",
		CPU:    func(x float64) float64 { return -1 / math.Abs(math.Expm1(-x)) },
		CUDA:   "(-1.0 / fabs(expm1(-x)))",
		VJP:    func(g, y, _ *Node) *Node { return Mul(g, Mul(y, Sub(Scalar(1), y))) },
		Domain: Interval{-4, -0.1},
	}.Define()
}
