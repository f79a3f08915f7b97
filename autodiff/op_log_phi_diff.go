// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package autodiff

import (
	"math"

	"github.com/euryale-dev/euryale/autodiff/internal/special"
)

// LogPhiDiff returns log(Phi(b) - Phi(a)), the logarithm of the probability of a
// standard normal number between a and b: exact in both tails and for narrow
// intervals. Ends may be infinite; -Inf for a = b, NaN for a > b.
//
// Gradient: -phi(a)/(Phi(b) - Phi(a)) and phi(b)/(Phi(b) - Phi(a)).
func LogPhiDiff(a, b *Node) *Node { return apply(logPhiDiffOp, a, b) }

var logPhiDiffOp *Op

func init() {
	logPhiDiffOp = Binary{
		Name:   "log_phi_diff",
		CPU:    special.LogPhiDiff,
		CUDA:   "eu_log_phi_diff(x, y)",
		Helper: special.CUDAErfcx + special.CUDALogPhi + special.CUDALogPhiDiff,
		VJP: func(g, y, a, b *Node) (da, db *Node) {
			density := func(x *Node) *Node {
				return Mul(g, Scale(1/math.Sqrt(2*math.Pi), Exp(Sub(Scale(-0.5, Square(x)), y))))
			}
			return Neg(density(a)), density(b)
		},
	}.Define()
	logPhiDiffOp.Sample = func(in Source) []*Node {
		return []*Node{LogPhiDiff(in(-6, -4, 4), in(-3, 2, 4)), LogPhiDiff(in(0, 1, 4), in(1.5, 9, 4))}
	}
	logPhiDiffOp.Domain = Interval{-8, 8}
}
