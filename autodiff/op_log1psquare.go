// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package autodiff

import "github.com/euryale-dev/euryale/autodiff/internal/special"

// Log1pSquare returns log(1 + x^2), finite for every finite x.
//
// Gradient: 2x/(1 + x^2), finite too.
func Log1pSquare(x *Node) *Node { return apply(log1psqOp, x) }

var log1psqOp, log1psqSlopeOp *Op

func init() {
	log1psqOp = Unary{
		Name:   "log1p_square",
		CPU:    special.Log1psq,
		CUDA:   "(fabs(x) > 1e8 ? 2.0 * log(fabs(x)) : log1p(x * x))",
		VJP:    func(g, _, x *Node) *Node { return Mul(g, apply(log1psqSlopeOp, x)) },
		Domain: Interval{-4, 4},
		Kernel: log1pSquares,
	}.Define()
	log1psqSlopeOp = Unary{
		Name: "log1p_square_slope",
		CPU:  special.Log1psqSlope,
		CUDA: "(fabs(x) > 1.0 ? 2.0 / (x + 1.0 / x) : 2.0 * x / (1.0 + x * x))",
		VJP: func(g, y, x *Node) *Node { // 2/(1+x^2) - y^2
			return Mul(g, Sub(Scale(2, Square(apply(inverseHypot1Op, x))), Square(y)))
		},
		Domain: Interval{-4, 4},
		Kernel: log1pSquareSlopes,
	}.Define()
}
