// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package autodiff

import (
	"math"

	"github.com/euryale-dev/euryale/autodiff/internal/compiler"
)

// Add returns x + y. Gradient: 1, 1.
func Add(x, y *Node) *Node { return apply(addOp, x, y) }

// Sub returns x - y. Gradient: 1, -1.
func Sub(x, y *Node) *Node { return apply(subOp, x, y) }

// Mul returns x * y. Gradient: y, x.
func Mul(x, y *Node) *Node { return apply(mulOp, x, y) }

// Div returns x / y by IEEE rules. Gradient: 1/y, -x/y^2.
func Div(x, y *Node) *Node { return apply(divOp, x, y) }

// Neg returns -x. Gradient: -1.
func Neg(x *Node) *Node { return apply(negOp, x) }

// Square returns x*x. Gradient: 2x.
func Square(x *Node) *Node { return apply(squareOp, x) }

// Reciprocal returns 1/x. Gradient: -1/x^2.
func Reciprocal(x *Node) *Node { return apply(reciprocalOp, x) }

// Sqrt returns the square root of x; NaN for x < 0. Gradient: 1/(2 sqrt x).
func Sqrt(x *Node) *Node { return apply(sqrtOp, x) }

// Rsqrt returns 1/sqrt(x). Gradient: -y^3/2.
func Rsqrt(x *Node) *Node { return apply(rsqrtOp, x) }

// Cbrt returns the cube root of x. Gradient: 1/(3 y^2).
func Cbrt(x *Node) *Node { return apply(cbrtOp, x) }

// Hypot returns sqrt(x^2 + y^2) without overflow. Gradient: x/z, y/z; at the origin the
// subgradient 0, and so are further derivatives there.
func Hypot(x, y *Node) *Node { return apply(hypotOp, x, y) }

// AddN returns the sum of xs.
func AddN(xs ...*Node) *Node {
	if len(xs) == 0 {
		return Scalar(0)
	}
	s := xs[0]
	for _, x := range xs[1:] {
		s = Add(s, x)
	}
	return s
}

// Scale returns c*x for a number c.
func Scale(c float64, x *Node) *Node { return Mul(Scalar(c), x) }

// Shift returns x + c for a number c.
func Shift(x *Node, c float64) *Node { return Add(x, Scalar(c)) }

var addOp, subOp, mulOp, divOp, negOp, squareOp, reciprocalOp, sqrtOp, rsqrtOp, cbrtOp, hypotOp *Op

// Definitions live in init: a package variable whose VJP calls the function
// that uses the variable would be an initialization cycle.
func init() {
	addOp = Binary{
		Name: "add", code: compiler.Add, kernel: "add", byNumber: "add_s", numberBy: "add_s",
		CPU:    func(x, y float64) float64 { return x + y },
		CUDA:   "x + y",
		VJP:    func(g, _, _, _ *Node) (dx, dy *Node) { return g, g },
		Domain: Interval{-3, 3}, Commutative: true,
	}.Define()
	subOp = Binary{
		Name: "sub", code: compiler.Sub, kernel: "sub", byNumber: "sub_s", numberBy: "rsub_s",
		CPU:    func(x, y float64) float64 { return x - y },
		CUDA:   "x - y",
		VJP:    func(g, _, _, _ *Node) (dx, dy *Node) { return g, Neg(g) },
		Domain: Interval{-3, 3},
	}.Define()
	mulOp = Binary{
		Name: "mul", code: compiler.Mul, kernel: "mul", byNumber: "mul_s", numberBy: "mul_s",
		CPU:    func(x, y float64) float64 { return x * y },
		CUDA:   "x * y",
		VJP:    func(g, _, x, y *Node) (dx, dy *Node) { return Mul(g, y), Mul(g, x) },
		Domain: Interval{-3, 3}, Commutative: true,
	}.Define()
	divOp = Binary{
		Name: "div", code: compiler.Div, kernel: "div", byNumber: "div_s", numberBy: "rdiv_s",
		CPU:    func(x, y float64) float64 { return x / y },
		CUDA:   "x / y",
		VJP:    func(g, z, _, y *Node) (dx, dy *Node) { dx = Div(g, y); return dx, Neg(Mul(dx, z)) },
		Domain: Interval{0.5, 3},
	}.Define()
	negOp = Unary{
		Name: "neg", code: compiler.Neg, kernel: "neg",
		CPU:    func(x float64) float64 { return -x },
		CUDA:   "-x",
		VJP:    func(g, _, _ *Node) *Node { return Neg(g) },
		Domain: Interval{-3, 3},
	}.Define()
	squareOp = Unary{
		Name: "square", code: compiler.Square, kernel: "square",
		CPU:    func(x float64) float64 { return x * x },
		CUDA:   "x * x",
		VJP:    func(g, _, x *Node) *Node { return Scale(2, Mul(g, x)) },
		Domain: Interval{-3, 3},
	}.Define()
	reciprocalOp = Unary{
		Name: "reciprocal", code: compiler.Reciprocal, kernel: "reciprocal",
		CPU:    func(x float64) float64 { return 1 / x },
		CUDA:   "1.0 / x",
		VJP:    func(g, y, _ *Node) *Node { return Neg(Mul(g, Square(y))) },
		Domain: Interval{0.5, 3},
	}.Define()
	sqrtOp = Unary{
		Name: "sqrt", code: compiler.Sqrt, kernel: "sqrt",
		CPU:    math.Sqrt,
		CUDA:   "sqrt(x)",
		VJP:    func(g, y, _ *Node) *Node { return Div(Scale(0.5, g), y) },
		Domain: Interval{0.2, 4},
	}.Define()
	rsqrtOp = Unary{
		Name: "rsqrt", kernel: "rsqrt",
		CPU:    func(x float64) float64 { return 1 / math.Sqrt(x) },
		CUDA:   "1.0 / sqrt(x)",
		VJP:    func(g, y, _ *Node) *Node { return Mul(g, Mul(Scale(-0.5, y), Square(y))) },
		Domain: Interval{0.2, 4},
	}.Define()
	cbrtOp = Unary{
		Name:   "cbrt",
		CPU:    math.Cbrt,
		CUDA:   "cbrt(x)",
		VJP:    func(g, y, _ *Node) *Node { return Mul(g, Scale(1./3, Square(Reciprocal(y)))) },
		Domain: Interval{0.2, 4},
	}.Define()
	hypotOp = Binary{
		Name: "hypot",
		CPU:  math.Hypot,
		CUDA: "hypot(x, y)",
		VJP: func(g, z, x, y *Node) (dx, dy *Node) {
			away := Greater(z, Scalar(0))
			r := Where(away, z, Scalar(1))
			g = Where(away, g, Scalar(0))
			return Mul(g, Div(x, r)), Mul(g, Div(y, r))
		},
		Domain: Interval{-3, 3}, Commutative: true,
	}.Define()
}
