// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package autodiff

import (
	"github.com/euryale-dev/euryale/autodiff/internal/special"
)

// LogPhiDiff returns log(Phi(b) - Phi(a)), the logarithm of the probability of a
// standard normal number between a and b: exact in both tails and for narrow
// intervals. Ends may be infinite; -Inf for a = b, NaN for a > b.
//
// Gradient: -phi(a)/(Phi(b) - Phi(a)) and phi(b)/(Phi(b) - Phi(a)).
func LogPhiDiff(a, b *Node) *Node { return apply(logPhiDiffOp, a, b) }

var logPhiDiffOp, logPhiDiffSlopeOp *Op

func init() {
	logPhiDiffOp = Binary{
		Name:   "log_phi_diff",
		CPU:    special.LogPhiDiff,
		CUDA:   "eu_log_phi_diff(x, y)",
		Helper: special.CUDAErfcx + special.CUDALogPhi + special.CUDALogPhiDiff,
		VJP: func(g, _, a, b *Node) (da, db *Node) {
			return Neg(Mul(g, apply(logPhiDiffSlopeOp, Neg(b), Neg(a)))), Mul(g, apply(logPhiDiffSlopeOp, a, b))
		},
	}.Define()
	logPhiDiffSlopeOp = Binary{
		Name:   "log_phi_diff_slope",
		CPU:    special.LogPhiDiffSlope,
		CUDA:   "eu_log_phi_diff_slope(x, y)",
		Helper: special.CUDAErfcx + special.CUDALogPhiDiffSlope,
		Double: true, // differences of tails cancel
		VJP: func(g, s, a, b *Node) (da, db *Node) { // s' = -s (b + s) for b, s r for a, with r the slope of a
			g = Mul(g, s)
			away := Greater(s, Scalar(0)) // where b may be infinite
			db = Neg(Mul(g, Where(away, Add(b, s), Scalar(0))))
			return Mul(g, apply(logPhiDiffSlopeOp, Neg(b), Neg(a))), db
		},
	}.Define()
	logPhiDiffSlopeOp.Sample = func(in Source) []*Node {
		return []*Node{apply(logPhiDiffSlopeOp, in(-6, -4, 4), in(-3, 2, 4)), apply(logPhiDiffSlopeOp, in(0, 1, 4), in(1.5, 9, 4))}
	}
	logPhiDiffSlopeOp.Domain = Interval{-8, 8}
	logPhiDiffOp.Sample = func(in Source) []*Node {
		return []*Node{LogPhiDiff(in(-6, -4, 4), in(-3, 2, 4)), LogPhiDiff(in(0, 1, 4), in(1.5, 9, 4))}
	}
	logPhiDiffOp.Domain = Interval{-8, 8}
}
