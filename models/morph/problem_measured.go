// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package morph

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/euryale-dev/euryale/data/scatter"
)

// DataFile is a file of data. In JSON it is its name, or an object that says more of it.
type DataFile struct {
	File string `json:"file"`
	// Nuisances are parameters of this measurement alone, as parameters of a problem; those named there are shared. A file that has some is
	// a measurement of its own, on a detector of its own.
	Nuisances map[string]ProblemParam `json:"nuisances,omitempty"`
	// MeasuredFiles replace those of the problem, key by key.
	MeasuredFiles
}

// DataFiles are the files of a problem: in JSON one, or a list.
type DataFiles []DataFile

// UnmarshalJSON reads a file or a list of files.
func (n *DataFiles) UnmarshalJSON(b []byte) error {
	var all []json.RawMessage
	if json.Unmarshal(b, &all) != nil {
		all = []json.RawMessage{b}
	}
	*n = make(DataFiles, len(all))
	for i, raw := range all {
		d := &(*n)[i]
		if json.Unmarshal(raw, &d.File) == nil {
			continue
		}
		if !bytes.HasPrefix(bytes.TrimSpace(raw), []byte("{")) {
			return fmt.Errorf("%.40s: want the name of a file, an object with file, or a list of them", raw)
		}
		if err := strictKeys(raw, reflect.TypeFor[DataFile](), "data."); err != nil {
			return err
		}
		if err := json.Unmarshal(raw, d); err != nil {
			return err
		}
	}
	return nil
}

// lengthsOf0 returns an error if a problem, or a file of its data, says that the distance or the pixels of the detector are 0, which read
// would stand for what the files say.
func lengthsOf0(b []byte) error {
	type said struct {
		Geometry map[string]json.RawMessage `json:"geometry"`
	}
	var all struct {
		said
		Data json.RawMessage `json:"data"`
	}
	var files []json.RawMessage
	if json.Unmarshal(b, &all) != nil {
		return nil // the decoder says what is wrong
	}
	if json.Unmarshal(all.Data, &files) != nil {
		files = []json.RawMessage{all.Data}
	}
	list := []said{all.said}
	for _, f := range files {
		var own said
		if json.Unmarshal(f, &own) == nil {
			list = append(list, own)
		}
	}
	for _, s := range list {
		for _, key := range []string{"distance", "pixel"} {
			var x float64
			if raw, ok := s.Geometry[key]; ok && json.Unmarshal(raw, &x) == nil && x == 0 {
				return fmt.Errorf("geometry.%s is %s: want a length in mm above 0, or leave it out where the files say it", key, raw)
			}
		}
	}
	return nil
}

// MarshalJSON writes one file without a list, and one of which no more is said as its name.
func (n DataFiles) MarshalJSON() ([]byte, error) {
	var all []any
	for _, d := range n {
		if d.Nuisances == nil && !d.given() {
			all = append(all, d.File)
		} else {
			all = append(all, d)
		}
	}
	if len(all) == 1 {
		return json.Marshal(all[0])
	}
	return json.Marshal(all)
}

// Names returns the names of the files.
func (n DataFiles) Names() (list []string) {
	for _, d := range n {
		list = append(list, d.File)
	}
	return list
}

// String lists the names, with commas between them.
func (n DataFiles) String() string { return strings.Join(n.Names(), ", ") }

