// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package measured

import (
	"fmt"
	"math"
	"slices"
	"strings"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/infer/check"
	"github.com/euryale-dev/euryale/internal/linalg"
	"github.com/euryale-dev/euryale/models/morph"
	"github.com/euryale-dev/euryale/sim/rsoxs"
	"github.com/euryale-dev/euryale/tensor"
)

// effect is something that a measurement may have and a fit may leave out.
type effect struct {
	kind   string
	params []string // parameters by whose change it would be seen; {N} stands for each energy
	step   float64  // change that is tried of each
	// finite says that the change is tried as it is; otherwise it is the derivative that counts.
	finite bool
	of     func(change float64) float64 // what a coefficient multiplies; nil for the change itself
	// simpler is a kind of effect that this one resembles: it is only looked for where it explains much more.
	simpler string
	where   string // distinction from others of the kind
	// when reports whether a model can have it at all; nil for always.
	when func(t *Task) bool
	say  func(t *Task, p, sd []float64) (text, remedy string)
}

// add is the line that a problem lacks.
func add(name string) string {
	return fmt.Sprintf("add %q: {} to the parameters", name)
}

// effects are what verdicts look for by name.
var effects = []effect{
	{kind: "beam centre", params: []string{"centre_x", "centre_y"}, step: 0.02, say: func(_ *Task, p, _ []float64) (string, string) {
		return fmt.Sprintf("a beam centre shifted by about %s pixels along x and %s along y (a rough estimate) would fit better", check.Rough(p[0]), check.Rough(p[1])), `add "centre_x": {}, "centre_y": {} to the parameters`
	}},
	{kind: "blur", params: []string{"resolution"}, step: 0.5, finite: true, of: func(x float64) float64 { return x * x }, say: func(_ *Task, p, _ []float64) (string, string) {
		if p[0] < 0 {
			return "images that are sharper than the model's would fit better", "check the resolution, and the edges of the model (width)"
		}
		return fmt.Sprintf("images that are blurred by about %.2g pixels (a rough estimate) would fit better", math.Sqrt(p[0])), add("resolution")
	}},
	{kind: "background", params: []string{"background"}, step: 0.01, finite: true, say: func(_ *Task, p, _ []float64) (string, string) {
		return fmt.Sprintf("a constant background of about %s counts/s (a rough estimate) would fit better", check.Rough(p[0])), add("background")
	}},
	{kind: "background that falls with q", params: []string{"background_q4"}, step: 0.01, finite: true, say: func(_ *Task, p, _ []float64) (string, string) {
		return fmt.Sprintf("a background that falls with q^-4, of about %s counts/s at q = %g 1/nm (a rough estimate), would fit better", check.Rough(p[0]), q0), add("background_q4")
	}},
	{kind: "fluorescence", simpler: "background", params: []string{"fluorescence_{N}"}, step: 0.01, finite: true, say: func(t *Task, p, sd []float64) (string, string) {
		e := largest(p, sd)
		return fmt.Sprintf("light that is the same in all directions and differs between energies would fit better, most at %.6g eV, about %s counts/s (a rough estimate)", t.energies()[e], check.Rough(p[e])), `add "fluorescence_1": {} and so on to the parameters, one for each energy`
	}},
	{kind: "flux", params: []string{"scale_{N}"}, step: 0.01, say: func(t *Task, p, sd []float64) (string, string) {
		e := largest(p, sd)
		return fmt.Sprintf("a flux that differs between energies would fit better, most at %.6g eV, by about %s %% (a rough estimate)", t.energies()[e], check.Rough(100*p[e])), fmt.Sprintf("add \"scale_%d\": {\"prior\": \"normal(0, 0.02)\"} to the parameters, or check the optical constants there", e+1)
	}},
	{kind: "photon energy", params: []string{"energy_shift"}, step: 0.002, when: func(t *Task) bool { return t.tabulated() }, say: func(_ *Task, p, _ []float64) (string, string) {
		return fmt.Sprintf("photon energies that are about %s eV above their nominal values (a rough estimate) would fit better", check.Rough(p[0])), `add "energy_shift": {"prior": "normal(0, 0.2)"} to the parameters`
	}},
	{kind: "tilt of the detector", simpler: "beam centre", params: []string{"rot1", "rot2"}, step: 0.002, when: func(t *Task) bool { return len(t.More) == 0 }, say: func(_ *Task, p, _ []float64) (string, string) {
		return fmt.Sprintf("a detector that is turned further by about %s and %s mrad about its vertical and horizontal axis (a rough estimate) would fit better", check.Rough(1e3*p[0]), check.Rough(1e3*p[1])), `give the rotations of the calibration, or add "rot1": {}, "rot2": {} to the parameters`
	}},
	{kind: "scale of q", simpler: "beam centre", params: []string{"distance"}, step: 0.001, when: func(t *Task) bool { return len(t.More) == 0 }, say: func(t *Task, p, _ []float64) (string, string) {
		return fmt.Sprintf("a detector that is farther away by about %s %% (a rough estimate) would fit better", check.Rough(100*p[0]/t.Model.Data.Geometry.Distance)), "check the distance and the size of the voxels"
	}},
	{kind: "absorption", params: []string{"thickness"}, step: 1, when: func(t *Task) bool { return t.Model.Matrix != nil && len(t.energies()) > 1 }, say: func(_ *Task, p, _ []float64) (string, string) {
		return fmt.Sprintf("absorption by about %s nm more of the surrounding material (a rough estimate) would fit better", check.Rough(p[0])), add("thickness")
	}},
	{kind: "polarisation", params: []string{"purity"}, step: -0.01, when: func(t *Task) bool { return t.anisotropic() }, say: func(_ *Task, p, _ []float64) (string, string) {
		return fmt.Sprintf("light of which about %s %% (a rough estimate) is polarised across the nominal direction would fit better", check.Rough(-100*p[0])), `add "purity": {"prior": "normal(0.98, 0.02)"} to the parameters`
	}},
	{kind: "edges", params: []string{"width"}, step: 0.02, when: func(t *Task) bool { return t.knows("width") }, say: func(_ *Task, p, _ []float64) (string, string) {
		if p[0] < 0 {
			return fmt.Sprintf("edges that are sharper by about %.2g nm (a rough estimate) would fit better", -p[0]), add("width")
		}
		return fmt.Sprintf("edges that are softer by about %.2g nm (a rough estimate) would fit better", p[0]), add("width")
	}},
}

