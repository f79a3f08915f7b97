// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package morph

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/sim/rsoxs/farfield"
	"github.com/euryale-dev/euryale/sim/rsoxs/particle"
)

// ClosedForm is a sample whose intensities are formulas, without a sum over voxels.
type ClosedForm struct {
	Materials int
	// Intensities returns those at the pixels, in nm^6, for light of the wave number k in 1/nm and each angle of the field in radians,
	// with a contrast for each material: see particle.Ensemble.
	Intensities func(k *ad.Node, d farfield.Directions, contrasts []farfield.Contrast, angles ...float64) []*ad.Node
}

// IsClosed reports whether a problem computes a closed form: its model has no voxels, or the options ask for it.
func (p *Problem) IsClosed() bool {
	return p.Options.Closed || problemModels[p.Model].Build == nil
}

// IsRound reports whether patterns vary with the direction as the electric field does, which few directions tell.
func (p *Problem) IsRound() bool { return p.IsClosed() && problemModels[p.Model].Round }

// Whole returns the problem in closed form if it is of voxels and its model has one, and nil otherwise.
func (p *Problem) Whole() *Problem {
	k := *p
	k.Options.Closed = true
	if p.IsClosed() || problemModels[k.Model].Closed == nil || k.checkClosed(problemModels[k.Model]) != nil {
		return nil
	}
	return &k
}

// Closed returns the closed form of the model for pixels up to a q in 1/nm. IsClosed must hold.
func (p *Problem) Closed(at Values, q float64) ClosedForm {
	return p.scaled(problemModels[p.Model].Closed(p, at, q))
}

// Spread returns the parameter that spreads the sizes of bodies in the closed form of a model, and the problem with that parameter, whose
// model is that of the ensemble: core_shell becomes particles, and rod becomes rods. The name is empty where no size spreads, and where a
// problem searches for it or holds it.
func (p *Problem) Spread() (name string, wider *Problem) {
	k := *p
	k.Model = cmp.Or(map[string]string{"core_shell": "particles", "rod": "rods"}[p.Model], p.Model)
	for _, name = range []string{"size_sd", "radius_sd"} {
		if has(problemModels[k.Model].Params, name) && p.IsClosed() && !p.gives(name) {
			k.Parameters = maps.Clone(p.Parameters)
			if k.Parameters == nil {
				k.Parameters = map[string]ProblemParam{}
			}
			k.Parameters[name] = ProblemParam{Start: StartValues{0.1}, Bounds: []float64{leastSD, 0.4}}
			return name, &k
		}
	}
	return "", nil
}

// checkClosed checks what closed forms need.
func (p *Problem) checkClosed(m Definition) (bad []string) {
	if bad = p.checkOptions(m); bad != nil || !p.IsClosed() {
		return bad
	}
	switch {
	case m.Closed == nil:
		return []string{fmt.Sprintf("options.closed is set, and the model %s has voxels only: leave it out", p.Model)}
	case !p.Measured():
		bad = append(bad, fmt.Sprintf("the model %s is a closed form at the pixels of a detector, and the data are simulated patterns on the grid of voxels: it fits measured patterns only", p.Model))
	}
	bad = append(bad, p.checkPlaces()...)
	if size, share := p.gives("second_size"), p.gives("second_share"); size != share {
		bad = append(bad, "a second population of sizes has a mean size and a share: give both second_size and second_share, or neither")
	}
	for _, q := range middle {
		if _, ok := p.Parameters[q.Name]; ok && m.Centred {
			bad = append(bad, fmt.Sprintf("%s is searched, and the intensities of a closed form do not depend on where the particle is: leave it out", q.Name))
		}
	}
	return bad
}

// gives reports whether a problem searches for a parameter or holds it.
func (p *Problem) gives(name string) bool {
	_, searched := p.Parameters[name]
	_, held := p.Fixed[name]
	return searched || held
}