// MeasuredFiles say what files of measured patterns do not say themselves.
type MeasuredFiles struct {
	// Masks are files with the pixels that count, each a name or {"file": ..., "keep": "zero" or "nonzero", "transpose": true}.
	Masks []scatter.Mask `json:"masks,omitempty"`
	// Geometry replaces what the files say of the detector, part by part.
	Geometry scatter.GeometrySettings `json:"geometry,omitzero"`
	// Exposure in s and Polarization in degrees from +x towards +y replace those of the files.
	Exposure     *float64 `json:"exposure,omitempty"`
	Polarization *float64 `json:"polarization,omitempty"`
	// Transmission is that of the sample, one for all energies or one for each in the order of the file, where the file does not say it.
	Transmission StartValues `json:"transmission,omitempty"`
	// Pedestal is subtracted from all pixels, and pixels that count Saturation or more are left out.
	Pedestal   float64 `json:"pedestal,omitempty"`
	Saturation float64 `json:"saturation,omitempty"`
	// Bin is the number of pixels along each side that are added up to one. Default 1.
	Bin int `json:"bin,omitempty"`
	// SolidAngle says whether the counts hold the solid angle of the pixels, as raw counts do. Default true.
	SolidAngle *bool `json:"solid_angle,omitempty"`
	// QUnit is that of q in files that do not say it, "1/nm" or "1/A".
	QUnit string `json:"q_unit,omitempty"`
	// AllNuisances ("nuisances": "all") frees all parameters of the measurement that the data can have and tell apart.
	AllNuisances Everything `json:"nuisances,omitempty"`
	// Anisotropy says how A(q) was made.
	Anisotropy Wedges `json:"anisotropy,omitzero"`
}

// Everything is true for the word "all".
type Everything bool

// UnmarshalJSON reads the word.
func (e *Everything) UnmarshalJSON(b []byte) error {
	var word string
	if json.Unmarshal(b, &word) != nil || word != "all" {
		return fmt.Errorf(`nuisances is %.40s: want "all", or name single ones among the parameters, or with a file of data`, b)
	}
	*e = true
	return nil
}

// MarshalJSON writes the word, or null.
func (e Everything) MarshalJSON() ([]byte, error) {
	if e {
		return []byte(`"all"`), nil
	}
	return []byte("null"), nil
}

// Wedges say how an anisotropy A(q) = (a - b)/(a + b) was made of the intensities a along the electric field and b across it.
type Wedges struct {
	// Width is the half width of the wedges in degrees. Default 10.
	Width float64 `json:"width,omitempty"`
	// Both says that wedges on both sides of the beam were taken, and not only those along +x and -y of a horizontal field.
	Both bool `json:"both,omitempty"`
	// Polarizations are the angles of the field in degrees whose anisotropies were averaged. Default: that of the file.
	Polarizations []float64 `json:"polarizations,omitempty"`
}

// given reports whether a problem has one of the keys of measured patterns.
func (m *MeasuredFiles) given() bool {
	return m.Masks != nil || m.Geometry != (scatter.GeometrySettings{}) || m.Exposure != nil || m.Transmission != nil || bool(m.AllNuisances) || m.Polarization != nil || m.Pedestal != 0 || m.Saturation != 0 || m.Bin != 0 || m.SolidAngle != nil || m.QUnit != "" || m.Anisotropy.Width != 0 || m.Anisotropy.Both || m.Anisotropy.Polarizations != nil
}

// Of returns what is said of file i: what the problem says of all, and in its place what the file says of itself.
func (p *Problem) Of(i int) MeasuredFiles {
	m, own := p.MeasuredFiles, reflect.ValueOf(p.Data[i].MeasuredFiles)
	for k := range own.NumField() {
		if f := own.Field(k); !f.IsZero() {
			reflect.ValueOf(&m).Elem().Field(k).Set(f)
		}
	}
	return m
}

// Settings returns what the reader of measured patterns needs for file i.
func (p *Problem) Settings(base string, i int) scatter.Settings {
	of := p.Of(i)
	s := scatter.Settings{Energies: p.Energies, Bin: of.Bin, Pedestal: of.Pedestal, Saturation: of.Saturation, Polarization: of.Polarization, Geometry: of.Geometry, QUnit: of.QUnit}
	if of.Exposure != nil {
		s.Exposure = *of.Exposure
	}
	for _, m := range of.Masks {
		m.File = below(base, m.File)
		s.Masks = append(s.Masks, m)
	}
	return s
}

// measuredEndings are the endings of files that hold measured patterns, and no simulated ones.
var measuredEndings = []string{".nc", ".nc4", ".cdf", ".nxs", ".h5", ".hdf", ".hdf5", ".zarr", ".zip", ".npz", ".tif", ".tiff", ".fits", ".csv", ".dat", ".txt"}

