// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package particle

import (
	"cmp"
	"math"

	ad "github.com/euryale-dev/euryale/autodiff"
)

// Spread is a distribution of sizes with the mean 1: that of Schulz, or the log-normal one. The zero value is no spread.
type Spread struct {
	SD        *ad.Node // standard deviation relative to the mean, below 1; nil for no spread
	LogNormal bool
	Points    int // number of nodes of the quadrature. Default 21
	// Second is the mean size of a second population, relative to that of the first, with the same relative spread, and Share the share of
	// the particles that belong to it; nil for one population. The first one then has the mean 1.
	Second, Share *ad.Node
}

// quadrature holds nodes and weights, vectors or nil for the single node 1.
type quadrature struct {
	number int
	x, w   *ad.Node
}

// leastSpread keeps the density of Schulz finite; a smaller one is no spread to 1e-8.
const leastSpread = 1e-4

func (s Spread) nodes() quadrature {
	q := s.first()
	if s.Second == nil || s.Share == nil {
		return q
	}
	if q.x == nil {
		q.x, q.w = ad.Full(1, 1), ad.Full(1, 1)
	}
	first := ad.Sub(ad.Scalar(1), s.Share)
	return quadrature{2 * q.number, ad.Concat(0, q.x, ad.Mul(s.Second, q.x)), ad.Concat(0, ad.Mul(first, q.w), ad.Mul(s.Share, q.w))}
}

// first returns the nodes of the first population.
func (s Spread) first() quadrature {
	if s.SD == nil {
		return quadrature{number: 1}
	}
	n := cmp.Or(s.Points, 21)
	sd := ad.Maximum(s.SD, ad.Scalar(leastSpread))
	if s.LogNormal {
		t, w := hermite(n)
		variance := ad.Log1p(ad.Square(sd))
		return quadrature{n, ad.Exp(ad.Sub(ad.Mul(ad.Sqrt(variance), ad.Const(t)), ad.Scale(0.5, variance))), ad.Const(w)}
	}
	// The density x^z exp(-(z + 1) x) by its values, because Gauss's nodes for it have no simple derivative with respect to z.
	t, w := legendre(n)
	low := ad.Maximum(ad.Scalar(0), ad.Shift(ad.Scale(-6, sd), 1))
	high := ad.Shift(ad.Mul(sd, ad.Shift(ad.Scale(6, sd), 8)), 1)
	x := ad.Add(low, ad.Mul(ad.Sub(high, low), ad.Const(t)))
	z := ad.Shift(ad.Reciprocal(ad.Square(sd)), -1)
	density := ad.Mul(ad.Const(w), ad.Exp(ad.Sub(ad.Mul(z, ad.Log(x)), ad.Mul(ad.Shift(z, 1), ad.Shift(x, -1)))))
	return quadrature{n, x, ad.Div(density, ad.Sum(density))}
}

// Nodes returns sizes and their shares as columns, [member, 1], for parameters of an [Ensemble].
func (s Spread) Nodes() (sizes, weights *ad.Node) {
	q := s.nodes()
	if q.x == nil {
		return ad.Full(1, 1, 1), ad.Full(1, 1, 1)
	}
	return ad.Reshape(q.x, q.number, 1), ad.Reshape(q.w, q.number, 1)
}

// Directions is a distribution of directions: the polar angle Theta from +z and the azimuth Phi about it are normal with the standard
// deviations ThetaSD and PhiSD, in radians; nil for none. With Around azimuths are uniform.
type Directions struct {
	Theta, Phi     *ad.Node
	ThetaSD, PhiSD *ad.Node
	Around         bool
	// Points is the number of nodes for either angle. Default 9, and 36 for uniform azimuths.
	Points int
}

// Nodes returns the angles of the members and their shares, as columns [member, 1].
func (d Directions) Nodes() (theta, phi, weights *ad.Node) {
	one := func(mean, sd *ad.Node) quadrature {
		if sd == nil {
			return quadrature{1, ad.Reshape(mean, 1), ad.Full(1, 1)}
		}
		n := cmp.Or(d.Points, 9)
		t, w := hermite(n)
		return quadrature{n, ad.Add(mean, ad.Mul(sd, ad.Const(t))), ad.Const(w)}
	}
	polar, azimuth := one(d.Theta, d.ThetaSD), quadrature{}
	if d.Around {
		n := cmp.Or(d.Points, 36)
		at := make([]float64, n)
		for i := range at {
			at[i] = 2 * math.Pi * float64(i) / float64(n)
		}
		azimuth = quadrature{n, ad.Const(at), ad.Full(1/float64(n), n)}
	} else {
		azimuth = one(d.Phi, d.PhiSD)
	}
	return Product(ad.Reshape(polar.x, polar.number, 1), ad.Reshape(polar.w, polar.number, 1), ad.Reshape(azimuth.x, azimuth.number, 1), ad.Reshape(azimuth.w, azimuth.number, 1))
}

// Product returns all pairs of the members of two independent quadratures, columns [member, 1], and the products of their weights.
func Product(x, wx, y, wy *ad.Node) (first, second, weights *ad.Node) {
	n, m := x.Shape()[0], y.Shape()[0]
	all := func(v *ad.Node, rows bool) *ad.Node {
		shape := []int{n, 1}
		if !rows {
			shape = []int{1, m}
		}
		return ad.Reshape(ad.Broadcast(ad.Reshape(v, shape...), n, m), n*m, 1)
	}
	return all(x, true), all(y, false), ad.Mul(all(wx, true), all(wy, false))
}
