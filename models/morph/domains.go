// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package morph

import (
	"fmt"
	"math"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/sim/rsoxs"
	"github.com/euryale-dev/euryale/sim/rsoxs/randomfield"
)

// Domains is a box of a random two-phase material, a Gaussian random field that is cut at a level. One box scatters speckle about the
// intensity that particle.CutField has in the mean.
type Domains struct {
	Grid
	Period   *ad.Node // mean distance of domains in nm
	Spread   *ad.Node // standard deviation of q relative to 2 pi/Period
	Fraction *ad.Node // mean volume fraction of the domains
	Edge     *ad.Node // width of the walls in nm; nil for Width
	Width    float64  // width of the walls in nm. Default half a voxel
	Seed     uint64
	Matrix   bool // Matrix fills the rest of the volume with one more material.
	// Windowed takes the mean volume fraction off, so that the box, which stands for a part of a large film, scatters nothing by its
	// own faces.
	Windowed bool
}

// Scene returns the graph of the scattering object.
func (d Domains) Scene() Scene {
	field := randomfield.Field{Shape: d.Shape, Voxel: d.Voxel, Seed: d.Seed}.Values(d.Period, d.Spread)
	width := d.Edge
	if width == nil {
		width = ad.Scalar(d.width(d.Width))
	}
	// At a wall the field rises by its root-mean-square slope along the normal, (8/(3 pi))^(1/2) 2 pi/period.
	softness := ad.Scale(2*math.Pi*math.Sqrt(8/(3*math.Pi)), ad.Div(width, d.Period))
	v := randomfield.CutSoftly(field, d.Fraction, softness)
	if d.Windowed {
		return Scene{Materials: []rsoxs.MaterialNodes{{Vfrac: ad.Sub(v, d.Fraction)}}}
	}
	materials := []rsoxs.MaterialNodes{{Vfrac: v}}
	if d.Matrix {
		materials = append(materials, rsoxs.MaterialNodes{Vfrac: ad.Sub(ad.Scalar(1), v)})
	}
	return Scene{Materials: materials}
}

// usualBoxes is the number of boxes whose intensities are averaged.
const usualBoxes = 8

// Boxes returns how many simulated boxes measured patterns are averaged over; 0 for a model that has none.
func (p *Problem) Boxes() int {
	switch {
	case problemModels[p.Model].Members == nil || p.IsClosed():
		return 0
	case p.Options.Boxes == 0:
		return usualBoxes
	}
	return p.Options.Boxes
}

// Members returns the scattering objects whose intensities are averaged, without what the measurement does to them: the one of the model, or
// boxes of it.
func (p *Problem) Members(at Values) (list []Scene) {
	m := problemModels[p.Model]
	g := Grid{Shape: p.Grid.Shape, Voxel: p.Grid.Voxel}
	if p.Boxes() == 0 {
		return []Scene{m.Build(p, g, at)}
	}
	for i := range p.Boxes() {
		list = append(list, m.Members(p, g, at, p.Options.Seed+uint64(i)))
	}
	return list
}

// checkBoxes checks the options of ensembles.
func (p *Problem) checkBoxes(m Definition) (bad []string) {
	switch o := p.Options; {
	case (o.Boxes != 0 || o.Seed != 0) && (m.Members == nil || p.IsClosed()):
		bad = append(bad, fmt.Sprintf("options.boxes or options.seed is set, and the model %s has no random boxes: leave them out", p.Model))
	case o.Boxes != 0 && !p.Measured():
		bad = append(bad, "options.boxes is set, and simulated patterns are those of one box: leave it out, or compare measured patterns")
	case o.Boxes < 0 || o.Boxes > mostBoxes:
		bad = append(bad, fmt.Sprintf("options.boxes is %d: want 1 to %d boxes", o.Boxes, mostBoxes))
	}
	return bad
}

// mostBoxes is the largest number of boxes of an ensemble.
const mostBoxes = 1000

func init() {
	problemModels["domains"] = Definition{About: "random domains in boxes of voxels, averaged; material: domains",
		Params: []Parameter{needed("period", "mean distance between domains in nm").positive(), needed("spread", "standard deviation of q relative to 2 pi/period").within(0.05, 0.5), filled, edge},
		Build: func(p *Problem, g Grid, at Values) Scene {
			return domains(p, g, at, p.Options.Seed).Scene()
		},
		Members: func(p *Problem, g Grid, at Values, seed uint64) Scene {
			d := domains(p, g, at, seed)
			d.Windowed = true
			return d.Scene()
		}}
}

func domains(p *Problem, g Grid, at Values, seed uint64) Domains {
	return Domains{Grid: g, Period: at("period"), Spread: at("spread"), Fraction: at("fraction"), Edge: at("width"), Width: p.Options.Width, Seed: seed, Matrix: p.Options.Matrix}
}
