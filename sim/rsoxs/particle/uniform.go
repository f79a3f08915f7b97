// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package particle

import (
	"math"

	ad "github.com/euryale-dev/euryale/autodiff"
)

// Cylinder is a solid or hollow cylinder around its axis, whose molecules lie along the axis or point outwards from it. One material.
type Cylinder struct {
	Axis    Vec      // unit vector
	Radius  *ad.Node // outer radius in nm
	Length  *ad.Node // length in nm
	Hole    *ad.Node // radius of the hole in nm; nil for none
	Aligned *ad.Node // order parameter S; nil for an isotropic cylinder
	// Radial makes the molecules point outwards. It needs Reach, whose Size bounds the radius, and a Radius and Hole without members.
	Radial bool
	Reach  Reach
	Edge   Edge
}

var _ Particle = Cylinder{}

// split returns q along an axis, and the square of q across it.
func split(q, axis Vec) (along, square *ad.Node) {
	along = q.dot(axis)
	return along, ad.Maximum(ad.Sub(q.dot(q), ad.Square(along)), ad.Scalar(0))
}

// root is the square root with finite derivatives at 0.
func root(x *ad.Node) *ad.Node { return ad.Sqrt(ad.Shift(x, tiny)) }

// disc returns the transform of a disc of radius r at the square of q in its plane.
func disc(r, square *ad.Node) *ad.Node {
	return ad.Scale(2*math.Pi, ad.Mul(ad.Square(r), cylindricalJ(1, ad.Mul(r, root(square)))))
}

// length returns the transform of a line of length l at q along it.
func length(l, along *ad.Node) *ad.Node {
	return ad.Mul(l, ad.Sinc(ad.Scale(0.5, ad.Mul(l, along))))
}

// Fields returns the transforms of the cylinder.
func (c Cylinder) Fields(q Vec) []Fields {
	along, square := split(q, c.Axis)
	section := disc(c.Radius, square)
	if c.Hole != nil {
		section = ad.Sub(section, disc(c.Hole, square))
	}
	rest := ad.Mul(length(c.Length, along), c.Edge.smooth(q.dot(q)))
	fraction := ad.Mul(section, rest)
	if c.Aligned == nil {
		return []Fields{{Fraction: fraction}}
	}
	if !c.Radial {
		return []Fields{directed(fraction, ad.Mul(c.Aligned, fraction), c.Axis)}
	}
	f := Fields{Fraction: fraction, Aligned: ad.Mul(c.Aligned, fraction)}
	// int s s^T exp(i q r) over the section is (disc/2) (1 - a a^T) - g (p p^T - p^2 (1 - a a^T)/2), p being q across the axis a.
	g := ad.Mul(ad.Mul(c.Aligned, c.quadrupole(square)), rest)
	equal := ad.Scale(0.5, ad.Add(f.Aligned, ad.Mul(g, square)))
	var p Vec
	for i := range p {
		p[i] = ad.Sub(q[i], ad.Mul(along, c.Axis[i]))
	}
	for i, pair := range pairs {
		one := ad.Neg(ad.Mul(c.Axis[pair[0]], c.Axis[pair[1]]))
		if pair[0] == pair[1] {
			one = ad.Shift(one, 1)
		}
		f.Director[i] = ad.Sub(ad.Mul(equal, one), ad.Mul(g, ad.Mul(p[pair[0]], p[pair[1]])))
	}
	return []Fields{f}
}

// quadrupole returns 2 pi int J_2(q r) r dr/q^2 between the hole and the outer radius, from a table.
func (c Cylinder) quadrupole(square *ad.Node) *ad.Node {
	s := c.Reach.newSeries(c.Reach.Size)
	q := ad.Reshape(s.q(), len(s.nodes), 1)
	low := c.Hole
	if low == nil {
		low = ad.Scalar(0)
	}
	r := panels(12+int(math.Ceil(c.Reach.extent()/4)), low, c.Radius)
	v := ad.MatMul(cylindricalJ(2, ad.Mul(q, r.x)), ad.Scale(2*math.Pi, ad.Mul(r.w, ad.Mul(r.x, ad.Square(r.x)))))
	return s.at(square, v)[0]
}

// Ellipsoid is an ellipsoid of revolution whose molecules have one direction; with equal half axes it is a ball. One material.
type Ellipsoid struct {
	Axis      Vec      // unit vector of the axis of revolution
	HalfAxis  *ad.Node // half axis along Axis in nm
	Equator   *ad.Node // half axes across it in nm
	Aligned   *ad.Node // order parameter S; nil for an isotropic ellipsoid
	Direction Vec      // unit vector of the director; the zero value stands for Axis
	Edge      Edge
}

var _ Particle = Ellipsoid{}

// Fields returns the transforms of the ellipsoid.
func (c Ellipsoid) Fields(q Vec) []Fields {
	along, square := split(q, c.Axis)
	x := root(ad.Add(ad.Mul(ad.Square(c.Equator), square), ad.Square(ad.Mul(c.HalfAxis, along))))
	volume := ad.Scale(4*math.Pi, ad.Mul(ad.Square(c.Equator), c.HalfAxis))
	return c.filled(ad.Mul(volume, ad.Mul(sphericalJ(1, x), c.Edge.smooth(q.dot(q)))))
}

func (c Ellipsoid) filled(fraction *ad.Node) []Fields {
	if c.Aligned == nil {
		return []Fields{{Fraction: fraction}}
	}
	s := c.Direction
	if s[0] == nil {
		s = c.Axis
	}
	return []Fields{directed(fraction, ad.Mul(c.Aligned, fraction), s)}
}

// Plate is a slab whose extent in its plane is a Gaussian profile. One material.
type Plate struct {
	Normal    Vec      // unit vector
	Thickness *ad.Node // thickness in nm
	Width     *ad.Node // standard deviation of the profile in the plane in nm
	Aligned   *ad.Node // order parameter S; nil for an isotropic plate
	Direction Vec      // unit vector of the director; the zero value stands for Normal
	Edge      Edge
}

var _ Particle = Plate{}

// Fields returns the transforms of the plate.
func (c Plate) Fields(q Vec) []Fields {
	along, square := split(q, c.Normal)
	f := ad.Mul(length(c.Thickness, along), profile(c.Width, square, 2))
	f = ad.Mul(f, c.Edge.smooth(ad.Square(along)))
	return Ellipsoid{Axis: c.Normal, Aligned: c.Aligned, Direction: c.Direction}.filled(f)
}

// profile returns the transform of exp(-r^2/(2 sd^2)) in some dimensions at q^2.
func profile(sd, square *ad.Node, dimensions float64) *ad.Node {
	v := ad.Square(sd)
	out := ad.Exp(ad.Scale(-0.5, ad.Mul(v, square)))
	return ad.Mul(ad.Pow(ad.Scale(2*math.Pi, v), ad.Scalar(dimensions/2)), out)
}
