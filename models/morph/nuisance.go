// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package morph

import (
	"fmt"
	"math"
	"slices"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/sim/rsoxs"
)

// Nuisance is an effect of the measurement on intensities, such as a background that falls with q. Its
// parameters belong to every model: problems fix them or search for them like those of the morphology. A
// problem that names none of them is not affected.
type Nuisance struct {
	About  string      // one-line description of the effect on intensities
	Params []Parameter // parameters of the effect; a problem that leaves one out has its default, which every one needs
	// Apply returns what a detector sees in place of the intensities at the momentum transfers q (1/nm, at
	// least 0), two vectors of the same length. What it returns must have their shape, also if it depends on neither. The factor
	// scale and the added background of the problem follow. Gradient: must exist with respect to
	// the intensities and every parameter.
	Apply func(at Values, intensity, q *ad.Node) *ad.Node
}

var nuisances = map[string]Nuisance{}

// RegisterNuisance adds a user's effect to those of problem files. Effects are applied in the
// order of their names. It is meant for init functions, and panics if the definition is incomplete, if a
// parameter lacks a default, or if a name is taken.
func RegisterNuisance(name string, n Nuisance) {
	mustBeWhole("nuisance", name, n.About, len(n.Params), "Apply", n.Apply == nil)
	if _, taken := nuisances[name]; taken {
		panic(fmt.Sprintf("morph: a nuisance called %q exists already: choose another name", name))
	}
	mustFit("nuisance", name, n.Params)
	for _, q := range n.Params {
		if q.Default == nil {
			panic(fmt.Sprintf("morph: the parameter %q of the nuisance %q has no Default: set it to the value without the effect", q.Name, name))
		}
		for _, other := range sortedNames(nuisances) {
			if has(nuisances[other].Params, q.Name) {
				panic(fmt.Sprintf("morph: the nuisances %q and %q both have a parameter %q: rename one of them", other, name, q.Name))
			}
		}
		for _, model := range sortedNames(problemModels) {
			if has(problemModels[model].all(), q.Name) {
				panic(fmt.Sprintf("morph: the nuisance %q and the model %q both have a parameter %q: rename that of the nuisance", name, model, q.Name))
			}
		}
	}
	nuisances[name] = n
}

func has(params []Parameter, name string) bool {
	return slices.ContainsFunc(params, func(q Parameter) bool { return q.Name == name })
}

// apply calls Apply and checks that it returned intensities.
func (n Nuisance) apply(name string, at Values, intensity, q *ad.Node) *ad.Node {
	out := n.Apply(at, intensity, q)
	switch {
	case out == nil:
		return failed(intensity, fmt.Errorf("Apply of the nuisance %q returned nil: want intensities of the shape %v", name, intensity.Shape()))
	case out.Err() != nil:
		return failed(intensity, fmt.Errorf("Apply of the nuisance %q: %w", name, out.Err()))
	case !out.Shape().Equal(intensity.Shape()):
		return failed(intensity, fmt.Errorf("Apply of the nuisance %q returned the shape %v for intensities of the shape %v: want the same shape", name, out.Shape(), intensity.Shape()))
	}
	return out
}

// failed returns a Node that carries err, or x if that carries one already.
func failed(x *ad.Node, err error) *ad.Node {
	if x.Err() != nil {
		return x
	}
	return ad.Fail(fmt.Errorf("morph: %w", err))
}

// scales lists the parameters of every model that describe the measurement.
var scales = []Parameter{
	optional("scale", "factor by which intensities are multiplied; default 1").positive(),
	optional("background", "intensity that is added everywhere; default 0"),
	optional("noise", "standard deviation of the residuals; only for posteriors").positive(),
}

// measurement lists the scales and the parameters of all nuisances.
func measurement() []Parameter {
	list := slices.Clone(scales)
	for _, name := range sortedNames(nuisances) {
		list = append(list, nuisances[name].Params...)
	}
	return list
}

// response composes the effects whose parameters the problem names; nil if there are none.
func (p *Problem) response(at Values) func(intensity, q *ad.Node) *ad.Node {
	var active []string
	for _, name := range sortedNames(nuisances) {
		n := nuisances[name]
		for _, q := range n.Params {
			_, searched := p.Parameters[q.Name]
			if _, fixed := p.Fixed[q.Name]; searched || fixed {
				active = append(active, name)
				break
			}
		}
	}
	if active == nil {
		return nil
	}
	return func(intensity, q *ad.Node) *ad.Node {
		for _, name := range active {
			if intensity = nuisances[name].apply(name, at, intensity, q); intensity.Err() != nil {
				break
			}
		}
		return intensity
	}
}

// measured returns what a detector sees of intensities at q (1/nm), two vectors of the same length.
func (s Scene) measured(intensity *ad.Node, q []float64) *ad.Node {
	if s.Response != nil {
		seen := s.Response(intensity, ad.Const(q, len(q)))
		switch {
		case seen == nil:
			return failed(intensity, fmt.Errorf("Response of the scene returned nil: want intensities of the shape %v", intensity.Shape()))
		case seen.Err() == nil && !seen.Shape().Equal(intensity.Shape()):
			return failed(intensity, fmt.Errorf("Response of the scene returned the shape %v for intensities of the shape %v: want the same shape", seen.Shape(), intensity.Shape()))
		}
		intensity = seen
	}
	if s.Scale != nil {
		intensity = ad.Mul(s.Scale, intensity)
	}
	if s.Background != nil {
		intensity = ad.Add(intensity, s.Background)
	}
	return intensity
}

// momenta returns |q| in the plane of the detector, in 1/nm, of the elements of flat images [energy, beam,
// QY, QX].
func momenta(qy, qx []float64, images int) []float64 {
	out := make([]float64, 0, images*len(qy)*len(qx))
	for range images {
		for _, y := range qy {
			for _, x := range qx {
				out = append(out, math.Hypot(y, x))
			}
		}
	}
	return out
}

// momentaOf returns |q| of the elements of a pattern.
func momentaOf(p *rsoxs.Pattern) []float64 {
	shape := p.Intensity.Shape()
	return momenta(p.QY, p.QX, shape[0]*shape[1])
}
