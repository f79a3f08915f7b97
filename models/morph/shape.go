// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package morph

import ad "github.com/euryale-dev/euryale/autodiff"

// The shapes return signed distances from their surface in nm, negative inside, as Nodes
// [Z,Y,X] or Nodes that broadcast to that shape.

// Sphere returns the distance from a sphere.
func (g Grid) Sphere(centre Vec, radius *ad.Node) *ad.Node {
	return ad.Sub(g.From(centre).length(), radius)
}

// Cylinder returns the distance from a cylinder. The axis must have unit length. A nil
// length makes the cylinder endless.
func (g Grid) Cylinder(centre, axis Vec, radius, length *ad.Node) *ad.Node {
	v := g.From(centre)
	along := v.dot(axis)
	across := ad.Sqrt(ad.Shift(ad.Maximum(ad.Sub(v.dot(v), ad.Square(along)), ad.Scalar(0)), tiny))
	side := ad.Sub(across, radius)
	if length == nil {
		return side
	}
	return Intersection(side, ad.Sub(ad.Abs(along), ad.Scale(0.5, length)))
}

// Slab returns the distance from the space between two planes. The normal must have unit
// length.
func (g Grid) Slab(centre, normal Vec, thickness *ad.Node) *ad.Node {
	return ad.Sub(ad.Abs(g.From(centre).dot(normal)), ad.Scale(0.5, thickness))
}

// Lamellae returns the distance from a stack of slabs with the given period along the
// normal, which must have unit length.
func (g Grid) Lamellae(centre, normal Vec, period, thickness *ad.Node) *ad.Node {
	u := ad.Div(g.From(centre).dot(normal), period)
	from := ad.Mul(ad.Sub(u, ad.Round(u)), period)
	return ad.Sub(ad.Abs(from), ad.Scale(0.5, thickness))
}

// HalfSpace returns the distance from the plane through a point across a normal of unit
// length. The inside is the side opposite to the normal.
func (g Grid) HalfSpace(point, normal Vec) *ad.Node { return g.From(point).dot(normal) }

// Union returns a shape that contains the points inside any of the shapes.
func Union(d ...*ad.Node) *ad.Node { return folded(ad.Minimum, d) }

// Intersection returns a shape that contains the points inside all of the shapes.
func Intersection(d ...*ad.Node) *ad.Node { return folded(ad.Maximum, d) }

// Difference returns a shape that contains the points inside a and outside b.
func Difference(a, b *ad.Node) *ad.Node { return ad.Maximum(a, ad.Neg(b)) }

func folded(f func(x, y *ad.Node) *ad.Node, d []*ad.Node) *ad.Node {
	out := d[0]
	for _, x := range d[1:] {
		out = f(out, x)
	}
	return out
}

// Inside returns the volume fraction at signed distance d, 1/(1 + exp(d/width)).
func Inside(d *ad.Node, width float64) *ad.Node { return ad.Sigmoid(ad.Scale(-1/width, d)) }

// within is Inside with edges of a width that may be searched for; nil for the width w of the grid.
func (g Grid) within(d, edge *ad.Node, w float64) *ad.Node {
	if edge == nil {
		return Inside(d, g.width(w))
	}
	return ad.Sigmoid(ad.Neg(ad.Div(d, edge)))
}

// width returns w, or half a voxel if w is 0.
func (g Grid) width(w float64) float64 {
	if w > 0 {
		return w
	}
	return g.Voxel / 2
}
