// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package xpcs

import (
	"fmt"
	"math"
	"slices"

	ad "github.com/euryale-dev/euryale/autodiff"
)

// Parameters are scalar nodes that take the place of the numbers of a Geometry, such as the inputs
// of a calibration. A nil one stands for the Geometry's number. Units are those of Geometry.
type Parameters struct {
	CenterRow, CenterCol, PixelSize, Distance, Energy *ad.Node
	SwingHorizontal, SwingVertical, Incidence         *ad.Node
}

// Channel is one quantity that every pixel has.
type Channel struct {
	Name string // name of the channel, such as "q"
	Unit string // unit of its values, such as "Å⁻¹"
}

var (
	transmission = []Channel{{"q", "Å⁻¹"}, {"phi", "deg"}, {"TTH", "deg"}, {"qx", "Å⁻¹"}, {"qy", "Å⁻¹"}, {"x", "pixel"}, {"y", "pixel"}}
	reflection   = []Channel{{"q", "Å⁻¹"}, {"qr", "Å⁻¹"}, {"qx", "Å⁻¹"}, {"qy", "Å⁻¹"}, {"qz", "Å⁻¹"}, {"phi", "deg"},
		{"TTH", "deg"}, {"tth", "deg"}, {"alpha_f", "deg"}, {"x", "pixel"}, {"y", "pixel"}}
)

// Channels lists what a map of the geometry holds:
//
//	q         momentum transfer (1/angstrom)
//	phi       azimuth (degrees, above -180 up to 180), positive above the centre
//	TTH       scattering angle 2 theta (degrees)
//	qx, qy    parts of q across the beam (1/angstrom)
//	x, y      column and row of the pixel
//
// and in reflection also
//
//	alpha_f   exit angle to the surface (degrees), tth in-plane angle (degrees)
//	qz, qr    parts of q across the surface and in its plane (1/angstrom)
//
// In transmission qx = k sin(2 theta) cos(phi) and qy = k sin(2 theta) sin(phi) in every convention of q.
func (g Geometry) Channels() []Channel {
	if g.Reflection {
		return slices.Clone(reflection)
	}
	return slices.Clone(transmission)
}

// Unit returns the unit of a channel, or "" if there is no such channel.
func (g Geometry) Unit(name string) string {
	for _, c := range g.Channels() {
		if c.Name == name {
			return c.Unit
		}
	}
	return ""
}

// Node returns a channel of pixels at the given rows and columns, which may have fractions.
//
// Shape: row and col broadcast together; the result has their common shape. Units: those of
// Channels. Gradient: with respect to row, col and every one of the Parameters, of any order; at
// the centre itself, where q has a kink and phi jumps, derivatives are 0. The node holds an error
// if the geometry is wrong (Height and Width are not used) or there is no such channel.
func (g Geometry) Node(name string, row, col *ad.Node, p Parameters) *ad.Node {
	g.Height, g.Width = max(g.Height, 1), max(g.Width, 1)
	for at, n := range map[*float64]*ad.Node{&g.PixelSize: p.PixelSize, &g.Distance: p.Distance, &g.Energy: p.Energy} {
		if n != nil {
			*at = 1 // a parameter stands in
		}
	}
	g, err := g.complete()
	if err != nil {
		return ad.Fail(err)
	}
	if g.Unit(name) == "" {
		var names []string
		for _, c := range g.Channels() {
			names = append(names, c.Name)
		}
		return ad.Fail(fmt.Errorf("xpcs: %s", known("channel", name, names...)))
	}
	or := func(n *ad.Node, v float64) *ad.Node {
		if n == nil {
			return ad.Scalar(v)
		}
		return n
	}
	b := bench{g: g,
		v: ad.Mul(ad.Sub(row, or(p.CenterRow, g.CenterRow)), or(p.PixelSize, g.PixelSize)),
		h: ad.Mul(ad.Sub(col, or(p.CenterCol, g.CenterCol)), or(p.PixelSize, g.PixelSize)),
		d: or(p.Distance, g.Distance),
	}
	k := g.K0()
	b.k = ad.Scalar(k)
	if p.Energy != nil {
		b.k = ad.Mul(p.Energy, ad.Scalar(k/g.Energy))
	}
	switch name {
	case "x":
		return ad.Add(col, ad.Mul(row, ad.Scalar(0)))
	case "y":
		return ad.Add(row, ad.Mul(col, ad.Scalar(0)))
	}
	if g.Reflection {
		return b.rolled().reflected(name, or(p.Incidence, g.Incidence))
	}
	if g.SwingHorizontal != 0 || g.SwingVertical != 0 || p.SwingHorizontal != nil || p.SwingVertical != nil {
		b = b.swung(or(p.SwingHorizontal, g.SwingHorizontal), or(p.SwingVertical, g.SwingVertical))
	}
	return b.rolled().transmitted(name)
}

// bench is the vector from the sample to a pixel: v down, h to the right, d along the beam, all
// in units of length; k is the wave number.
type bench struct {
	g          Geometry
	v, h, d, k *ad.Node
}

