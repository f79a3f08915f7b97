// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package morph

import (
	"fmt"
	"math"
	"os"
	"slices"
	"strings"

	"github.com/euryale-dev/euryale/data/cyrsoxs"
	"github.com/euryale-dev/euryale/infer/check"
	"github.com/euryale-dev/euryale/internal/errtext"
	"github.com/euryale-dev/euryale/sim/rsoxs"
	"github.com/euryale-dev/euryale/tensor"
)

// Measurement is the content of the files that a Problem names.
type Measurement struct {
	Config rsoxs.Config   // settings with the energies; Grid comes from the problem
	Optics rsoxs.Optics   // optical constants by energy and material
	Data   *tensor.Tensor // intensities [energy, beam, QY, QX]
	Mask   *tensor.Tensor // mask with the shape of Data, or nil
	// Altered lists the data that were left out, for the verdict.
	Altered []check.Alteration
	// Notes say what looks wrong in the files and the problem, such as a negative beta, or another size of voxels than was simulated.
	Notes []string
}

// Measure reads the files that the problem names. Relative paths start from the folder
// base.
func (p *Problem) Measure(base string) (m Measurement, err error) {
	at := func(name string) string { return below(base, name) }
	name, err := p.simulated()
	if err != nil {
		return m, err
	}
	if m.Config, m.Notes, err = p.measurementConfig(at); err != nil {
		return m, err
	}
	if m.Data, m.Config.Energies, err = p.openImages(at(name)); err != nil {
		return m, err
	}
	s, want := m.Data.Shape(), p.Grid.Shape
	if s[2] != want[1] || s[3] != want[2] {
		return m, fmt.Errorf("%s has images of %d x %d pixels, but the grid has %d x %d voxels along Y, X: make them equal", name, s[2], s[3], want[1], want[2])
	}
	counts := p.chooseLoss(m.Data)
	if m.Mask, m.Altered, err = p.chosenPixels(at, m.Data, m.Config.Energies); err != nil {
		return m, err
	}
	m.Altered = append(m.Altered, counts...)
	m.Notes = append(m.Notes, p.otherVoxels(at(name))...)
	few, none := p.fewPixels(m)
	if none {
		return m, fmt.Errorf("%s: no pixel is left to compare", strings.Join(append(m.Notes, few), "; "))
	}
	if few != "" {
		m.Notes = append(m.Notes, few)
	}
	var told []string
	m.Optics, told, err = p.openConstants(at, m.Config.Energies)
	m.Notes = append(m.Notes, told...)
	return m, err
}

// otherVoxels notes that patterns were simulated with voxels of another size than those of the problem.
func (p *Problem) otherVoxels(name string) []string {
	const same = 0.01 // relative difference
	v, err := FindVoxel(name)
	if err != nil || math.Abs(v-p.Grid.Voxel) <= same*v {
		return nil
	}
	return []string{fmt.Sprintf("the patterns in %s were simulated with voxels of %g nm, as the record beside them says, and grid.voxel is %g nm: q of the pixels follows from grid.voxel", name, v, p.Grid.Voxel)}
}

// fewPixels says that mask.q keeps few pixels, and which q there are, or returns "". It reports whether it keeps none.
func (p *Problem) fewPixels(m Measurement) (text string, none bool) {
	const few = 0.05
	kept, all := 0, m.Mask.Float64s()
	for _, x := range all {
		if x != 0 {
			kept++
		}
	}
	if p.Mask.Q == nil || float64(kept) > few*float64(len(all)) {
		return "", false
	}
	text = fmt.Sprintf("mask.q, %g to %g 1/nm, keeps %d of %d pixels, whose q reaches %.3g 1/nm along the axes", p.Mask.Q[0], p.Mask.Q[1], kept, len(all), math.Pi/p.Grid.Voxel)
	if 10*p.Mask.Q[0] < math.Pi/p.Grid.Voxel && p.Mask.Q[1] < math.Pi/p.Grid.Voxel {
		text += fmt.Sprintf(": if it is in 1/angstrom, write [%.4g, %.4g]", 10*p.Mask.Q[0], 10*p.Mask.Q[1])
	}
	return text, kept == 0
}

// Masked returns the data with NaN where the mask excludes pixels.
func (m Measurement) Masked() *tensor.Tensor {
	out := m.Data.Copy()
	if m.Mask == nil {
		return out
	}
	v, mask := out.Data().([]float64), m.Mask.Float64s()
	for i := range v {
		if mask[i] == 0 {
			v[i] = math.NaN()
		}
	}
	return out
}

// measurementConfig returns the settings of the measurement without its energies.
func (p *Problem) measurementConfig(at func(string) string) (rsoxs.Config, []string, error) {
	c := rsoxs.Config{RotMask: p.RotMask, CorrectBaseAngle: true}
	if p.Hann {
		c.Window = rsoxs.Hann
	}
	if p.Angles != nil {
		c.Angles = rsoxs.Angles{Start: p.Angles[0], Increment: p.Angles[1], End: p.Angles[2]}
	}
	if p.Config == "" {
		return c, nil, nil
	}
	if p.RotMask || p.Hann || p.Angles != nil {
		return c, nil, fmt.Errorf("config sets angles, rot_mask and hann itself: leave these out of the problem, or leave config out")
	}
	file, _, err := cyrsoxs.ReadConfig(at(p.Config))
	if err != nil {
		return c, nil, err
	}
	c = SimulatorConfig(file)
	c.CorrectBaseAngle = true
	return c, file.Doubts(), nil
}

// openImages returns intensities [energy, beam, QY, QX] and their energies.
func (p *Problem) openImages(name string) (*tensor.Tensor, []float64, error) {
	st, err := os.Stat(name)
	if err != nil {
		return nil, nil, err
	}
	if !st.IsDir() {
		return p.openArrayImages(name)
	}
	all, _, err := OpenPatterns([]string{name}, p.Grid.Voxel)
	switch {
	case err != nil:
		return nil, nil, err
	case p.Energies == nil:
		return all.Intensity, all.Energies, nil
	}
	shape := slices.Clone(all.Intensity.Shape())
	size := all.Intensity.Size() / shape[0]
	shape[0] = len(p.Energies)
	out := tensor.New(tensor.Float64, shape...)
	for i, e := range p.Energies {
		j := slices.IndexFunc(all.Energies, func(x float64) bool { return math.Abs(x-e) <= 1e-3 })
		if j < 0 {
			return nil, nil, fmt.Errorf("%s has no energy %g eV: choose from %v", name, e, all.Energies)
		}
		copy(out.Data().([]float64)[i*size:(i+1)*size], all.Intensity.Data().([]float64)[j*size:])
	}
	return out, p.Energies, nil
}

func (p *Problem) openArrayImages(name string) (*tensor.Tensor, []float64, error) {
	t, err := readNPYFile(name)
	if err != nil {
		return nil, nil, err
	}
	s := t.Shape()
	if len(s) == 3 {
		if t, err = t.Reshape(s[0], 1, s[1], s[2]); err != nil {
			return nil, nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	if len(s) != 3 && len(s) != 4 || s[0] != len(p.Energies) {
		return nil, nil, fmt.Errorf("%s has shape %v, but the problem has %d %s: want [energy, QY, QX] or [energy, beam, QY, QX]", name, s, len(p.Energies), errtext.Agree(len(p.Energies), "energy", "energies"))
	}
	return t, p.Energies, nil
}
