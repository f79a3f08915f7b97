// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package farfield

import (
	"cmp"
	"fmt"
	"math"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/sim/rsoxs"
)

// VolumeSettings describe a box of voxels and what is asked of it.
type VolumeSettings struct {
	Shape [3]int  // number of voxels along Z, Y, X
	Voxel float64 // edge of a voxel in nm
	// MaxQ is the largest component of q along x or y that a pixel has, in 1/nm. Pixels beyond it are an [OutsideError].
	MaxQ float64
	// MinK is the smallest wave number of light in 1/nm; directions beyond it have no q.
	MinK float64
	// Tolerance is the error of amplitudes relative to the largest. Default 1e-8.
	Tolerance float64
	// Pixels is the number of pixels of all images, by which the grid is chosen that costs least. Default 10000.
	Pixels int
}

// Volume computes amplitudes of a box of voxels on a grid of q_x and q_y that is fine enough to interpolate them at any place.
type Volume struct {
	s     VolumeSettings
	grid  lattice
	step  float64 // of the grid in 1/nm
	first float64 // q of the first row and column
	low   float64 // the most negative q_z of the grid; the highest is 0
	terms int     // of the Chebyshev series along q_z
	// inside says that no point of the grid comes near the edge of the Ewald sphere.
	inside bool
	// planes transforms across the beam; nil where products with matrices cost less.
	planes *planes
}

// oversamplings are how much finer the grid may be than the size of the sample asks for, in tenths.
var oversamplings = []int{20, 30, 45, 70, 100, 150}

// NewVolume chooses the grid. The error is about settings that cannot be: a q beyond what voxels or light can have.
func NewVolume(s VolumeSettings) (*Volume, error) {
	if s.Tolerance == 0 {
		s.Tolerance = 1e-8
	}
	switch {
	case s.Shape[0] < 1 || s.Shape[1] < 1 || s.Shape[2] < 1 || !(s.Voxel > 0):
		return nil, fmt.Errorf("farfield: %v voxels with an edge of %g nm: want at least one along each axis and an edge above 0", s.Shape, s.Voxel)
	case !(s.MaxQ > 0) || !(s.MinK > 0):
		return nil, fmt.Errorf("farfield: the largest q is %g and the wave number %g 1/nm: both must be above 0", s.MaxQ, s.MinK)
	case s.MaxQ > math.Pi/s.Voxel:
		return nil, fmt.Errorf("farfield: q of the pixels reaches %.4g 1/nm along one axis, and voxels of %g nm hold no more than pi/voxel = %.4g: use smaller voxels, or mask the pixels beyond", s.MaxQ, s.Voxel, math.Pi/s.Voxel)
	case s.MaxQ > 0.9*s.MinK:
		return nil, fmt.Errorf("farfield: q of the pixels reaches %.4g 1/nm along one axis, and the wave number is %.4g: a flat detector ends at 0.9 of it, so check its distance and the size of its pixels", s.MaxQ, s.MinK)
	case s.Tolerance < 1e-13 || s.Tolerance > 0.1:
		return nil, fmt.Errorf("farfield: the tolerance is %g: want 1e-13 to 0.1", s.Tolerance)
	}
	half := func(n int) float64 { return float64(n-1)/2*s.Voxel + 1e-9 }
	// The phase along z changes with q_x and q_y, as if the sample were wider: by the slope of the Ewald sphere.
	slope := s.MaxQ / math.Sqrt(max(s.MinK*s.MinK-2*s.MaxQ*s.MaxQ, 0.19*s.MinK*s.MinK))
	wide := max(half(s.Shape[1]), half(s.Shape[2])) + slope*half(s.Shape[0])
	v, least := &Volume{s: s}, math.Inf(1)
	for _, tenths := range oversamplings {
		g := v.laidOut(wide, half(s.Shape[0]), tenths)
		// A point of the grid takes a few numbers of each term for each field, a pixel one for each tap and channel.
		cost := float64(g.grid.rows*g.grid.rows*g.terms)*20 + float64(cmp.Or(s.Pixels, 10000))*(24*float64(g.grid.w.m*g.grid.w.m)+400)
		if inside := 2*g.first*g.first < mostOfSphere*s.MinK*s.MinK; cost < least || v.grid.w == nil || inside && !v.inside {
			if g.inside = inside; inside || !v.inside {
				least, v = cost, g
			}
		}
	}
	v.chooseWay()
	return v, nil
}

// chooseWay turns to fast transforms where they cost less. Their length is a product of small factors, so the grid becomes a little finer.
func (v *Volume) chooseWay() {
	n := smooth(max(v.s.Shape[1], v.s.Shape[2], int(math.Ceil(2*math.Pi/(v.step*v.s.Voxel)))))
	if fast(v.s.Shape[1], v.s.Shape[2], n, v.grid.rows) {
		v.transformBy(n)
	}
}

