// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package measured

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/euryale-dev/euryale/infer/check"
)

// effect is something that a measurement may have and a fit may leave out.
type effect struct {
	kind   string
	params []string // parameters by whose change it would be seen; {N} stands for each energy
	step   float64  // change that is tried of each
	// finite says that the change is tried as it is, where the derivative is 0; otherwise it is the derivative that counts.
	finite bool
	of     func(change float64) float64 // what a coefficient multiplies; nil for the change itself
	// simpler is a kind of effect that this one resembles: it is only looked for where it explains much more.
	simpler string
	where   string // distinction from others of the kind
	// weak is the standard deviation of the changes that measurements have, for a fit that searches for them; 0 for any.
	weak float64
	// usual is the standard deviation of the changes that most measurements have, which is that of the prior that is proposed; 0 for any. Larger
	// ones are less likely than what explains as much by usual ones.
	usual float64
	// when reports whether a model can have it at all; nil for always.
	when func(t *Task) bool
	say  func(m moved) (text, remedy string)
	// value says that the text has the value of the parameter, not by how much it differs.
	value bool
}

// tells describes changes of an effect; where a parameter is held whose value the text has, it says the value that would fit better.
func (e effect) tells(m moved) (text, remedy string) {
	text, remedy = e.say(m)
	at, _ := m.most()
	name := m.names[at]
	x, held := m.Fixed[name]
	switch {
	case !held:
	case e.value:
		text = fmt.Sprintf("%s held at %.4g%s would fit better at about %.4g%s (a rough estimate)", name, x, m.unit(name), x+m.by[at], m.unit(name))
	case e.of != nil && m.by[at] > 0: // a square of a change, to which the square of the value does not add
		text = fmt.Sprintf("a larger %s than the one held, %.4g%s, would fit better", name, x, m.unit(name))
	}
	return text, remedy
}

// moved are changes of parameters that would fit better, with their standard deviations.
type moved struct {
	*Task
	names  []string
	by, sd []float64
}

// most returns the index of the parameter that would move by the most standard deviations, and the energy in eV that its name counts.
func (m moved) most() (at int, energy float64) {
	for i := range m.by {
		if math.Abs(m.by[i]/m.sd[i]) > math.Abs(m.by[at]/m.sd[at]) {
			at = i
		}
	}
	name := m.names[at]
	n, err := strconv.Atoi(name[strings.LastIndex(name, "_")+1:])
	if err != nil {
		return at, math.NaN()
	}
	return at, m.energies()[n-1]
}

// free says how a parameter is searched for that a problem lacks or holds, given what stands for it among the parameters.
func (m moved) free(name, value string) string {
	if x, held := m.Fixed[name]; held {
		return fmt.Sprintf("search for %s in place of holding it at %.6g: take it out of \"fixed\" and add %q: %s to the parameters", name, x, name, value)
	}
	return fmt.Sprintf("add %q: %s to the parameters", name, value)
}

// addAll is a remedy that searches for parameters, or for the first of them that a problem holds.
func (m moved) addAll(remedy string) string {
	for _, name := range m.names {
		if _, held := m.Fixed[name]; held {
			return m.add(name)
		}
	}
	return remedy
}

// add says how to search for a parameter.
func (m moved) add(name string) string { return m.free(name, "{}") }

// within is the prior of a change about 0 that is proposed for the parameter that moves most: with the usual standard deviation, or one that
// does not forbid what was found.
func (m moved) within(usual float64) string {
	for _, by := range m.by {
		if size := math.Abs(by); size > 2*usual && !math.IsInf(by, 0) {
			unit := math.Pow(10, math.Floor(math.Log10(size)))
			usual = math.Ceil(size/unit-1e-9) * unit
		}
	}
	return fmt.Sprintf(`{"prior": "normal(0, %.2g)"}`, usual)
}

// simply describes the change of one parameter.
func simply(text, name string) func(m moved) (string, string) {
	return func(m moved) (string, string) { return fmt.Sprintf(text, check.Rough(m.by[0])), m.add(name) }
}

// alone reports whether the measurement has one detector.
func alone(t *Task) bool { return len(t.More) == 0 }