// checkOptions refuses options of closed forms that a model does not have.
func (p *Problem) checkOptions(m Definition) (bad []string) {
	o := p.Options
	shells := p.Model == "particles" || p.Model == "core_shell"
	sizes := has(m.Params, "size_sd") || has(m.Params, "radius_sd")
	for _, x := range []struct {
		name       string
		given, has bool
	}{{"tangential", o.Tangential, shells}, {"local", o.Local, p.Model == "particles"}, {"log_normal", o.LogNormal, sizes}, {"around", o.Around, has(m.Params, "theta_sd_deg")},
		{"places", o.Places != nil || o.PlacesFile != "" || o.Box != [2]float64{}, has(m.Params, "hard_radius")}} {
		if x.given && !(x.has && p.IsClosed()) {
			bad = append(bad, fmt.Sprintf("options.%s is set, and the model %s computes nothing with it: leave it out", x.name, p.Model))
		}
	}
	return bad
}

// largest returns how large a parameter may get: its upper bound, or else two and a half times where it starts.
func (p *Problem) largest(name string, usual float64) float64 {
	if x, ok := p.Fixed[name]; ok {
		return x
	}
	q := p.Parameters[name]
	if len(q.Bounds) == 2 && !math.IsInf(q.Bounds[1], 1) {
		return q.Bounds[1]
	}
	if len(q.Start) == 1 {
		return 2.5 * q.Start[0]
	}
	return usual
}

// around returns the range of a parameter for which sums have enough terms: its bounds, but no more than 0.6 to 1.6 of where it starts. Beyond
// it only the largest q lose digits.
func (p *Problem) around(name string) (low, high float64) {
	if x, ok := p.Fixed[name]; ok {
		return x, x
	}
	q := p.Parameters[name]
	low, high = 0, p.largest(name, 0)
	if len(q.Start) == 1 {
		low, high = 0.6*q.Start[0], min(high, 1.6*q.Start[0])
	}
	if len(q.Bounds) == 2 {
		low = max(low, q.Bounds[0])
	}
	return low, high
}

// edge returns the edges of bodies: those of a searched width, or of the option, or else of half a voxel; sharp without a grid.
func (p *Problem) edge(at Values) particle.Edge {
	if has(problemModels[p.Model].Params, "width") {
		if w := at("width"); w != nil {
			return particle.Edge{Width: w}
		}
	}
	if w := cmp.Or(p.Options.Width, p.Grid.Voxel/2); w > 0 {
		return particle.Edge{Width: ad.Scalar(w)}
	}
	return particle.Edge{}
}

// widest is how far soft edges reach, in nm.
func (p *Problem) widest() float64 {
	return 8 * p.largest("width", cmp.Or(p.Options.Width, p.Grid.Voxel/2))
}

// order returns the order parameter, nil if it is held at 0: isotropic materials need no transforms of the order.
func order(at Values) *ad.Node {
	if s := at("aligned"); s == nil || !s.IsConst() || s.Numbers()[0] != 0 {
		return s
	}
	return nil
}

// sizes is the distribution of the sizes of bodies, with the relative standard deviation of a name.
func (p *Problem) sizes(at Values, sd string) particle.Spread {
	return particle.Spread{SD: at(sd), LogNormal: p.Options.LogNormal, Points: 15, Second: at("second_size"), Share: at("second_share")}
}

// coreShells is the closed form of balls in shells.
func coreShells(p *Problem, at Values, q float64) ClosedForm {
	sd := p.largest("size_sd", 0)
	c := particle.CoreShell{Radius: at("radius"), Shell: at("shell"), Aligned: order(at), Decay: at("decay"), Tangential: p.Options.Tangential, Edge: p.edge(at),
		Reach: particle.Reach{Q: q, Size: (p.largest("radius", 0)+p.largest("shell", 0))*(1+6*sd+6*p.largest("shell_sd", 0)) + p.widest()},
		Local: p.Options.Local}
	if p.Model == "particles" {
		c.Sizes = p.sizes(at, "size_sd")
		c.Reach.Size *= max(1, p.largest("second_size", 0))
		c.Shells = particle.Spread{SD: at("shell_sd"), LogNormal: p.Options.LogNormal, Points: 7}
		s, err := p.structure(at, q, func(r, f *ad.Node) particle.Structure { return particle.HardSpheres{Radius: r, Fraction: f} })
		if err != nil {
			return refused("%w", err)
		}
		c.Structure, c.Local = s, c.Local && p.Options.Places == nil
	}
	return ClosedForm{c.Materials(), c.Intensities}
}

