// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package spectra

import (
	"math"

	"github.com/euryale-dev/euryale/autodiff"
)

// Rotation says how templates are broadened by rotation.
type Rotation struct {
	// None leaves templates as they are.
	None bool
	// Compat integrates the limb-darkened profile against hat functions of the template's pixels, as
	// the reference does. That is linear in the velocity below one pixel, and fits of vsini come out
	// 4 km/s low at 10 to 25 km/s and 1.4 km/s low at 25 to 60 km/s on the templates of DESI. By
	// default the Fourier transform of the template is multiplied by that of the profile, which has
	// no such error.
	Compat bool
	// LimbDarkening is the linear coefficient, 0 to 1. Default 0.6; see LimbNode for one that is fitted.
	LimbDarkening float64
	// LimbNode is used in place of LimbDarkening if it is given: a number, or one for each row.
	LimbNode *autodiff.Node
	// MaxVsini is the largest velocity, in km/s, that can be computed; beyond it everything is NaN.
	// Default 500.
	MaxVsini float64
}

func (r Rotation) withDefaults() Rotation {
	if r.LimbDarkening == 0 {
		r.LimbDarkening = 0.6
	}
	if r.MaxVsini == 0 {
		r.MaxVsini = 500
	}
	if r.LimbNode == nil {
		r.LimbNode = autodiff.Scalar(r.LimbDarkening)
	}
	return r
}

// RotationKernel returns the weights W_k, k = -reach..reach in a new last axis, by which rotation mixes template
// pixels, at the largest Doppler shifts R = (vsini/c)/step in pixels; gradient: with respect to R and limb, the linear
// limb-darkening coefficient e. With the profile
//
//	K(x) = [2 (1-e) sqrt(1-x^2) + pi/2 e (1-x^2)] / [pi (1-e/3)],  |x| <= 1
//
// W_k is the integral of max(0, 1-|k-Rx|) K(x). Below 1e-9, R mixes nothing; where R > reach-1 the weights are NaN.
func RotationKernel(r, limb *autodiff.Node, reach int) *autodiff.Node {
	positive := autodiff.Where(autodiff.GreaterEqual(r, autodiff.Scalar(0)), r, autodiff.Scalar(0))
	r = column(positive)
	per := autodiff.Reciprocal(autodiff.Maximum(r, autodiff.Scalar(smallestR)))
	if limb.Size() > 1 {
		limb = column(limb)
	}
	edges := make([]float64, reach+2)
	for k := range edges {
		edges[k] = float64(k)
	}
	m0, m1 := profileMoments(autodiff.Mul(per, autodiff.Const(edges)), limb)
	n := reach + 1
	cut := func(m *autodiff.Node, from int) *autodiff.Node { return autodiff.Slice(m, -1, from, from+n) }
	k := autodiff.Const(edges[:n])
	one := autodiff.Scalar(1)
	right := autodiff.Sub(autodiff.Mul(autodiff.Add(one, k), autodiff.Sub(cut(m0, 1), cut(m0, 0))),
		autodiff.Mul(r, autodiff.Sub(cut(m1, 1), cut(m1, 0))))
	// The left leg of pixel k ends where the right leg of pixel k-1 does; that of pixel 0 mirrors its right one.
	shiftedBack := func(m *autodiff.Node) *autodiff.Node {
		return autodiff.Concat(-1, autodiff.Slice(m, -1, 0, 1), autodiff.Slice(m, -1, 0, n-1))
	}
	left := autodiff.Add(autodiff.Mul(autodiff.Sub(one, k), autodiff.Sub(cut(m0, 0), shiftedBack(m0))),
		autodiff.Mul(r, autodiff.Sub(cut(m1, 0), shiftedBack(m1))))
	middle := autodiff.Scale(2, autodiff.Slice(right, -1, 0, 1))
	wing := autodiff.Slice(autodiff.Add(left, right), -1, 1, n)
	sum := autodiff.Add(middle, autodiff.Scale(2, column(autodiff.SumAxes(wing, -1))))
	sum = autodiff.Where(autodiff.LessEqual(r, autodiff.Scalar(float64(reach-1))), sum, autodiff.Scalar(math.NaN()))
	return autodiff.Div(autodiff.Concat(-1, autodiff.Flip(wing, -1), middle, wing), sum)
}

// smallestR is the R in pixels below which nothing is mixed.
const smallestR = 1e-9

// profileMoments returns the integrals of K(t) and of t K(t) from 0 to min(x, 1), for x >= 0. At 1 the derivatives
// are those from outside, where both integrals are constant.
func profileMoments(x, limb *autodiff.Node) (m0, m1 *autodiff.Node) {
	one := autodiff.Scalar(1)
	inside := autodiff.Less(x, one)
	x = autodiff.Where(inside, x, autodiff.Scalar(0.5))
	square := autodiff.Square(x)
	norm := autodiff.Reciprocal(autodiff.Sub(one, autodiff.Scale(1.0/3, limb)))
	c1 := autodiff.Mul(norm, autodiff.Scale(2/math.Pi, autodiff.Sub(one, limb)))
	c2 := autodiff.Mul(norm, autodiff.Scale(0.5, limb))
	half := halfSegment.Apply(x)
	arc := autodiff.Scale(-1.0/3, autodiff.Expm1(autodiff.Scale(1.5, autodiff.Log1p(autodiff.Neg(square)))))
	cubic := autodiff.Mul(x, autodiff.Sub(one, autodiff.Scale(1.0/3, square)))
	quartic := autodiff.Mul(square, autodiff.Sub(autodiff.Scalar(0.5), autodiff.Scale(0.25, square)))
	pick := func(in *autodiff.Node, circle, parabola float64) *autodiff.Node {
		out := autodiff.Add(autodiff.Scale(circle, c1), autodiff.Scale(parabola, c2))
		return autodiff.Where(inside, in, out)
	}
	m0 = pick(autodiff.Add(autodiff.Mul(c1, half), autodiff.Mul(c2, cubic)), math.Pi/4, 2.0/3)
	m1 = pick(autodiff.Add(autodiff.Mul(c1, arc), autodiff.Mul(c2, quartic)), 1.0/3, 0.25)
	return m0, m1
}

// Broaden returns the rows of flux, templates on the grid, broadened by rotation at velocities
// vsini (km/s), which lack the axis of the rows. The template is taken to be 0 beyond its ends.
// Gradient: with respect to flux, vsini and the limb darkening. The grid must be logarithmic.
func (g *Grid) Broaden(flux, vsini *autodiff.Node, r Rotation) *autodiff.Node {
	r = r.withDefaults()
	if r.None || vsini == nil {
		return flux
	}
	pixels := autodiff.Scale(1/(SpeedOfLight*g.step), vsini)
	if !r.Compat {
		return g.broadenExactly(flux, pixels, r)
	}
	// A weight that is 0 counts as a constant of the sparse product, but at rest the slope of the wings is not 0.
	rest := autodiff.Less(pixels, autodiff.Scalar(smallestR))
	turning := autodiff.Where(autodiff.GreaterEqual(pixels, autodiff.Scalar(0)), pixels, autodiff.Scalar(0))
	pixels = autodiff.Where(rest, autodiff.Shift(turning, nearRest), pixels)
	return autodiff.ConvolveSparse(flux, RotationKernel(pixels, r.LimbNode, g.reach(r)))
}

// nearRest is an R that changes no template by more than rounding does.
const nearRest = 1e-14

// reach returns how many pixels the kernel of the largest velocity extends.
func (g *Grid) reach(r Rotation) int {
	return int(math.Ceil(r.MaxVsini/(SpeedOfLight*g.step) + 1))
}
