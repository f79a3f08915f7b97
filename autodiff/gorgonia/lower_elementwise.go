// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package gorgonia

import (
	"fmt"
	"strings"

	ad "github.com/euryale-dev/euryale/autodiff"
)

// unary is elemUnaryOp by the name it prints.
var unary = map[string]func(*ad.Node) *ad.Node{
	"abs": ad.Abs, "sign": ad.Sign, "ceil": ad.Ceil, "floor": ad.Floor,
	"sin": ad.Sin, "cos": ad.Cos, "exp": ad.Exp, "ln": ad.Log, "log2": ad.Log2,
	"neg": ad.Neg, "square": ad.Square, "sqrt": ad.Sqrt, "inv": ad.Reciprocal, "invSqrt": ad.Rsqrt,
	"cube": func(x *ad.Node) *ad.Node { return ad.Mul(ad.Square(x), x) },
	"tanh": ad.Tanh, "sigmoid": ad.Sigmoid,
	"log1p": ad.Log1p, "expm1": ad.Expm1, "softplus": ad.Softplus,
}

// binary is elemBinOp by the first word it prints. Comparisons give 1 and 0.
var binary = map[string]func(x, y *ad.Node) *ad.Node{
	"+": ad.Add, "-": ad.Sub, "⊙": ad.Mul, "÷": ad.Div, "^": ad.Pow,
	"<": ad.Less, ">": ad.Greater, "<=": ad.LessEqual, ">=": ad.GreaterEqual,
	"==": ad.Equal, "!=": ad.NotEqual,
}

func lowerUnary(l *lowering) *ad.Node {
	f := unary[l.op.String()]
	if f == nil {
		return failed(fmt.Errorf("there is no rule for the function %q: compute it outside of the imported graph, or make it an operation with NewOp", l.op))
	}
	return f(l.x[0])
}

func lowerBinary(l *lowering) *ad.Node {
	f := binary[strings.Fields(l.op.String())[0]]
	if f == nil {
		return failed(fmt.Errorf("there is no rule for the operator %q: compute it outside of the imported graph, or make it an operation with NewOp", l.op))
	}
	return f(l.fit(0), l.fit(1))
}
