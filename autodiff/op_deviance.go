// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package autodiff

import "github.com/euryale-dev/euryale/autodiff/internal/special"

// PoissonDeviance returns k log(k/m) - (k - m) for k >= 0 and m >= 0, half the unit
// deviance of a Poisson distribution of mean m: how far log p(k) falls below its largest
// value. It is exact near k = m, where the terms cancel; m at k = 0.
//
// Gradient: log(k/m) for k, 1 - k/m for m, which is 1 at k = 0 for any m, 0 included.
//
// Reference: Loader, "Fast and accurate computation of binomial probabilities"
// (2000).
func PoissonDeviance(k, m *Node) *Node { return apply(devianceOp, k, m) }

// LogFactorialRest returns log Gamma(k+1) - (k log k - k) for k >= 0, which is 0 at
// k = 0 and grows as log(2 pi k)/2: log k! = k log k - k + LogFactorialRest(k)
// splits binomial coefficients into parts that do not cancel.
//
// Gradient: Digamma(k+1) - log k.
func LogFactorialRest(k *Node) *Node { return apply(factorialOp, k) }

// logRatioOp is log(x/y), without overflow and exact near x = y.
var devianceOp, factorialOp, logRatioOp *Op

func init() {
	devianceOp = Binary{
		Name:   "poisson_deviance",
		CPU:    special.PoissonDeviance,
		CUDA:   "eu_poisson_deviance(x, y)",
		Helper: special.CUDALog1pmx + special.CUDAPoissonDeviance,
		VJP: func(g, _, k, m *Node) (dk, dm *Node) {
			dm = Where(Equal(k, Scalar(0)), Scalar(1), Div(Sub(m, k), m)) // 1 at k = m = 0, too
			return Mul(g, apply(logRatioOp, k, m)), Mul(g, dm)
		},
		Domain: Interval{0.3, 5},
	}.Define()
	logRatioOp = Binary{
		Name:   "log_ratio",
		CPU:    special.LogRatio,
		CUDA:   "eu_log_ratio(x, y)",
		Helper: special.CUDALogRatio,
		VJP:    func(g, _, x, y *Node) (dx, dy *Node) { return Div(g, x), Neg(Div(g, y)) },
		Domain: Interval{0.3, 5},
	}.Define()
	factorialOp = Unary{
		Name:   "log_factorial_rest",
		CPU:    special.LogFactorialRest,
		CUDA:   "eu_log_factorial_rest(x)",
		Helper: special.CUDAStirling + special.CUDAFactorialRest,
		VJP:    func(g, _, k *Node) *Node { return Mul(g, Sub(Digamma(Shift(k, 1)), Log(k))) },
		Domain: Interval{0.3, 14},
	}.Define()
}
