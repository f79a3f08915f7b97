package main

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"

	"github.com/euryale-dev/euryale/data/cyrsoxs"
	"github.com/euryale-dev/euryale/infer/check"
	"github.com/euryale-dev/euryale/internal/foreign"
	"github.com/euryale-dev/euryale/models/morph"
	"github.com/euryale-dev/euryale/sim/rsoxs"
	"github.com/euryale-dev/euryale/tensor"
)

// readStarts reads the starts that are in files.
func readStarts(p *morph.Problem, base string) error {
	for name, q := range p.Parameters {
		if q.File == "" {
			continue
		}
		file := q.File
		if !filepath.IsAbs(file) {
			file = filepath.Join(base, file)
		}
		t, err := readNPYFile(file)
		if err != nil {
			return err
		}
		q.Start, q.File = t.Float64s(), ""
		p.Parameters[name] = q
	}
	return as(exitData, p.Check())
}

// openMeasurement reads the files of a problem, whose paths start from base.
func openMeasurement(p *morph.Problem, base string) (m morph.Measurement, err error) {
	at := func(name string) string {
		if filepath.IsAbs(name) {
			return name
		}
		return filepath.Join(base, name)
	}
	if m.Config, err = measurementConfig(p, at); err != nil {
		return m, err
	}
	if m.Data, m.Config.Energies, err = openImages(p, at(p.Data)); err != nil {
		return m, err
	}
	s, want := m.Data.Shape(), p.Grid.Shape
	if s[2] != want[1] || s[3] != want[2] {
		return m, as(exitData, fmt.Errorf("%s has images of %d x %d pixels: the grid has %d x %d voxels along Y, X", p.Data, s[2], s[3], want[1], want[2]))
	}
	if m.Mask, m.Altered, err = chosenPixels(p, at, m.Data); err != nil {
		return m, err
	}
	m.Optics, err = openConstants(p, at, m.Config.Energies)
	return m, err
}

// measurementConfig returns the settings of the measurement without its energies.
func measurementConfig(p *morph.Problem, at func(string) string) (rsoxs.Config, error) {
	c := rsoxs.Config{RotMask: p.RotMask, CorrectBaseAngle: true}
	if p.Hann {
		c.Window = rsoxs.Hann
	}
	if p.Angles != nil {
		c.Angles = rsoxs.Angles{Start: p.Angles[0], Increment: p.Angles[1], End: p.Angles[2]}
	}
	if p.Config == "" {
		return c, nil
	}
	if p.RotMask || p.Hann || p.Angles != nil {
		return c, as(exitData, fmt.Errorf("config has angles, rot_mask and hann of its own: leave them out of the problem, or config"))
	}
	file, _, err := cyrsoxs.ReadConfig(at(p.Config))
	if err != nil {
		return c, input(err)
	}
	c = morph.SimulatorConfig(file)
	c.CorrectBaseAngle = true
	return c, nil
}

// openImages returns intensities [energy, beam, QY, QX] and their energies.
func openImages(p *morph.Problem, name string) (*tensor.Tensor, []float64, error) {
	st, err := os.Stat(name)
	if err != nil {
		return nil, nil, input(err)
	}
	if !st.IsDir() {
		return openArrayImages(p, name)
	}
	all, _, err := loadPatterns([]string{name}, voxelFlags{PhysSize: p.Grid.Voxel})
	if err != nil || p.Energies == nil {
		if err != nil {
			return nil, nil, err
		}
		return all.Intensity, all.Energies, nil
	}
	shape := slices.Clone(all.Intensity.Shape())
	size := all.Intensity.Size() / shape[0]
	shape[0] = len(p.Energies)
	out := tensor.New(tensor.Float64, shape...)
	for i, e := range p.Energies {
		j := slices.IndexFunc(all.Energies, func(x float64) bool { return math.Abs(x-e) <= 1e-3 })
		if j < 0 {
			return nil, nil, as(exitData, fmt.Errorf("%s has no %g eV: there are %v", name, e, all.Energies))
		}
		copy(out.Data().([]float64)[i*size:(i+1)*size], all.Intensity.Data().([]float64)[j*size:])
	}
	return out, p.Energies, nil
}

func openArrayImages(p *morph.Problem, name string) (*tensor.Tensor, []float64, error) {
	t, err := readNPYFile(name)
	if err != nil {
		return nil, nil, err
	}
	s := t.Shape()
	if len(s) == 3 {
		if t, err = t.Reshape(s[0], 1, s[1], s[2]); err != nil {
			return nil, nil, as(exitData, fmt.Errorf("%s: %w", name, err))
		}
	}
	if len(s) != 3 && len(s) != 4 || s[0] != len(p.Energies) {
		return nil, nil, as(exitData, fmt.Errorf("%s has shape %v for %d energies: want [energy, QY, QX] or [energy, beam, QY, QX], and energies in the problem", name, s, len(p.Energies)))
	}
	return t, p.Energies, nil
}

// readNPYFile reads an array as float64.
func readNPYFile(name string) (*tensor.Tensor, error) {
	f, err := foreign.Open(name)
	if err != nil {
		return nil, input(err)
	}
	defer f.Close()
	t, err := tensor.ReadNPY(f)
	if err != nil {
		return nil, as(exitData, fmt.Errorf("%s: %w", name, err))
	}
	out, err := tensor.From(t.Float64s(), t.Shape()...)
	return out, as(exitData, err)
}

