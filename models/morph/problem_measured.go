// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package morph

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/euryale-dev/euryale/data/scatter"
)

// Names are names of files: in JSON a name, or a list of names.
type Names []string

// UnmarshalJSON reads a name or a list of names.
func (n *Names) UnmarshalJSON(b []byte) error {
	var one string
	if json.Unmarshal(b, &one) == nil {
		*n = Names{one}
		return nil
	}
	if json.Unmarshal(b, (*[]string)(n)) != nil {
		return fmt.Errorf("%.40s: want the name of a file, or a list of names", b)
	}
	return nil
}

// MarshalJSON writes one name as a text.
func (n Names) MarshalJSON() ([]byte, error) {
	if len(n) == 1 {
		return json.Marshal(n[0])
	}
	return json.Marshal([]string(n))
}

// String lists the names, with commas between them.
func (n Names) String() string { return strings.Join(n, ", ") }

// MeasuredFiles say what files of measured patterns do not say themselves.
type MeasuredFiles struct {
	// Masks are files with the pixels that count, each a name or {"file": ..., "keep": "zero" or "nonzero", "transpose": true}.
	Masks []scatter.Mask `json:"masks,omitempty"`
	// Geometry replaces what the files say of the detector, part by part.
	Geometry scatter.GeometrySettings `json:"geometry,omitzero"`
	// Exposure in s and Polarization in degrees from +x towards +y replace those of the files.
	Exposure     float64  `json:"exposure,omitempty"`
	Polarization *float64 `json:"polarization,omitempty"`
	// Pedestal is subtracted from all pixels, and pixels that count Saturation or more are left out.
	Pedestal   float64 `json:"pedestal,omitempty"`
	Saturation float64 `json:"saturation,omitempty"`
	// Bin is the number of pixels along each side that are added up to one. Default 1.
	Bin int `json:"bin,omitempty"`
	// SolidAngle says whether the counts hold the solid angle of the pixels, as raw counts do. Default true.
	SolidAngle *bool `json:"solid_angle,omitempty"`
	// QUnit is that of q in files that do not say it, "1/nm" or "1/A".
	QUnit string `json:"q_unit,omitempty"`
}

// given reports whether a problem has one of the keys of measured patterns.
func (m *MeasuredFiles) given() bool {
	return m.Masks != nil || m.Geometry != (scatter.GeometrySettings{}) || m.Exposure != 0 || m.Polarization != nil || m.Pedestal != 0 || m.Saturation != 0 || m.Bin != 0 || m.SolidAngle != nil || m.QUnit != ""
}

// Settings returns what the reader of measured patterns needs.
func (p *Problem) Settings(base string) scatter.Settings {
	s := scatter.Settings{Energies: p.Energies, Bin: p.Bin, Pedestal: p.Pedestal, Saturation: p.Saturation, Exposure: p.Exposure, Polarization: p.Polarization, Geometry: p.Geometry, QUnit: p.QUnit}
	for _, m := range p.Masks {
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
	return len(p.Data) > 1 || p.given() || len(p.Data) == 1 && slices.Contains(measuredEndings, strings.ToLower(filepath.Ext(p.Data[0])))
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
	if p.Loss != "" && p.Loss != "poisson" {
		bad = append(bad, fmt.Sprintf("loss is %s: measured counts are compared by their Poisson likelihood, so leave it out", p.Loss))
	}
	if p.Method == "lbfgs" {
		bad = append(bad, "method is lbfgs: measured patterns are fitted by lm, or have posteriors by nuts")
	}
	if p.Bin < 0 || p.Exposure < 0 || p.Saturation < 0 {
		bad = append(bad, fmt.Sprintf("bin is %d, exposure %g and saturation %g: want none below 0", p.Bin, p.Exposure, p.Saturation))
	}
	return bad
}

// simulated returns the name of the data if they are simulated patterns.
func (p *Problem) simulated() (string, error) {
	if p.Measured() {
		return "", errors.New("the data are measured patterns, on pixels of a detector: open the problem with package models/morph/measured")
	}
	return p.Data[0], nil
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