// transformBy lays the grid out for transforms of a length n.
func (v *Volume) transformBy(n int) {
	v.step = 2 * math.Pi / (float64(n) * v.s.Voxel)
	each := int(math.Ceil(v.s.MaxQ/v.step)) + v.grid.w.m + 1
	v.first = -float64(each) * v.step
	v.grid.rows, v.grid.columns = 2*each+1, 2*each+1
	v.planes = &planes{rows: v.s.Shape[1], columns: v.s.Shape[2], n: n, points: 2*each + 1, first: -each}
}

// laidOut returns the volume with a grid of an oversampling in tenths for a sample of some half widths across and along the beam.
func (v *Volume) laidOut(across, along float64, tenths int) *Volume {
	s := v.s
	g := &Volume{s: s, step: math.Pi / across * 10 / float64(tenths)}
	m := max(3, int(math.Ceil(-math.Log(s.Tolerance)/(math.Pi*(1-10/float64(tenths))))))
	each := int(math.Ceil(s.MaxQ/g.step)) + m + 1
	g.first = -float64(each) * g.step
	g.grid = lattice{rows: 2*each + 1, columns: 2*each + 1, w: newWindow(m, tenths, s.Tolerance)}
	g.low = -1.02 * below(min(2*g.first*g.first, mostOfSphere*s.MinK*s.MinK), s.MinK)
	g.terms = seriesTerms(-g.low/2*along, s.Tolerance)
	return g
}

// seriesTerms returns how many terms the Chebyshev series of exp(i a t) needs for t from -1 to 1: those left out, twice the Bessel functions
// J_n(a), fall faster than powers of 1/2 once n is above 1.5 a.
func seriesTerms(a, tolerance float64) int {
	n := 2 + int(math.Ceil(a))
	for math.Abs(2*math.Jn(n, a)) > tolerance/2 {
		n++
	}
	return n
}

// mostOfSphere bounds (q/k)^2 on the grid. Beyond it, where no pixel is but only the window's rim, q_z goes on as it is there.
const mostOfSphere = 0.81

// below returns how far the Ewald sphere of wave number k lies below the plane q_z = 0 where q_x^2 + q_y^2 is square.
func below(square, k float64) float64 { return square / (k + math.Sqrt(k*k-square)) }

// Points returns the number of points of the grid along each axis.
func (v *Volume) Points() int { return v.grid.rows }

// q returns the coordinates of the grid.
func (v *Volume) q() []float64 {
	out := make([]float64, v.grid.rows)
	for i := range out {
		out[i] = v.first + float64(i)*v.step
	}
	return out
}

// waves returns the real and imaginary parts of exp(i q x) for the voxels of an axis, [voxel, q].
func (v *Volume) waves(voxels int) complexNode {
	q := v.q()
	c, s := make([]float64, 0, voxels*len(q)), make([]float64, 0, voxels*len(q))
	for i := range voxels {
		x := v.place(i, voxels)
		for _, k := range q {
			c, s = append(c, math.Cos(k*x)), append(s, math.Sin(k*x))
		}
	}
	return complexNode{ad.Const(c, voxels, len(q)), ad.Const(s, voxels, len(q))}
}

// place returns where voxel i of an axis is, from the middle of the box, in nm.
func (v *Volume) place(i, voxels int) float64 {
	return (float64(i) - float64(voxels-1)/2) * v.s.Voxel
}

// series returns the coefficients of exp(i q_z z) as Chebyshev series in q_z from low to 0, for all voxels along z: [term, voxel].
func (v *Volume) series() complexNode {
	n, voxels := v.terms, v.s.Shape[0]
	re, im := make([]float64, n*voxels), make([]float64, n*voxels)
	c, s := make([]float64, n), make([]float64, n)
	for i := range voxels {
		z := v.place(i, voxels)
		for k := range n {
			t := math.Cos(math.Pi * (float64(k) + 0.5) / float64(n))
			s[k], c[k] = math.Sincos(v.low / 2 * (1 - t) * z)
		}
		for j, x := range chebyshev(c) {
			re[j*voxels+i] = x
		}
		for j, x := range chebyshev(s) {
			im[j*voxels+i] = x
		}
	}
	return complexNode{ad.Const(re, n, voxels), ad.Const(im, n, voxels)}
}

// complexNode is a complex array as two real ones; an imaginary part of nil is 0.
type complexNode struct{ re, im *ad.Node }

func (z complexNode) plus(w complexNode) complexNode {
	return complexNode{sum(z.re, w.re), sum(z.im, w.im)}
}

// sum adds two nodes either of which may be nil for 0.
func sum(a, b *ad.Node) *ad.Node {
	switch {
	case a == nil:
		return b
	case b == nil:
		return a
	}
	return ad.Add(a, b)
}

