// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package morph

import (
	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/sim/rsoxs"
	"github.com/euryale-dev/euryale/tensor"
)

// Scene is the scattering object as a graph over parameters. Vacuum needs no material.
type Scene struct {
	// Materials holds at least one material, whose fields have the shape [Z, Y, X] of the grid.
	Materials []rsoxs.MaterialNodes
	// Constants are the optical constants [energy, material, 4] if they are refined; nil
	// uses those of the Inversion.
	Constants *ad.Node
	// Scale and Background convert intensities to measured ones, Scale I + Background;
	// nil stands for 1 and 0.
	Scale, Background *ad.Node
	// Response, if not nil, comes before Scale and Background: it returns what a detector
	// sees in place of the intensities at q (1/nm in the plane of the detector, or the
	// abscissa of curves), two vectors of the same length.
	Response func(intensity, q *ad.Node) *ad.Node
	// Penalty, a scalar, is added to the minimised function and subtracted from the log density; nil
	// for none.
	Penalty *ad.Node
	// Sigma, a scalar, is the standard deviation of the residuals if a posterior infers it; nil uses
	// that of the Inversion.
	Sigma *ad.Node
}

// Refined returns the constants o with those of one material, counted from 0, replaced by
// values [energy, 4]: DeltaPara, BetaPara, DeltaPerp, BetaPerp.
func Refined(o rsoxs.Optics, material int, values *ad.Node) *ad.Node {
	parts := make([]*ad.Node, 0, 3)
	all, energies, n := constants(o), len(o), len(o[0])
	if material > 0 {
		parts = append(parts, ad.Slice(all, 1, 0, material))
	}
	parts = append(parts, ad.Reshape(values, energies, 1, 4))
	if material+1 < n {
		parts = append(parts, ad.Slice(all, 1, material+1, n))
	}
	return ad.Concat(1, parts...)
}

// optics returns the scene's own constants as numbers, or those given where it has none. The
// graph must have no inputs.
func (s Scene) optics(given rsoxs.Optics) (rsoxs.Optics, error) {
	if s.Constants == nil {
		return given, nil
	}
	v, err := ad.Numbers(s.Constants)
	if err != nil {
		return nil, err
	}
	shape, flat := s.Constants.Shape(), v[0]
	o := make(rsoxs.Optics, shape[0])
	for e := range o {
		for range shape[1] {
			o[e] = append(o[e], rsoxs.Constants{DeltaPara: flat[0], BetaPara: flat[1], DeltaPerp: flat[2], BetaPerp: flat[3]})
			flat = flat[4:]
		}
	}
	return o, nil
}

// constants returns o as a Node [energy, material, 4].
func constants(o rsoxs.Optics) *ad.Node {
	var flat []float64
	for _, row := range o {
		for _, c := range row {
			flat = append(flat, c.DeltaPara, c.BetaPara, c.DeltaPerp, c.BetaPerp)
		}
	}
	if len(flat) == 0 {
		return ad.Const(flat, len(o), 0, 4)
	}
	return ad.Const(flat, len(o), len(o[0]), 4)
}

// CoreShell is a ball with a shell whose molecules point outwards, in vacuum or in a
// matrix. Materials: core, shell and, if Matrix is set, the rest.
type CoreShell struct {
	Grid
	Centre  Vec
	Radius  *ad.Node // radius of the core in nm
	Shell   *ad.Node // thickness of the shell in nm
	Aligned *ad.Node // order parameter S of the shell
	// Decay makes S fall with the distance r from the centre as (Radius/r)^Decay; nil for
	// no decay.
	Decay  *ad.Node
	Edge   *ad.Node // width of the edges in nm; nil for Width
	Width  float64  // width of the edges in nm. Default half a voxel
	Matrix bool     // Matrix fills the rest of the volume with one more material.
}

