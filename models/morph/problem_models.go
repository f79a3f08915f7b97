// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package morph

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/internal/spelling"
)

// Definition is a model that problems can name.
type Definition struct {
	About string // one-line description of the model and the names of its materials
	// Centred says that the model also has the parameters x, y, z, the centre in nm. Where a problem leaves one out, Build gets
	// the middle of the grid.
	Centred bool
	Params  []Parameter // parameters of the model, at least one, besides those that every model has
	// Build makes the scene on a grid from the parameters and the options of a problem. Every scene needs at least one
	// material, with a volume fraction Vfrac from 0 to 1 in every voxel, of the shape g.Shape. S, Theta and Psi, where they are
	// set, have this shape too, and Penalty is a scalar. There are as many materials as sets of optical
	// constants in the problem. What does not fit is an error that names the model. Gradient: must exist with respect to every
	// parameter.
	Build func(p *Problem, g Grid, at Values) Scene
	// Members makes one of the random boxes over which measured patterns are averaged against speckle, from a seed; nil for a model that is
	// not random. What it returns is as from Build, but without a matrix.
	Members func(p *Problem, g Grid, at Values, seed uint64) Scene
	// Closed makes the closed form for measured patterns with pixels up to a q in 1/nm; nil for none. Options.Closed chooses it.
	Closed func(p *Problem, at Values, q float64) ClosedForm
	// Round says that patterns of the closed form vary with the direction as the electric field does.
	Round bool
}

// Register adds a user's model to those that problem files can name by "model". Every model also
// has the parameters scale, background and noise. It is meant for init functions, and panics if the
// definition is incomplete, if the name is taken, or if Limits exclude a Default. What Build returns is checked when a problem uses the
// model, because it depends on the grid.
func Register(name string, d Definition) {
	mustBeWhole("model", name, d.About, len(d.Params), "Build", d.Build == nil)
	if _, taken := problemModels[name]; taken {
		panic(fmt.Sprintf("morph: there already is a model %q: give yours a name of its own", name))
	}
	mustFit("model", name, d.Params)
	for _, q := range d.Params {
		if has(scales, q.Name) {
			panic(fmt.Sprintf("morph: the model %q lists the parameter %q, which every model has already: leave it out, or rename it", name, q.Name))
		}
		if d.Centred && has(middle, q.Name) {
			panic(fmt.Sprintf("morph: the model %q lists the parameter %q, which every model with Centred has already: leave it out, or rename it", name, q.Name))
		}
		for _, n := range sortedNames(nuisances) {
			if has(nuisances[n].Params, q.Name) {
				panic(fmt.Sprintf("morph: the nuisance %q and the model %q both have a parameter %q: rename that of the model", n, name, q.Name))
			}
		}
	}
	problemModels[name] = d
}

// Names of models and nuisances are words of files and lists; names of parameters are columns of draws too.
var plain, variable = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_-]*$`), regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_]*$`)

// mustBeWhole panics if a definition lacks a part, and names the part.
func mustBeWhole(what, name, about string, params int, function string, missing bool) {
	var lacks []string
	for _, part := range []struct {
		name    string
		missing bool
	}{{"its name", name == ""}, {"About", about == ""}, {"Params", params == 0}, {function, missing}} {
		if part.missing {
			lacks = append(lacks, part.name)
		}
	}
	if len(lacks) > 0 {
		panic(fmt.Sprintf("morph: the %s %q is incomplete: set %s", what, name, strings.Join(lacks, ", ")))
	}
	if !plain.MatchString(name) {
		panic(fmt.Sprintf("morph: a %s cannot be called %q: use letters, digits, _ and -, and begin with a letter", what, name))
	}
}

// mustFit panics if a parameter cannot be used: by its name, or by limits that exclude every value or its default.
func mustFit(what, owner string, params []Parameter) {
	for i, q := range params {
		if !variable.MatchString(q.Name) || strings.HasSuffix(q.Name, "__") {
			panic(fmt.Sprintf("morph: the %s %q has a parameter called %q: use letters, digits and _, begin with a letter, and do not end with __", what, owner, q.Name))
		}
		if has(params[:i], q.Name) {
			panic(fmt.Sprintf("morph: the %s %q has the parameter %q twice: give each a name of its own", what, owner, q.Name))
		}
		if q.Default != nil && math.IsNaN(*q.Default) {
			panic(fmt.Sprintf("morph: the parameter %q of the %s %q has the Default NaN: want a number", q.Name, what, owner))
		}
		if q.Limits == nil {
			continue
		}
		if !(q.Limits[0] < q.Limits[1]) {
			panic(fmt.Sprintf("morph: the parameter %q of the %s %q has the Limits %g to %g: want the lower one first", q.Name, what, owner, q.Limits[0], q.Limits[1]))
		}
		if q.Default != nil && !(*q.Default >= q.Limits[0] && *q.Default <= q.Limits[1]) {
			panic(fmt.Sprintf("morph: the parameter %q of the %s %q has the Default %g, which is outside its Limits %g to %g", q.Name, what, owner, *q.Default, q.Limits[0], q.Limits[1]))
		}
	}
}

