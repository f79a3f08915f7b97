// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package particle

import (
	"math"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/sim/rsoxs/farfield"
)

// Vec is a vector (x, y, z) in a graph. Components broadcast against each other: members of an ensemble lie along a first axis, [member,
// 1], and pixels along the last.
type Vec [3]*ad.Node

// Direction returns the unit vector with the angle theta from +z and the azimuth phi from +x about +z.
func Direction(theta, phi *ad.Node) Vec {
	s := ad.Sin(theta)
	return Vec{ad.Mul(s, ad.Cos(phi)), ad.Mul(s, ad.Sin(phi)), ad.Cos(theta)}
}

func (v Vec) dot(o Vec) *ad.Node {
	return ad.AddN(ad.Mul(v[0], o[0]), ad.Mul(v[1], o[1]), ad.Mul(v[2], o[2]))
}

// At returns q of some directions for light of the wave number k in 1/nm.
func At(k *ad.Node, d farfield.Directions) Vec {
	return Vec{ad.Mul(k, d.X), ad.Mul(k, d.Y), ad.Mul(k, d.Z)}
}

// Fields are transforms of the fields of a material at some q, in nm^3: the volume fraction, that of aligned molecules, and this times the
// products x x, x y, x z, y y, y z of the director's components. Aligned is nil if the material is isotropic.
type Fields struct {
	Fraction, Aligned *ad.Node
	Director          [5]*ad.Node
}

// directed returns the fields of a material with one director.
func directed(fraction, aligned *ad.Node, s Vec) Fields {
	f := Fields{Fraction: fraction, Aligned: aligned}
	if aligned == nil {
		return f
	}
	for i, pair := range pairs {
		f.Director[i] = ad.Mul(aligned, ad.Mul(s[pair[0]], s[pair[1]]))
	}
	return f
}

var pairs = [5][2]int{{0, 0}, {0, 1}, {0, 2}, {1, 1}, {1, 2}}

// A Particle has the transforms of its materials in closed form.
type Particle interface {
	Fields(q Vec) []Fields
}

// Amplitude returns the dipole moments along x, y and z, real and imaginary parts, in the first Born approximation for light with its
// electric field at an angle from +x towards +y. There is a contrast for each material; against a matrix, use farfield.Contrast.Less.
func Amplitude(fields []Fields, contrasts []farfield.Contrast, angle float64) (re, im Vec) {
	e := [2]float64{math.Cos(angle), math.Sin(angle)}
	for part, to := range []*Vec{&re, &im} {
		for axis, pair := range [3][2]int{{0, 1}, {1, 3}, {2, 4}} {
			var total *ad.Node
			for i, f := range fields {
				c := contrasts[i]
				if axis < 2 {
					total = added(total, e[axis], ad.Mul(c.Iso[part], f.Fraction))
				}
				if f.Aligned == nil {
					continue
				}
				if axis < 2 {
					total = added(total, e[axis], ad.Mul(c.Axial[part], f.Aligned))
				}
				for k, factor := range e {
					total = added(total, factor, ad.Mul(c.Tensor[part], f.Director[pair[k]]))
				}
			}
			if total == nil {
				total = ad.Scalar(0)
			}
			to[axis] = ad.Scale(1/(4*math.Pi), total)
		}
	}
	return re, im
}

// added returns sum + factor x, either of which may be nothing.
func added(sum *ad.Node, factor float64, x *ad.Node) *ad.Node {
	if factor == 0 {
		return sum
	}
	if factor != 1 {
		x = ad.Scale(factor, x)
	}
	if sum == nil {
		return x
	}
	return ad.Add(sum, x)
}

// across returns |k^2 A - kappa (kappa . A)|^2 for the real or imaginary part of an amplitude, without the factor k^4.
func across(a Vec, d farfield.Directions) *ad.Node {
	kappa := Vec{d.X, d.Y, ad.Shift(d.Z, 1)}
	return ad.Sub(a.dot(a), ad.Square(kappa.dot(a)))
}

// Ensemble is a set of particles that scatter incoherently, or with a structure factor. Parameters of Of that have the shape [member, 1]
// are those of its members.
type Ensemble struct {
	Of      Particle
	Weights *ad.Node // shares of the members, [member, 1], which sum to 1; nil for a single particle
	// Structure, if not nil, is that of the places of the particles: the intensity is <|A|^2> + |<A>|^2 (S - 1), the decoupling
	// approximation, in which places do not depend on shapes and directions.
	Structure Structure
}

// Intensities returns the intensity of a particle for each angle of the field, in the units of CyRSoXS times nm^6: |k^2 A - kappa (kappa .
// A)|^2 with kappa the wave vector of the scattered light.
//
// Gradient: with respect to k, the directions, the contrasts and the parameters of the particle.
func (n Ensemble) Intensities(k *ad.Node, d farfield.Directions, contrasts []farfield.Contrast, angles ...float64) []*ad.Node {
	q := At(k, d)
	fields := n.Of.Fields(q)
	fourth := ad.Square(ad.Square(k))
	var out []*ad.Node
	for _, angle := range angles {
		re, im := Amplitude(fields, contrasts, angle)
		total := n.mean(ad.Add(across(re, d), across(im, d)))
		if n.Structure != nil {
			coherent := ad.Add(across(n.meanOf(re), d), across(n.meanOf(im), d))
			total = ad.Add(total, ad.Mul(coherent, ad.Shift(n.Structure.At(q), -1)))
		}
		out = append(out, ad.Mul(fourth, total))
	}
	return out
}

// mean averages over the members.
func (n Ensemble) mean(x *ad.Node) *ad.Node {
	if n.Weights == nil {
		return x
	}
	return ad.SumAxes(ad.Mul(n.Weights, x), 0)
}

func (n Ensemble) meanOf(v Vec) (out Vec) {
	for i := range v {
		out[i] = v[i]
		if len(v[i].Shape()) > 1 {
			out[i] = n.mean(v[i])
		}
	}
	return out
}