func (z complexNode) times(w complexNode) complexNode {
	if z.im == nil {
		return complexNode{ad.Mul(z.re, w.re), ad.Mul(z.re, w.im)}
	}
	return complexNode{ad.Sub(ad.Mul(z.re, w.re), ad.Mul(z.im, w.im)), ad.Add(ad.Mul(z.re, w.im), ad.Mul(z.im, w.re))}
}

// Fields are the fields of a material, transformed along all axes: [term of q_z, q_y, q_x] on the grid of a Volume.
type Fields struct {
	fraction complexNode // the volume fraction
	aligned  complexNode // that of aligned molecules; no parts if the material is isotropic
	// director holds the aligned fraction times s_x s_x, s_x s_y, s_x s_z, s_y s_y, s_y s_z, s the director. It has no parts if axis, the
	// director, is the same everywhere.
	director [5]complexNode
	axis     [3]*ad.Node
	// second and secondAxis are the same for the second axis of molecules that have three.
	second     [5]complexNode
	secondAxis [3]*ad.Node
}

// Fields transforms the fields of a material. Its arrays have the shape of the Volume or broadcast to it; angles that are the same
// everywhere are best given as scalars, which costs a quarter.
//
// Gradient: with respect to the fields.
func (v *Volume) Fields(m rsoxs.MaterialNodes) (*Fields, error) { return v.Twisted(m, nil) }

// Twisted is Fields for molecules whose constants have three axes, which are turned by twist in radians about the director before that takes
// its direction, as phi in constants.Biaxial: their second axis is along x for theta = psi = twist = 0. twist is an array or a scalar, or nil
// for molecules that are alike all around the director.
//
// Gradient: with respect to the fields and the twist.
func (v *Volume) Twisted(m rsoxs.MaterialNodes, twist *ad.Node) (*Fields, error) {
	if m.Align != nil || m.Unaligned != nil {
		return nil, fmt.Errorf("farfield: materials are given by volume fraction, order and angles, not by vectors")
	}
	if (m.S == nil) != (m.Theta == nil) || (m.S == nil) != (m.Psi == nil) {
		return nil, fmt.Errorf("farfield: a material has some of S, Theta and Psi: give all of them, or none for an isotropic material")
	}
	z := v.series()
	var x, y complexNode
	if v.planes == nil {
		x, y = v.waves(v.s.Shape[2]), v.waves(v.s.Shape[1])
		y = complexNode{ad.T(y.re), ad.T(y.im)}
	}
	n, pts := v.s.Shape, v.grid.rows
	full := func(x *ad.Node) *ad.Node { return ad.Broadcast(x, n[0], n[1], n[2]) }
	transform := func(f *ad.Node) complexNode {
		f = ad.Reshape(full(f), n[0], n[1]*n[2])
		if v.planes != nil {
			both := v.planes.forward(ad.Reshape(ad.MatMul(ad.Concat(0, z.re, z.im), f), 2, v.terms, n[1], n[2]))
			return complexNode{ad.Index(both, 0, 0), ad.Index(both, 0, 1)}
		}
		t := z.product(complexNode{f, nil})
		t = complexNode{ad.Reshape(t.re, v.terms*n[1], n[2]), ad.Reshape(t.im, v.terms*n[1], n[2])}.product(x)
		return y.product(complexNode{ad.Reshape(t.re, v.terms, n[1], pts), ad.Reshape(t.im, v.terms, n[1], pts)})
	}
	f := &Fields{fraction: transform(m.Vfrac)}
	if m.S == nil {
		return f, f.fraction.re.Err()
	}
	a := ad.Mul(full(m.Vfrac), full(m.S))
	f.aligned = transform(a)
	across := ad.Sin(m.Theta)
	s := [3]*ad.Node{ad.Mul(ad.Cos(m.Psi), across), ad.Mul(ad.Sin(m.Psi), across), ad.Cos(m.Theta)}
	along := func(s [3]*ad.Node) (field [5]complexNode, axis [3]*ad.Node) {
		if s[0].Size() == 1 && s[1].Size() == 1 && s[2].Size() == 1 {
			return field, [3]*ad.Node{ad.Reshape(s[0]), ad.Reshape(s[1]), ad.Reshape(s[2])}
		}
		for i, pair := range products {
			field[i] = transform(ad.Mul(a, ad.Mul(s[pair[0]], s[pair[1]])))
		}
		return field, axis
	}
	f.director, f.axis = along(s)
	if twist != nil {
		// The first column of the rotation by twist about z, theta about y and psi about z.
		u := [3]*ad.Node{ad.Mul(ad.Cos(twist), ad.Cos(m.Theta)), ad.Sin(twist), ad.Neg(ad.Mul(ad.Cos(twist), across))}
		turned := [3]*ad.Node{ad.Sub(ad.Mul(ad.Cos(m.Psi), u[0]), ad.Mul(ad.Sin(m.Psi), u[1])), ad.Add(ad.Mul(ad.Sin(m.Psi), u[0]), ad.Mul(ad.Cos(m.Psi), u[1])), u[2]}
		f.second, f.secondAxis = along(turned)
	}
	return f, f.fraction.re.Err()
}