// muchMore is how many times as much an effect must explain as a simpler one to be looked for beside it.
const muchMore = 1.25

// gain returns by how much the sum of squares of z falls if columns are fitted beside those of the Jacobian.
func gain(z, jacobian []float64, columns [][]float64) float64 {
	m := len(z)
	all := slices.Clone(columns)
	for k := 0; k < len(jacobian); k += m {
		all = append(all, jacobian[k:k+m])
	}
	explained := func(list [][]float64) float64 {
		n := len(list)
		if n == 0 {
			return 0
		}
		a, b := make([]float64, n*n), make([]float64, n)
		scale := make([]float64, n)
		for i, x := range list {
			scale[i] = 1 / max(linalg.Norm(x), 1e-300)
		}
		for i, x := range list {
			b[i] = scale[i] * linalg.Dot(x, z)
			for j := range i {
				v := scale[i] * scale[j] * linalg.Dot(x, list[j])
				a[i*n+j], a[j*n+i] = v, v
			}
			a[i*n+i] = 1 + 1e-9
		}
		if row, _ := linalg.Cholesky(a, n); row >= 0 {
			return 0
		}
		x := slices.Clone(b)
		linalg.SolveCholesky(a, x)
		return linalg.Dot(x, b)
	}
	return explained(all) - explained(all[len(columns):])
}

