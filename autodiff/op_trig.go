// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package autodiff

import (
	"fmt"
	"math"
	"sync"

	"github.com/euryale-dev/euryale/autodiff/internal/compiler"
	"github.com/euryale-dev/euryale/autodiff/internal/cpu"
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

var sinOp, cosOp, tanOp, asinOp, acosOp, atanOp, atan2Op, angleSlopeOp, sinhOp, coshOp, tanhOp, asinhOp, acoshOp, atanhOp, sincOp, inverseHypot1Op, oneLessSquareOp *Op

// oneLessSquare returns 1 - x^2, exact near its zeros.
func oneLessSquare(x *Node) *Node { return apply(oneLessSquareOp, x) }

var (
	sphericalJs   = map[int]*Op{}
	sphericalJsMu sync.Mutex
)

// sphericalJOp returns the spherical Bessel function of order n > 0, made at first use.
func sphericalJOp(n int) *Op {
	sphericalJsMu.Lock()
	defer sphericalJsMu.Unlock()
	if op := sphericalJs[n]; op != nil {
		return op
	}
	op := Unary{
		Name:   fmt.Sprintf("spherical_j%d", n),
		CPU:    func(x float64) float64 { return special.SphericalJ(n, x) },
		CUDA:   fmt.Sprintf("eu_spherical_j(%d, x)", n),
		Helper: special.CUDASphericalJ,
		VJP: func(g, _, x *Node) *Node { // (n j(n-1) - (n+1) j(n+1))/(2n+1): https://dlmf.nist.gov/10.51.E2
			below := Sinc(x)
			if n > 1 {
				below = apply(sphericalJOp(n-1), x)
			}
			c := 1 / float64(2*n+1)
			return Mul(g, Sub(Scale(float64(n)*c, below), Scale(float64(n+1)*c, apply(sphericalJOp(n+1), x))))
		},
		Domain: Interval{-6, 6},
	}.Define()
	sphericalJs[n] = op
	return op
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
		VJP:    func(g, _, x *Node) *Node { return Mul(g, Rsqrt(oneLessSquare(x))) },
		Domain: Interval{-0.9, 0.9},
	}.Define()
	acosOp = Unary{
		Name:   "acos",
		CPU:    math.Acos,
		CUDA:   "acos(x)",
		VJP:    func(g, _, x *Node) *Node { return Neg(Mul(g, Rsqrt(oneLessSquare(x)))) },
		Domain: Interval{-0.9, 0.9},
	}.Define()
	atanOp = Unary{
		Name: "atan", kernel: "atan",
		CPU:    math.Atan,
		CUDA:   "atan(x)",
		VJP:    func(g, _, x *Node) *Node { return Mul(g, Square(apply(inverseHypot1Op, x))) },
		Domain: Interval{-4, 4},
	}.Define()
	atan2Op = Binary{
		Name: "atan2", kernel: "atan2",
		CPU:  math.Atan2,
		CUDA: "atan2(x, y)",
		VJP: func(g, _, y, x *Node) (dy, dx *Node) {
			return Mul(g, apply(angleSlopeOp, x, y)), Neg(Mul(g, apply(angleSlopeOp, y, x)))
		},
		Domain: Interval{0.3, 3},
	}.Define()
	angleSlopeOp = Binary{
		Name:   "angle_slope",
		CPU:    angleSlope,
		CUDA:   "eu_angle_slope(x, y)",
		Helper: angleSlopeText, Double: true,
		VJP: func(g, w, x, y *Node) (dx, dy *Node) {
			v := apply(angleSlopeOp, y, x)
			return Mul(Mul(g, Sub(v, w)), Add(v, w)), Scale(-2, Mul(Mul(g, w), v))
		},
		Domain: Interval{0.3, 3},
		Kernel: angleSlopes[float64], Kernel32: angleSlopes[float32],
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
		VJP:    func(g, _, x *Node) *Node { return Mul(g, Scale(4, sigmoidSlope(Scale(2, x)))) }, // 1 - y^2, also where that cancels
		Domain: Interval{-3, 3},
	}.Define()
	asinhOp = Unary{
		Name:   "asinh",
		CPU:    math.Asinh,
		CUDA:   "asinh(x)",
		VJP:    func(g, _, x *Node) *Node { return Mul(g, apply(inverseHypot1Op, x)) },
		Domain: Interval{-4, 4},
	}.Define()
	acoshOp = Unary{
		Name: "acosh",
		CPU:  math.Acosh,
		CUDA: "acosh(x)",
		VJP: func(g, _, x *Node) *Node {
			return Mul(g, Mul(Rsqrt(Shift(x, -1)), Rsqrt(Shift(x, 1))))
		},
		Domain: Interval{1.3, 5},
	}.Define()
	atanhOp = Unary{
		Name:   "atanh",
		CPU:    math.Atanh,
		CUDA:   "atanh(x)",
		VJP:    func(g, _, x *Node) *Node { return Div(g, oneLessSquare(x)) },
		Domain: Interval{-0.9, 0.9},
	}.Define()
	sincOp = Unary{
		Name:   "sinc",
		CPU:    special.Sinc,
		CUDA:   "(x == 0.0 ? 1.0 : isinf(x) ? 0.0 : sin(x) / x)",
		VJP:    func(g, _, x *Node) *Node { return Neg(Mul(g, apply(sphericalJOp(1), x))) },
		Domain: Interval{-6, 6},
	}.Define()
	sphericalJOp(1)
	sphericalJOp(2)
	oneLessSquareOp = Unary{
		Name:   "one_less_square",
		CPU:    func(x float64) float64 { return (1 - x) * (1 + x) },
		CUDA:   "(1.0 - x) * (1.0 + x)",
		VJP:    func(g, _, x *Node) *Node { return Scale(-2, Mul(g, x)) },
		Domain: Interval{-0.9, 0.9},
		Kernel: oneLessSquares[float64], Kernel32: oneLessSquares[float32],
	}.Define()
	inverseHypot1Op = Unary{
		Name: "inverse_hypot1",
		CPU:  special.InverseHypot1,
		CUDA: "(fabs(x) < 1e15 ? 1.0 / sqrt(1.0 + x * x) : 1.0 / fabs(x))",
		VJP: func(g, w, x *Node) *Node {
			x = Where(Less(Abs(x), Scalar(math.Inf(1))), x, Scalar(0)) // where w is 0
			return Neg(Mul(Mul(g, Square(w)), Mul(x, w)))
		},
		Domain: Interval{-4, 4},
		Kernel: inverseHypot1s[float64], Kernel32: inverseHypot1s[float32],
	}.Define()
}