// effects are what verdicts look for by name.
var effects = []effect{
	{kind: "beam centre", params: []string{"centre_x", "centre_y"}, step: 0.02, say: func(m moved) (string, string) {
		text := "a beam centre shifted"
		for i, name := range m.names {
			text += fmt.Sprintf("%s by about %s pixels along %s", []string{"", " and"}[i], check.Rough(m.by[i]), name[len(name)-1:])
		}
		return text + " (a rough estimate) would fit better", m.addAll(`add "centre_x": {}, "centre_y": {} to the parameters`)
	}},
	{kind: "blur", params: []string{"resolution"}, step: 0.5, finite: true, of: func(x float64) float64 { return x * x }, say: func(m moved) (string, string) {
		if m.by[0] < 0 {
			return "images that are sharper than the model's would fit better", "check the resolution, and the edges of the model (width)"
		}
		return fmt.Sprintf("images that are blurred by about %.2g pixels (a rough estimate) would fit better", math.Sqrt(m.by[0])), m.add("resolution")
	}},
	{kind: "background", value: true, params: []string{"background"}, step: 0.01, say: simply("a constant background of about %s counts/s (a rough estimate) would fit better", "background")},
	{kind: "background that falls with q", value: true, params: []string{"background_q4"}, step: 0.01,
		say: simply(fmt.Sprintf("a background that falls with q^-4, of about %%s counts/s at q = %g 1/nm (a rough estimate), would fit better", q0), "background_q4")},
	{kind: "fluorescence", simpler: "background", value: true, params: []string{"fluorescence_{N}"}, step: 0.01, say: func(m moved) (string, string) {
		i, energy := m.most()
		return fmt.Sprintf("light that is the same in all directions and differs between energies would fit better, most at %.6g eV, about %s counts/s (a rough estimate)", energy, check.Rough(m.by[i])), m.addAll(`add "fluorescence_1": {} and so on to the parameters, one for each energy`)
	}},
	{kind: "dark counts", simpler: "background", params: []string{"dark"}, step: 0.01, when: func(t *Task) bool { return t.darkens() },
		say: simply("dark counts that differ by about %s in a second and pixel (a rough estimate) from those of the model would fit better", "dark")},
	{kind: "pedestal", simpler: "dark counts", params: []string{"pedestal"}, step: 0.01, when: (*Task).exposed, say: func(m moved) (string, string) {
		return fmt.Sprintf("pixels that hold about %s counts more in each frame, whatever its exposure (a rough estimate), would fit better", check.Rough(m.by[0])), fmt.Sprintf("subtract it by \"pedestal\": %.3g in the problem, or %s", m.by[0], m.add("pedestal"))
	}},
	{kind: "scale", params: []string{"log_scale"}, step: 0.01, weak: 1, say: simply("intensities on another scale, whose logarithm differs by about %s (a rough estimate), would fit better", "log_scale")},
	{kind: "flux", value: true, params: []string{"scale_{N}"}, step: 0.01, weak: 0.2, usual: 0.02, say: func(m moved) (string, string) {
		i, energy := m.most()
		return fmt.Sprintf("a flux that differs between energies would fit better, most at %.6g eV, by about %s %% (a rough estimate)", energy, check.Rough(100*math.Expm1(m.by[i]))),
			m.free(m.names[i], m.within(0.02)) + ", or check the flux, the exposure and the optical constants there"
	}},
	{kind: "exposure", value: true, params: []string{"exposure_{N}"}, step: 0.01, weak: 0.2, usual: 0.02, say: func(m moved) (string, string) {
		i, energy := m.most()
		return fmt.Sprintf("an exposure or flux (i0) other than that of the file would fit better, most at %.6g eV, by about %s %% (a rough estimate)", energy, check.Rough(100*math.Expm1(m.by[i]))),
			"check the exposure and the flux there, or " + m.free(m.names[i], m.within(0.02))
	}},
	{kind: "photon energy", value: true, params: []string{"energy_shift"}, step: 0.002, weak: 0.5, when: (*Task).tabulated, say: func(m moved) (string, string) {
		return fmt.Sprintf("photon energies that are about %s eV above their nominal values (a rough estimate) would fit better", check.Rough(m.by[0])), m.free("energy_shift", `{"prior": "normal(0, 0.2)"}`)
	}},
	{kind: "tilt of the detector", simpler: "beam centre", params: []string{"rot1", "rot2"}, step: 0.002, weak: 0.05, when: alone, say: func(m moved) (string, string) {
		text := "a detector that is turned further"
		for i, name := range m.names {
			text += fmt.Sprintf("%s by about %s mrad about its %s axis", []string{"", " and"}[i], check.Rough(1e3*m.by[i]), map[string]string{"rot1": "vertical", "rot2": "horizontal"}[name])
		}
		return text + " (a rough estimate) would fit better", m.addAll(`give the rotations of the calibration, or add "rot1": {}, "rot2": {} to the parameters`)
	}},
	{kind: "scale of q", simpler: "beam centre", params: []string{"distance"}, step: 0.001, when: alone, say: func(m moved) (string, string) {
		return fmt.Sprintf("a detector that is farther away by about %s %% (a rough estimate) would fit better", check.Rough(100*m.by[0]/m.Model.Data.Geometry.Distance)), "check the distance and the size of the voxels"
	}},
	{kind: "absorption", params: []string{"thickness"}, step: 1, when: func(t *Task) bool { return t.Model.Matrix != nil && len(t.energies()) > 1 },
		say: simply("absorption by about %s nm more of the surrounding material (a rough estimate) would fit better", "thickness")},
	{kind: "polarisation", value: true, params: []string{"purity"}, step: -0.01, weak: 0.1, when: (*Task).anisotropic, say: func(m moved) (string, string) {
		return fmt.Sprintf("light of which about %s %% (a rough estimate) is polarised across the nominal direction would fit better", check.Rough(-100*m.by[0])), m.free("purity", `{"prior": "normal(0.98, 0.02)"}`)
	}},
	{kind: "edges", params: []string{"width"}, step: sharpest / 2, when: func(t *Task) bool { return t.knows("width") }, say: func(m moved) (string, string) {
		how := map[bool]string{true: "sharper", false: "softer"}[m.by[0] < 0]
		return fmt.Sprintf("edges that are %s by about %.2g nm (a rough estimate) would fit better", how, math.Abs(m.by[0])), m.add("width")
	}},
}

