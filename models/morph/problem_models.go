package morph

import (
	"fmt"
	"math"
	"slices"
	"strings"

	ad "github.com/euryale-dev/euryale/autodiff"
)

// problemModel is a model that problems can name.
type problemModel struct {
	about   string
	centred bool // whether the model has the parameters x, y, z
	params  []problemParam
	build   func(p *Problem, g Grid, at values) Scene
}

// problemParam is a parameter of a model. An optional parameter has a default or can be
// left out.
type problemParam struct {
	name, about string
	needed      bool
	fallback    *float64
	length      func(p *Problem) int // length of an array; nil for a number
	limits      *[2]float64          // physical limits; nil for any number
}

func (q problemParam) size(p *Problem) int {
	if q.length == nil {
		return 1
	}
	return q.length(p)
}

// values returns the Node of the parameter with a given name, or nil if it was left out.
type values func(name string) *ad.Node

// radians converts a Node from degrees; nil stays nil.
func radians(x *ad.Node) *ad.Node {
	if x == nil {
		return nil
	}
	return ad.Scale(math.Pi/180, x)
}

func needed(name, about string) problemParam {
	return problemParam{name: name, about: about, needed: true}
}

// within sets the physical limits of a parameter.
func (q problemParam) within(lowest, highest float64) problemParam {
	q.limits = &[2]float64{lowest, highest}
	return q
}

// positive limits a parameter to nonnegative numbers: lengths, factors and standard
// deviations.
func (q problemParam) positive() problemParam { return q.within(0, math.Inf(1)) }

func optional(name, about string) problemParam { return problemParam{name: name, about: about} }

func usually(name string, value float64, about string) problemParam {
	return problemParam{name: name, about: about, fallback: &value}
}

// nuisance lists the parameters that every model has.
var nuisance = []problemParam{
	optional("scale", "factor of the intensities; default 1").positive(),
	optional("background", "added to the intensities; default 0"),
	optional("noise", "standard deviation of the residuals, of posteriors").positive(),
}

// middle lists the parameters of models with a centre.
var middle = []problemParam{
	optional("x", "nm, of the centre; default the middle of the grid"),
	optional("y", "nm, of the centre"),
	optional("z", "nm, of the centre"),
}

var aligned = needed("aligned", "order parameter S, 0 to 1").within(0, 1)

