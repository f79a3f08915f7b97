// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package autodiff

import "github.com/euryale-dev/euryale/autodiff/internal/special"

// Softplus returns log(1 + exp(x)), a smooth max(x, 0).
//
// Gradient: Sigmoid(x). Finite for every finite x.
func Softplus(x *Node) *Node { return apply(softplusOp, x) }

// Sigmoid returns 1 / (1 + exp(-x)), between 0 and 1.
//
// Gradient: y * (1 - y), with all digits also where y is nearly 1.
func Sigmoid(x *Node) *Node { return apply(sigmoidOp, x) }

// LogSigmoid returns log(1 / (1 + exp(-x))) = -Softplus(-x).
func LogSigmoid(x *Node) *Node { return Neg(Softplus(Neg(x))) }

// sigmoidSlope returns the derivative s(1-s) of s = Sigmoid(x), with all digits also where s is nearly 1.
//
// Gradient: the slope times 1 - 2s = -Tanh(x/2).
func sigmoidSlope(x *Node) *Node { return apply(sigmoidSlopeOp, x) }

var softplusOp, sigmoidOp, sigmoidSlopeOp *Op

func init() {
	softplusOp = Unary{
		Name: "softplus", kernel: "softplus",
		CPU:    special.Softplus,
		CUDA:   "(isnan(x) ? x : log1p(exp(-fabs(x))) + fmax(x, 0.0))",
		VJP:    func(g, _, x *Node) *Node { return Mul(g, Sigmoid(x)) },
		Domain: Interval{-40, 40},
	}.Define()
	sigmoidOp = Unary{
		Name: "sigmoid", kernel: "sigmoid",
		CPU:    special.Sigmoid,
		CUDA:   "1.0 / (1.0 + exp(-x))",
		VJP:    func(g, _, x *Node) *Node { return Mul(g, sigmoidSlope(x)) },
		Domain: Interval{-30, 30},
	}.Define()
	sigmoidSlopeOp = Unary{
		Name: "sigmoid_slope", kernel: "sigmoid_slope",
		CPU:    special.SigmoidSlope,
		CUDA:   "exp(-fabs(x)) / ((1.0 + exp(-fabs(x))) * (1.0 + exp(-fabs(x))))",
		VJP:    func(g, y, x *Node) *Node { return Mul(g, Neg(Mul(y, Tanh(Scale(0.5, x))))) },
		Domain: Interval{-30, 30},
	}.Define()
}
