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
	// Layers is the number of periods on either side of the middle that are summed. Default 8; 6 Grain/Period reaches 1e-8.
	Layers int
	// Disorder is the standard deviation of the distance between neighbours in nm, which adds up from lamella to lamella: Hosemann's
	// paracrystal. The transforms are then roots of mean squares, for intensities alone, and those of a lamella do not vary within
	// the envelope. nil for none.
	//
	// Reference: R. Hosemann and S. N. Bagchi, Direct Analysis of Diffraction by Matter (1962), chapter 9.
	Disorder *ad.Node
	// Reach has the largest q, and a Size beyond which the envelope ends, 6 Grain for 1e-8.
	Reach Reach
}

var _ Particle = Stack{}

// Fields returns the transforms of the stack.
func (c Stack) Fields(q Vec) []Fields {
	along, square := split(q, c.Normal)
	layers := cmp.Or(c.Layers, 8)
	size := c.Reach.Size
	if c.Disorder != nil {
		layers = 0
	}
	s := c.Reach.newSeries(size)
	u := c.across(layers, 10+int(math.Ceil(c.Reach.Q*size/float64(2*layers+2))))
	waves := ad.Cos(ad.Mul(ad.Reshape(s.q(), len(s.nodes), 1), u.x))
	lamella := ad.Scale(2, u.w)
	if c.Disorder == nil {
		lamella = ad.Mul(lamella, ad.Exp(ad.Scale(-0.5, ad.Square(ad.Div(u.x, c.Grain)))))
	}
	values := []*ad.Node{ad.MatMul(waves, lamella)}
	if c.Aligned != nil {
		values = append(values, ad.MatMul(waves, ad.Mul(lamella, c.order(u.x))))
	}
	f := s.at(ad.Square(along), values...)
	rest := profile(c.Grain, square, 2)
	if c.Disorder != nil {
		rest = ad.Mul(rest, c.paracrystal(along, cmp.Or(c.Layers, 8)))
	}
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

// across returns a rule along the normal from the middle outwards, whose weights hold the volume fraction.
func (c Stack) across(layers, n int) rule {
	half := ad.Scale(0.5, c.Thickness)
	at := func(periods float64) *ad.Node { return ad.Scale(periods, c.Period) }
	if c.Edge.Width == nil {
		p := []rule{panels(n, ad.Scalar(0), half)}
		for i := 1; i <= layers; i++ {
			p = append(p, panels(n, ad.Sub(at(float64(i)), half), ad.Add(at(float64(i)), half)))
		}
		var x, w []*ad.Node
		for _, r := range p {
			x, w = append(x, r.x), append(w, r.w)
		}
		return rule{ad.Concat(0, x...), ad.Concat(0, w...)}
	}
	ends := []*ad.Node{ad.Scalar(0), half, at(0.5)}
	for i := 1; i <= layers; i++ {
		x := float64(i)
		ends = append(ends, ad.Sub(at(x), half), at(x), ad.Add(at(x), half), at(x+0.5))
	}
	p := panels(n, ends...)
	return rule{p.x, ad.Mul(p.w, c.Edge.inside(c.distance(p.x)))}
}

// paracrystal returns the root of the sum over pairs of lamellae within the envelope.
func (c Stack) paracrystal(along *ad.Node, layers int) *ad.Node {
	far := ad.Div(c.Period, c.Grain)
	fall := ad.Scale(-0.5, ad.Square(ad.Mul(along, c.Disorder)))
	phase := ad.Mul(along, c.Period)
	total := ad.Scalar(1)
	for n := 1; n <= 2*layers; n++ {
		x := float64(n)
		pairs := ad.Exp(ad.Sub(ad.Scale(x, fall), ad.Scale(x*x/4, ad.Square(far))))
		total = ad.Add(total, ad.Scale(2, ad.Mul(pairs, ad.Cos(ad.Scale(x, phase)))))
	}
	return root(ad.Maximum(ad.Scale(math.Sqrt(math.Pi), ad.Div(total, far)), ad.Scalar(0)))
}