// Scene returns the graph of the scattering object.
func (c CoreShell) Scene() Scene {
	from := c.From(c.Centre)
	r := from.length()
	core := c.within(ad.Sub(r, c.Radius), c.Edge, c.Width)
	shell := ad.Sub(c.within(ad.Sub(r, ad.Add(c.Radius, c.Shell)), c.Edge, c.Width), core)
	s := c.Aligned
	if c.Decay != nil {
		s = ad.Mul(s, ad.Exp(ad.Mul(c.Decay, ad.Minimum(ad.Log(ad.Div(c.Radius, r)), ad.Scalar(0)))))
	}
	theta, psi := from.Angles()
	return c.scene(c.Matrix, isotropic(core), c.aligned(shell, s, theta, psi))
}

// Rod is a cylinder, hollow if Hole is given, whose molecules lie along its axis.
// Materials: rod and, if Matrix is set, the rest.
type Rod struct {
	Grid
	Centre  Vec
	Theta   *ad.Node // angle between the axis and +z in radians
	Phi     *ad.Node // azimuth of the axis about +z in radians
	Radius  *ad.Node // outer radius in nm
	Length  *ad.Node // length in nm; nil for an endless rod
	Hole    *ad.Node // radius of the hole in nm; nil for none
	Aligned *ad.Node // order parameter S
	// Radial makes the molecules point outwards from the axis.
	Radial bool
	Width  float64 // width of the edges in nm. Default half a voxel
	Matrix bool    // Matrix fills the rest of the volume with one more material.
}

// Scene returns the graph of the scattering object.
func (c Rod) Scene() Scene {
	axis := Direction(c.Theta, c.Phi)
	d := c.Cylinder(c.Centre, axis, c.Radius, c.Length)
	if c.Hole != nil {
		d = Difference(d, c.Cylinder(c.Centre, axis, c.Hole, nil))
	}
	director := axis
	if c.Radial {
		v := c.From(c.Centre)
		along := v.dot(axis)
		director = v.sub(Vec{ad.Mul(along, axis[0]), ad.Mul(along, axis[1]), ad.Mul(along, axis[2])})
	}
	theta, psi := director.Angles()
	return c.scene(c.Matrix, c.aligned(Inside(d, c.width(c.Width)), c.Aligned, theta, psi))
}

// Lamella is a stack of lamellae whose molecules lie along their normal, or are tilted
// from it by Tilt in the direction of increasing Theta. Materials: lamellae and, if
// Matrix is set, the space between them.
type Lamella struct {
	Grid
	Centre    Vec      // centre of one lamella in nm
	Theta     *ad.Node // angle between the normal and +z in radians
	Phi       *ad.Node // azimuth of the normal about +z in radians
	Period    *ad.Node // distance between lamellae in nm
	Thickness *ad.Node // thickness of a lamella in nm
	Tilt      *ad.Node // angle between molecules and normal in radians; nil for none
	Aligned   *ad.Node // order parameter S
	Width     float64  // width of the edges in nm. Default half a voxel
	Matrix    bool     // Matrix fills the rest of the volume with one more material.
}

// Scene returns the graph of the scattering object.
func (c Lamella) Scene() Scene {
	d := c.Lamellae(c.Centre, Direction(c.Theta, c.Phi), c.Period, c.Thickness)
	theta := c.Theta
	if c.Tilt != nil {
		theta = ad.Add(theta, c.Tilt)
	}
	theta, psi := Direction(theta, c.Phi).Angles()
	return c.scene(c.Matrix, c.aligned(Inside(d, c.width(c.Width)), c.Aligned, theta, psi))
}