// chosenPixels is 1 where a pixel counts: finite, above 0 where logarithms are
// compared, within the mask's q, and not 0 in its file. It says why others do not.
func chosenPixels(p *morph.Problem, at func(string) string, data *tensor.Tensor) (*tensor.Tensor, []check.Alteration, error) {
	mask := tensor.New(tensor.Float64, data.Shape()...)
	out, v := mask.Data().([]float64), data.Data().([]float64)
	unused := tally{total: len(out)}
	for i, d := range v {
		switch {
		case math.IsNaN(d) || math.IsInf(d, 0):
			unused.empty++
		case d < 0 && p.Loss == "poisson" || d <= 0 && (p.Loss == "log" || p.Loss == ""):
			unused.dark++
		default:
			out[i] = 1
		}
	}
	if q := p.Mask.Q; q != nil {
		unused.q = withinQ(out, p, q)
	}
	if p.Mask.File == "" {
		return mask, unused.alterations(p.Loss), nil
	}
	t, err := readNPYFile(at(p.Mask.File))
	if err != nil {
		return nil, nil, err
	}
	if t.Size() != len(out) && t.Size() != p.Grid.Shape[1]*p.Grid.Shape[2] {
		return nil, nil, as(exitData, fmt.Errorf("%s has shape %v: want %v or [%d %d]", p.Mask.File, t.Shape(), data.Shape(), p.Grid.Shape[1], p.Grid.Shape[2]))
	}
	m := t.Float64s()
	for i := range out {
		if x := m[i%len(m)]; x == 0 || math.IsNaN(x) {
			unused.file += int(out[i])
			out[i] = 0
		}
	}
	return mask, unused.alterations(p.Loss), nil
}

// withinQ leaves out the pixels outside a range of q and counts them.
func withinQ(out []float64, p *morph.Problem, q []float64) (left int) {
	ny, nx := p.Grid.Shape[1], p.Grid.Shape[2]
	qy, qx := rsoxs.Frequencies(ny, p.Grid.Voxel), rsoxs.Frequencies(nx, p.Grid.Voxel)
	for i := range out {
		if r := math.Hypot(qy[i/nx%ny], qx[i%nx]); r < q[0] || r > q[1] {
			left += int(out[i])
			out[i] = 0
		}
	}
	return left
}

// tally counts pixels that are not compared, by reason.
type tally struct{ total, empty, dark, q, file int }

func (t tally) alterations(loss string) (out []check.Alteration) {
	add := func(n int, asked bool, kind, why string) {
		if n > 0 {
			out = append(out, check.Alteration{Kind: kind, Count: n, Note: asked, Text: fmt.Sprintf("%d of %d pixels were left out: %s", n, t.total, why)})
		}
	}
	add(t.q, true, "mask", "their q is outside the mask's")
	add(t.file, true, "mask", "the mask is 0 there")
	add(t.empty, true, "not measured", "they hold no finite number")
	few := float64(t.dark) < 0.02*float64(t.total)
	if loss == "poisson" {
		add(t.dark, few, "pixels left out", "they are below 0, which counts are not; was a background taken off?")
	} else {
		add(t.dark, few, "pixels left out", "they are not above 0 and have no logarithm, which takes the dim ones away; use loss poisson for counts, or square")
	}
	return out
}

// openConstants returns the optical constants by energy and material.
func openConstants(p *morph.Problem, at func(string) string, energies []float64) (rsoxs.Optics, error) {
	var all []*cyrsoxs.Material
	for i, raw := range p.Constants {
		m, err := material(raw, at, energies)
		if err != nil {
			return nil, fmt.Errorf("constants of material %d: %w", i+1, err)
		}
		all = append(all, m)
	}
	table, _, err := cyrsoxs.Optics(all, energies)
	if err != nil {
		return nil, as(exitData, err)
	}
	o := make(rsoxs.Optics, len(table))
	for e, row := range table {
		for _, c := range row {
			o[e] = append(o[e], rsoxs.Constants(c))
		}
	}
	return o, nil
}

// material reads "Material1.txt", "vacuum" or rows of numbers by energy.
func material(raw json.RawMessage, at func(string) string, energies []float64) (*cyrsoxs.Material, error) {
	var name string
	if json.Unmarshal(raw, &name) == nil {
		if name == "vacuum" {
			return &cyrsoxs.Material{}, nil
		}
		m, err := cyrsoxs.ReadMaterial(at(name))
		return m, input(err)
	}
	var rows [][]float64
	if err := json.Unmarshal(raw, &rows); err != nil || len(rows) != len(energies) && len(rows) != 1 {
		return nil, as(exitData, fmt.Errorf("%.60s: want a file, \"vacuum\", or %d rows of 4 numbers, one for each energy", raw, len(energies)))
	}
	m := &cyrsoxs.Material{Name: "constants", Energies: energies}
	for e := range energies {
		r := rows[min(e, len(rows)-1)]
		if len(r) != 4 {
			return nil, as(exitData, fmt.Errorf("row %d has %d numbers: want DeltaPara, BetaPara, DeltaPerp, BetaPerp", e+1, len(r)))
		}
		m.Constants = append(m.Constants, cyrsoxs.Constants{DeltaPara: r[0], BetaPara: r[1], DeltaPerp: r[2], BetaPerp: r[3]})
	}
	return m, nil
}