// product is the matrix product; leading axes broadcast.
func (z complexNode) product(w complexNode) complexNode {
	if w.im == nil {
		return complexNode{ad.MatMul(z.re, w.re), ad.MatMul(z.im, w.re)}
	}
	return complexNode{ad.Sub(ad.MatMul(z.re, w.re), ad.MatMul(z.im, w.im)), ad.Add(ad.MatMul(z.re, w.im), ad.MatMul(z.im, w.re))}
}

// Contrast is what a material adds to the dielectric tensor, as scalars: see [Tensor].
type Contrast struct {
	Iso, Axial, Tensor [2]*ad.Node // real and imaginary parts
	Second             [2]*ad.Node // nil for molecules that are alike all around the director
}

// Tensor returns the contrast of a material with optical constants in the order DeltaPara, BetaPara, DeltaPerp, BetaPerp, a vector of 4:
// n = 1 - delta + i beta. A volume fraction V with the order S and the director s adds
//
//	V [Iso + S Axial] 1 + V S Tensor s s^T
//
// where Iso is n^2 - 1 of the mean n = (n_para + 2 n_perp)/3, Axial the difference of n_perp^2 from that mean's, Tensor n_para^2 - n_perp^2.
// A vector of 6 ends with delta and beta along a second axis t across the director: then the mean is that of all three axes, and there is
// another term, V S Second t t^T with Second n_second^2 - n_perp^2.
//
// Gradient: with respect to the constants.
func Tensor(constants *ad.Node) Contrast {
	at := func(i int) *ad.Node { return ad.Index(constants, 0, i) }
	p := complexNode{ad.Neg(at(0)), at(1)} // n - 1
	o := complexNode{ad.Neg(at(2)), at(3)}
	t := o
	if constants.Size() == 6 {
		t = complexNode{ad.Neg(at(4)), at(5)}
	}
	third := complexNode{ad.Scale(1.0/3, ad.AddN(p.re, o.re, t.re)), ad.Scale(1.0/3, ad.AddN(p.im, o.im, t.im))}
	less := func(a, b complexNode) complexNode { return complexNode{ad.Sub(a.re, b.re), ad.Sub(a.im, b.im)} }
	two := func(a complexNode) complexNode { return complexNode{ad.Shift(a.re, 2), a.im} }
	iso, axial, tensor := third.times(two(third)), less(o, third).times(two(o.plus(third))), less(p, o).times(two(p.plus(o)))
	c := Contrast{Iso: [2]*ad.Node{iso.re, iso.im}, Axial: [2]*ad.Node{axial.re, axial.im}, Tensor: [2]*ad.Node{tensor.re, tensor.im}}
	if constants.Size() == 6 {
		second := less(t, o).times(two(t.plus(o)))
		c.Second = [2]*ad.Node{second.re, second.im}
	}
	return c
}

// Less returns the contrast against an isotropic surrounding, such as a matrix that fills what other materials leave.
func (c Contrast) Less(surrounding Contrast) Contrast {
	for k := range c.Iso {
		c.Iso[k] = ad.Sub(c.Iso[k], surrounding.Iso[k])
	}
	return c
}

// onSphere returns the terms of the Chebyshev series at q_z on the Ewald sphere of the wave number k, [term, q_y, q_x].
func (v *Volume) onSphere(k *ad.Node) *ad.Node {
	q := v.q()
	squares := make([]float64, 0, len(q)*len(q))
	for _, y := range q {
		for _, x := range q {
			squares = append(squares, x*x+y*y)
		}
	}
	square := ad.Square(k)
	inside := ad.Minimum(ad.Const(squares, len(q), len(q)), ad.Scale(mostOfSphere, square))
	qz := ad.Neg(ad.Div(inside, ad.Add(k, ad.Sqrt(ad.Sub(square, inside))))) // -k + sqrt(k^2 - q^2) without cancellation
	t := ad.Shift(ad.Scale(-2/v.low, qz), 1)
	list := []*ad.Node{ad.Full(1, len(q), len(q)), t}
	for len(list) < v.terms {
		n := len(list)
		list = append(list, ad.Sub(ad.Scale(2, ad.Mul(t, list[n-1])), list[n-2]))
	}
	return ad.Stack(0, list[:v.terms]...)
}