// Parameter is a parameter of a model. An optional parameter has a default or can be
// left out.
type Parameter struct {
	Name, About string // name of the parameter; its unit and meaning are in About
	// Needed says that a problem must fix the parameter or search for it.
	Needed  bool
	Default *float64             // value of a parameter that a problem leaves out; nil for none, so that Values returns nil
	Length  func(p *Problem) int // length of an array; nil for a number
	Limits  *[2]float64          // physical limits; nil for any number
}

func (q Parameter) size(p *Problem) int {
	if q.Length == nil {
		return 1
	}
	return q.Length(p)
}

// Values returns the Node of the parameter with a given name: a scalar, or a vector if the parameter has a Length above 1. It
// returns nil for an optional parameter without a default that was left out. For a name that is not a parameter, it returns a Node
// that carries an error, which names the parameters that exist.
type Values func(name string) *ad.Node

// radians converts a Node from degrees; nil stays nil.
func radians(x *ad.Node) *ad.Node {
	if x == nil {
		return nil
	}
	return ad.Scale(math.Pi/180, x)
}

func needed(name, about string) Parameter {
	return Parameter{Name: name, About: about, Needed: true}
}

// within sets the physical limits of a parameter.
func (q Parameter) within(lowest, highest float64) Parameter {
	q.Limits = &[2]float64{lowest, highest}
	return q
}

// positive limits a parameter to nonnegative numbers: lengths, factors and standard
// deviations.
func (q Parameter) positive() Parameter { return q.within(0, math.Inf(1)) }

func optional(name, about string) Parameter { return Parameter{Name: name, About: about} }

func usually(name string, value float64, about string) Parameter {
	return Parameter{Name: name, About: about, Default: &value}
}

// middle lists the parameters of models with a centre.
var middle = []Parameter{
	optional("x", "X of the centre in nm; default the middle of the grid"),
	optional("y", "Y of the centre in nm; default the middle of the grid"),
	optional("z", "Z of the centre in nm; default the middle of the grid"),
}

var edge = optional("width", "width of the edges in nm; default options.width").positive()

var aligned = needed("aligned", "order parameter S, from 0 to 1").within(0, 1)

