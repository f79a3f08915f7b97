// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package particle

import (
	"math"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/sim/rsoxs/farfield"
)

// CoreShell is a ball, or a ball in a shell whose molecules point outwards or lie in its surfaces. Materials: core and shell. The order S is
// Aligned in the shell near the core.
type CoreShell struct {
	Radius  *ad.Node // radius of the core in nm
	Shell   *ad.Node // thickness of the shell in nm; nil for a ball of one material
	Aligned *ad.Node // order parameter S of the shell; nil for an isotropic one
	Decay   *ad.Node // S falls with the distance r from the centre as (Radius/r)^Decay; nil for no decay
	// Tangential makes the molecules lie in the surfaces of the shell in all directions, in place of pointing outwards.
	Tangential bool
	Edge       Edge
	Reach      Reach
	// Sizes and Shells are the spreads of the radius and of the thickness of the shell; the zero value is no spread. Radius and Shell
	// are means over the particles.
	Sizes, Shells Spread
	// Structure is that of the places of the particles; nil for none. With Local each size has neighbours of its own size, the local
	// monodisperse approximation, and the structure must be a [HardSpheres], whose Radius is that of a particle of the mean size.
	// Without, places do not depend on sizes, the decoupling approximation.
	Structure Structure
	Local     bool
}

var _ Particle = CoreShell{}

// radial holds, at the nodes of a table, the transforms of a material: volume fraction, aligned fraction, and g with
//
//	int V S s s^T exp(i q r) = (aligned/3 - q^2 g/3) 1 + g q q^T.
type radial struct{ fraction, aligned, tensor *ad.Node }

// transforms integrates along the radius at the nodes of s for particles of some sizes, columns [member, 1]: the results are [node,
// member].
func (c CoreShell) transforms(s *series, radius, shell *ad.Node) []radial {
	n := 12 + int(math.Ceil(c.Reach.extent()/4))
	q := ad.Reshape(s.q(), len(s.nodes), 1, 1)
	integral := func(kernel *ad.Node, r rule, weight *ad.Node) *ad.Node {
		w := ad.Scale(4*math.Pi, ad.Mul(r.w, ad.Square(r.x)))
		if weight != nil {
			w = ad.Mul(w, weight)
		}
		return ad.SumAxes(ad.Mul(kernel, w), 2)
	}
	inner := c.Edge.within(n, radius, nil)
	core := integral(ad.Sinc(ad.Mul(q, inner.x)), inner, nil)
	out := []radial{{fraction: core}}
	if shell == nil {
		return out
	}
	outer := c.Edge.within(n, ad.Add(radius, shell), radius)
	x := radial{fraction: ad.Sub(integral(ad.Sinc(ad.Mul(q, outer.x)), outer, nil), core)}
	if c.Aligned != nil {
		scaled := func(f func(n int, x *ad.Node) *ad.Node, k int, r rule) *ad.Node {
			return integral(f(k, ad.Mul(q, r.x)), r, ad.Mul(c.order(r.x, radius), powered(r.x, 2*(k/2))))
		}
		x.aligned = ad.Sub(scaled(sphericalJ, 0, outer), scaled(sphericalJ, 0, inner))
		x.tensor = ad.Neg(ad.Sub(scaled(sphericalJ, 2, outer), scaled(sphericalJ, 2, inner)))
		if c.Tangential { // (1 - s s^T)/2 of the radial director s
			x.tensor = ad.Scale(-0.5, x.tensor)
		}
	}
	return append(out, x)
}

func powered(x *ad.Node, n int) *ad.Node {
	if n == 0 {
		return ad.Scalar(1)
	}
	return ad.Square(x)
}

// order returns S at a distance from the centre.
func (c CoreShell) order(r, radius *ad.Node) *ad.Node {
	if c.Decay == nil {
		return c.Aligned
	}
	r = ad.Maximum(r, ad.Scalar(1e-9)) // the centre has a direction of no weight
	return ad.Mul(c.Aligned, ad.Exp(ad.Mul(c.Decay, ad.Minimum(ad.Log(ad.Div(radius, r)), ad.Scalar(0)))))
}

// Fields returns the transforms of a particle of the mean size.
func (c CoreShell) Fields(q Vec) []Fields {
	s := c.Reach.newSeries(c.Reach.Size)
	q2 := q.dot(q)
	var values []*ad.Node
	found := c.transforms(s, column(c.Radius), column(c.Shell))
	for _, x := range found {
		values = append(values, ad.Index(x.fraction, 1, 0))
		if x.aligned != nil {
			values = append(values, ad.Index(x.aligned, 1, 0), ad.Index(x.tensor, 1, 0))
		}
	}
	values = s.at(q2, values...)
	var out []Fields
	for _, x := range found {
		f := Fields{Fraction: values[0]}
		values = values[1:]
		if x.aligned != nil {
			f.Aligned = values[0]
			third := ad.Scale(1.0/3, ad.Sub(values[0], ad.Mul(q2, values[1])))
			for i, pair := range pairs {
				f.Director[i] = ad.Mul(values[1], ad.Mul(q[pair[0]], q[pair[1]]))
				if pair[0] == pair[1] {
					f.Director[i] = ad.Add(f.Director[i], third)
				}
			}
			values = values[2:]
		}
		out = append(out, f)
	}
	return out
}