// oneLessSquares computes slices of 1 - x^2.
func oneLessSquares[T cpu.Real](y, x []T) {
	for i, v := range x {
		y[i] = (1 - v) * (1 + v)
	}
}

// inverseHypot1s computes slices of special.InverseHypot1.
func inverseHypot1s[T cpu.Real](y, x []T) {
	for i, v := range x {
		y[i] = T(special.InverseHypot1(float64(v)))
	}
}

// angleSlope returns x/(x^2 + y^2), the derivative of Atan2(y, x) with respect to y. It is 0 at 0 and far away.
func angleSlope(x, y float64) float64 {
	if r := x*x + y*y; r > 1e-280 && r < 1e300 {
		return x / r
	}
	r := math.Hypot(x, y) // whose square has no number, or few digits
	if r == 0 || math.IsInf(r, 1) && x == x && y == y {
		return 0
	}
	return x / r / r
}

const angleSlopeText = `
__device__ double eu_angle_slope(double x, double y) {
	double r = x * x + y * y;
	if (r > 1e-280 && r < 1e300) return x / r;
	r = hypot(x, y);
	return r == 0.0 || isinf(r) && x == x && y == y ? 0.0 : x / r / r;
}
`

// angleSlopes computes slices of angleSlope.
func angleSlopes[T cpu.Real](z, x, y []T) {
	y, z = y[:len(x)], z[:len(x)]
	for i, v := range x {
		a, b := float64(v), float64(y[i])
		if r := a*a + b*b; r > 1e-280 && r < 1e300 {
			z[i] = T(a / r)
		} else {
			z[i] = T(angleSlope(a, b))
		}
	}
}
