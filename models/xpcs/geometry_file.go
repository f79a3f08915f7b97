// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package xpcs

import (
	"encoding/json"
	"fmt"
	"io"
	"math"

	"github.com/euryale-dev/euryale/internal/foreign"
	"github.com/euryale-dev/euryale/sim/xpcs"
)

// geometryKind tells files of geometries from other JSON.
const geometryKind = "euryale geometry"

// geometryFile is a geometry as JSON; what is unknown is left out.
type geometryFile struct {
	Kind        string   `json:"kind"`
	Version     int      `json:"version"`
	Height      int      `json:"height,omitempty"`       // rows
	Width       int      `json:"width,omitempty"`        // columns
	BeamX       *float64 `json:"beam_x,omitempty"`       // column in pixels
	BeamY       *float64 `json:"beam_y,omitempty"`       // row in pixels
	PixelSize   *float64 `json:"pixel_size_m,omitempty"` // m
	Distance    *float64 `json:"distance_m,omitempty"`   // m
	Energy      *float64 `json:"energy_kev,omitempty"`   // keV
	Convention  string   `json:"convention,omitempty"`
	SwingH      float64  `json:"swing_horizontal_rad,omitempty"` // rad
	SwingV      float64  `json:"swing_vertical_rad,omitempty"`   // rad
	Roll        float64  `json:"roll_rad,omitempty"`             // rad
	Reflection  bool     `json:"reflection,omitempty"`
	Incidence   float64  `json:"incidence_rad,omitempty"` // rad
	Orientation string   `json:"orientation,omitempty"`
	Dynamic     []int    `json:"dynamic_bins,omitempty"` // numbers of bins along the two axes
}

// WriteGeometry writes a geometry as JSON, leaving out numbers that are NaN and sizes that are 0 as
// unknown.
func WriteGeometry(w io.Writer, g xpcs.Geometry) error { return WriteSetup(w, Setup{Geometry: g}) }

// WriteSetup writes the geometry of a setup as WriteGeometry does, and its numbers of dynamic bins unless they are 0.
func WriteSetup(w io.Writer, s Setup) error {
	g := s.Geometry
	known := func(v float64) *float64 {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return nil
		}
		return &v
	}
	positive := func(v float64) *float64 {
		if v > 0 {
			return known(v)
		}
		return nil
	}
	var bins []int
	if s.Dynamic != [2]int{} {
		bins = s.Dynamic[:]
	}
	b, err := json.MarshalIndent(geometryFile{Dynamic: bins, Kind: geometryKind, Version: 1, Height: g.Height, Width: g.Width, BeamX: known(g.CenterCol), BeamY: known(g.CenterRow),
		PixelSize: positive(g.PixelSize), Distance: positive(g.Distance), Energy: positive(g.Energy), Convention: g.Convention,
		SwingH: g.SwingHorizontal, SwingV: g.SwingVertical, Roll: g.Roll, Reflection: g.Reflection, Incidence: g.Incidence, Orientation: g.Orientation}, "", "  ")
	if err != nil {
		return fmt.Errorf("xpcs: the geometry cannot be written as JSON: %w: use finite angles", err)
	}
	_, err = w.Write(append(b, '\n'))
	return err
}

// ReadGeometry reads what WriteGeometry wrote. Numbers that the file does not have are NaN. Unknown
// fields are an error, because the geometry would not be the same.
func ReadGeometry(b []byte) (xpcs.Geometry, error) {
	s, err := ReadSetup(b)
	return s.Geometry, err
}

// ReadSetup reads what WriteSetup wrote: a geometry as ReadGeometry reads it, and numbers of dynamic bins, 0 where there are
// none.
func ReadSetup(b []byte) (Setup, error) {
	var f geometryFile
	if err := foreign.Decode(b, &f, true); err != nil {
		return Setup{}, fmt.Errorf("xpcs: the geometry cannot be read: %w: want the JSON that a calibration writes", err)
	}
	if f.Kind != geometryKind || f.Version != 1 {
		return Setup{}, fmt.Errorf("xpcs: the JSON is of the kind %q, version %d: want %q of version 1", f.Kind, f.Version, geometryKind)
	}
	s := Setup{}
	if f.Dynamic != nil {
		if len(f.Dynamic) != 2 || f.Dynamic[0] < 1 || f.Dynamic[1] < 1 {
			return Setup{}, fmt.Errorf("xpcs: the geometry has the dynamic bins %v: want two positive numbers", f.Dynamic)
		}
		s.Dynamic = [2]int(f.Dynamic)
	}
	or := func(v *float64) float64 {
		if v == nil {
			return math.NaN()
		}
		return *v
	}
	s.Geometry = xpcs.Geometry{Height: f.Height, Width: f.Width, CenterRow: or(f.BeamY), CenterCol: or(f.BeamX), PixelSize: or(f.PixelSize), Distance: or(f.Distance),
		Energy: or(f.Energy), Convention: f.Convention, SwingHorizontal: f.SwingH, SwingVertical: f.SwingV, Roll: f.Roll, Reflection: f.Reflection, Incidence: f.Incidence,
		Orientation: f.Orientation}
	return s, nil
}