// Materials returns the number of materials.
func (c CoreShell) Materials() int {
	if c.Shell == nil {
		return 1
	}
	return 2
}

// moments are averages over sizes of |a|^2, Re a b* and |b|^2, where the amplitude is a e + b q (q . e).
type moments [3]*ad.Node

// of adds up the moments of a and b, [node, member], with the weights of the members.
func (m *moments) of(w *ad.Node, a, b [2]*ad.Node) {
	product := func(x, y [2]*ad.Node) *ad.Node { return ad.Add(ad.Mul(x[0], y[0]), ad.Mul(x[1], y[1])) }
	for i, x := range []*ad.Node{product(a, a), product(a, b), product(b, b)} {
		m[i] = ad.SumAxes(ad.Mul(w, x), 1)
	}
}

// column returns a scalar as the column of one member; nil stays nil.
func column(x *ad.Node) *ad.Node {
	if x == nil {
		return nil
	}
	return ad.Reshape(x, 1, 1)
}

// Intensities returns the mean intensity of a particle for each angle of the field, as [Ensemble.Intensities] does. It works on functions
// of |q| alone, so that spreads of sizes cost little.
func (c CoreShell) Intensities(k *ad.Node, d farfield.Directions, contrasts []farfield.Contrast, angles ...float64) []*ad.Node {
	size := 2 * c.Reach.Size
	if c.Structure != nil && c.Local {
		size *= 2
	}
	s := c.Reach.newSeries(size)
	radii, w := c.Sizes.Nodes()
	shells, share := c.Shells.Nodes()
	radii, shells, w = Product(radii, w, shells, share)
	shell := c.Shell
	if shell != nil {
		shell = ad.Mul(shell, shells)
	}
	n := radii.Shape()[0]
	a, b := c.amplitudes(s, c.transforms(s, ad.Mul(c.Radius, radii), shell), contrasts)
	w = ad.Reshape(w, n)
	if h, ok := c.Structure.(HardSpheres); ok && c.Local {
		h.Radius = ad.Mul(h.Radius, ad.Reshape(radii, n))
		w = ad.Mul(w, h.of(ad.Reshape(s.q(), len(s.nodes), 1)))
	}
	var all, mean moments
	all.of(w, a, b)
	q := At(k, d)
	q2 := q.dot(q)
	values := all[:]
	coherent := c.Structure != nil && !c.Local
	if coherent {
		for p := range 2 {
			for _, x := range []*[2]*ad.Node{&a, &b} {
				x[p] = ad.Reshape(ad.SumAxes(ad.Mul(w, x[p]), 1), len(s.nodes), 1)
			}
		}
		mean.of(ad.Scalar(1), a, b)
		values = append(values, mean[:]...)
	}
	f := s.at(q2, values...)
	scale := ad.Scale(1/(16*math.Pi*math.Pi), ad.Square(ad.Square(k)))
	var out []*ad.Node
	for _, angle := range angles {
		total := projected(f[:3], q, q2, d, angle)
		if coherent {
			total = ad.Add(total, ad.Mul(projected(f[3:], q, q2, d, angle), ad.Shift(c.Structure.At(q), -1)))
		}
		out = append(out, ad.Mul(scale, total))
	}
	return out
}

// amplitudes returns a and b at the nodes for all members, real and imaginary parts.
func (c CoreShell) amplitudes(s *series, t []radial, contrasts []farfield.Contrast) (a, b [2]*ad.Node) {
	third := ad.Reshape(ad.Scale(-1.0/3, ad.Square(s.q())), len(s.nodes), 1)
	for part := range 2 {
		for i, x := range t {
			y := contrasts[i]
			a[part] = added(a[part], 1, ad.Mul(y.Iso[part], x.fraction))
			if x.aligned == nil {
				continue
			}
			a[part] = added(a[part], 1, ad.Mul(y.Axial[part], x.aligned))
			a[part] = added(a[part], 1, ad.Mul(y.Tensor[part], ad.Add(ad.Scale(1.0/3, x.aligned), ad.Mul(third, x.tensor))))
			b[part] = added(b[part], 1, ad.Mul(y.Tensor[part], x.tensor))
		}
		if b[part] == nil {
			b[part] = ad.Scale(0, a[part])
		}
	}
	return a, b
}

// projected returns |A|^2 - |u . A|^2 for A = a e + b q (q . e) from the moments of a and b at the pixels, u the direction of the light.
func projected(f []*ad.Node, q Vec, q2 *ad.Node, d farfield.Directions, angle float64) *ad.Node {
	cos, sin := math.Cos(angle), math.Sin(angle)
	along := func(x, y *ad.Node) *ad.Node { return ad.Add(ad.Scale(cos, x), ad.Scale(sin, y)) }
	qe, ue := along(q[0], q[1]), along(d.X, d.Y)
	uq := q.dot(Vec{d.X, d.Y, ad.Shift(d.Z, 1)})
	return ad.AddN(ad.Mul(f[0], ad.Sub(ad.Scalar(1), ad.Square(ue))),
		ad.Scale(2, ad.Mul(f[1], ad.Mul(qe, ad.Sub(qe, ad.Mul(ue, uq))))),
		ad.Mul(f[2], ad.Mul(ad.Square(qe), ad.Sub(q2, ad.Square(uq)))))
}
