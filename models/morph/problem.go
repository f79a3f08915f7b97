// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package morph

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/infer/dist"
	"github.com/euryale-dev/euryale/internal/errtext"
	"github.com/euryale-dev/euryale/internal/foreign"
	"github.com/euryale-dev/euryale/internal/spelling"
	"github.com/euryale-dev/euryale/sim/rsoxs"
	"github.com/euryale-dev/euryale/tensor"
)

// Problem is an inversion as a JSON document, for people who do not write Go:
//
//	{"model": "core_shell", "grid": {"shape": [16, 48, 48], "voxel": 2.5},
//	 "parameters": {"radius": {"start": 10, "bounds": [2, 20]}, "shell": {"start": 11}, "aligned": {"start": 0.3}},
//	 "data": "HDF5", "constants": ["Material1.txt", "Material2.txt"],
//	 "angles": [0, 15, 165], "rot_mask": true, "mask": {"q": [0.05, 0.6]}, "sigma": 0.1}
//
// Lengths are in nm, q in 1/nm, energies in eV, angles in degrees. ProblemModels
// lists the models with their parameters.
type Problem struct {
	Model      string                  `json:"model"`
	Grid       ProblemGrid             `json:"grid"`
	Options    ProblemOptions          `json:"options,omitzero"`
	Parameters map[string]ProblemParam `json:"parameters"`      // parameters to be found
	Fixed      map[string]float64      `json:"fixed,omitempty"` // parameters with fixed values

	// The files, and what they contain: a folder of Energy_*.h5 or an NPY file, whose reading gives a Measurement, or measured patterns
	// (see Measured), which package measured opens.
	Data DataFiles `json:"data"`
	// Energies in eV of an NPY file, or those to read from a folder.
	Energies []float64 `json:"energies,omitempty"`
	// Constants has one entry per material: a file such as Material1.txt, "vacuum", or
	// rows [DeltaPara, BetaPara, DeltaPerp, BetaPerp] by energy. For measured patterns, molecules with three optical axes have DeltaPerp2 and
	// BetaPerp2, along a second axis across the director, after these.
	Constants []json.RawMessage `json:"constants"`
	// Config names a config.txt with the measurement settings, which replaces the next three
	// fields.
	Config string `json:"config,omitempty"`
	// Angles of the electric field in degrees: first, step, last. Default 0.
	Angles *[3]float64 `json:"angles,omitempty"`
	// RotMask averages over the angles that reach a pixel.
	RotMask bool `json:"rot_mask,omitempty"`
	// Hann applies a Hann window.
	Hann bool `json:"hann,omitempty"`

	QGrid string      `json:"q_grid,omitempty"` // q grid: "cyrsoxs" (default) or "exact"
	Mask  ProblemMask `json:"mask,omitzero"`
	// Quantity compared: "images" (default), or "curves" for I(q) and A(q).
	Compare string  `json:"compare,omitempty"`
	Loss    string  `json:"loss,omitempty"` // loss function: "log" (default), "square" or "poisson"
	Eps     float64 `json:"eps,omitempty"`  // offset of logarithms; see Inversion
	// Sigma is the standard deviation of the residuals; see Inversion. Without it, errors
	// follow from the scatter of the residuals.
	Sigma float64 `json:"sigma,omitempty"`
	// MaxNFev is the largest number of evaluations per fit. Default from package optim.
	MaxNFev int `json:"max_nfev,omitempty"`
	// Method is "lm", "lbfgs", "nuts", or "phase", which finds voxels from nothing by projections and then minimises as lbfgs does.
	// Default lm, or lbfgs if lm is not possible.
	Method string `json:"method,omitempty"`

	MeasuredFiles
}

// ProblemGrid is the simulated volume.
type ProblemGrid struct {
	Shape [3]int  `json:"shape"` // number of voxels along Z, Y, X
	Voxel float64 `json:"voxel"` // edge length of a voxel in nm
}

