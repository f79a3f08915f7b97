// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package morph

import (
	ad "github.com/euryale-dev/euryale/autodiff"
)

// Voxels is a material given voxel by voxel in a box, its support, and absent outside.
// Materials: this one and, if Matrix is set, the rest.
type Voxels struct {
	Grid
	// From and To delimit the support along Z, Y, X: From is inside, To is not. Zeros
	// select the whole volume.
	From, To [3]int
	Logit    *ad.Node // logits of the volume fraction, [Z,Y,X] of the support
	S        *ad.Node // order parameter, scalar or [Z,Y,X]; nil if isotropic
	Theta    *ad.Node // Euler angle theta in radians, scalar or [Z,Y,X]
	Psi      *ad.Node // Euler angle psi in radians, scalar or [Z,Y,X]
	// Variation and Roughness are the weights of the penalties TotalVariation and
	// Roughness on the volume fraction.
	Variation, Roughness float64
	Matrix               bool
}

// Scene returns the graph of the scattering object.
func (v Voxels) Scene() Scene {
	if v.To == ([3]int{}) {
		v.To = v.Shape
	}
	inside := ad.Sigmoid(v.support(v.Logit))
	m := isotropic(v.padded(inside))
	if v.S != nil {
		m = v.aligned(v.padded(inside), v.padded(v.support(v.S)), v.padded(v.support(v.Theta)), v.padded(v.support(v.Psi)))
	}
	s := v.scene(v.Matrix, m)
	if v.Variation > 0 {
		s.Penalty = ad.Scale(v.Variation, TotalVariation(inside))
	}
	if v.Roughness > 0 {
		r := ad.Scale(v.Roughness, Roughness(inside))
		if s.Penalty != nil {
			r = ad.Add(r, s.Penalty)
		}
		s.Penalty = r
	}
	return s
}

// support broadcasts x to the shape of the support.
func (v Voxels) support(x *ad.Node) *ad.Node {
	var n [3]int
	size := 1
	for i := range n {
		n[i] = v.To[i] - v.From[i]
		size *= n[i]
	}
	if x.Size() == size {
		return ad.Reshape(x, n[:]...)
	}
	return ad.Broadcast(x, n[:]...)
}

// padded surrounds x with zeros.
func (v Voxels) padded(x *ad.Node) *ad.Node {
	before, after := v.From, v.Shape
	for i := range after {
		after[i] -= v.To[i]
	}
	return ad.Pad(x, before[:], after[:], 0)
}

// smooth is the difference below which TotalVariation is quadratic.
const smooth = 1e-3

// TotalVariation is the sum of sqrt(d^2 + 1e-6) - 1e-3 over the differences d between
// neighbours along all axes.
func TotalVariation(x *ad.Node) *ad.Node {
	return neighbours(x, func(d *ad.Node) *ad.Node {
		return ad.Sum(ad.Shift(ad.Sqrt(ad.Shift(ad.Square(d), smooth*smooth)), -smooth))
	})
}

// Roughness is the sum of squared differences between neighbours along all axes.
func Roughness(x *ad.Node) *ad.Node {
	return neighbours(x, func(d *ad.Node) *ad.Node { return ad.Sum(ad.Square(d)) })
}

func neighbours(x *ad.Node, f func(d *ad.Node) *ad.Node) *ad.Node {
	total := ad.Scalar(0)
	for axis, n := range x.Shape() {
		if n > 1 {
			total = ad.Add(total, f(ad.Sub(ad.Slice(x, axis, 1, n), ad.Slice(x, axis, 0, n-1))))
		}
	}
	return total
}
