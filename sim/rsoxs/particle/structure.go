// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package particle

import (
	"fmt"
	"math"

	ad "github.com/euryale-dev/euryale/autodiff"
)

// Structure is a structure factor: what the places of particles do to their intensity, 1 where they are independent.
type Structure interface {
	At(q Vec) *ad.Node
}

// HardSpheres are spheres that do not overlap, in the approximation of Percus and Yevick.
//
// Reference: M. S. Wertheim, doi:10.1103/PhysRevLett.10.321.
type HardSpheres struct {
	Radius   *ad.Node // radius in nm, at least that of the particles
	Fraction *ad.Node // volume fraction of the spheres, below 0.5
}

// At returns the structure factor.
func (h HardSpheres) At(q Vec) *ad.Node { return h.of(root(q.dot(q))) }

// of is 1/(1 + 24 f int_0^1 (a + b s + c s^3) sin(x s)/(x s) s^2 ds), x = 2 q radius, by quadrature, which loses no digits at small q.
func (h HardSpheres) of(q *ad.Node) *ad.Node {
	f := h.Fraction
	fourth := ad.Reciprocal(ad.Square(ad.Square(ad.Sub(ad.Scalar(1), f))))
	a := ad.Mul(fourth, ad.Square(ad.Shift(ad.Scale(2, f), 1)))
	b := ad.Scale(-6, ad.Mul(ad.Mul(f, fourth), ad.Square(ad.Shift(ad.Scale(0.5, f), 1))))
	c := ad.Scale(0.5, ad.Mul(f, a))
	x := ad.Scale(2, ad.Mul(q, h.Radius))
	t, w := legendre(32)
	var total *ad.Node
	for i, s := range t {
		weight := ad.AddN(a, ad.Scale(s, b), ad.Scale(s*s*s, c))
		total = added(total, w[i]*s*s, ad.Mul(weight, ad.Sinc(ad.Scale(s, x))))
	}
	return ad.Reciprocal(ad.Shift(ad.Scale(24, ad.Mul(f, total)), 1))
}

// HardDiscs are discs in the plane of the film, across the beam, that do not overlap, by the theory of fundamental measures.
//
// Reference: Y. Rosenfeld, doi:10.1103/PhysRevA.42.5978, equation 6.9.
type HardDiscs struct {
	Radius   *ad.Node // radius in nm, at least that of the particles
	Fraction *ad.Node // share of the area, below 0.7
}

// At returns the structure factor.
func (h HardDiscs) At(q Vec) *ad.Node {
	f := h.Fraction
	free := ad.Sub(ad.Scalar(1), f)
	g := ad.Pow(free, ad.Scalar(-1.5))
	chi := ad.Div(ad.Shift(f, 1), ad.Mul(free, ad.Square(free)))
	// f times the coefficients of the reference.
	a := ad.Shift(ad.Add(ad.Mul(ad.Shift(ad.Scale(2, f), -1), chi), ad.Scale(2, ad.Mul(f, g))), 1)
	b := ad.Shift(ad.Sub(ad.Mul(free, chi), ad.Scale(3, ad.Mul(f, g))), -1)
	x := ad.Mul(h.Radius, root(ad.Add(ad.Square(q[0]), ad.Square(q[1]))))
	j := cylindricalJ(1, x)
	total := ad.AddN(ad.Mul(a, ad.Square(j)), ad.Mul(b, ad.Mul(ad.BesselJ0(x), j)), ad.Scale(2, ad.Mul(ad.Mul(f, g), cylindricalJ(1, ad.Scale(2, x)))))
	return ad.Reciprocal(ad.Shift(ad.Scale(4, total), 1))
}

// Places is the structure factor of particles at known places in a film, averaged over directions in its plane: see [NewPlaces].
type Places struct {
	step   float64
	values *ad.Node
	limit  float64
}

// NewPlaces averages the structure factor of places (x, y) in nm, in a rectangle with sides of a size in nm, which is repeated in all
// directions, over rings of q up to the largest q of the pixels in 1/nm. The size must be that of the box in which the particles were
// counted, so that the places at its edges have their neighbours.
func NewPlaces(places [][2]float64, size [2]float64, most float64) (*Places, error) {
	if len(places) == 0 || !(size[0] > 0) || !(size[1] > 0) || !(most > 0) {
		return nil, fmt.Errorf("particle: %d places in a box of %g x %g nm up to q = %g 1/nm: want at least one place, and sizes and q above 0", len(places), size[0], size[1], most)
	}
	step := 2 * math.Pi / math.Min(size[0], size[1])
	rings := int(math.Ceil(most/step)) + 3
	sum, count := make([]float64, rings), make([]float64, rings)
	x, y := make([]complex128, len(places)), make([]complex128, len(places))
	across := int(float64(rings) * step / (2 * math.Pi) * size[0])
	up := int(float64(rings) * step / (2 * math.Pi) * size[1])
	turn := func(q float64) complex128 { s, c := math.Sincos(q); return complex(c, s) }
	phases := func(n int, v []complex128, axis int) []complex128 {
		out := make([]complex128, len(v))
		for i, p := range places {
			out[i] = turn(2 * math.Pi * float64(n) / size[axis] * p[axis])
		}
		return out
	}
	firstY := phases(1, y, 1)
	for i := 0; i <= across; i++ {
		x = phases(i, x, 0)
		copy(y, phases(-up, y, 1))
		for j := -up; j <= up; j++ {
			q := 2 * math.Pi * math.Hypot(float64(i)/size[0], float64(j)/size[1])
			var a complex128
			for p := range x {
				a += x[p] * y[p]
				y[p] *= firstY[p]
			}
			if ring := int(math.Round(q / step)); ring > 0 && ring < rings {
				sum[ring] += real(a)*real(a) + imag(a)*imag(a)
				count[ring]++
			}
		}
	}
	for i := 1; i < rings; i++ {
		sum[i] /= count[i] * float64(len(places))
	}
	sum[0] = sum[1]
	return &Places{step, ad.Const(sum, rings), most}, nil
}

// At returns the structure factor, linear between rings.
func (p *Places) At(q Vec) *ad.Node {
	t := ad.Scale(1/p.step, root(ad.Add(ad.Square(q[0]), ad.Square(q[1]))))
	t = ad.Minimum(t, ad.Scalar(float64(p.values.Size()-2)))
	at := ad.FloorIndex(t)
	low := ad.Gather(p.values, at, 0)
	slope := ad.Sub(ad.Gather(ad.Slice(p.values, 0, 1, p.values.Size()), at, 0), low)
	return ad.Add(low, ad.Mul(slope, ad.Sub(t, ad.Float(at))))
}