// ProblemOptions are the options of models other than their parameters.
type ProblemOptions struct {
	// Matrix fills the rest with a further material instead of vacuum.
	Matrix bool    `json:"matrix,omitempty"`
	Width  float64 `json:"width,omitempty"` // width of edges in nm. Default half a voxel
	// Radial makes the molecules of rods point outwards from the axis.
	Radial    bool    `json:"radial,omitempty"`
	Order     int     `json:"order,omitempty"`     // order of the waves of films
	From      [3]int  `json:"from,omitzero"`       // start of the support of voxels along Z, Y, X
	To        [3]int  `json:"to,omitzero"`         // end of the support of voxels (exclusive)
	Variation float64 `json:"variation,omitempty"` // weight of TotalVariation for voxels. Default 0
	Roughness float64 `json:"roughness,omitempty"` // weight of Roughness for voxels. Default 0

	Boxes int    `json:"boxes,omitempty"` // simulated boxes over which measured patterns of random models are averaged. Default 8
	Seed  uint64 `json:"seed,omitempty"`  // seed of the first box; the others follow

	Closed     bool `json:"closed,omitempty"`     // formulas in place of voxels, for measured patterns
	Tangential bool `json:"tangential,omitempty"` // molecules of particles lie in the surfaces of shells
	LogNormal  bool `json:"log_normal,omitempty"` // sizes have log-normal distributions in place of Schulz's
	Local      bool `json:"local,omitempty"`      // neighbours of particles have their size: the local monodisperse approximation
	Around     bool `json:"around,omitempty"`     // axes of rods, stacks and ellipsoids have all azimuths
	// Places of particles, rods and ellipsoids in the plane of the film, x and y in nm, which ReadStarts reads from PlacesFile, and the
	// sides of the rectangle along x and y in nm in which they were counted.
	Places     [][2]float64 `json:"places,omitempty"`
	PlacesFile string       `json:"places_file,omitempty"`
	Box        [2]float64   `json:"box,omitzero"`
}

// ProblemParam is a parameter to be found.
type ProblemParam struct {
	Start StartValues `json:"start,omitempty"` // starting value, or the values of an array's elements
	// NPY file with the starting values; its reader sets Start.
	File   string    `json:"start_file,omitempty"`
	Bounds []float64 `json:"bounds,omitempty"` // bounds [lowest, highest]; nil for none
	// Prior is a distribution of package infer/dist, such as "normal(10, 2)". Default:
	// uniform between the bounds, or flat without them.
	Prior string `json:"prior,omitempty"`
}

// ProblemMask selects pixels. With Loss "log" they must be positive, with "poisson" not
// negative.
type ProblemMask struct {
	Q []float64 `json:"q,omitempty"` // range [smallest, largest] of |q| in the detector plane in 1/nm
	// NPY file with the shape of the data or of one image; zeros exclude pixels.
	File string `json:"file,omitempty"`
}

// StartValues is a number or a list of numbers in JSON.
type StartValues []float64

// UnmarshalJSON reads a number or a list of numbers.
func (v *StartValues) UnmarshalJSON(b []byte) error {
	var one float64
	if err := json.Unmarshal(b, &one); err == nil {
		*v = StartValues{one}
		return nil
	}
	if json.Unmarshal(b, (*[]float64)(v)) != nil {
		return fmt.Errorf("%.40s: want a number or a list of numbers", b)
	}
	return nil
}

// ParseProblem reads a document. It returns an error for unknown keys, suggesting the
// closest known one, and for impossible numbers.
func ParseProblem(b []byte) (*Problem, error) { return ParseProblemIn(b, "") }

// ParseProblemIn is ParseProblem for a document whose relative paths start from a folder: a folder of data that holds images or a Zarr store
// is one of measured patterns without a key that says so. An empty folder looks at no files.
func ParseProblemIn(b []byte, base string) (*Problem, error) {
	b, err := foreign.Problem(b, foreign.MorphologyProblem)
	if err != nil {
		return nil, fmt.Errorf("morph: problem: %w", err)
	}
	if err := strictKeys(b, reflect.TypeFor[Problem](), ""); err != nil {
		return nil, fmt.Errorf("morph: problem: %w", err)
	}
	if err := lengthsOf0(b); err != nil {
		return nil, fmt.Errorf("morph: problem: %w", err)
	}
	p := &Problem{}
	d := json.NewDecoder(bytes.NewReader(b))
	if err := d.Decode(p); err != nil {
		return nil, fmt.Errorf("morph: problem: %w", foreign.InWords(b, err))
	}
	if base != "" {
		p.lookAt(base)
	}
	return p, p.Check()
}

// Check returns an error that lists what is wrong with the numbers of a problem.
func (p *Problem) Check() error {
	if err := p.check(); err != nil {
		return fmt.Errorf("morph: problem: %w", err)
	}
	return nil
}

