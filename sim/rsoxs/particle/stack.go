// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package particle

import (
	"cmp"
	"math"

	ad "github.com/euryale-dev/euryale/autodiff"
)

// Stack is a stack of lamellae within a Gaussian envelope: the volume fraction is that of a lamella in every period, times exp(-r^2/(2
// Grain^2)). One material.
type Stack struct {
	Normal    Vec      // unit vector
	Period    *ad.Node // distance between lamellae in nm
	Thickness *ad.Node // thickness of a lamella in nm
	Grain     *ad.Node // standard deviation of the envelope in nm
	Aligned   *ad.Node // order parameter S at the interfaces; nil for an isotropic material
	Direction Vec      // unit vector of the director; the zero value stands for Normal
	// Interface is the length in nm over which S falls with the distance d from the nearest interface, as exp(-d^2/(2 Interface^2)); nil
	// for an order that is the same everywhere.
	Interface *ad.Node
	Edge      Edge
	// Harmonics is the number of waves of the stack, 2 pi/Period apart, on either side of q = 0 that are summed. Default 8; (Q + 6/Grain)
	// Period/(2 pi), with Q the largest q, reaches 1e-8.
	Harmonics int
	// Disorder is the standard deviation of the distance between neighbours in nm, which adds up from lamella to lamella: Hosemann's
	// paracrystal. The transforms are then roots of mean squares, for intensities alone, and those of a lamella do not vary within
	// the envelope. nil for none.
	//
	// Reference: R. Hosemann and S. N. Bagchi, Direct Analysis of Diffraction by Matter (1962), chapter 9.
	Disorder *ad.Node
	// Layers is the number of periods on either side of the middle that a paracrystal sums over. Default 8; 6 Grain/Period reaches 1e-8.
	Layers int
	// Reach has the largest q of a paracrystal, and a Size that no half period exceeds.
	Reach Reach
}

var _ Particle = Stack{}

// Fields returns the transforms of the stack.
func (c Stack) Fields(q Vec) []Fields {
	along, square := split(q, c.Normal)
	across := c.crystal
	if c.Disorder != nil {
		across = c.paracrystal
	}
	f := across(along)
	rest := profile(c.Grain, square, 2)
	out := Fields{Fraction: ad.Mul(f[0], rest)}
	if c.Aligned == nil {
		return []Fields{out}
	}
	d := c.Direction
	if d[0] == nil {
		d = c.Normal
	}
	return []Fields{directed(out.Fraction, ad.Mul(f[1], rest), d)}
}

// distance returns the distance from the nearest interface, negative in lamellae.
func (c Stack) distance(u *ad.Node) *ad.Node {
	n := ad.Div(u, c.Period)
	return ad.Sub(ad.Abs(ad.Mul(c.Period, ad.Sub(n, ad.Round(n)))), ad.Scale(0.5, c.Thickness))
}

func (c Stack) order(u *ad.Node) *ad.Node {
	if c.Interface == nil {
		return c.Aligned
	}
	return ad.Mul(c.Aligned, ad.Exp(ad.Scale(-0.5, ad.Square(ad.Div(c.distance(u), c.Interface)))))
}

// lamella returns a rule from the middle of a lamella to that of the gap, whose weights hold the volume fraction, and these times the order
// as well if the material is aligned.
func (c Stack) lamella(n int) (u *ad.Node, weights []*ad.Node) {
	half := ad.Scale(0.5, c.Thickness)
	p := panels(n, ad.Scalar(0), half)
	if c.Edge.Width != nil {
		p = panels(n, ad.Scalar(0), half, ad.Scale(0.5, c.Period))
		p.w = ad.Mul(p.w, c.Edge.inside(c.distance(p.x)))
	}
	weights = []*ad.Node{p.w}
	if c.Aligned != nil {
		weights = append(weights, ad.Mul(p.w, c.order(p.x)))
	}
	return p.x, weights
}

// crystal returns the transforms along the normal of the volume fraction and of the aligned one: the waves exp(2 pi i m u/Period) of the
// stack are Gaussians of q, the transforms of its envelope.
func (c Stack) crystal(along *ad.Node) []*ad.Node {
	most := cmp.Or(c.Harmonics, 8)
	u, weights := c.lamella(16 + 4*most)
	number := make([]float64, 2*most+1)
	for i := range number {
		number[i] = float64(i - most)
	}
	wave := ad.Mul(ad.Const(number, len(number), 1), ad.Div(ad.Scalar(2*math.Pi), c.Period))
	heights := ad.MatMul(ad.Stack(0, weights...), ad.T(ad.Cos(ad.Mul(wave, u))))
	scale := ad.Scale(2*math.Sqrt(2*math.Pi), ad.Div(c.Grain, c.Period))
	q := ad.Reshape(along, 1, along.Size())
	envelopes := ad.Exp(ad.Scale(-0.5, ad.Square(ad.Mul(c.Grain, ad.Sub(q, wave)))))
	all := ad.MatMul(ad.Mul(scale, heights), envelopes)
	out := make([]*ad.Node, len(weights))
	for i := range out {
		out[i] = ad.Reshape(ad.Index(all, 0, i), along.Shape()...)
	}
	return out
}

// paracrystal returns the transforms of one lamella times the root of the sum over pairs of lamellae within the envelope.
func (c Stack) paracrystal(along *ad.Node) []*ad.Node {
	s := c.Reach.newSeries(c.Reach.Size)
	u, weights := c.lamella(10 + int(math.Ceil(c.Reach.extent()/2)))
	waves := ad.Cos(ad.Mul(ad.Reshape(s.q(), len(s.nodes), 1), u))
	values := make([]*ad.Node, len(weights))
	for i, w := range weights {
		values[i] = ad.MatMul(waves, ad.Scale(2, w))
	}
	out, sum := s.at(ad.Square(along), values...), c.neighbours(along)
	for i := range out {
		out[i] = ad.Mul(out[i], sum)
	}
	return out
}

// neighbours returns the root of the sum over pairs of lamellae within the envelope.
func (c Stack) neighbours(along *ad.Node) *ad.Node {
	far := ad.Div(c.Period, c.Grain)
	fall := ad.Scale(-0.5, ad.Square(ad.Mul(along, c.Disorder)))
	phase := ad.Mul(along, c.Period)
	total := ad.Scalar(1)
	for n := 1; n <= 2*cmp.Or(c.Layers, 8); n++ {
		x := float64(n)
		pairs := ad.Exp(ad.Sub(ad.Scale(x, fall), ad.Scale(x*x/4, ad.Square(far))))
		total = ad.Add(total, ad.Scale(2, ad.Mul(pairs, ad.Cos(ad.Scale(x, phase)))))
	}
	return root(ad.Maximum(ad.Scale(math.Sqrt(math.Pi), ad.Div(total, far)), ad.Scalar(0)))
}