var problemModels = map[string]problemModel{
	"core_shell": {centred: true, about: "ball in a shell of radial molecules; materials core, shell",
		params: []problemParam{needed("radius", "nm, of the core").positive(), needed("shell", "nm, thickness").positive(), aligned, optional("decay", "exponent by which S falls off outwards")},
		build: func(p *Problem, g Grid, at values) Scene {
			return CoreShell{Grid: g, Centre: centre(g, at), Radius: at("radius"), Shell: at("shell"), Aligned: at("aligned"), Decay: at("decay"),
				Width: p.Options.Width, Matrix: p.Options.Matrix}.Scene()
		}},
	"rod": {centred: true, about: "cylinder, hollow or not; material rod",
		params: []problemParam{needed("radius", "nm").positive(), aligned, usually("theta_deg", 0, "of the axis from +z; default 0"), usually("phi_deg", 0, "of the axis about +z; default 0"),
			optional("length", "nm; default endless").positive(), optional("hole", "nm, radius; default none").positive()},
		build: func(p *Problem, g Grid, at values) Scene {
			return Rod{Grid: g, Centre: centre(g, at), Theta: radians(at("theta_deg")), Phi: radians(at("phi_deg")), Radius: at("radius"), Length: at("length"),
				Hole: at("hole"), Aligned: at("aligned"), Radial: p.Options.Radial, Width: p.Options.Width, Matrix: p.Options.Matrix}.Scene()
		}},
	"lamella": {centred: true, about: "stack of lamellae; material lamellae",
		params: []problemParam{needed("period", "nm").positive(), needed("thickness", "nm").positive(), aligned, usually("theta_deg", 90, "of the normal from +z; default 90"),
			usually("phi_deg", 0, "of the normal about +z; default 0"), optional("tilt_deg", "of the molecules against the normal; default 0")},
		build: func(p *Problem, g Grid, at values) Scene {
			return Lamella{Grid: g, Centre: centre(g, at), Theta: radians(at("theta_deg")), Phi: radians(at("phi_deg")), Period: at("period"), Thickness: at("thickness"),
				Tilt: radians(at("tilt_deg")), Aligned: at("aligned"), Width: p.Options.Width, Matrix: p.Options.Matrix}.Scene()
		}},
	"film": {about: "waves of composition and director; material the aligned phase",
		params: []problemParam{{name: "composition", about: "logits of the fraction: (2 order + 1)^2 coefficients", needed: true, length: waves},
			{name: "director_deg", about: "angle from +x: as many coefficients", needed: true, length: waves}, aligned},
		build: func(p *Problem, g Grid, at values) Scene {
			return Film{Grid: g, Composition: at("composition"), Director: radians(at("director_deg")), Order: p.Options.Order, Aligned: at("aligned"), Matrix: p.Options.Matrix}.Scene()
		}},
	"voxels": {about: "every voxel of a box on its own; material the box",
		params: []problemParam{{name: "logit", about: "logits of the volume fraction, Z, Y, X of the support", needed: true, length: support},
			{name: "aligned", about: "order parameter S, one or each; default isotropic", length: support, limits: aligned.limits},
			{name: "theta_deg", about: "of the directors from +z, one or each; default 90", fallback: new(90.0), length: support},
			{name: "psi_deg", about: "of the directors about +z, one or each; default 0", fallback: new(0.0), length: support}},
		build: func(p *Problem, g Grid, at values) Scene {
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

// centre returns the middle of the grid, except for coordinates given by the parameters
// x, y, z.
func centre(g Grid, at values) (c Vec) {
	for i, name := range []string{"x", "y", "z"} {
		if c[i] = at(name); c[i] == nil {
			c[i] = ad.Scalar(float64(g.Shape[2-i]-1) / 2 * g.Voxel)
		}
	}
	return c
}

func (m problemModel) all() []problemParam {
	list := slices.Clone(m.params)
	if m.centred {
		list = append(list, middle...)
	}
	return append(list, nuisance...)
}

// searched lists the parameters to be found, in the order of the model.
func (p *Problem) searched() (list []problemParam) {
	for _, q := range problemModels[p.Model].all() {
		if _, ok := p.Parameters[q.name]; ok {
			list = append(list, q)
		}
	}
	return list
}

// build serves as Inversion.Build; nodes has the order of searched.
func (p *Problem) build(nodes []*ad.Node) Scene {
	m := problemModels[p.Model]
	given := map[string]*ad.Node{}
	for i, q := range p.searched() {
		given[q.name] = nodes[i]
	}
	fallback := map[string]*float64{}
	length := map[string]int{}
	for _, q := range m.all() {
		fallback[q.name] = q.fallback
		if q.needed {
			length[q.name] = q.size(p)
		}
	}
	at := func(name string) *ad.Node {
		x, fixed := p.Fixed[name]
		switch n := given[name]; {
		case n != nil:
			return n
		case fixed:
		case fallback[name] != nil:
			x = *fallback[name]
		default:
			return nil
		}
		if n := length[name]; n > 1 {
			return ad.Broadcast(ad.Scalar(x), n)
		}
		return ad.Scalar(x)
	}
	s := m.build(p, Grid{Shape: p.Grid.Shape, Voxel: p.Grid.Voxel}, at)
	s.Scale, s.Background, s.Sigma = at("scale"), at("background"), at("noise")
	return s
}

// Scene returns the scene of a problem at parameter values x, given in the order of
// Names.
func (p *Problem) Scene(x []float64) (Scene, error) {
	var params []Param
	for _, q := range p.searched() {
		params = append(params, Param{Name: q.name, Start: make([]float64, q.size(p))})
	}
	v := Inversion{Params: params, Build: p.build}
	return v.scene(x)
}

// ProblemModels describes the models of problems and their parameters, one per line.
func ProblemModels() string {
	var b strings.Builder
	for _, name := range sortedNames(problemModels) {
		m := problemModels[name]
		fmt.Fprintf(&b, "%s: %s\n", name, m.about)
		for _, q := range m.params {
			fmt.Fprintf(&b, "  %-13s%s\n", q.name, q.about)
		}
	}
	b.WriteString("all; x, y, z but for film and voxels:\n")
	for _, q := range append(slices.Clone(middle), nuisance...) {
		fmt.Fprintf(&b, "  %-13s%s\n", q.name, q.about)
	}
	return b.String()
}