// strictKeys finds keys of objects that structs of type t do not have.
func strictKeys(b []byte, t reflect.Type, where string) error {
	switch t.Kind() {
	case reflect.Map:
		var raw map[string]json.RawMessage
		if err := json.Unmarshal(b, &raw); err != nil {
			return placedAt(b, err, where)
		}
		for _, name := range sortedNames(raw) {
			if err := strictKeys(raw[name], t.Elem(), where+name+"."); err != nil {
				return err
			}
		}
	case reflect.Pointer:
		return strictKeys(b, t.Elem(), where)
	case reflect.Array:
		var raw []json.RawMessage
		if json.Unmarshal(b, &raw) == nil && raw != nil && len(raw) != t.Len() {
			return fmt.Errorf("%s has %s: want %d", strings.TrimSuffix(where, "."), errtext.Count(len(raw), "number"), t.Len())
		}
	case reflect.Struct:
		var raw map[string]json.RawMessage
		if err := json.Unmarshal(b, &raw); err != nil {
			return placedAt(b, err, where)
		}
		fields := map[string]reflect.Type{}
		for _, f := range reflect.VisibleFields(t) {
			if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); !f.Anonymous {
				fields[name] = f.Type
			}
		}
		for _, name := range sortedNames(raw) {
			f, ok := fields[name]
			if !ok {
				return unknown("key", where+name, name, sortedNames(fields))
			}
			if err := strictKeys(raw[name], f, where+name+"."); err != nil {
				return err
			}
		}
	}
	return nil
}

// placedAt adds to err the place in the document at which a value has the wrong type.
func placedAt(b []byte, err error, where string) error {
	if where == "" {
		return foreign.InWords(b, err)
	}
	return fmt.Errorf("%s is %.40s: want an object", strings.TrimSuffix(where, "."), b)
}

func sortedNames[T any](m map[string]T) []string {
	var names []string
	for n := range m {
		names = append(names, n)
	}
	slices.Sort(names)
	return names
}

// unknown is the error for a name that is not among the known ones.
func unknown(what, path, name string, known []string) error {
	if m := spelling.Meant(name, known); m != "" {
		return fmt.Errorf("unknown %s %q: did you mean %q?", what, path, m)
	}
	return fmt.Errorf("unknown %s %q: choose from %s", what, path, errtext.Few(known, 24))
}

// mostVoxels is the largest volume of a problem; each voxel needs about a hundred bytes.
const mostVoxels = 1 << 26

// check is Check without the error prefix.
func (p *Problem) check() error {
	m, ok := problemModels[p.Model]
	if !ok {
		return fmt.Errorf("%w%s", unknown("model", p.Model, p.Model, sortedNames(problemModels)), errtext.OwnPart)
	}
	n := p.Grid.Shape
	if bad := append(p.checkClosed(m), p.checkBoxes(m)...); bad != nil {
		return errors.New(strings.Join(bad, "; "))
	}
	if p.IsClosed() && p.Grid == (ProblemGrid{}) {
		n = [3]int{1, 2, 2}
	}
	if n[0] < 1 || n[1] < 2 || n[2] < 2 || n[0] > mostVoxels/n[1] || n[0]*n[1] > mostVoxels/n[2] {
		return fmt.Errorf("grid.shape is %v: want at least 1, 2 and 2 voxels along Z, Y, X and at most %d together", n, mostVoxels)
	}
	bad := append(p.checkVolume(), p.checkMeasurement()...)
	if bad == nil {
		bad = p.checkParams(m)
	}
	if bad != nil {
		return errors.New(strings.Join(bad, "; "))
	}
	return nil
}

// checkVolume checks the size of voxels and the options.
func (p *Problem) checkVolume() (bad []string) {
	o, n := p.Options, p.Grid.Shape
	if o.Width < 0 || o.Order < 0 || o.Order > 64 || o.Variation < 0 || o.Roughness < 0 {
		bad = append(bad, fmt.Sprintf("the options are %+v: want none below 0, and order up to 64", o))
	}
	if p.IsClosed() && p.Grid == (ProblemGrid{}) {
		return bad
	}
	if !(p.Grid.Voxel > 0) || math.IsInf(p.Grid.Voxel, 0) {
		bad = append(bad, fmt.Sprintf("grid.voxel is %g: want the edge of a voxel in nm, above 0", p.Grid.Voxel))
	}
	for i := range n {
		if o.From[i] < 0 || o.To[i] > n[i] || o.To != [3]int{} && o.To[i] <= o.From[i] || o.To == [3]int{} && o.From != [3]int{} {
			return append(bad, fmt.Sprintf("the support goes from options.from %v to options.to %v: want a box within %v", o.From, o.To, n))
		}
	}
	return bad
}