// refused is a closed form that cannot be, with the reason.
func refused(format string, args ...any) ClosedForm {
	bad := ad.Fail(fmt.Errorf("morph: "+format, args...))
	return ClosedForm{1, func(*ad.Node, farfield.Directions, []farfield.Contrast, ...float64) []*ad.Node {
		return []*ad.Node{bad}
	}}
}

// members are the directions of an ensemble, as columns, and their shares; the shares of a single one are nil.
type members struct{ theta, phi, weights *ad.Node }

func (p *Problem) members(at Values) members {
	d := particle.Directions{Theta: radians(at("theta_deg")), Phi: radians(at("phi_deg")), Around: p.Options.Around}
	if has(problemModels[p.Model].Params, "theta_sd_deg") {
		d.ThetaSD, d.PhiSD = radians(at("theta_sd_deg")), radians(at("phi_sd_deg"))
	}
	if d.ThetaSD == nil && d.PhiSD == nil && !d.Around {
		return members{d.Theta, d.Phi, nil}
	}
	theta, phi, w := d.Nodes()
	return members{theta, phi, w}
}

// sized gives each of the members all sizes, and returns the sizes of the new members.
func (m members) sized(s particle.Spread) (members, *ad.Node) {
	x, share := s.Nodes()
	if m.weights == nil {
		return members{m.theta, m.phi, share}, x
	}
	theta, size, w := particle.Product(m.theta, m.weights, x, share)
	phi, _, _ := particle.Product(m.phi, m.weights, x, share)
	return members{theta, phi, w}, size
}

func (m members) direction() particle.Vec { return particle.Direction(m.theta, m.phi) }

// ensemble is the closed form of members, with the structure of known places or hard discs where a problem has it.
func (p *Problem) ensemble(of particle.Particle, m members, at Values, q float64) ClosedForm {
	s, err := p.structure(at, q, func(r, f *ad.Node) particle.Structure { return particle.HardDiscs{Radius: r, Fraction: f} })
	if err != nil {
		return refused("%w", err)
	}
	return ClosedForm{1, particle.Ensemble{Of: of, Weights: m.weights, Structure: s}.Intensities}
}

// cylinders is the closed form of rods.
func cylinders(p *Problem, at Values, q float64) ClosedForm {
	m := p.members(at)
	c := particle.Cylinder{Radius: at("radius"), Length: at("length"), Hole: at("hole"), Aligned: order(at), Radial: p.Options.Radial, Edge: p.edge(at),
		Reach: particle.Reach{Q: q, Size: p.largest("radius", 0)}}
	if c.Length == nil {
		return refused("%s has no length, and a closed form needs one: give it under parameters or fixed", p.Model)
	}
	if p.Model == "rods" && (at("radius_sd") != nil || at("second_size") != nil) {
		if c.Radial {
			return refused("radius_sd or second_size is given with options.radial: rods of radial molecules have one radius, so leave one of them out")
		}
		var size *ad.Node
		m, size = m.sized(p.sizes(at, "radius_sd"))
		c.Radius = ad.Mul(c.Radius, size)
		if c.Hole != nil {
			c.Hole = ad.Mul(c.Hole, size)
		}
	}
	c.Axis = m.direction()
	return p.ensemble(c, m, at, q)
}