// Grain is a stack of lamellae within a Gaussian envelope, whose molecules are aligned near the interfaces and may be tilted from the
// normal. Materials: lamellae and, if Matrix is set, the rest.
type Grain struct {
	Grid
	Centre    Vec      // centre of one lamella and of the envelope in nm
	Theta     *ad.Node // angle between the normal and +z in radians
	Phi       *ad.Node // azimuth of the normal about +z in radians
	Period    *ad.Node // distance between lamellae in nm
	Thickness *ad.Node // thickness of a lamella in nm
	Tilt      *ad.Node // angle between molecules and normal in radians, towards larger Theta; nil for none
	Aligned   *ad.Node // order parameter S at the interfaces
	// Interface is the length in nm over which S falls with the distance d from the nearest interface, as exp(-d^2/(2 Interface^2)); nil
	// for an order that is the same everywhere.
	Interface *ad.Node
	Size      *ad.Node // standard deviation of the envelope in nm; nil for none
	Edge      *ad.Node // width of the edges in nm; nil for Width
	Width     float64  // width of the edges in nm. Default half a voxel
	Matrix    bool     // Matrix fills the rest of the volume with one more material.
}

// Scene returns the graph of the scattering object.
func (c Grain) Scene() Scene {
	d := c.Lamellae(c.Centre, Direction(c.Theta, c.Phi), c.Period, c.Thickness)
	v, s := c.within(d, c.Edge, c.Width), c.Aligned
	if c.Size != nil {
		from := c.From(c.Centre)
		v = ad.Mul(v, ad.Exp(ad.Scale(-0.5, ad.Div(from.dot(from), ad.Square(c.Size)))))
	}
	if c.Interface != nil {
		s = ad.Mul(s, ad.Exp(ad.Scale(-0.5, ad.Square(ad.Div(d, c.Interface)))))
	}
	theta := c.Theta
	if c.Tilt != nil {
		theta = ad.Add(theta, c.Tilt)
	}
	theta, psi := Direction(theta, c.Phi).Angles()
	return c.scene(c.Matrix, c.aligned(v, s, theta, psi))
}

// Film is a film of two phases, the first of which is aligned in its plane. Its
// composition and the angle of its director are sums of a few waves: see Modes.
// Materials: the aligned phase and, if Matrix is set, the other.
type Film struct {
	Grid
	Composition *ad.Node // coefficients of Modes for the logit of the volume fraction
	Director    *ad.Node // coefficients of Modes for the angle from +x in radians
	Order       int      // order of the Modes
	Aligned     *ad.Node // order parameter S
	Matrix      bool     // Matrix makes the second phase a material; without it, it is vacuum.
}

// Scene returns the graph of the scattering object.
func (c Film) Scene() Scene {
	modes := c.Modes(c.Order)
	v := c.full(ad.Sigmoid(modes.sum(c.Composition)))
	return c.scene(c.Matrix, c.aligned(v, c.Aligned, ad.Scalar(halfPi), modes.sum(c.Director)))
}

// scene combines materials and, if matrix is set, one that fills the rest.
func (g Grid) scene(matrix bool, m ...rsoxs.MaterialNodes) Scene {
	if matrix {
		rest := ad.Scalar(1)
		for _, x := range m {
			rest = ad.Sub(rest, x.Vfrac)
		}
		m = append(m, isotropic(rest))
	}
	for i := range m {
		m[i].Vfrac = g.full(m[i].Vfrac)
	}
	return Scene{Materials: m}
}

func isotropic(v *ad.Node) rsoxs.MaterialNodes { return rsoxs.MaterialNodes{Vfrac: v} }

func (g Grid) aligned(v, s, theta, psi *ad.Node) rsoxs.MaterialNodes {
	return rsoxs.MaterialNodes{Vfrac: v, S: s, Theta: theta, Psi: psi}
}

// Morphology returns the fields of a scene without parameters, in float64.
func (s Scene) Morphology(voxel float64) (*rsoxs.Morphology, error) {
	m := &rsoxs.Morphology{PhysSize: voxel}
	var nodes []*ad.Node
	for i := range s.Materials {
		nodes = append(nodes, s.Materials[i].Nodes()...)
		m.Materials = append(m.Materials, s.Materials[i].Arrays(tensor.Float64))
	}
	values, err := ad.Numbers(nodes...)
	if err != nil {
		return nil, err
	}
	for i := range m.Materials {
		for _, f := range m.Materials[i].Fields() {
			copy(f.Data().([]float64), values[0])
			values = values[1:]
		}
	}
	return m, nil
}