// losses returns what the loss may be called. Package measured knows the likelihoods of measured patterns.
func (p *Problem) losses() []string {
	if p.Measured() {
		return []string{"", p.Loss}
	}
	return []string{"", "log", "square", "poisson"}
}

// checkMeasurement checks the data and the settings of the comparison.
func (p *Problem) checkMeasurement() (bad []string) {
	for _, c := range []struct {
		key, value string
		known      []string
	}{{"q_grid", p.QGrid, []string{"", "cyrsoxs", "exact"}}, {"compare", p.Compare, []string{"", "images", "curves"}},
		{"loss", p.Loss, p.losses()}, {"method", p.Method, []string{"", "lm", "lbfgs", "nuts", methodPhase}}} {
		if !slices.Contains(c.known, c.value) {
			bad = append(bad, unknown(c.key, c.value, c.value, c.known[1:]).Error())
		}
	}
	if q := p.Mask.Q; q != nil && (len(q) != 2 || !(q[0] < q[1])) {
		bad = append(bad, fmt.Sprintf("mask.q is %v: want the smallest and the largest q in 1/nm", q))
	}
	if len(p.Data) == 0 && p.Geometry.Shape == nil || slices.Contains(p.Data.Names(), "") {
		bad = append(bad, "data is missing: name a folder of Energy_*.h5, an NPY file, or files of measured patterns (only energies can be chosen without data, for a detector of which \"geometry\" says the shape)")
	}
	if p.MaxNFev < 0 {
		bad = append(bad, fmt.Sprintf("max_nfev is %d: want at least 1, or leave it out for no limit", p.MaxNFev))
	}
	bad = append(bad, p.checkPhase()...)
	if p.Measured() {
		return append(bad, p.checkMeasured()...)
	}
	if p.Sigma < 0 {
		bad = append(bad, fmt.Sprintf("sigma is %g: want more than 0", p.Sigma))
	}
	if p.Compare == "curves" && p.Loss != "" && p.Loss != "log" {
		bad = append(bad, fmt.Sprintf("curves are always compared by their logarithms: leave loss %s out, or set it to log", p.Loss))
	}
	_, searched := p.Parameters["noise"]
	_, held := p.Fixed["noise"]
	switch infers := searched || held; {
	case infers && (p.Method != "nuts" || p.Loss == "poisson"):
		bad = append(bad, "noise can only be a parameter of posteriors of intensities: set method nuts, and loss log or square")
	case p.Method == "nuts" && !infers && p.Sigma == 0 && p.Loss != "poisson":
		bad = append(bad, "a posterior needs sigma, the standard deviation of the residuals, or a parameter noise with a prior")
	}
	return bad
}

// checkParams checks names, sizes, bounds and priors.
func (p *Problem) checkParams(m Definition) (bad []string) {
	known, models := map[string]int{}, map[string]Parameter{}
	for _, q := range m.all() {
		if p.Measured() && !slices.Contains(p.MorphologyNames(), q.Name) {
			continue
		}
		known[q.Name], models[q.Name] = q.size(p), q
		if q.Needed && len(p.Parameters[q.Name].Start) == 0 && p.Parameters[q.Name].File == "" {
			if _, fixed := p.Fixed[q.Name]; !fixed {
				bad = append(bad, fmt.Sprintf("%s needs the parameter %s, %s: give it under parameters or fixed", p.Model, q.Name, q.About))
			}
		}
	}
	for _, name := range sortedNames(p.Fixed) {
		if _, ok := known[name]; !ok && !p.Measured() {
			bad = append(bad, unknown("parameter", name, name, sortedNames(known)).Error())
		} else if _, both := p.Parameters[name]; both {
			bad = append(bad, fmt.Sprintf("%s is both searched and fixed: do only one of these", name))
		} else if l := models[name].Limits; l != nil && !(p.Fixed[name] >= l[0] && p.Fixed[name] <= l[1]) {
			bad = append(bad, fmt.Sprintf("%s is fixed at %g: want %g to %g", name, p.Fixed[name], l[0], l[1]))
		}
	}
	if len(p.Parameters) == 0 {
		bad = append(bad, "there are no parameters to search: give at least one under parameters")
	}
	for _, name := range sortedNames(p.Parameters) {
		q := p.Parameters[name]
		size, ok := known[name]
		switch {
		case !ok && p.Measured(): // package measured knows the parameters of a measurement
		case !ok:
			bad = append(bad, unknown("parameter", name, name, sortedNames(known)).Error())
		case q.File != "" && q.Start != nil:
			bad = append(bad, fmt.Sprintf("%s has both start and start_file: give only one of them", name))
		case q.File != "":
		case len(q.Start) != size && len(q.Start) != 1:
			want := "1"
			if size > 1 {
				want += fmt.Sprintf(" or %d", size)
			}
			bad = append(bad, fmt.Sprintf("%s has %s: want %s", name, errtext.Count(len(q.Start), "starting value"), want))
		case q.Bounds != nil && (len(q.Bounds) != 2 || !(q.Bounds[0] < q.Bounds[1])):
			bad = append(bad, fmt.Sprintf("the bounds of %s are %v: want [lowest, highest]", name, q.Bounds))
		default:
			bad = append(bad, models[name].excluded(name, q)...)
		}
	}
	return bad
}