var problemModels = map[string]Definition{
	"core_shell": {Centred: true, About: "a ball in a shell of radial molecules; materials: core, shell",
		Params: []Parameter{needed("radius", "radius of the core in nm").positive(), needed("shell", "thickness of the shell in nm").positive(), aligned, optional("decay", "exponent with which S falls off outwards; default none"),
			edge},
		Build: func(p *Problem, g Grid, at Values) Scene {
			return CoreShell{Grid: g, Centre: centre(at), Radius: at("radius"), Shell: at("shell"), Aligned: at("aligned"), Decay: at("decay"),
				Edge: at("width"), Width: p.Options.Width, Matrix: p.Options.Matrix}.Scene()
		}},
	"rod": {Centred: true, About: "a solid or hollow cylinder; material: rod",
		Params: []Parameter{needed("radius", "outer radius in nm").positive(), aligned, usually("theta_deg", 0, "angle of the axis from +z in degrees; default 0"), usually("phi_deg", 0, "angle of the axis about +z in degrees; default 0"),
			optional("length", "length in nm; default endless").positive(), optional("hole", "radius of the hole in nm; default no hole").positive()},
		Build: func(p *Problem, g Grid, at Values) Scene {
			return Rod{Grid: g, Centre: centre(at), Theta: radians(at("theta_deg")), Phi: radians(at("phi_deg")), Radius: at("radius"), Length: at("length"),
				Hole: at("hole"), Aligned: at("aligned"), Radial: p.Options.Radial, Width: p.Options.Width, Matrix: p.Options.Matrix}.Scene()
		}},
	"lamella": {Centred: true, About: "a stack of lamellae; material: lamellae",
		Params: []Parameter{needed("period", "distance between lamellae in nm").positive(), needed("thickness", "thickness of a lamella in nm").positive(), aligned, usually("theta_deg", 90, "angle of the normal from +z in degrees; default 90"),
			usually("phi_deg", 0, "angle of the normal about +z in degrees; default 0"), optional("tilt_deg", "angle between molecules and normal in degrees; default 0")},
		Build: func(p *Problem, g Grid, at Values) Scene {
			return Lamella{Grid: g, Centre: centre(at), Theta: radians(at("theta_deg")), Phi: radians(at("phi_deg")), Period: at("period"), Thickness: at("thickness"),
				Tilt: radians(at("tilt_deg")), Aligned: at("aligned"), Width: p.Options.Width, Matrix: p.Options.Matrix}.Scene()
		}},
	"grain": {Centred: true, About: "a grain of lamellae, aligned near their interfaces; material: lamellae",
		Params: []Parameter{needed("period", "distance between lamellae in nm").positive(), needed("lamella", "thickness of a lamella in nm").positive(), aligned, usually("theta_deg", 90, "angle of the normal from +z in degrees; default 90"),
			usually("phi_deg", 0, "angle of the normal about +z in degrees; default 0"), optional("tilt_deg", "angle of molecules from the normal in degrees; default 0"),
			optional("interface", "length of the fall of S from interfaces in nm; default none").positive(),
			optional("grain", "sd of the Gaussian envelope in nm; default no envelope").positive(), edge},
		Build: func(p *Problem, g Grid, at Values) Scene {
			return Grain{Grid: g, Centre: centre(at), Theta: radians(at("theta_deg")), Phi: radians(at("phi_deg")), Period: at("period"), Thickness: at("lamella"), Tilt: radians(at("tilt_deg")),
				Aligned: at("aligned"), Interface: at("interface"), Size: at("grain"), Edge: at("width"), Width: p.Options.Width, Matrix: p.Options.Matrix}.Scene()
		}},
	"film": {About: "a film with waves of composition and director; material: aligned phase",
		Params: []Parameter{{Name: "composition", About: "(2 order + 1)^2 coefficients of the logit of the fraction", Needed: true, Length: waves},
			{Name: "director_deg", About: "as many coefficients of the angle of the director from +x", Needed: true, Length: waves}, aligned},
		Build: func(p *Problem, g Grid, at Values) Scene {
			return Film{Grid: g, Composition: at("composition"), Director: radians(at("director_deg")), Order: p.Options.Order, Aligned: at("aligned"), Matrix: p.Options.Matrix}.Scene()
		}},
	"voxels": {About: "a box in which every voxel is free; material: box",
		Params: []Parameter{{Name: "logit", About: "logit of the volume fraction of each voxel, axes Z, Y, X", Needed: true, Length: support},
			{Name: "aligned", About: "order parameter S, one or one per voxel; default isotropic", Length: support, Limits: aligned.Limits},
			{Name: "theta_deg", About: "angle of the director from +z, one or one per voxel; default 90", Default: new(90.0), Length: support},
			{Name: "psi_deg", About: "angle of the director about +z, one or one per voxel; default 0", Default: new(0.0), Length: support}},
		Build: func(p *Problem, g Grid, at Values) Scene {
			o := p.Options
			v := Voxels{Grid: g, From: o.From, To: o.To, Logit: at("logit"), Variation: o.Variation, Roughness: o.Roughness, Matrix: o.Matrix}
			if v.S = at("aligned"); v.S != nil {
				v.Theta, v.Psi = radians(at("theta_deg")), radians(at("psi_deg"))
			}
			return v.Scene()
		}},
}

func waves(p *Problem) int { n := 2*p.Options.Order + 1; return n * n }

func support(p *Problem) int {
	from, to := p.Options.From, p.Options.To
	if to == ([3]int{}) {
		to = p.Grid.Shape
	}
	return (to[0] - from[0]) * (to[1] - from[1]) * (to[2] - from[2])
}

// centre returns the parameters x, y, z of a centred model.
func centre(at Values) Vec { return Vec{at("x"), at("y"), at("z")} }

// middleOf returns the coordinates of the middle of a grid in nm, by the names of the parameters.
func middleOf(g ProblemGrid) map[string]float64 {
	c := map[string]float64{}
	for i, q := range middle {
		c[q.Name] = float64(g.Shape[2-i]-1) / 2 * g.Voxel
	}
	return c
}

func names(params []Parameter) (list []string) {
	for _, q := range params {
		list = append(list, q.Name)
	}
	return list
}

