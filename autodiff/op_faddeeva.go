// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package autodiff

import (
	"math"

	"github.com/euryale-dev/euryale/autodiff/internal/special"
)

// FaddeevaRe returns the real part of w(x + i y), where w(z) = exp(-z^2) erfc(-i z): the shape of a Voigt profile, a normal distribution convolved with
// a Lorentzian.
//
// Gradient: w' = -2 z w + 2i/sqrt(pi), so that dRe/dx = -2 (x Re - y Im) and dRe/dy = 2 (x Im + y Re) - 2/sqrt(pi).
func FaddeevaRe(x, y *Node) *Node { return apply(faddeevaReOp, x, y) }

// FaddeevaIm returns the imaginary part of w(x + i y). On the real line it is 2/sqrt(pi) times Dawson's integral.
//
// Gradient: dIm/dx = -2 (x Im + y Re) + 2/sqrt(pi), and dIm/dy = -2 (x Re - y Im).
func FaddeevaIm(x, y *Node) *Node { return apply(faddeevaImOp, x, y) }

var faddeevaReOp, faddeevaImOp *Op

func init() {
	along := func(x, y *Node) (real, imaginary *Node) { // of w'
		re, im := FaddeevaRe(x, y), FaddeevaIm(x, y)
		return Scale(-2, Sub(Mul(x, re), Mul(y, im))), Shift(Scale(-2, Add(Mul(x, im), Mul(y, re))), 2/math.Sqrt(math.Pi))
	}
	faddeevaReOp = Binary{
		Name: "faddeeva_re", CPU: func(x, y float64) float64 { re, _ := special.Faddeeva(x, y); return re },
		CUDA: "eu_faddeeva(x, y, 0)", Helper: special.CUDAFaddeeva, Double: true,
		VJP: func(g, _, x, y *Node) (dx, dy *Node) {
			re, im := along(x, y)
			return Mul(g, re), Neg(Mul(g, im))
		},
		Domain: Interval{0.1, 4},
	}.Define()
	faddeevaImOp = Binary{
		Name: "faddeeva_im", CPU: func(x, y float64) float64 { _, im := special.Faddeeva(x, y); return im },
		CUDA: "eu_faddeeva(x, y, 1)", Helper: special.CUDAFaddeeva, Double: true,
		VJP: func(g, _, x, y *Node) (dx, dy *Node) {
			re, im := along(x, y)
			return Mul(g, im), Mul(g, re)
		},
		Domain: Interval{0.1, 4},
	}.Define()
}