// constantEffects are errors of the optical constants, of each material at each energy.
func (t *Task) constantEffects() (list []effect) {
	materials := len(t.Model.Tables) + len(matrixOf(t.Model))
	for m := range materials {
		for e, energy := range t.energies() {
			what := fmt.Sprintf("%s at %.6g eV", t.Model.material(m), energy)
			names := []string{constantName("delta", m, e), constantName("beta", m, e)}
			list = append(list, effect{kind: "optical constants", where: what, params: names, step: 0.002, say: func(_ *Task, p, _ []float64) (string, string) {
				return fmt.Sprintf("optical constants of %s whose delta differs by about %s %% and beta by about %s %% (a rough estimate) would fit better", what, check.Rough(100*p[0]), check.Rough(100*p[1])),
					fmt.Sprintf("check the table there, or add %q: {\"prior\": \"normal(0, 0.05)\"} and %q likewise to the parameters", names[0], names[1])
			}})
		}
	}
	return list
}

// largest returns the index of the coefficient that is farthest from 0 in units of its error.
func largest(p, sd []float64) (at int) {
	for i := range p {
		if math.Abs(p[i]/sd[i]) > math.Abs(p[at]/sd[at]) {
			at = i
		}
	}
	return at
}

// energies returns the nominal energies of the measurement, each once.
func (t *Task) energies() []float64 { return t.Model.energies() }

// tabulated reports whether the optical constants are known beside the nominal energies.
func (t *Task) tabulated() bool {
	for _, e := range t.energies() {
		for _, table := range append(slices.Clone(t.Model.Tables), matrixOf(t.Model)...) {
			if n := len(table.Energies); n < 2 || e-reach < table.Energies[0] || e+reach > table.Energies[n-1] {
				return false
			}
		}
	}
	return true
}

func matrixOf(m *Model) []Table {
	if m.Matrix == nil {
		return nil
	}
	return []Table{*m.Matrix}
}

// anisotropic reports whether the direction of the field matters.
func (t *Task) anisotropic() bool {
	return slices.ContainsFunc(t.Model.Tables, func(x Table) bool {
		for _, c := range x.Constants {
			if c.DeltaPara != c.DeltaPerp || c.BetaPara != c.BetaPerp {
				return true
			}
		}
		return false
	})
}

// knows reports whether the morphology has a parameter.
func (t *Task) knows(name string) bool { return slices.Contains(t.Model.Morphology, name) }

// inspection is a task at its solution, with the parameters that it leaves out as further inputs.
type inspection struct {
	*Task
	state *ad.State
	at    map[string]float64 // values of all inputs
	order []string
	mean  []float64
	scale []float64 // standard deviation of a count over the strength of its residual
}

// Check judges a solution: quantile residuals of the counts against their distribution, neighbouring pixels, patterns along q, azimuth
// and energy, and the effects of measurements that the model leaves out, each by its derivative in the exact geometry.
func (t *Task) Check(s *Solution) (check.Verdict, error) { return t.check(s, nil) }

func (t *Task) check(s *Solution, priors []check.Prior) (check.Verdict, error) {
	if err := t.prepare(); err != nil {
		return check.Verdict{}, err
	}
	c := &inspection{Task: t, at: map[string]float64{}}
	all := *t
	all.mean, all.Params = nil, slices.Clone(t.Params)
	for i := range all.Params {
		all.Params[i].Start = s.X[i]
		c.at[all.Params[i].Name], c.order = s.X[i], append(c.order, all.Params[i].Name)
	}
	var looked []effect
	for _, e := range append(slices.Clone(effects), t.constantEffects()...) {
		if e.when != nil && !e.when(t) {
			continue
		}
		e.params = t.expanded(e.params)
		if len(e.params) == 0 {
			continue
		}
		looked = append(looked, e)
		for _, name := range e.params {
			off := t.off(name)
			c.at[name], c.order = off, append(c.order, name)
			all.Params = append(all.Params, Param{Name: name, Start: off})
		}
	}
	if err := all.prepare(); err != nil {
		return check.Verdict{}, err
	}
	program, err := ad.Compile([]*ad.Node{all.mean}, ad.Settings{Inputs: all.in, Backend: t.Backend})
	if err != nil {
		return check.Verdict{}, err
	}
	c.state = program.NewState()
	d, err := c.collect(s)
	if err != nil {
		return check.Verdict{}, err
	}
	gains := map[string]float64{}
	for _, e := range looked {
		direction, err := c.direction(e)
		if err != nil {
			return check.Verdict{}, err
		}
		gains[e.kind] = gain(d.Z, d.Jacobian, direction.Columns)
		if e.simpler == "" || gains[e.kind] > muchMore*gains[e.simpler] {
			d.Directions = append(d.Directions, direction)
		}
	}
	d.Priors = priors
	if priors == nil {
		d.Findings = check.Unconverged(s.Status)
	}
	return check.Judge(d, check.Settings{})
}

