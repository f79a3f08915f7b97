// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package geometry

import (
	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/sim/xpcs"
)

// Loss returns the sum over pixels of (q - target)^2, where q follows from a geometry.
//
// Shape: row, col and target are vectors of one length; the result is a scalar. Units: rows and
// columns in pixels, q in the geometry's 1/angstrom. Gradient: with respect to everything that is
// an input, such as the parameters p.
func Loss(g xpcs.Geometry, row, col, target *ad.Node, p xpcs.Parameters) *ad.Node {
	return ad.Sum(ad.Square(ad.Sub(g.Node("q", row, col, p), target)))
}

// RingVariance returns the variance of the distances of points from a centre, in square pixels: 0 if they lie on a circle about
// it.
//
// Shape: row and col are vectors of one length; the centre and the result are scalars. Gradient:
// with respect to all of them.
func RingVariance(row, col, centerRow, centerCol *ad.Node) *ad.Node {
	d := ad.Hypot(ad.Sub(row, centerRow), ad.Sub(col, centerCol))
	return ad.Mean(ad.Square(ad.Sub(d, ad.Mean(d))))
}
