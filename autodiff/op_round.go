// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package autodiff

import (
	"math"

	"github.com/euryale-dev/euryale/autodiff/internal/compiler"
	"github.com/euryale-dev/euryale/autodiff/internal/special"
)

// Floor returns the largest integer <= x. Gradient: 0.
func Floor(x *Node) *Node { return apply(floorOp, x) }

// Ceil returns the smallest integer >= x. Gradient: 0.
func Ceil(x *Node) *Node { return apply(ceilOp, x) }

// Trunc returns x without its fractional part. Gradient: 0.
func Trunc(x *Node) *Node { return apply(truncOp, x) }

// Round returns the nearest integer; halves are rounded to the even one. Gradient: 0.
func Round(x *Node) *Node { return apply(roundOp, x) }

// Sign returns -1, 0 or 1, and NaN for NaN. Gradient: 0.
func Sign(x *Node) *Node { return apply(signOp, x) }

// Abs returns |x|. Gradient: Sign(x).
func Abs(x *Node) *Node { return apply(absOp, x) }

// Mod returns the remainder of x/y with the sign of x, like C's fmod. Gradient: 1, -trunc(x/y).
func Mod(x, y *Node) *Node { return apply(fmodOp, x, y) }

// FloorMod returns x - y floor(x/y), the remainder with the sign of y.
// Gradient: 1, -floor(x/y).
func FloorMod(x, y *Node) *Node { return apply(floorModOp, x, y) }

var floorOp, ceilOp, truncOp, roundOp, signOp, absOp, fmodOp, floorModOp *Op

func sign(x float64) float64 {
	switch {
	case x > 0:
		return 1
	case x < 0:
		return -1
	}
	return x // 0, -0 and NaN
}

func floorMod(x, y float64) float64 {
	r := math.Mod(x, y)
	if r != 0 && (r < 0) != (y < 0) {
		return r + y
	}
	if r == 0 {
		return math.Copysign(0, y)
	}
	return r
}

func init() {
	floorOp = Unary{Name: "floor", kernel: "floor", CPU: math.Floor, CUDA: "floor(x)", Domain: Interval{-3, 3}}.Define()
	ceilOp = Unary{Name: "ceil", kernel: "ceil", CPU: math.Ceil, CUDA: "ceil(x)", Domain: Interval{-3, 3}}.Define()
	truncOp = Unary{Name: "trunc", kernel: "trunc", CPU: math.Trunc, CUDA: "trunc(x)", Domain: Interval{-3, 3}}.Define()
	roundOp = Unary{Name: "round", CPU: math.RoundToEven, CUDA: "rint(x)", Domain: Interval{-3, 3}}.Define()
	signOp = Unary{
		Name:   "sign",
		CPU:    sign,
		CUDA:   "(x > 0.0 ? 1.0 : x < 0.0 ? -1.0 : x)",
		Domain: Interval{-3, 3},
	}.Define()
	absOp = Unary{
		Name: "abs", code: compiler.Abs, kernel: "abs",
		CPU:    math.Abs,
		CUDA:   "fabs(x)",
		VJP:    func(g, _, x *Node) *Node { return Mul(g, Sign(x)) },
		Domain: Interval{-3, 3},
	}.Define()
	fmodOp = Binary{
		Name:   "fmod",
		CPU:    math.Mod,
		CUDA:   "fmod(x, y)",
		VJP:    func(g, _, x, y *Node) (dx, dy *Node) { return g, Neg(Mul(g, Trunc(Div(x, y)))) },
		Domain: Interval{0.6, 3},
	}.Define()
	floorModOp = Binary{
		Name:   "floor_mod",
		CPU:    floorMod,
		CUDA:   "eu_floor_mod(x, y)",
		Helper: special.CUDAFloorMod,
		VJP:    func(g, _, x, y *Node) (dx, dy *Node) { return g, Neg(Mul(g, Floor(Div(x, y)))) },
		Domain: Interval{0.6, 3},
	}.Define()
}