// Measured reports whether the data are patterns that a detector has measured, on pixels of its own: there are several files, the ending
// of the name is that of such a file, or the problem has one of the keys masks, geometry, exposure, polarization, pedestal, saturation,
// bin, solid_angle and q_unit.
func (p *Problem) Measured() bool {
	return len(p.Data) > 1 || p.given() || len(p.Data) == 1 && (p.Data[0].given() || p.Data[0].Nuisances != nil || slices.Contains(measuredEndings, strings.ToLower(filepath.Ext(p.Data[0].File))))
}

// lookAt makes the problem one of measured patterns if its data are a folder that holds images or a Zarr store.
func (p *Problem) lookAt(base string) {
	if p.Measured() || len(p.Data) != 1 || p.Config != "" {
		return
	}
	for _, pattern := range []string{"*.tif", "*.tiff", "*.fits", ".zattrs", ".zgroup", "zarr.json"} {
		if found, err := filepath.Glob(filepath.Join(below(base, p.Data[0].File), pattern)); err == nil && len(found) > 0 {
			p.Bin = 1
			return
		}
	}
}

// checkMeasured checks the settings of a problem with measured patterns.
func (p *Problem) checkMeasured() (bad []string) {
	for _, c := range []struct {
		key   string
		given bool
	}{{"config", p.Config != ""}, {"angles", p.Angles != nil}, {"rot_mask", p.RotMask}, {"hann", p.Hann}, {"q_grid", p.QGrid != ""}, {"mask.file", p.Mask.File != ""}, {"compare", p.Compare != ""}, {"eps", p.Eps != 0}, {"sigma", p.Sigma != 0}} {
		if c.given {
			bad = append(bad, c.key+" is a key of simulated patterns, and the data are measured ones: leave it out")
		}
	}
	if p.Method == "lbfgs" {
		bad = append(bad, "method is lbfgs: measured patterns are fitted by lm, or have posteriors by nuts")
	}
	if p.Bin < 0 {
		bad = append(bad, fmt.Sprintf("bin is %d: want the number of pixels along each side that become one, at least 1", p.Bin))
	}
	if p.Saturation < 0 {
		bad = append(bad, fmt.Sprintf("saturation is %g: want a count above 0", p.Saturation))
	}
	if w := p.Anisotropy.Width; w < 0 || w > 90 {
		bad = append(bad, fmt.Sprintf("anisotropy.width is %g: want the half width of the wedges in degrees, more than 0 and at most 90", w))
	}
	named := map[string]int{}
	for i, f := range p.Data {
		if k, twice := named[filepath.Clean(f.File)]; twice {
			bad = append(bad, fmt.Sprintf("data names %s twice, as file %d and %d, so that its numbers would count twice: name it once, or name the file that was meant", f.File, k+1, i+1))
		}
		named[filepath.Clean(f.File)] = i
	}
	for _, t := range p.Transmission {
		if !(t > 0 && t <= 1) {
			bad = append(bad, fmt.Sprintf("transmission is %g: want more than 0 and at most 1", t))
		}
	}
	if t := p.Exposure; t != nil && !(*t > 0 && *t <= mostExposure) {
		bad = append(bad, fmt.Sprintf("exposure is %g s: want more than 0 and at most %g, or leave it out where the files say it", *t, float64(mostExposure)))
	}
	return bad
}

// mostExposure is the longest exposure in s, of four months.
const mostExposure = 1e7

// simulated returns the name of the data if they are simulated patterns.
func (p *Problem) simulated() (string, error) {
	if p.Measured() {
		return "", errors.New("the data are measured patterns, on pixels of a detector: open the problem with package models/morph/measured")
	}
	if len(p.Data) == 0 {
		return "", errors.New("there are no data: name a folder of Energy_*.h5, or an NPY file")
	}
	return p.Data[0].File, nil
}

// Bounds returns the bounds of a parameter of the morphology: those of the problem, or else its physical limits; nil for none.
func (p *Problem) Bounds(name string) []float64 {
	for _, q := range problemModels[p.Model].all() {
		if q.Name == name {
			return q.bounds(p.Parameters[name])
		}
	}
	return p.Parameters[name].Bounds
}
