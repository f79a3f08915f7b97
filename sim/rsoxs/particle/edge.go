// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package particle

import (
	"math"

	ad "github.com/euryale-dev/euryale/autodiff"
	"gonum.org/v1/gonum/integrate/quad"
)

// Edge is the softness of surfaces: the volume fraction at the distance d outside of one is 1/(1 + exp(d/Width)), as in the voxel models,
// or with Gaussian the complementary error function with the standard deviation Width. A nil Width makes surfaces sharp.
type Edge struct {
	Width    *ad.Node // width of the surfaces in nm
	Gaussian bool
}

// inside returns the volume fraction at a signed distance.
func (e Edge) inside(d *ad.Node) *ad.Node {
	t := ad.Neg(ad.Div(d, e.Width))
	if e.Gaussian {
		return ad.Phi(t)
	}
	return ad.Sigmoid(t)
}

// far is the distance in widths beyond which a volume fraction is 0 or 1 to 1e-10.
func (e Edge) far() float64 {
	if e.Gaussian {
		return 6.5
	}
	return 24
}

// smooth returns the transform of the kernel that turns sharp plane surfaces into those of e, at |q|^2. Curved surfaces become soft by the
// same convolution.
func (e Edge) smooth(q2 *ad.Node) *ad.Node {
	switch {
	case e.Width == nil:
		return ad.Scalar(1)
	case e.Gaussian:
		return ad.Exp(ad.Scale(-0.5, ad.Mul(ad.Square(e.Width), q2)))
	}
	x := ad.Scale(math.Pi, ad.Mul(e.Width, ad.Sqrt(ad.Shift(q2, tiny))))
	return ad.Div(x, ad.Sinh(x))
}

// tiny keeps derivatives of a length finite where the length is 0; 1/nm^2.
const tiny = 1e-14

// rule is a quadrature rule, whose nodes and weights may move with parameters.
type rule struct{ x, w *ad.Node }

// panels returns the composite Gauss-Legendre rule of n nodes between each two of the ends, which rise: scalars for one rule, or columns
// [member, 1] for one of each member, [member, node].
func panels(n int, ends ...*ad.Node) rule {
	t, w := legendre(n)
	var xs, ws []*ad.Node
	for i, a := range ends[:len(ends)-1] {
		length := ad.Sub(ends[i+1], a)
		xs, ws = append(xs, ad.Add(a, ad.Mul(length, ad.Const(t)))), append(ws, ad.Mul(length, ad.Const(w)))
	}
	last := len(xs[0].Shape()) - 1
	return rule{ad.Concat(last, xs...), ad.Concat(last, ws...)}
}

// legendre returns n nodes and weights between 0 and 1, or one more for 26, of which the table of gonum 0.17 holds a wrong one.
func legendre(n int) (x, w []float64) {
	if n == 26 {
		n++
	}
	x, w = make([]float64, n), make([]float64, n)
	quad.Legendre{}.FixedLocations(x, w, 0, 1)
	return x, w
}

// hermite returns the nodes and weights of the standard normal distribution.
func hermite(n int) (x, w []float64) {
	x, w = make([]float64, n), make([]float64, n)
	quad.Hermite{}.FixedLocations(x, w, math.Inf(-1), math.Inf(1))
	for i := range x {
		x[i], w[i] = x[i]*math.Sqrt2, w[i]/math.Sqrt(math.Pi)
	}
	return x, w
}

// within returns a rule for integrals over the inside of a soft surface at the radius r: its weights hold the volume fraction. kink is a
// radius below r at which the integrand bends; nil for none.
func (e Edge) within(n int, r, kink *ad.Node) rule {
	zero := ad.Scale(0, r)
	if e.Width == nil {
		if kink == nil {
			return panels(n, zero, r)
		}
		return panels(n, zero, kink, r)
	}
	slope := ad.Scale(e.far(), e.Width)
	ends := []*ad.Node{zero}
	low := zero
	if kink != nil {
		ends, low = append(ends, kink), kink
	}
	p := panels(n, append(ends, ad.Maximum(low, ad.Sub(r, slope)), r, ad.Add(r, slope))...)
	return rule{p.x, ad.Mul(p.w, e.inside(ad.Sub(p.x, r)))}
}
