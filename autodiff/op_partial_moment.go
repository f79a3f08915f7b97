// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package autodiff

import (
	"fmt"

	"github.com/euryale-dev/euryale/autodiff/internal/special"
)

// LogPartialMoment returns the logarithm of the integral over y > 0 of
//
//	y^nu exp(-(y-m)^2/2), nu > -1
//
// a parabolic cylinder function: exp(-m^2/4) Gamma(nu+1) U(nu+1/2, -m).
//
// Gradient: exp(J(nu+1) - J(nu)) - m for m; for nu operations of the same family,
// the cumulants of log y. Definition: https://dlmf.nist.gov/12.5.E1.
func LogPartialMoment(nu, m *Node) *Node { return apply(partialMomentOp(0), nu, m) }

// PartialMomentGain returns LogPartialMoment(nu, m) - LogPartialMoment(nu, 0), which is exact for large nu too, where the
// difference of the two would be lost.
//
// Gradient: the difference of the means of log y for nu, and the mean of y - m for m.
func PartialMomentGain(nu, m *Node) *Node { return apply(partialGainOp, nu, m) }

var partialGainOp, partialGainSlopeOp, partialExcessOp *Op

// partialMomentOp returns the n-th derivative with respect to nu, made at first use.
func partialMomentOp(n int) *Op {
	tailOpsMu.Lock()
	defer tailOpsMu.Unlock()
	key := tailKey{special.PartialPeak, n, 0}
	if op := tailOps[key]; op != nil {
		return op
	}
	op := Binary{
		Name:   fmt.Sprintf("log_partial_moment_%d", n),
		CPU:    func(nu, m float64) float64 { return special.LogPartialMoment(n, nu, m) },
		CUDA:   fmt.Sprintf("eu_partial_moment(%d, x, y)", n),
		Helper: special.CUDAStirling + special.CUDAPolygamma + special.CUDALog1pmx + special.CUDAIncomplete + special.CUDAPartialMoment,
		Double: true,
		VJP: func(g, _, nu, m *Node) (dnu, dm *Node) {
			return Mul(g, apply(partialMomentOp(n+1), nu, m)), Mul(g, partialSlope(n, nu, m))
		},
		Domain: Interval{0.4, 3},
	}.Define()
	tailOps[key] = op
	return op
}

// partialSlope is the n-th derivative with respect to nu of exp(J(nu+1) - J(nu)) - m.
func partialSlope(n int, nu, m *Node) *Node {
	if n == 0 {
		return apply(partialExcessOp, nu, m)
	}
	step := func(k int) *Node {
		return Sub(apply(partialMomentOp(k), Shift(nu, 1), m), apply(partialMomentOp(k), nu, m))
	}
	h := []*Node{Exp(step(0))}
	for i := range n {
		next := Scalar(0)
		for j, hj := range h {
			next = Add(next, Scale(special.Binomial(i, j), Mul(hj, step(i-j+1))))
		}
		h = append(h, next)
	}
	return h[n]
}

func init() {
	partialMomentOp(0)
	partialMomentOp(1)
	helper := special.CUDAStirling + special.CUDAPolygamma + special.CUDALog1pmx + special.CUDAIncomplete + special.CUDAPartialMoment
	partialGainOp = Binary{
		Name:   "partial_moment_gain",
		CPU:    special.PartialGain,
		CUDA:   "eu_partial_gain(0, x, y)",
		Helper: helper,
		Double: true,
		VJP: func(g, _, nu, m *Node) (dnu, dm *Node) {
			return Mul(g, apply(partialGainSlopeOp, nu, m)), Mul(g, apply(partialExcessOp, nu, m))
		},
		Domain: Interval{0.4, 3},
	}.Define()
	partialGainSlopeOp = Binary{
		Name:   "partial_moment_gain_slope",
		CPU:    special.PartialGainSlope,
		CUDA:   "eu_partial_gain(1, x, y)",
		Helper: helper,
		Double: true,
		VJP: func(g, _, nu, m *Node) (dnu, dm *Node) {
			second := apply(partialMomentOp(2), nu, m)
			return Mul(g, Sub(second, apply(partialMomentOp(2), nu, Scale(0, m)))), Mul(g, partialSlope(1, nu, m))
		},
		Domain: Interval{0.4, 3},
	}.Define()
	partialExcessOp = Binary{
		Name:   "partial_moment_excess",
		CPU:    special.PartialExcess,
		CUDA:   "eu_partial_excess(x, y)",
		Helper: helper,
		Double: true,
		VJP: func(g, y, nu, m *Node) (dnu, dm *Node) { // the variance of y is nu + 1 less its mean times y
			return Mul(g, partialSlope(1, nu, m)), Mul(g, Sub(nu, Mul(Add(m, y), y)))
		},
		Domain: Interval{0.4, 3},
	}.Define()
}
