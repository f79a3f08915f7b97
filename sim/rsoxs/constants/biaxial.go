// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package constants

import (
	ad "github.com/euryale-dev/euryale/autodiff"
)

// Biaxial returns n^2 - 1 of a material with three optical axes, real and imaginary parts, as the components x x, x y, x z, y y, y z, z z in
// the frame of the sample. constants is a vector of 6: delta and beta along the axes a, b and c of the molecule. The rotation from the
// molecule to the sample is that of Euler's angles about z, y and z in radians: psi turns about z last, after theta about y and, first, phi
// about z. The axis c is then (cos psi sin theta, sin psi sin theta, cos theta), the director of a uniaxial material whose constants along a
// and b are equal.
//
// Gradient: with respect to the constants and the angles.
func Biaxial(constants, phi, theta, psi *ad.Node) (re, im [6]*ad.Node) {
	axes := rotation(phi, theta, psi)
	for i, pair := range [6][2]int{{0, 0}, {0, 1}, {0, 2}, {1, 1}, {1, 2}, {2, 2}} {
		for axis := range 3 {
			delta, beta := ad.Index(constants, 0, 2*axis), ad.Index(constants, 0, 2*axis+1)
			both := ad.Mul(axes[axis][pair[0]], axes[axis][pair[1]])
			// n^2 - 1 without the difference of numbers near 1.
			re[i] = plus(re[i], ad.Mul(both, ad.Sub(ad.Mul(delta, ad.Shift(delta, -2)), ad.Square(beta))))
			im[i] = plus(im[i], ad.Mul(both, ad.Scale(2, ad.Mul(beta, ad.Sub(ad.Scalar(1), delta)))))
		}
	}
	return re, im
}

func plus(a, b *ad.Node) *ad.Node {
	if a == nil {
		return b
	}
	return ad.Add(a, b)
}

// rotation returns where the three axes of a molecule point.
func rotation(phi, theta, psi *ad.Node) (axes [3][3]*ad.Node) {
	ca, sa, cb, sb, cc, sc := ad.Cos(phi), ad.Sin(phi), ad.Cos(theta), ad.Sin(theta), ad.Cos(psi), ad.Sin(psi)
	a := [3]*ad.Node{ad.Mul(ca, cb), sa, ad.Neg(ad.Mul(ca, sb))}
	b := [3]*ad.Node{ad.Neg(ad.Mul(sa, cb)), ca, ad.Mul(sa, sb)}
	c := [3]*ad.Node{sb, ad.Scalar(0), cb}
	for i, v := range [3][3]*ad.Node{a, b, c} {
		axes[i] = [3]*ad.Node{ad.Sub(ad.Mul(cc, v[0]), ad.Mul(sc, v[1])), ad.Add(ad.Mul(sc, v[0]), ad.Mul(cc, v[1])), v[2]}
	}
	return axes
}