// expanded replaces {N} by the numbers of the energies, and leaves out what is searched for or held. The first energy's scale is
// log_scale.
func (t *Task) expanded(names []string) (out []string) {
	for _, name := range names {
		list := []string{name}
		if strings.HasSuffix(name, "{N}") {
			list = nil
			for i := range t.energies() {
				if name != "scale_{N}" || i > 0 {
					list = append(list, strings.TrimSuffix(name, "{N}")+fmt.Sprint(i+1))
				}
			}
		}
		for _, n := range list {
			if t.lacks(n) == "" && !t.has(n) {
				out = append(out, n)
			}
		}
	}
	return out
}

// off is the value of a parameter at which its effect is none.
func (t *Task) off(name string) float64 {
	g := t.Model.Data.Geometry
	switch name {
	case "distance":
		return g.Distance
	case "rot1":
		return g.Rot1
	case "rot2":
		return g.Rot2
	case "purity":
		return 1
	case "width":
		return t.Model.Width
	}
	return 0
}

// means returns the expected counts with one parameter changed.
func (c *inspection) means(name string, change float64) ([]float64, error) {
	for i, n := range c.order {
		c.state.Input(i)[0] = c.at[n]
		if n == name {
			c.state.Input(i)[0] += change
		}
	}
	if err := c.state.Run(); err != nil {
		return nil, err
	}
	return slices.Clone(c.state.Output(0)), nil
}

// collect gathers the residuals, their Jacobian and where they lie.
func (c *inspection) collect(s *Solution) (d check.Data, err error) {
	if c.mean, err = c.means("", 0); err != nil {
		return d, err
	}
	c.scale = make([]float64, len(c.mean))
	d.Z, d.Mean, d.Names, d.AtPoint = make([]float64, len(c.mean)), c.mean, s.Names, false
	d.Counts = true
	random := tensor.NewStream(uint64(len(d.Z)), purposeCounts, 0)
	k, scales := 0, c.scales()
	for i, name := range s.Names {
		if _, ok := scales[name]; ok {
			scales[name] = s.X[i]
		}
	}
	for _, p := range c.single.parts {
		scale := c.scaleAt(p, scales)
		for i := range p.values {
			m := c.mean[k+i]
			c.scale[k+i] = math.Sqrt(p.noise.variance(p, i, m, scale))
			if p.noise.name == "poisson" {
				c.scale[k+i] /= morph.CountStrength(m)
			}
			d.Z[k+i] = p.noise.score(p, i, m, scale, random.Float64())
		}
		k += len(p.values)
		d.Counts = d.Counts && p.noise.whole
		d.Relative = d.Relative || p.noise.scale != "" && !p.noise.whole
		d.Quantiles = d.Quantiles || !p.noise.whole
	}
	for _, p := range c.Params {
		if c.isScale(p.Name) { // it moves no expectation
			d.Jacobian = append(d.Jacobian, make([]float64, len(d.Z))...)
			continue
		}
		h := 1e-3 * s.SD[slices.Index(s.Names, p.Name)]
		if !(h > 0) || math.IsInf(h, 0) {
			h = 1e-6 * max(1, math.Abs(c.at[p.Name]))
		}
		column, err := c.slope(p.Name, h)
		if err != nil {
			return d, err
		}
		if !linalg.AllFinite(column) { // the expectation overflows beside the solution
			clear(column)
			d.Unknown = append(d.Unknown, p.Name)
		}
		d.Jacobian = append(d.Jacobian, column...)
	}
	c.places(&d)
	return d, nil
}

