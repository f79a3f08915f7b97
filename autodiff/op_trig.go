// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package autodiff

import (
	"math"

	"github.com/euryale-dev/euryale/autodiff/internal/compiler"
	"github.com/euryale-dev/euryale/autodiff/internal/special"
)

// Sin returns the sine of x in radians. Gradient: cos x.
func Sin(x *Node) *Node { return apply(sinOp, x) }

// Cos returns the cosine of x in radians. Gradient: -sin x.
func Cos(x *Node) *Node { return apply(cosOp, x) }

// Tan returns the tangent of x in radians. Gradient: 1 + y^2.
func Tan(x *Node) *Node { return apply(tanOp, x) }

// Asin returns the angle in [-pi/2, pi/2] whose sine is x. Gradient: 1/sqrt(1-x^2).
func Asin(x *Node) *Node { return apply(asinOp, x) }

// Acos returns the angle in [0, pi] whose cosine is x. Gradient: -1/sqrt(1-x^2).
func Acos(x *Node) *Node { return apply(acosOp, x) }

// Atan returns the angle in (-pi/2, pi/2) whose tangent is x. Gradient: 1/(1+x^2).
func Atan(x *Node) *Node { return apply(atanOp, x) }

// Atan2 returns the angle in (-pi, pi] of the point whose y coordinate is the first argument and
// whose x coordinate is the second. Gradient: x/r^2, -y/r^2, 0 at the origin.
func Atan2(y, x *Node) *Node { return apply(atan2Op, y, x) }

// Sinh returns the hyperbolic sine. Gradient: cosh x.
func Sinh(x *Node) *Node { return apply(sinhOp, x) }

// Cosh returns the hyperbolic cosine. Gradient: sinh x.
func Cosh(x *Node) *Node { return apply(coshOp, x) }

// Tanh returns the hyperbolic tangent. Gradient: 1 - y^2.
func Tanh(x *Node) *Node { return apply(tanhOp, x) }

// Asinh returns the inverse hyperbolic sine. Gradient: 1/sqrt(1+x^2).
func Asinh(x *Node) *Node { return apply(asinhOp, x) }

// Acosh returns the inverse hyperbolic cosine. Gradient: 1/sqrt((x-1)(x+1)).
func Acosh(x *Node) *Node { return apply(acoshOp, x) }

// Atanh returns the inverse hyperbolic tangent. Gradient: 1/(1-x^2).
func Atanh(x *Node) *Node { return apply(atanhOp, x) }

// Sinc returns sin(x)/x, 1 at 0 (the unnormalised sinc, spherical Bessel j0).
// Gradient: -j1(x).
func Sinc(x *Node) *Node { return apply(sincOp, x) }

// sphericalJ1 returns (sin x/x - cos x)/x, the derivative of -Sinc.
func sphericalJ1(x *Node) *Node { return apply(sphericalJ1Op, x) }

var sinOp, cosOp, tanOp, asinOp, acosOp, atanOp, atan2Op, sinhOp, coshOp, tanhOp, asinhOp, acoshOp, atanhOp, sincOp, sphericalJ1Op *Op

func sinc(x float64) float64 {
	if x == 0 {
		return 1
	}
	return math.Sin(x) / x
}

// sphJ1 uses the series x/3 (1 - x^2/10 (1 - x^2/28 (1 - x^2/54 ...))) near 0,
// where sin x/x - cos x cancels.
func sphJ1(x float64) float64 {
	if math.Abs(x) > 1 {
		return (math.Sin(x)/x - math.Cos(x)) / x
	}
	q, s := x*x, 1.0
	for k := 9.0; k >= 1; k-- {
		s = 1 - q/(2*k*(2*k+3))*s
	}
	return x / 3 * s
}