// didYouMean returns a question with the parameter that a name resembles most, or nothing.
func didYouMean(name string, params []Parameter) string {
	if m := spelling.Meant(name, names(params)); m != "" {
		return fmt.Sprintf(" (did you mean %q?)", m)
	}
	return ""
}

func (m Definition) all() []Parameter {
	list := slices.Clone(m.Params)
	if m.Centred {
		list = append(list, middle...)
	}
	return append(list, measurement()...)
}

// searched lists the parameters to be found, in the order of the model.
func (p *Problem) searched() (list []Parameter) {
	for _, q := range problemModels[p.Model].all() {
		if _, ok := p.Parameters[q.Name]; ok {
			list = append(list, q)
		}
	}
	return list
}

// build serves as Inversion.Build; nodes has the order of searched.
func (p *Problem) build(nodes []*ad.Node) Scene {
	given := map[string]*ad.Node{}
	for i, q := range p.searched() {
		given[q.Name] = nodes[i]
	}
	at := p.Values(given)
	s := p.Morphology(at)
	s.Scale, s.Background, s.Sigma = at("scale"), at("background"), at("noise")
	s.Response = p.response(at)
	return s
}

// Morphology returns the scattering object of the model, without what the measurement does to it.
func (p *Problem) Morphology(at Values) Scene {
	return problemModels[p.Model].Build(p, Grid{Shape: p.Grid.Shape, Voxel: p.Grid.Voxel}, at)
}

// MorphologyNames returns the names of the parameters of the model, without those of the measurement.
func (p *Problem) MorphologyNames() []string {
	m := problemModels[p.Model]
	list := names(m.Params)
	if m.Centred {
		list = append(list, names(middle)...)
	}
	return list
}

// Values returns the parameters of a problem: those given, those that are fixed, and defaults.
func (p *Problem) Values(given map[string]*ad.Node) Values {
	m := problemModels[p.Model]
	fallback := map[string]*float64{}
	length := map[string]int{}
	for _, q := range m.all() {
		fallback[q.Name] = q.Default
		if q.Needed {
			length[q.Name] = q.size(p)
		}
	}
	if m.Centred {
		for name, x := range middleOf(p.Grid) {
			fallback[name] = &x
		}
	}
	return func(name string) *ad.Node {
		x, fixed := p.Fixed[name]
		switch n := given[name]; {
		case n != nil:
			return n
		case fixed:
		case fallback[name] != nil:
			x = *fallback[name]
		case !has(m.all(), name):
			return ad.Fail(fmt.Errorf("morph: there is no parameter %q%s: choose from those of the model %q: %s", name, didYouMean(name, m.all()), p.Model, strings.Join(names(m.all()), ", ")))
		default:
			return nil
		}
		if n := length[name]; n > 1 {
			return ad.Broadcast(ad.Scalar(x), n)
		}
		return ad.Scalar(x)
	}
}

// Scene returns the scene of a problem at parameter values x, given in the order of
// Names.
func (p *Problem) Scene(x []float64) (Scene, error) {
	var params []Param
	for _, q := range p.searched() {
		params = append(params, Param{Name: q.Name, Start: make([]float64, q.size(p))})
	}
	v := Inversion{Params: params, Build: p.build}
	s, err := v.scene(x)
	if err != nil {
		return s, err
	}
	return s, p.fields(s)
}

// ProblemModels describes the models of problems, the nuisances and the parameters of both, one per line.
func ProblemModels() string {
	var b strings.Builder
	describe := func(title string, params []Parameter) {
		b.WriteString(title + "\n")
		for _, q := range params {
			fmt.Fprintf(&b, "  %-13s%s\n", q.Name, q.About)
		}
	}
	for _, name := range sortedNames(problemModels) {
		describe(name+": "+problemModels[name].About, problemModels[name].Params)
	}
	describe("every model, except that film and voxels have no x, y and z:", append(slices.Clone(middle), scales...))
	for _, name := range sortedNames(nuisances) {
		describe(name+", a nuisance that every model can have: "+nuisances[name].About, nuisances[name].Params)
	}
	return b.String()
}

// PartName returns what the model calls its material i, counted from 0, as its About lists them, or "matrix" for the one after these; empty where it
// gives no name.
func (p *Problem) PartName(i int) string {
	m := problemModels[p.Model]
	_, list, ok := strings.Cut(m.About, "material: ")
	if !ok {
		_, list, ok = strings.Cut(m.About, "materials: ")
	}
	names := strings.Split(list, ", ")
	switch {
	case !ok:
		return ""
	case i < len(names):
		return names[i]
	case i == len(names) && p.Options.Matrix:
		return "matrix"
	}
	return ""
}