// excluded reports contradictions between bounds, starting values, prior and physical
// limits.
func (m Parameter) excluded(name string, q ProblemParam) (bad []string) {
	if l := m.Limits; l != nil && q.Bounds != nil && (q.Bounds[0] < l[0] || q.Bounds[1] > l[1]) {
		return []string{fmt.Sprintf("the bounds of %s are %g to %g: choose them within the limits of %s, %g to %g", name, q.Bounds[0], q.Bounds[1], name, l[0], l[1])}
	}
	if b := m.bounds(q); b != nil {
		for i, x := range q.Start {
			if !(x >= b[0] && x <= b[1]) {
				return []string{fmt.Sprintf("%s starts at %g (number %d), outside %g to %g: change the start or the bounds", name, x, i+1, b[0], b[1])}
			}
		}
	}
	if _, err := m.distribution(q); err != nil {
		bad = append(bad, fmt.Sprintf("prior of %s: %v", name, err))
	}
	return bad
}

// bounds returns the bounds in the problem or else the physical limits; nil for none. A
// prior without bounds keeps its own support, unless the parameter is limited on both
// sides.
func (m Parameter) bounds(q ProblemParam) []float64 {
	switch {
	case q.Bounds != nil:
		return q.Bounds
	case m.Limits == nil || q.Prior != "" && math.IsInf(m.Limits[1], 1):
		return nil
	}
	return m.Limits[:]
}

// distribution returns the prior truncated by the bounds; nil for none.
func (m Parameter) distribution(q ProblemParam) (*dist.Dist, error) {
	if q.Prior == "" {
		return nil, nil
	}
	d, err := dist.Parse(q.Prior)
	b := m.bounds(q)
	if err != nil || b == nil {
		return &d, err
	}
	low, high, err := dist.Range(d)
	switch {
	case err != nil:
		return &d, err
	case high <= b[0] || low >= b[1]:
		return &d, fmt.Errorf("the prior %s lies between %g and %g, outside the bounds %g to %g: change one of them", q.Prior, low, high, b[0], b[1])
	case low >= b[0] && high <= b[1]:
		return &d, nil
	}
	if share, nothing := dist.Left(d, b[0], b[1]); nothing {
		return &d, fmt.Errorf("the prior %s has a probability of %.2g between the bounds, %g and %g: change one of them", q.Prior, share, b[0], b[1])
	}
	d = dist.Truncate(d, b[0], b[1])
	return &d, d.Err()
}

// Inversion combines a problem with its measurement.
func (p *Problem) Inversion(m Measurement) (*Inversion, error) {
	if p.QGrid == "exact" {
		m.Config.Grid = rsoxs.ExactGrid
	}
	v := &Inversion{Optics: m.Optics, Build: p.build, Eps: p.Eps, Sigma: p.Sigma,
		Loss: map[string]Loss{"square": SquareLoss, "poisson": PoissonLoss}[p.Loss]}
	for _, q := range p.searched() {
		x := p.Parameters[q.Name]
		start := slices.Clone([]float64(x.Start))
		for size := q.size(p); len(start) < size; {
			start = append(start, start[0])
		}
		distribution, err := q.distribution(x)
		if err != nil {
			return nil, err
		}
		v.Params = append(v.Params, Param{Name: q.Name, Start: start, Bounds: q.bounds(x), Prior: distribution})
	}
	if err := p.materials(v, m.Optics); err != nil {
		return nil, err
	}
	var err error
	if v.Sim, err = rsoxs.New(p.Grid.Shape, p.Grid.Voxel, m.Config); err != nil {
		return nil, err
	}
	if p.Compare == "curves" {
		return v, p.curves(v, m)
	}
	v.Data, v.Mask = m.Data, m.Mask
	return v, nil
}