// stacks is the closed form of lamellae in a Gaussian envelope.
func stacks(p *Problem, at Values, q float64) ClosedForm {
	m := p.members(at)
	c := particle.Stack{Normal: m.direction(), Period: at("period"), Thickness: at("lamella"), Grain: at("grain"), Aligned: order(at), Interface: at("interface"), Edge: p.edge(at)}
	if c.Grain == nil {
		return refused("%s has no envelope, and a closed form needs one: give grain under parameters or fixed", p.Model)
	}
	if tilt := radians(at("tilt_deg")); tilt != nil {
		c.Direction = particle.Direction(ad.Add(m.theta, tilt), m.phi)
	}
	if p.Model == "stacks" {
		c.Disorder = at("disorder")
	}
	short, long := p.around("period")
	small, large := p.around("grain")
	c.Harmonics = int(math.Ceil((q + 6/small) * long / (2 * math.Pi)))
	c.Reach = particle.Reach{Q: q, Size: p.largest("period", 0)}
	c.Layers = int(math.Ceil(6 * large / short))
	return p.ensemble(c, m, at, q)
}

// ellipsoids is the closed form of ellipsoids of revolution.
func ellipsoids(p *Problem, at Values, q float64) ClosedForm {
	m := p.members(at)
	c := particle.Ellipsoid{HalfAxis: at("half_axis"), Equator: at("equator"), Aligned: order(at), Edge: p.edge(at)}
	if at("size_sd") != nil || at("second_size") != nil {
		var size *ad.Node
		m, size = m.sized(p.sizes(at, "size_sd"))
		c.HalfAxis, c.Equator = ad.Mul(c.HalfAxis, size), ad.Mul(c.Equator, size)
	}
	c.Axis = m.direction()
	return p.ensemble(c, m, at, q)
}

// phases returns the closed form of a random two-phase material.
func phases(correlation func(p *Problem, at Values, q float64) particle.Correlation) func(*Problem, Values, float64) ClosedForm {
	return func(p *Problem, at Values, q float64) ClosedForm {
		return ClosedForm{1, particle.Phases{Fraction: at("fraction"), Volume: p.volume(), Correlation: correlation(p, at, q)}.Intensities}
	}
}

// volume is that of the grid in nm^3, or 1 without a grid, which leaves the volume to the scale.
func (p *Problem) volume() float64 {
	n := p.Grid.Shape
	return cmp.Or(float64(n[0]*n[1]*n[2])*p.Grid.Voxel*p.Grid.Voxel*p.Grid.Voxel, 1)
}

// voxelVolume is the volume in nm^3 that intensities are counted in, squared: those of closed forms are as large as those of voxels.
func (p *Problem) voxelVolume() float64 { return cmp.Or(math.Pow(p.Grid.Voxel, 3), 1) }

// scaled returns the closed form of a model in the units of intensities of voxels.
func (p *Problem) scaled(c ClosedForm) ClosedForm {
	of := c.Intensities
	c.Intensities = func(k *ad.Node, d farfield.Directions, contrasts []farfield.Contrast, angles ...float64) []*ad.Node {
		images := of(k, d, contrasts, angles...)
		for i := range images {
			images[i] = ad.Scale(1/(p.voxelVolume()*p.voxelVolume()), images[i])
		}
		return images
	}
	return c
}

var (
	spread = func(name, of string) Parameter {
		return optional(name, "standard deviation of "+of+"; default none").positive()
	}
	// A spread tells from its square alone, so that one of nearly 0 has no derivative and no error.
	leastSD, leastAngle = 0.01, 0.5
	orientation         = []Parameter{usually("theta_deg", 0, "mean angle of the axis from +z in degrees; default 0"), usually("phi_deg", 0, "mean angle of the axis about +z in degrees; default 0"),
		spread("theta_sd_deg", "theta in degrees").within(leastAngle, 90), spread("phi_sd_deg", "phi in degrees").within(leastAngle, 90)}
	second = []Parameter{optional("second_size", "mean size of a second population over the first's; default none").within(0.02, 50),
		optional("second_share", "share of the bodies that are of the second population").within(0, 1)}
	discs = []Parameter{optional("hard_radius", "radius of hard discs around each in nm; default none").positive(),
		optional("hard_share", "share of the film that the discs cover").within(0, 0.7)}
	filled = needed("fraction", "volume fraction of the material").within(0, 1)
)

