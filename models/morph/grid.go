// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package morph

import ad "github.com/euryale-dev/euryale/autodiff"

// Grid is a volume of cubic voxels with axes Z, Y, X.
type Grid struct {
	Shape [3]int
	Voxel float64 // edge length of a voxel in nm
}

// Vec is a position or direction (x, y, z) in a graph.
type Vec [3]*ad.Node

// Fixed returns a Vec of constants.
func Fixed(x, y, z float64) Vec { return Vec{ad.Scalar(x), ad.Scalar(y), ad.Scalar(z)} }

// Places returns the centres of the voxels in nm, with the first at 0, as Nodes whose
// shapes broadcast to the volume.
func (g Grid) Places() Vec {
	var v Vec
	for axis := range v {
		at := 2 - axis // index of the axis in Z, Y, X
		shape := [3]int{1, 1, 1}
		shape[at] = g.Shape[at]
		nm := make([]float64, g.Shape[at])
		for i := range nm {
			nm[i] = float64(i) * g.Voxel
		}
		v[axis] = ad.Const(nm, shape[:]...)
	}
	return v
}

// From returns the vectors from c to every voxel in nm.
func (g Grid) From(c Vec) Vec { return g.Places().sub(c) }

// full broadcasts x to the shape of the volume.
func (g Grid) full(x *ad.Node) *ad.Node { return ad.Broadcast(x, g.Shape[:]...) }

func (v Vec) sub(o Vec) Vec {
	return Vec{ad.Sub(v[0], o[0]), ad.Sub(v[1], o[1]), ad.Sub(v[2], o[2])}
}

func (v Vec) dot(o Vec) *ad.Node {
	return ad.AddN(ad.Mul(v[0], o[0]), ad.Mul(v[1], o[1]), ad.Mul(v[2], o[2]))
}

// tiny keeps the derivative of a length finite where the length is 0.
const tiny = 1e-24

// length returns |v|.
func (v Vec) length() *ad.Node { return ad.Sqrt(ad.Shift(v.dot(v), tiny)) }

// Direction returns the unit vector with polar angle theta from +z and azimuth phi from
// +x about +z.
func Direction(theta, phi *ad.Node) Vec {
	s := ad.Sin(theta)
	return Vec{ad.Mul(s, ad.Cos(phi)), ad.Mul(s, ad.Sin(phi)), ad.Cos(theta)}
}

// Angles returns the Euler angles of directors along v, which may have any length. A vector without length, such as that of the voxel at
// the very centre of a ball, points along +z and stays there: its derivative is 0.
func (v Vec) Angles() (theta, psi *ad.Node) {
	across := ad.Shift(ad.Add(ad.Square(v[0]), ad.Square(v[1])), tiny)
	square := v.dot(v)
	long := ad.Div(square, ad.Shift(square, tiny)) // 0 for a vector without length, and 1 for others
	return ad.Mul(long, ad.Atan2(ad.Sqrt(across), v[2])), ad.Atan2(v[1], ad.Add(v[0], ad.Sub(ad.Scalar(1), long)))
}