// materials checks that there are constants for every material.
func (p *Problem) materials(v *Inversion, o rsoxs.Optics) error {
	var nodes []*ad.Node
	for _, q := range v.Params {
		if len(q.Start) == 1 {
			nodes = append(nodes, ad.Scalar(q.Start[0]))
		} else {
			nodes = append(nodes, ad.Const(q.Start, len(q.Start)))
		}
	}
	scene := p.build(nodes)
	n := len(scene.Materials)
	if n == 0 {
		return fmt.Errorf("morph: Build of the model %q returned a scene without Materials: want at least one", p.Model)
	}
	for _, row := range o {
		if len(row) != n {
			return fmt.Errorf("morph: %s has %s%s, but there are optical constants of %d: give one set for each material", p.Model, errtext.Count(n, "material"), map[bool]string{true: " with the matrix"}[p.Options.Matrix], len(row))
		}
	}
	return p.fields(scene)
}

// fields checks what Build returned for the starting values: every material needs a volume fraction in every voxel, and a
// penalty is a number.
func (p *Problem) fields(s Scene) error {
	want := tensor.Shape(p.Grid.Shape[:])
	if l := s.Penalty; l != nil && l.Err() != nil {
		return fmt.Errorf("morph: Build of the model %q, Penalty: %w", p.Model, l.Err())
	} else if l != nil && len(l.Shape()) > 0 {
		return fmt.Errorf("morph: Build of the model %q returned a Penalty of the shape %v: want a scalar, so add its elements with Sum", p.Model, l.Shape())
	}
	for i, m := range s.Materials {
		if m.Vfrac == nil {
			return fmt.Errorf("morph: Build of the model %q returned material %d without Vfrac: want the volume fraction in the shape %v (Values returns nil for an optional parameter without a default that the problem leaves out)", p.Model, i+1, want)
		}
		if (m.S == nil) != (m.Theta == nil) || (m.S == nil) != (m.Psi == nil) {
			return fmt.Errorf("morph: Build of the model %q returned material %d with some of S, Theta and Psi: give all of them, or none for an isotropic material", p.Model, i+1)
		}
		for k, f := range []*ad.Node{m.Vfrac, m.S, m.Theta, m.Psi} {
			name := [...]string{"Vfrac", "S", "Theta", "Psi"}[k]
			switch {
			case f == nil:
			case f.Err() != nil:
				return fmt.Errorf("morph: Build of the model %q, %s of material %d: %w", p.Model, name, i+1, f.Err())
			case k == 0 && !f.Shape().Equal(want), !ad.Broadcast(f, want...).Shape().Equal(want):
				return fmt.Errorf("morph: Build of the model %q returned material %d with %s of the shape %v: want %v, a number for each voxel", p.Model, i+1, name, f.Shape(), want)
			}
		}
		v, err := ad.Numbers(m.Vfrac)
		if err != nil {
			return fmt.Errorf("morph: Build of the model %q, Vfrac of material %d: %w", p.Model, i+1, err)
		}
		if at := slices.IndexFunc(v[0], math.IsNaN); at >= 0 {
			ny, nx := want[1], want[2]
			return fmt.Errorf("morph: Build of the model %q returned material %d with the volume fraction NaN in voxel (%d, %d, %d) at the starting values: want numbers from 0 to 1", p.Model, i+1, at/(ny*nx), at/nx%ny, at%nx)
		}
	}
	return nil
}

// curves compares reduced images with true radii instead of the images.
func (p *Problem) curves(v *Inversion, m Measurement) error {
	pattern := &rsoxs.Pattern{Energies: m.Config.Energies, QY: rsoxs.Frequencies(p.Grid.Shape[1], p.Grid.Voxel), QX: rsoxs.Frequencies(p.Grid.Shape[2], p.Grid.Voxel), Intensity: m.Masked()}
	r := rsoxs.Reduction{Radii: rsoxs.TrueRadii}
	reducer, err := r.NewReducer(pattern)
	if err != nil {
		return err
	}
	c, err := reducer.Reduce(pattern)
	if err != nil {
		return err
	}
	v.Curves = &CurveData{Reduction: r, I: c.I, A: c.A}
	return nil
}