func init() {
	sinOp = Unary{
		Name: "sin", kernel: "sin",
		CPU:    math.Sin,
		CUDA:   "sin(x)",
		VJP:    func(g, _, x *Node) *Node { return Mul(g, Cos(x)) },
		Domain: Interval{-7, 7},
	}.Define()
	cosOp = Unary{
		Name: "cos", code: compiler.Cos, kernel: "cos",
		CPU:    math.Cos,
		CUDA:   "cos(x)",
		VJP:    func(g, _, x *Node) *Node { return Neg(Mul(g, Sin(x))) },
		Domain: Interval{-7, 7},
	}.Define()
	tanOp = Unary{
		Name:   "tan",
		CPU:    math.Tan,
		CUDA:   "tan(x)",
		VJP:    func(g, y, _ *Node) *Node { return Mul(g, Shift(Square(y), 1)) },
		Domain: Interval{-1.2, 1.2},
	}.Define()
	asinOp = Unary{
		Name:   "asin",
		CPU:    math.Asin,
		CUDA:   "asin(x)",
		VJP:    func(g, _, x *Node) *Node { return Mul(g, Rsqrt(Sub(Scalar(1), Square(x)))) },
		Domain: Interval{-0.9, 0.9},
	}.Define()
	acosOp = Unary{
		Name:   "acos",
		CPU:    math.Acos,
		CUDA:   "acos(x)",
		VJP:    func(g, _, x *Node) *Node { return Neg(Mul(g, Rsqrt(Sub(Scalar(1), Square(x))))) },
		Domain: Interval{-0.9, 0.9},
	}.Define()
	atanOp = Unary{
		Name: "atan", kernel: "atan",
		CPU:    math.Atan,
		CUDA:   "atan(x)",
		VJP:    func(g, _, x *Node) *Node { return Div(g, Shift(Square(x), 1)) },
		Domain: Interval{-4, 4},
	}.Define()
	atan2Op = Binary{
		Name: "atan2", kernel: "atan2",
		CPU:  math.Atan2,
		CUDA: "atan2(x, y)",
		VJP: func(g, _, y, x *Node) (dy, dx *Node) {
			r2 := Add(Square(x), Square(y))
			r2 = Where(Greater(r2, Scalar(0)), r2, Scalar(1))
			return Mul(g, Div(x, r2)), Neg(Mul(g, Div(y, r2)))
		},
		Domain: Interval{0.3, 3},
	}.Define()
	sinhOp = Unary{
		Name:   "sinh",
		CPU:    math.Sinh,
		CUDA:   "sinh(x)",
		VJP:    func(g, _, x *Node) *Node { return Mul(g, Cosh(x)) },
		Domain: Interval{-3, 3},
	}.Define()
	coshOp = Unary{
		Name: "cosh", code: compiler.Cosh,
		CPU:    math.Cosh,
		CUDA:   "cosh(x)",
		VJP:    func(g, _, x *Node) *Node { return Mul(g, Sinh(x)) },
		Domain: Interval{-3, 3},
	}.Define()
	tanhOp = Unary{
		Name: "tanh", kernel: "tanh",
		CPU:    math.Tanh,
		CUDA:   "tanh(x)",
		VJP:    func(g, y, _ *Node) *Node { return Mul(g, Sub(Scalar(1), Square(y))) },
		Domain: Interval{-3, 3},
	}.Define()
	asinhOp = Unary{
		Name:   "asinh",
		CPU:    math.Asinh,
		CUDA:   "asinh(x)",
		VJP:    func(g, _, x *Node) *Node { return Mul(g, Rsqrt(Shift(Square(x), 1))) },
		Domain: Interval{-4, 4},
	}.Define()
	acoshOp = Unary{
		Name: "acosh",
		CPU:  math.Acosh,
		CUDA: "acosh(x)",
		VJP: func(g, _, x *Node) *Node {
			return Mul(g, Rsqrt(Mul(Shift(x, -1), Shift(x, 1))))
		},
		Domain: Interval{1.3, 5},
	}.Define()
	atanhOp = Unary{
		Name:   "atanh",
		CPU:    math.Atanh,
		CUDA:   "atanh(x)",
		VJP:    func(g, _, x *Node) *Node { return Div(g, Sub(Scalar(1), Square(x))) },
		Domain: Interval{-0.9, 0.9},
	}.Define()
	sincOp = Unary{
		Name:   "sinc",
		CPU:    sinc,
		CUDA:   "(x == 0.0 ? 1.0 : sin(x) / x)",
		VJP:    func(g, _, x *Node) *Node { return Neg(Mul(g, sphericalJ1(x))) },
		Domain: Interval{-6, 6},
	}.Define()
	sphericalJ1Op = Unary{
		Name:   "spherical_j1",
		CPU:    sphJ1,
		CUDA:   "eu_sph_j1(x)",
		Helper: special.CUDASphJ1,
		VJP: func(g, y, x *Node) *Node { // j0 - 2 j1/x, 1/3 at 0
			zero := Equal(x, Scalar(0))
			r := Where(zero, Scalar(1.0/3), Div(y, Where(zero, Scalar(1), x)))
			return Mul(g, Sub(Sinc(x), Scale(2, r)))
		},
		Domain: Interval{-6, 6},
	}.Define()
}