// purposeCounts is the random stream that places counts within their probability.
const purposeCounts uint32 = 157

// slope returns the derivative of the residuals with respect to a parameter, by central differences.
func (c *inspection) slope(name string, h float64) ([]float64, error) {
	up, err := c.means(name, h)
	if err != nil {
		return nil, err
	}
	down, err := c.means(name, -h)
	if err != nil {
		return nil, err
	}
	for i := range up {
		up[i] = (up[i] - down[i]) / (2 * h * c.scale[i])
	}
	return up, nil
}

// direction returns how an effect would change the residuals.
func (c *inspection) direction(e effect) (check.Direction, error) {
	d := check.Direction{Kind: e.kind, Of: e.where, Say: func(p, sd []float64) (string, string) { return e.say(c.Task, p, sd) }}
	for _, name := range e.params {
		var column []float64
		var err error
		if e.finite || name == "purity" {
			if column, err = c.means(name, e.step); err == nil {
				amount := e.step
				if e.of != nil {
					amount = e.of(amount)
				}
				for i := range column {
					column[i] = (column[i] - c.mean[i]) / (amount * c.scale[i])
				}
			}
		} else {
			column, err = c.slope(name, e.step)
		}
		if err != nil {
			return d, err
		}
		for i, v := range column {
			if !linalg.Finite(v) {
				column[i] = 0
			}
		}
		d.Columns = append(d.Columns, column)
	}
	return d, nil
}

// places says where the residuals lie: q, the azimuth and the energy, and the pixels of the frames.
func (c *inspection) places(d *check.Data) {
	q, chi, energy := check.Axis{Name: "q", Unit: "1/nm"}, check.Axis{Name: "angle", Unit: "degrees"}, check.Axis{Name: "energy", Unit: "eV"}
	var index []int
	images, directed := len(c.More) == 0, true
	for _, p := range c.single.parts {
		for _, o := range p.from {
			data := c.models()[o.model].Data
			f := &data.Frames[o.frame]
			energy.Values = append(energy.Values, f.Energy)
			if f.Bins != nil {
				q.Values, chi.Values = append(q.Values, f.Bins.Q[o.bin]), append(chi.Values, f.Bins.Chi[o.bin])
				images, directed = false, directed && !math.IsNaN(f.Bins.Chi[o.bin])
				continue
			}
			u, v := c.whereabouts(c.models()[o.model], f, o.bin)
			q.Values, chi.Values = append(q.Values, u), append(chi.Values, v)
			index = append(index, o.frame*data.pixels()+o.bin)
		}
	}
	d.Axes = []check.Axis{q}
	if directed {
		d.Axes = append(d.Axes, chi)
	}
	if len(c.energies()) > 1 {
		d.Axes = append(d.Axes, energy)
	}
	if det := c.Model.Data.Detector; images {
		d.Grid = &check.Grid{Shape: []int{len(c.Model.Data.Frames), det.Rows, det.Columns}, Names: []string{"frame", "y", "x"}, Index: index}
	}
}

// whereabouts returns about where a pixel lies: q in 1/nm and the direction in degrees.
func (c *inspection) whereabouts(m *Model, f *Frame, i int) (q, chi float64) {
	det, g := m.Data.Detector, m.Data.Geometry
	x0, y0 := g.PoniX-g.Distance*math.Tan(g.Rot1), g.PoniY+g.Distance*math.Tan(g.Rot2)
	of := func(name string) float64 {
		if x, ok := c.at[name+m.Suffix]; ok {
			return x
		}
		return c.at[name]
	}
	y := (float64(i/det.Columns)+0.5)*det.PixelY - y0 - of("centre_y")*det.PixelY
	x := (float64(i%det.Columns)+0.5)*det.PixelX - x0 - of("centre_x")*det.PixelX
	return 2 * rsoxs.Wavenumber(f.Energy) * math.Sin(math.Atan(math.Hypot(x, y)/g.Distance)/2), 180 / math.Pi * math.Atan2(y, x)
}