func init() {
	problemModels["particles"] = Definition{About: "cores in shells, of many sizes (closed); materials: core, shell",
		Params: slices.Concat([]Parameter{needed("radius", "mean radius of the core in nm").positive(), needed("shell", "mean thickness of the shell in nm").positive(), aligned, optional("decay", "exponent with which S falls off outwards; default none"), edge,
			optional("size_sd", "relative standard deviation of the radius; default none").within(leastSD, 0.9), optional("shell_sd", "relative standard deviation of the shell; default none").within(leastSD, 0.9),
			optional("hard_radius", "radius of hard spheres around each in nm; default none").positive(), optional("hard_share", "volume fraction of the spheres").within(0, 0.5)}, second),
		Closed: coreShells, Round: true}
	problemModels["rods"] = Definition{About: "cylinders of many sizes and directions (closed); material: rods",
		Params: slices.Concat([]Parameter{needed("radius", "mean outer radius in nm").positive(), needed("length", "length in nm").positive(), aligned, optional("hole", "radius of the hole in nm; default no hole").positive(), edge,
			optional("radius_sd", "relative standard deviation of the radius; default none").within(leastSD, 0.9)}, second, orientation, discs),
		Closed: cylinders}
	problemModels["stacks"] = Definition{About: "lamellae in grains of many directions (closed); material: lamellae",
		Params: slices.Concat([]Parameter{needed("period", "distance between lamellae in nm").positive(), needed("lamella", "thickness of a lamella in nm").positive(), aligned, needed("grain", "sd of the Gaussian envelope in nm").positive(), edge,
			optional("tilt_deg", "angle of molecules from the normal in degrees; default 0"), optional("interface", "length of the fall of S from interfaces in nm; default none").positive(),
			spread("disorder", "the period in nm, adding up")}, orientation),
		Closed: stacks}
	problemModels["ellipsoids"] = Definition{About: "ellipsoids of revolution (closed); material: ellipsoids",
		Params: slices.Concat([]Parameter{needed("half_axis", "half axis of revolution in nm").positive(), needed("equator", "half axes across it in nm").positive(), aligned, edge,
			optional("size_sd", "relative standard deviation of the size; default none").within(leastSD, 0.9)}, second, orientation, discs),
		Closed: ellipsoids}
	period := needed("period", "mean distance between domains in nm").positive()
	length := needed("length", "correlation length in nm").positive()
	problemModels["spinodal"] = Definition{About: "domains of a cut random field (closed); material: domains",
		Params: []Parameter{period, needed("spread", "standard deviation of q relative to 2 pi/period").within(0.05, 0.5), filled},
		Round:  true, Closed: phases(func(p *Problem, at Values, q float64) particle.Correlation {
			return particle.CutField{Period: at("period"), Width: at("spread"), Reach: particle.Reach{Q: q, Size: 10 * p.largest("period", 0)}}
		})}
	problemModels["teubner_strey"] = Definition{About: "random domains that repeat (closed); material: domains", Params: []Parameter{period, length, filled},
		Round: true, Closed: phases(func(_ *Problem, at Values, _ float64) particle.Correlation {
			return particle.TeubnerStrey{Period: at("period"), Length: at("length")}
		})}
	problemModels["debye_bueche"] = Definition{About: "random domains of all sizes (closed); material: domains", Params: []Parameter{length, filled},
		Round: true, Closed: phases(func(_ *Problem, at Values, _ float64) particle.Correlation {
			return particle.DebyeBueche{Length: at("length")}
		})}
	for name, closed := range map[string]func(*Problem, Values, float64) ClosedForm{"core_shell": coreShells, "rod": cylinders, "grain": stacks} {
		m := problemModels[name]
		m.Closed, m.Round = closed, name == "core_shell"
		problemModels[name] = m
	}
}
