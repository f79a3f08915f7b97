// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package farfield

import (
	"math"

	ad "github.com/euryale-dev/euryale/autodiff"
)

// Amplitude is the amplitude of the sample on the grid for light of one energy and some polarisations.
type Amplitude struct {
	planes *ad.Node // [q_y, q_x, channel], real and imaginary parts in turn
	// moments returns the dipole moments along x, y and z for each polarisation, given the channels at some q.
	moments func(channels []complexNode) [][3]complexNode
}

// moment is a dipole moment as what it is made of.
type moment struct {
	scalar complexNode    // what is along the field
	tensor [5]complexNode // by the components x x, x y, x z, y y, y z
	axes   []axial
}

// products are the components of the director that a tensor holds; that of z z is never asked for, as the field is across the beam.
var products = [5][2]int{{0, 0}, {0, 1}, {0, 2}, {1, 1}, {1, 2}}

// axial is what is along one director.
type axial struct {
	director  [3]*ad.Node
	amplitude complexNode
}

// along returns the dipole moment for a field at an angle from +x towards +y.
func (m *moment) along(angle float64) (out [3]complexNode) {
	e := [2]float64{math.Cos(angle), math.Sin(angle)}
	for axis, pair := range [3][2]int{{0, 1}, {1, 3}, {2, 4}} { // s_axis s_x and s_axis s_y
		if axis < 2 {
			out[axis] = scaled(m.scalar, e[axis])
		}
		out[axis] = out[axis].plus(scaled(m.tensor[pair[0]], e[0])).plus(scaled(m.tensor[pair[1]], e[1]))
		for _, a := range m.axes {
			w := ad.Mul(a.director[axis], ad.Add(ad.Scale(e[0], a.director[0]), ad.Scale(e[1], a.director[1])))
			out[axis] = out[axis].plus(complexNode{ad.Mul(w, a.amplitude.re), ad.Mul(w, a.amplitude.im)})
		}
	}
	return out
}

// Amplitude returns the dipole moment of the sample, to the first Born approximation, when light of the wave number k (1/nm) comes along
// +z with the electric field at angles from +x towards +y in radians. fields and contrasts have one entry for each material.
//
// Gradient: with respect to k, the fields and the contrasts.
func (v *Volume) Amplitude(k *ad.Node, fields []*Fields, contrasts []Contrast, angles ...float64) *Amplitude {
	m := v.moment(k, fields, contrasts)
	if m.tensor[0].re == nil { // then what the moments are made of are fewer functions than the moments
		channels := []complexNode{m.scalar}
		for _, a := range m.axes {
			channels = append(channels, a.amplitude)
		}
		return &Amplitude{v.stacked(channels), func(at []complexNode) (out [][3]complexNode) {
			n := moment{scalar: at[0]}
			for i, a := range m.axes {
				n.axes = append(n.axes, axial{a.director, at[i+1]})
			}
			for _, angle := range angles {
				out = append(out, n.along(angle))
			}
			return out
		}}
	}
	var channels []complexNode
	for _, angle := range angles {
		p := m.along(angle)
		channels = append(channels, p[:]...)
	}
	return &Amplitude{v.stacked(channels), func(at []complexNode) (out [][3]complexNode) {
		for ; len(at) > 0; at = at[3:] {
			out = append(out, [3]complexNode(at))
		}
		return out
	}}
}

// moment adds up the materials on the Ewald sphere of the wave number k.
func (v *Volume) moment(k *ad.Node, fields []*Fields, contrasts []Contrast) (m moment) {
	terms := v.onSphere(k)
	across := func(z complexNode) complexNode {
		return complexNode{ad.SumAxes(ad.Mul(z.re, terms), 0), ad.SumAxes(ad.Mul(z.im, terms), 0)}
	}
	node := func(c [2]*ad.Node) complexNode { return complexNode{c[0], c[1]} }
	for i, f := range fields {
		c := contrasts[i]
		m.scalar = m.scalar.plus(across(f.fraction).times(node(c.Iso)))
		if f.aligned.re == nil {
			continue
		}
		aligned := across(f.aligned)
		m.scalar = m.scalar.plus(aligned.times(node(c.Axial)))
		add := func(axis [3]*ad.Node, field [5]complexNode, contrast complexNode) {
			if axis[0] != nil {
				m.axes = append(m.axes, axial{axis, aligned.times(contrast)})
				return
			}
			for j, d := range field {
				m.tensor[j] = m.tensor[j].plus(across(d).times(contrast))
			}
		}
		add(f.axis, f.director, node(c.Tensor))
		if c.Second[0] != nil && (f.secondAxis[0] != nil || f.second[0].re != nil) {
			add(f.secondAxis, f.second, node(c.Second))
		}
	}
	return m
}

// stacked returns functions on the grid as [q_y, q_x, channel], real and imaginary parts in turn.
func (v *Volume) stacked(functions []complexNode) *ad.Node {
	var channels []*ad.Node
	for _, z := range functions {
		for _, x := range []*ad.Node{z.re, z.im} {
			if x == nil {
				x = ad.Full(0, v.grid.rows, v.grid.columns)
			}
			channels = append(channels, ad.Scale(1/(4*math.Pi), x))
		}
	}
	return ad.Stack(2, channels...)
}

// scaled multiplies by a number; a factor of 0 leaves nothing.
func scaled(z complexNode, f float64) complexNode {
	if z.re == nil || f == 0 {
		return complexNode{}
	}
	return complexNode{ad.Scale(f, z.re), ad.Scale(f, z.im)}
}

// Intensities returns the intensities that a reaches in some directions, one vector for each polarisation, in the units of CyRSoXS:
// |k^2 A - kappa (kappa . A)|^2 with kappa the wave vector of the scattered light.
//
// Gradient: with respect to the amplitude, k and the directions.
func (v *Volume) Intensities(a *Amplitude, k *ad.Node, d Directions) []*ad.Node {
	scale := ad.Div(k, ad.Scalar(v.step))
	place := func(u *ad.Node) *ad.Node { return ad.Shift(ad.Mul(scale, u), -v.first/v.step) }
	at := v.grid.interpolated(a.planes, ad.Stack(0, place(d.Y), place(d.X)), [2]int{})
	var channels []complexNode
	for i := 0; i < a.planes.Shape()[2]; i += 2 {
		channels = append(channels, complexNode{ad.Index(at, 0, i), ad.Index(at, 0, i+1)})
	}
	fourth := ad.Square(ad.Square(k))
	var out []*ad.Node
	for _, p := range a.moments(channels) {
		total := ad.Add(transverse(d, p[0].re, p[1].re, p[2].re), transverse(d, p[0].im, p[1].im, p[2].im))
		out = append(out, ad.Mul(fourth, total))
	}
	return out
}

// transverse returns |f - kappa (kappa . f)|^2 with kappa, of length 1, the directions of the scattered light. A component of nil is 0.
func transverse(d Directions, f ...*ad.Node) (total *ad.Node) {
	kappa := [3]*ad.Node{d.X, d.Y, ad.Shift(d.Z, 1)}
	var dot *ad.Node
	for i, x := range f {
		if x != nil {
			dot = sum(dot, ad.Mul(kappa[i], x))
		}
	}
	for i, x := range f {
		across := ad.Mul(kappa[i], dot)
		if x != nil {
			across = ad.Sub(x, across)
		}
		total = sum(total, ad.Square(across))
	}
	return total
}
