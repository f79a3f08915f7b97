// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package autodiff

import (
	"math"

	"github.com/euryale-dev/euryale/autodiff/internal/compiler"
	"github.com/euryale-dev/euryale/autodiff/internal/special"
	"github.com/euryale-dev/euryale/internal/subnormal"
)

// Exp returns e^x. Gradient: y.
func Exp(x *Node) *Node { return apply(expOp, x) }

// Exp2 returns 2^x. Gradient: y ln 2.
func Exp2(x *Node) *Node { return apply(exp2Op, x) }

// Expm1 returns e^x - 1, exact near 0. Gradient: y + 1.
func Expm1(x *Node) *Node { return apply(expm1Op, x) }

// Log returns the natural logarithm; -Inf at 0, NaN below. Gradient: 1/x.
func Log(x *Node) *Node { return apply(logOp, x) }

// Log1p returns log(1 + x), exact near 0. Gradient: 1/(1+x).
func Log1p(x *Node) *Node { return apply(log1pOp, x) }

// Log2 returns the logarithm to base 2. Gradient: 1/(x ln 2).
func Log2(x *Node) *Node { return apply(log2Op, x) }

// Log10 returns the logarithm to base 10. Gradient: 1/(x ln 10).
func Log10(x *Node) *Node { return apply(log10Op, x) }

// LogAddExp returns log(e^x + e^y) without overflow. Gradient: softmax of (x, y), and 0 where the result is infinite,
// which moves with neither: so it is in LogSumExp and LogCumsumExp.
func LogAddExp(x, y *Node) *Node { return apply(logAddExpOp, x, y) }

// isInfinite returns 1 where x is +Inf or -Inf, else 0.
func isInfinite(x *Node) *Node { return Equal(Abs(x), Scalar(math.Inf(1))) }

var expOp, exp2Op, expm1Op, logOp, log1pOp, log2Op, log10Op, logAddExpOp *Op

func init() {
	expOp = Unary{
		Name: "exp", code: compiler.Exp, kernel: "exp",
		CPU:    math.Exp,
		CUDA:   "exp(x)",
		VJP:    func(g, y, _ *Node) *Node { return Mul(g, y) },
		Domain: Interval{-3, 3},
	}.Define()
	exp2Op = Unary{
		Name: "exp2", kernel: "exp2",
		CPU:    math.Exp2,
		CUDA:   "exp2(x)",
		VJP:    func(g, y, _ *Node) *Node { return Mul(g, Scale(math.Ln2, y)) },
		Domain: Interval{-3, 3},
	}.Define()
	expm1Op = Unary{
		Name: "expm1", code: compiler.Expm1, kernel: "expm1",
		CPU:    math.Expm1,
		CUDA:   "expm1(x)",
		VJP:    func(g, _, x *Node) *Node { return Mul(g, Exp(x)) },
		Domain: Interval{-3, 3},
	}.Define()
	logOp = Unary{
		Name: "log", code: compiler.Log, kernel: "log",
		CPU:    subnormal.Log,
		CUDA:   "log(x)",
		VJP:    func(g, _, x *Node) *Node { return Div(g, x) },
		Domain: Interval{0.2, 4},
	}.Define()
	log1pOp = Unary{
		Name: "log1p", code: compiler.Log1p, kernel: "log1p",
		CPU:    math.Log1p,
		CUDA:   "log1p(x)",
		VJP:    func(g, _, x *Node) *Node { return Div(g, Shift(x, 1)) },
		Domain: Interval{-0.7, 4},
	}.Define()
	log2Op = Unary{
		Name: "log2", kernel: "log2",
		CPU:    math.Log2,
		CUDA:   "log2(x)",
		VJP:    func(g, _, x *Node) *Node { return Scale(1/math.Ln2, Div(g, x)) },
		Domain: Interval{0.2, 4},
	}.Define()
	log10Op = Unary{
		Name:   "log10",
		CPU:    subnormal.Log10,
		CUDA:   "log10(x)",
		VJP:    func(g, _, x *Node) *Node { return Scale(1/math.Ln10, Div(g, x)) },
		Domain: Interval{0.2, 4},
	}.Define()
	logAddExpOp = Binary{
		Name: "logaddexp",
		CPU:  special.LogAddExp,
		CUDA: "(x == y ? x + 0.69314718055994530942 : fmax(x, y) + log1p(exp(-fabs(x - y))))",
		VJP: func(g, z, x, y *Node) (dx, dy *Node) {
			// x - y has no number where both are infinite.
			still := isInfinite(z)
			d := Where(still, Scalar(0), Sub(x, y))
			g = Where(still, Scalar(0), g)
			return Mul(g, Sigmoid(d)), Mul(g, Sigmoid(Neg(d)))
		},
		Domain: Interval{-3, 3}, Commutative: true,
	}.Define()
}
