// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package frames

import (
	"math"
	"strings"

	"github.com/euryale-dev/euryale/data/hdf5"
)

// Metadata is what a file says about a measurement. Numbers that the file does not give are NaN.
type Metadata struct {
	FrameTime    float64 // time from the start of a frame to the start of the next (s)
	CountTime    float64 // exposure time of a frame (s)
	Energy       float64 // photon energy (keV)
	Distance     float64 // distance from the sample to the detector (m)
	PixelSize    float64 // edge of a pixel (m)
	BeamX, BeamY float64 // column and row of the direct beam (pixels)
	Start        string  // time at which the measurement began
}

// Kinds of quantities, each with the units that files give them in and the factor to the unit of Metadata.
var (
	times    = map[string]float64{"s": 1, "sec": 1, "second": 1, "seconds": 1, "ms": 1e-3, "us": 1e-6, "µs": 1e-6, "μs": 1e-6, "ns": 1e-9, "min": 60}
	lengths  = map[string]float64{"m": 1, "meter": 1, "meters": 1, "metre": 1, "metres": 1, "cm": 1e-2, "mm": 1e-3, "um": 1e-6, "µm": 1e-6, "μm": 1e-6, "micron": 1e-6, "microns": 1e-6, "micrometer": 1e-6, "nm": 1e-9}
	waves    = map[string]float64{"angstrom": 1, "angstroms": 1, "a": 1, "å": 1, "ang": 1, "nm": 10, "pm": 0.01, "m": 1e10}
	energies = map[string]float64{"kev": 1, "ev": 1e-3, "mev": 1e3}
	pixels   = map[string]float64{"pixel": 1, "pixels": 1, "px": 1} // or lengths, which the size of a pixel divides
)

// places are where files of detectors and beamlines have a number; of several, the first that is there counts.
var places = []struct {
	keys  []string
	units map[string]float64 // of the attribute units; without it, or with another unit, numbers are in the unit of Metadata
	set   func(m *Metadata, v float64)
}{
	{[]string{"/entry/instrument/detector_1/frame_time", "/entry/instrument/detector/frame_time", "/entry/instrument/detector/frame_period"}, times, func(m *Metadata, v float64) { m.FrameTime = v }},
	{[]string{"/entry/instrument/detector_1/count_time", "/entry/instrument/detector/count_time"}, times, func(m *Metadata, v float64) { m.CountTime = v }},
	{[]string{"/entry/instrument/beam/incident_wavelength"}, waves, func(m *Metadata, v float64) { m.Energy = 12.39841984 / v }},
	{[]string{"/entry/instrument/incident_beam/incident_energy", "/entry/instrument/beam/incident_energy", "/entry/instrument/detector/detectorSpecific/photon_energy"}, energies, func(m *Metadata, v float64) {
		if m.Energy = v; v > 1000 { // eV
			m.Energy = v / 1000
		}
	}},
	{[]string{"/entry/instrument/detector_1/distance", "/entry/instrument/detector/distance", "/entry/instrument/detector/detector_distance"}, lengths, func(m *Metadata, v float64) { m.Distance = v }},
	{[]string{"/entry/instrument/detector_1/x_pixel_size", "/entry/instrument/detector/x_pixel_size"}, lengths, func(m *Metadata, v float64) { m.PixelSize = v }},
	{[]string{"/entry/instrument/detector_1/beam_center_x", "/entry/instrument/detector/beam_center_x"}, pixels, func(m *Metadata, v float64) { m.BeamX = v }},
	{[]string{"/entry/instrument/detector_1/beam_center_y", "/entry/instrument/detector/beam_center_y"}, pixels, func(m *Metadata, v float64) { m.BeamY = v }},
}

// ReadMetadata reads what an HDF5 file says about a measurement: a file of frames, or a separate file
// of metadata. Values that are missing or not positive are NaN.
func ReadMetadata(name string) (*Metadata, error) {
	f, err := hdf5.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	m := unknown()
	for _, p := range places {
		for _, key := range p.keys {
			d, err := f.Dataset(key)
			if err != nil || d.Len() != 1 {
				continue
			}
			if v, err := d.Float64s(); err == nil && v[0] > 0 && !math.IsInf(v[0], 0) {
				scale, ok := p.units[unitOf(f, key)]
				if l, isLength := lengths[unitOf(f, key)]; isLength && p.units["pixel"] > 0 {
					scale, ok = l/m.PixelSize, true
				}
				if !ok {
					scale = 1
				}
				p.set(m, v[0]*scale)
				break
			}
		}
	}
	if d, err := f.Dataset("/entry/start_time"); err == nil {
		m.Start, _ = d.Text()
	}
	return m, nil
}

// unitOf returns the attribute units of a dataset in lower case, or "".
func unitOf(f *hdf5.File, key string) string {
	for _, name := range []string{"units", "unit"} {
		if a, err := f.Attr(key, name); err == nil {
			if text, err := a.Text(); err == nil {
				return strings.ToLower(strings.TrimSpace(text))
			}
		}
	}
	return ""
}

func unknown() *Metadata {
	x := math.NaN()
	return &Metadata{FrameTime: x, CountTime: x, Energy: x, Distance: x, PixelSize: x, BeamX: x, BeamY: x}
}

// Metadata returns what the file of frames says about the measurement.
func (f *File) Metadata() *Metadata {
	if f.Format == "hdf5" {
		if m, err := ReadMetadata(f.Name); err == nil {
			return m
		}
	}
	return unknown()
}
