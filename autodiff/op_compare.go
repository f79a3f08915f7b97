// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package autodiff

import (
	"math"

	"github.com/euryale-dev/euryale/autodiff/internal/compiler"
)

// Less returns 1 where x < y, else 0. Gradient: none.
func Less(x, y *Node) *Node { return apply(lessOp, x, y) }

// LessEqual returns 1 where x <= y, else 0. Gradient: none.
func LessEqual(x, y *Node) *Node { return apply(lessEqualOp, x, y) }

// Greater returns 1 where x > y, else 0. Gradient: none.
func Greater(x, y *Node) *Node { return apply(greaterOp, x, y) }

// GreaterEqual returns 1 where x >= y, else 0. Gradient: none.
func GreaterEqual(x, y *Node) *Node { return apply(greaterEqualOp, x, y) }

// Equal returns 1 where x == y, else 0; NaN equals nothing. Gradient: none.
func Equal(x, y *Node) *Node { return apply(equalOp, x, y) }

// NotEqual returns 1 where x != y, else 0. Gradient: none.
func NotEqual(x, y *Node) *Node { return apply(notEqualOp, x, y) }

// Where returns x where cond is not 0 and y elsewhere; a NaN in cond counts as
// true. Gradient: to the chosen one; the other gets an exact 0.
func Where(cond, x, y *Node) *Node { return apply(whereOp, cond, x, y) }

// Maximum returns the larger of x and y; NaN if either is. Gradient: to the
// larger, half to each where they are equal.
func Maximum(x, y *Node) *Node { return apply(maximumOp, x, y) }

// Minimum returns the smaller of x and y; NaN if either is. Gradient: to the
// smaller, half to each where they are equal.
func Minimum(x, y *Node) *Node { return apply(minimumOp, x, y) }

// Fmax returns the larger of x and y, ignoring a NaN. Gradient: as Maximum.
func Fmax(x, y *Node) *Node { return apply(fmaxOp, x, y) }

// Fmin returns the smaller of x and y, ignoring a NaN. Gradient: as Minimum.
func Fmin(x, y *Node) *Node { return apply(fminOp, x, y) }

// Clip limits x to lo..hi. Gradient: 1 inside, 1/2 at the ends, 0 outside.
func Clip(x *Node, lo, hi float64) *Node { return Minimum(Maximum(x, Scalar(lo)), Scalar(hi)) }

// ReLU returns max(x, 0). Gradient: 1 above 0, 1/2 at 0.
func ReLU(x *Node) *Node { return Maximum(x, Scalar(0)) }

var lessOp, lessEqualOp, greaterOp, greaterEqualOp, equalOp, notEqualOp, whereOp, maximumOp, minimumOp, fmaxOp, fminOp *Op

// largest is math.Max but for a NaN, which math.Max(+Inf, NaN) drops.
func largest(x, y float64) float64 {
	if x != x || y != y {
		return math.NaN()
	}
	return math.Max(x, y)
}

// smallest is math.Min with the same exception.
func smallest(x, y float64) float64 { return -largest(-x, -y) }

func truth(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

func comparison(name, c string, f func(x, y float64) bool) *Op {
	return Binary{
		Name:   name,
		CPU:    func(x, y float64) float64 { return truth(f(x, y)) },
		CUDA:   "(x " + c + " y ? 1.0 : 0.0)",
		Domain: Interval{-3, 3},
		kernel: name, truth: true,
	}.Define()
}

// share splits g between x and y: all to the one for which wins holds, half to
// each where they are equal.
func share(g, wins, x, y *Node) (dx, dy *Node) {
	w := Where(Equal(x, y), Scalar(0.5), wins)
	return Mul(g, w), Mul(g, Sub(Scalar(1), w))
}

func init() {
	lessOp = comparison("less", "<", func(x, y float64) bool { return x < y })
	lessEqualOp = comparison("less_equal", "<=", func(x, y float64) bool { return x <= y })
	greaterOp = comparison("greater", ">", func(x, y float64) bool { return x > y })
	greaterEqualOp = comparison("greater_equal", ">=", func(x, y float64) bool { return x >= y })
	equalOp = comparison("equal", "==", func(x, y float64) bool { return x == y })
	notEqualOp = comparison("not_equal", "!=", func(x, y float64) bool { return x != y })
	whereOp = Ternary{
		Name: "where", code: compiler.Where, kernel: "where",
		CPU: func(c, x, y float64) float64 {
			if c != 0 {
				return x
			}
			return y
		},
		CUDA: "(x != 0.0 ? y : z)",
		VJP: func(g, c, _, _ *Node) (dc, dx, dy *Node) {
			return nil, Where(c, g, Scalar(0)), Where(c, Scalar(0), g)
		},
		Domain: Interval{-3, 3},
	}.Define()
	maximumOp = Binary{
		Name: "maximum", code: compiler.Maximum, kernel: "maximum", byNumber: "maximum_s", numberBy: "maximum_s",
		CPU:    largest,
		CUDA:   "(isnan(x) || isnan(y) ? x + y : fmax(x, y))",
		VJP:    func(g, _, x, y *Node) (dx, dy *Node) { return share(g, Greater(x, y), x, y) },
		Domain: Interval{-3, 3}, Commutative: true,
	}.Define()
	minimumOp = Binary{
		Name: "minimum", code: compiler.Minimum, kernel: "minimum", byNumber: "minimum_s", numberBy: "minimum_s",
		CPU:    smallest,
		CUDA:   "(isnan(x) || isnan(y) ? x + y : fmin(x, y))",
		VJP:    func(g, _, x, y *Node) (dx, dy *Node) { return share(g, Less(x, y), x, y) },
		Domain: Interval{-3, 3}, Commutative: true,
	}.Define()
	fmaxOp = Binary{
		Name: "fmax",
		CPU: func(x, y float64) float64 {
			if x != x {
				return y
			} else if y != y {
				return x
			}
			return math.Max(x, y)
		},
		CUDA: "fmax(x, y)",
		VJP: func(g, _, x, y *Node) (dx, dy *Node) {
			return share(g, Where(NotEqual(y, y), Scalar(1), Greater(x, y)), x, y)
		},
		Domain: Interval{-3, 3}, Commutative: true,
	}.Define()
	fminOp = Binary{
		Name: "fmin",
		CPU: func(x, y float64) float64 {
			if x != x {
				return y
			} else if y != y {
				return x
			}
			return math.Min(x, y)
		},
		CUDA: "fmin(x, y)",
		VJP: func(g, _, x, y *Node) (dx, dy *Node) {
			return share(g, Where(NotEqual(y, y), Scalar(1), Less(x, y)), x, y)
		},
		Domain: Interval{-3, 3}, Commutative: true,
	}.Define()
}