// swung turns the detector about the sample: first by the vertical angle about the horizontal axis,
// then by the horizontal one about the vertical axis.
func (b bench) swung(horizontal, vertical *ad.Node) bench {
	cv, sv, ch, sh := ad.Cos(vertical), ad.Sin(vertical), ad.Cos(horizontal), ad.Sin(horizontal)
	y := ad.Sub(ad.Mul(b.v, cv), ad.Mul(b.d, sv))
	z := ad.Add(ad.Mul(b.v, sv), ad.Mul(b.d, cv))
	b.h, b.v, b.d = ad.Sub(ad.Mul(b.h, ch), ad.Mul(z, sh)), y, ad.Add(ad.Mul(b.h, sh), ad.Mul(z, ch))
	return b
}

// rolled turns the detector about the beam by Roll, which adds to azimuths.
func (b bench) rolled() bench {
	if b.g.Roll == 0 {
		return b
	}
	s, c := math.Sincos(b.g.Roll)
	h, v := b.h, b.v
	b.h = ad.Add(ad.Mul(h, ad.Scalar(c)), ad.Mul(v, ad.Scalar(s)))
	b.v = ad.Sub(ad.Mul(v, ad.Scalar(c)), ad.Mul(h, ad.Scalar(s)))
	return b
}

// transmitted returns a channel of the transmitted beam:
//
//	r = |(h, v)|, R = |(h, v, d)|: sin(2 theta) = r/R, 2 sin(theta) = r sqrt(2/(R (R + d)))
//	phi = -atan2(v, h)
func (b bench) transmitted(name string) *ad.Node {
	r2 := ad.Add(ad.Square(b.h), ad.Square(b.v))
	away := ad.Greater(r2, ad.Scalar(0))
	r := ad.Mul(away, ad.Sqrt(ad.Where(away, r2, ad.Scalar(1))))
	whole := ad.Sqrt(ad.Add(r2, ad.Square(b.d)))
	switch name {
	case "q":
		if b.g.Convention != Exact {
			return ad.Mul(b.k, ad.Div(r, whole))
		}
		return ad.Mul(b.k, ad.Mul(r, ad.Sqrt(ad.Div(ad.Scalar(2), ad.Mul(whole, ad.Add(whole, b.d))))))
	case "phi":
		return degrees(ad.Neg(ad.Atan2(b.v, ad.Where(away, b.h, ad.Scalar(1)))))
	case "TTH":
		return degrees(ad.Atan2(r, b.d))
	case "qx":
		return ad.Mul(b.k, ad.Div(b.h, whole))
	default: // qy
		return ad.Neg(ad.Mul(b.k, ad.Div(b.v, whole)))
	}
}

// reflected returns a channel of the beam reflected from a surface, with up and right the position
// on the detector in the laboratory:
//
//	alpha_f = atan(up/d) - alpha_i, tth = atan(right/d)
//	qx = k (cos alpha_f cos tth - cos alpha_i), qy = k cos alpha_f sin tth, qz = k (sin alpha_i + sin alpha_f)
func (b bench) reflected(name string, incidence *ad.Node) *ad.Node {
	up, right := ad.Neg(b.v), b.h
	switch b.g.Orientation {
	case West:
		up, right = ad.Neg(right), up
	case South:
		up, right = ad.Neg(up), ad.Neg(right)
	case East:
		up, right = right, ad.Neg(up)
	}
	r2 := ad.Add(ad.Square(up), ad.Square(right))
	away := ad.Greater(r2, ad.Scalar(0))
	switch name {
	case "phi":
		return degrees(ad.Atan2(up, ad.Where(away, right, ad.Scalar(1))))
	case "TTH":
		return degrees(ad.Atan2(ad.Mul(away, ad.Sqrt(ad.Where(away, r2, ad.Scalar(1)))), b.d))
	}
	exit := ad.Sub(ad.Atan(ad.Div(up, b.d)), incidence)
	plane := ad.Atan(ad.Div(right, b.d))
	qx := ad.Mul(b.k, ad.Sub(ad.Mul(ad.Cos(exit), ad.Cos(plane)), ad.Cos(incidence)))
	qy := ad.Mul(b.k, ad.Mul(ad.Cos(exit), ad.Sin(plane)))
	qz := ad.Mul(b.k, ad.Add(ad.Sin(incidence), ad.Sin(exit)))
	length := func(parts ...*ad.Node) *ad.Node {
		sum := ad.Square(parts[0])
		for _, p := range parts[1:] {
			sum = ad.Add(sum, ad.Square(p))
		}
		some := ad.Greater(sum, ad.Scalar(0))
		return ad.Mul(some, ad.Sqrt(ad.Where(some, sum, ad.Scalar(1))))
	}
	switch name {
	case "alpha_f":
		return degrees(exit)
	case "tth":
		return degrees(plane)
	case "qx":
		return qx
	case "qy":
		return qy
	case "qz":
		return qz
	case "qr":
		return length(qx, qy)
	default: // q
		return length(qx, qy, qz)
	}
}

func degrees(x *ad.Node) *ad.Node { return ad.Mul(x, ad.Scalar(180/math.Pi)) }