// constantEffects are errors of the optical constants, of each material at each energy.
func (t *Task) constantEffects() (list []effect) {
	materials := len(t.Model.Tables) + len(matrixOf(t.Model))
	for m := range materials {
		for e, energy := range t.energies() {
			what := fmt.Sprintf("%s at %.6g eV", t.Model.material(m), energy)
			names := []string{constantName("delta", m, e), constantName("beta", m, e)}
			list = append(list, effect{kind: "optical constants", where: what, params: names, step: 0.002, weak: 0.2, usual: 0.05, say: func(m moved) (string, string) {
				var parts []string
				for i, name := range m.names {
					which, _, _ := strings.Cut(name, "_")
					parts = append(parts, fmt.Sprintf("%s by about %s %%", which, check.Rough(100*m.by[i])))
				}
				remedy := "check the table there, or " + m.free(m.names[0], m.within(0.05))
				if len(m.names) > 1 {
					remedy = fmt.Sprintf("check the table there, or add %q: %s and %q likewise to the parameters", m.names[0], m.within(0.05), m.names[1])
				}
				return fmt.Sprintf("optical constants of %s that differ in %s (a rough estimate) would fit better", what, strings.Join(parts, " and in ")), remedy
			}})
		}
	}
	return list
}

// heldEffects are other values of lengths of the sample that a problem holds.
func (t *Task) heldEffects() (list []effect) {
	for _, name := range t.Model.Lengths {
		if x, held := t.Fixed[name]; held && x > 0 {
			list = append(list, effect{kind: "held parameter", where: name, params: []string{name}, step: 1e-3 * x, say: func(m moved) (string, string) {
				return fmt.Sprintf("%s held at %.6g nm would fit better at about %.4g nm (a rough estimate)", name, x, x+m.by[0]), m.free(name, fmt.Sprintf(`{"start": %.4g}`, x+m.by[0]))
			}})
		}
	}
	return list
}

// exposed reports whether there are frames of pixels of several exposures.
func (t *Task) exposed() bool {
	first := t.Model.Data.Frames[0]
	return first.Bins == nil && slices.ContainsFunc(t.Model.Data.Frames, func(f Frame) bool { return f.Bins == nil && f.Exposure != first.Exposure })
}

// darkens reports whether all frames have the same dark counts, for which one parameter can stand.
func (t *Task) darkens() bool {
	for _, m := range t.models() {
		for _, f := range m.Data.Frames {
			if f.Bins != nil || f.Dark != t.Model.Data.Frames[0].Dark {
				return false
			}
		}
	}
	return true
}

// expanded replaces {N} by the numbers of the energies, and leaves out what is searched for, and what the model has in another way. The
// first energy is that to which others are compared in scale and exposure.
func (t *Task) expanded(names []string) (out []string) {
	for _, name := range names {
		list := []string{name}
		if strings.HasSuffix(name, "{N}") {
			list = nil
			for i := range t.energies() {
				if name == "fluorescence_{N}" || i > 0 {
					list = append(list, strings.TrimSuffix(name, "{N}")+fmt.Sprint(i+1))
				}
			}
		}
		for _, n := range list {
			if _, held := t.Fixed[n]; t.lacks(n) == "" && !slices.Contains(t.Names(), n) && (held || !t.has(n)) {
				out = append(out, n)
			}
		}
	}
	return out
}

// off is the value at which a parameter is held, or that at which its effect is none.
func (t *Task) off(name string) float64 {
	if x, held := t.Fixed[name]; held {
		return x
	}
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
		return max(t.Model.Width, sharpest)
	case "dark":
		return t.Model.Data.Frames[0].Dark
	}
	return 0
}

// sharpest is the width of edges in nm at which sharp ones are tried to be softer: at none they have no derivative.
const sharpest = 0.02

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
		if x.Second != nil {
			return true
		}
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
