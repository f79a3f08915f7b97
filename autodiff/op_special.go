// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package autodiff

import (
	"math"

	"github.com/euryale-dev/euryale/autodiff/internal/special"
)

// Erf returns the error function. Gradient: 2/sqrt(pi) exp(-x^2).
func Erf(x *Node) *Node { return apply(erfOp, x) }

// Erfc returns 1 - erf(x), exact in the right tail. Gradient: -2/sqrt(pi) exp(-x^2).
func Erfc(x *Node) *Node { return apply(erfcOp, x) }

// Erfcx returns exp(x^2) erfc(x), finite where erfc underflows.
// Gradient: 2xy - 2/sqrt(pi).
func Erfcx(x *Node) *Node { return apply(erfcxOp, x) }

// Erfinv returns the x with erf(x) equal to the argument, infinite at -1 and 1.
// Gradient: sqrt(pi)/2 exp(y^2).
func Erfinv(x *Node) *Node { return apply(erfinvOp, x) }

// LogPhi returns the logarithm of the standard normal distribution function,
// exact in the left tail.
//
// Gradient: phi(x)/Phi(x), computed as sqrt(2/pi)/erfcx(-x/sqrt 2).
func LogPhi(x *Node) *Node { return apply(logPhiOp, x) }

// Phi returns the standard normal distribution function.
func Phi(x *Node) *Node { return Scale(0.5, Erfc(Scale(-math.Sqrt2/2, x))) }

// Lgamma returns log|Gamma(x)|. Gradient: Digamma(x).
func Lgamma(x *Node) *Node { return apply(lgammaOp, x) }

// Digamma returns the logarithmic derivative of Gamma. Gradient: Polygamma(1, x).
func Digamma(x *Node) *Node { return apply(digammaOp, x) }

// BesselJ0 returns the Bessel function of the first kind of order 0. Gradient: -J1.
func BesselJ0(x *Node) *Node { return apply(j0Op, x) }

// BesselJ1 returns the Bessel function of the first kind of order 1.
// Gradient: J0 - J1/x, 1/2 at 0.
func BesselJ1(x *Node) *Node { return apply(j1Op, x) }

// BesselI0e returns exp(-|x|) I0(x), the scaled modified Bessel function.
// Gradient: I1e - sign(x) I0e.
func BesselI0e(x *Node) *Node { return apply(i0eOp, x) }

// BesselI1e returns exp(-|x|) I1(x).
// Gradient: I0e - (sign(x) + 1/x) I1e, 1/2 at 0.
func BesselI1e(x *Node) *Node { return apply(i1eOp, x) }

var erfOp, erfcOp, erfcxOp, erfinvOp, logPhiOp, lgammaOp, digammaOp, j0Op, j1Op, i0eOp, i1eOp *Op

// perX returns y/x, or limit where x is 0.
func perX(y, x *Node, limit float64) *Node {
	zero := Equal(x, Scalar(0))
	return Where(zero, Scalar(limit), Div(y, Where(zero, Scalar(1), x)))
}

func init() {
	gauss := func(c float64, g, x *Node) *Node { return Mul(g, Scale(c, Exp(Neg(Square(x))))) }
	erfOp = Unary{
		Name: "erf", kernel: "erf",
		CPU:    math.Erf,
		CUDA:   "erf(x)",
		VJP:    func(g, _, x *Node) *Node { return gauss(special.TwoOverSqrtPi, g, x) },
		Domain: Interval{-3, 3},
	}.Define()
	erfcOp = Unary{
		Name: "erfc", kernel: "erfc",
		CPU:    math.Erfc,
		CUDA:   "erfc(x)",
		VJP:    func(g, _, x *Node) *Node { return gauss(-special.TwoOverSqrtPi, g, x) },
		Domain: Interval{-3, 3},
	}.Define()
	erfcxOp = Unary{
		Name:   "erfcx",
		CPU:    special.Erfcx,
		CUDA:   "eu_erfcx(x)",
		Helper: special.CUDAErfcx,
		VJP:    func(g, y, x *Node) *Node { return Mul(g, Shift(Scale(2, Mul(x, y)), -special.TwoOverSqrtPi)) },
		Domain: Interval{-2, 30},
	}.Define()
	erfinvOp = Unary{
		Name:   "erfinv",
		CPU:    math.Erfinv,
		CUDA:   "eu_erfinv(x)",
		Helper: special.CUDAErfinv,
		VJP:    func(g, y, _ *Node) *Node { return Mul(g, Scale(1/special.TwoOverSqrtPi, Exp(Square(y)))) },
		Domain: Interval{-0.95, 0.95},
	}.Define()
	logPhiOp = Unary{
		Name:   "log_phi",
		CPU:    special.LogPhi,
		CUDA:   "eu_log_phi(x)",
		Helper: special.CUDAErfcx + special.CUDALogPhi,
		VJP: func(g, _, x *Node) *Node {
			return Mul(g, Div(Scalar(math.Sqrt(2/math.Pi)), Erfcx(Scale(-math.Sqrt2/2, x))))
		},
		Domain: Interval{-12, 4},
	}.Define()
	lgammaOp = Unary{
		Name:   "lgamma",
		CPU:    special.Lgamma,
		CUDA:   "lgamma(x)",
		VJP:    func(g, _, x *Node) *Node { return Mul(g, Digamma(x)) },
		Domain: Interval{0.3, 12},
	}.Define()
	digammaOp = Unary{
		Name:   "digamma",
		CPU:    special.Digamma,
		CUDA:   "eu_digamma(x)",
		Helper: special.CUDADigamma,
		VJP:    func(g, _, x *Node) *Node { return Mul(g, Polygamma(1, x)) },
		Domain: Interval{0.3, 12},
	}.Define()
	j0Op = Unary{
		Name:   "bessel_j0",
		CPU:    math.J0,
		CUDA:   "j0(x)",
		Double: true, // of NVIDIA's j0f only 2.2e-6 is promised where |x| is above 8
		VJP:    func(g, _, x *Node) *Node { return Neg(Mul(g, BesselJ1(x))) },
		Domain: Interval{-8, 8},
	}.Define()
	j1Op = Unary{
		Name:   "bessel_j1",
		CPU:    math.J1,
		CUDA:   "j1(x)",
		Double: true, // of NVIDIA's j1f only 2.2e-6 is promised where |x| is above 8
		VJP:    func(g, y, x *Node) *Node { return Mul(g, Sub(BesselJ0(x), perX(y, x, 0.5))) },
		Domain: Interval{-8, 8},
	}.Define()
	i0eOp = Unary{
		Name:   "bessel_i0e",
		CPU:    func(x float64) float64 { return special.BesselIe(0, math.Abs(x)) },
		CUDA:   "eu_bessel_ie(0, fabs(x))",
		Helper: special.CUDABesselIe,
		VJP:    func(g, y, x *Node) *Node { return Mul(g, Sub(BesselI1e(x), Mul(Sign(x), y))) },
		Domain: Interval{-25, 25},
	}.Define()
	i1eOp = Unary{
		Name:   "bessel_i1e",
		CPU:    func(x float64) float64 { return math.Copysign(special.BesselIe(1, math.Abs(x)), x) },
		CUDA:   "copysign(eu_bessel_ie(1, fabs(x)), x)",
		Helper: special.CUDABesselIe,
		VJP: func(g, y, x *Node) *Node {
			return Mul(g, Sub(BesselI0e(x), Add(Mul(Sign(x), y), perX(y, x, 0.5))))
		},
		Domain: Interval{-25, 25},
	}.Define()
}
