// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package autodiff

import (
	"fmt"
	"math"
	"sync"

	"github.com/euryale-dev/euryale/autodiff/internal/special"
)

// Erf returns the error function. Gradient: 2/sqrt(pi) exp(-x^2).
func Erf(x *Node) *Node { return apply(erfOp, x) }

// Erfc returns 1 - erf(x), exact in the right tail. Gradient: -2/sqrt(pi) exp(-x^2).
func Erfc(x *Node) *Node { return apply(erfcOp, x) }

// Erfcx returns exp(x^2) erfc(x), finite where erfc underflows.
// Gradient: 2xy - 2/sqrt(pi), exact also where it cancels, and so are further derivatives.
func Erfcx(x *Node) *Node { return apply(erfcxOp(0), x) }

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

var erfOp, erfcOp, erfinvOp, logPhiOp, logPhiSlopeOp, logPhiCurveOp, logPhiThirdOp, lgammaOp, digammaOp, j0Op, j1Op, i0eOp, i1eOp *Op

var (
	erfcxOps   = map[int]*Op{}
	erfcxOpsMu sync.Mutex
)

// erfcxOp returns the n-th derivative of Erfcx, made at first use.
func erfcxOp(n int) *Op {
	erfcxOpsMu.Lock()
	defer erfcxOpsMu.Unlock()
	if op := erfcxOps[n]; op != nil {
		return op
	}
	d := Unary{
		Name:   "erfcx",
		CPU:    special.Erfcx,
		CUDA:   "eu_erfcx(x)",
		Helper: special.CUDAErfcx,
		VJP:    func(g, _, x *Node) *Node { return Mul(g, apply(erfcxOp(n+1), x)) },
		Domain: Interval{-2, 30},
	}
	if n > 0 {
		d.Name = fmt.Sprintf("erfcx_%d", n)
		d.CPU = func(x float64) float64 { return special.ErfcxDerivative(n, x) }
		d.CUDA = fmt.Sprintf("eu_erfcx_derivative(%d, x)", n)
		d.Helper += special.CUDAErfcxDerivative
		d.Double = true // left of the continued fraction a few digits cancel
	}
	op := d.Define()
	erfcxOps[n] = op
	return op
}

var (
	besselJs   = map[int]*Op{}
	besselJsMu sync.Mutex
)

// besselJOp returns the Bessel function of the first kind of order n > 1, made at first use.
func besselJOp(n int) *Op {
	besselJsMu.Lock()
	defer besselJsMu.Unlock()
	if op := besselJs[n]; op != nil {
		return op
	}
	op := Unary{
		Name:   fmt.Sprintf("bessel_j%d", n),
		CPU:    func(x float64) float64 { return special.BesselJ(n, x) },
		CUDA:   fmt.Sprintf("eu_bessel_j(%d, x)", n),
		Helper: special.CUDABesselJ,
		Double: true, // as for j0 and j1
		VJP: func(g, _, x *Node) *Node { // (J(n-1) - J(n+1))/2: https://dlmf.nist.gov/10.6.E1
			below := BesselJ1(x)
			if n > 2 {
				below = apply(besselJOp(n-1), x)
			}
			return Scale(0.5, Mul(g, Sub(below, apply(besselJOp(n+1), x))))
		},
		Domain: Interval{-8, 8},
	}.Define()
	besselJs[n] = op
	return op
}

func init() {
	// Beyond 40 the derivative is 0, and x may be infinite.
	gauss := func(c float64, g, x *Node) *Node { return Mul(g, Scale(c, Exp(Neg(Square(Clip(x, -40, 40)))))) }
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
	for n := range 3 {
		erfcxOp(n)
	}
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
		VJP:    func(g, _, x *Node) *Node { return Mul(g, apply(logPhiSlopeOp, x)) },
		Domain: Interval{-12, 4},
	}.Define()
	logPhiSlopeOp = Unary{
		Name:   "log_phi_slope",
		CPU:    special.LogPhiSlope,
		CUDA:   "eu_log_phi_slope(x)",
		Helper: special.CUDAErfcx + special.CUDALogPhiSlope,
		VJP:    func(g, _, x *Node) *Node { return Mul(g, apply(logPhiCurveOp, x)) },
		Domain: Interval{-12, 4},
	}.Define()
	logPhiCurveOp = Unary{
		Name:   "log_phi_curve",
		CPU:    special.LogPhiCurve,
		CUDA:   "eu_log_phi_curve(x)",
		Helper: special.CUDAErfcx + special.CUDALogPhiSlope,
		Double: true, // between the tails digits cancel
		VJP:    func(g, _, x *Node) *Node { return Mul(g, apply(logPhiThirdOp, x)) },
		Domain: Interval{-12, 4},
	}.Define()
	logPhiThirdOp = Unary{
		Name:   "log_phi_third",
		CPU:    special.LogPhiThird,
		CUDA:   "eu_log_phi_third(x)",
		Helper: special.CUDAErfcx + special.CUDALogPhiSlope,
		Double: true,
		VJP: func(g, d, x *Node) *Node { // of -(c (x + m) + m (1 + c)), whose m' is c and c' is d
			m, c := apply(logPhiSlopeOp, x), apply(logPhiCurveOp, x)
			return Neg(Mul(g, Add(Mul(d, Add(x, Scale(2, m))), Scale(2, Mul(c, Shift(c, 1))))))
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
		CPU:    special.BesselJ1,
		CUDA:   "j1(x)",
		Double: true, // of NVIDIA's j1f only 2.2e-6 is promised where |x| is above 8
		VJP: func(g, y, x *Node) *Node { // J0 - y/x, or (J0 - J2)/2 where x may be 0
			far, j0 := Greater(Abs(x), Scalar(1)), BesselJ0(x)
			near := Scale(0.5, Sub(j0, apply(besselJOp(2), Where(far, Scalar(0), x))))
			return Mul(g, Where(far, Sub(j0, Div(y, Where(far, x, Scalar(1)))), near))
		},
		Domain: Interval{-8, 8},
	}.Define()
	besselJOp(2)
	i0eOp = Unary{
		Name:   "bessel_i0e",
		CPU:    func(x float64) float64 { return special.BesselIe(0, math.Abs(x)) },
		CUDA:   "eu_bessel_ie(0, fabs(x))",
		Helper: special.CUDABesselIe,
		VJP:    func(g, y, x *Node) *Node { return Mul(g, Mul(y, logI0eSlope(1, x))) },
		Domain: Interval{-25, 25},
	}.Define()
	i1eOp = Unary{
		Name:   "bessel_i1e",
		CPU:    func(x float64) float64 { return math.Copysign(special.BesselIe(1, math.Abs(x)), x) },
		CUDA:   "copysign(eu_bessel_ie(1, fabs(x)), x)",
		Helper: special.CUDABesselIe,
		VJP: func(g, _, x *Node) *Node { // I0e (c - r b): b = 1 - r, r = I1/I0, c the second derivative of log I0
			b := Abs(logI0eSlope(1, x))
			return Mul(g, Mul(BesselI0e(x), Sub(logI0eSlope(2, x), Mul(b, Sub(Scalar(1), b)))))
		},
		Domain: Interval{-25, 25},
	}.Define()
}
