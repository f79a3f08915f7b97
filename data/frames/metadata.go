// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package frames

import (
	"errors"
	"fmt"
	"math"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/euryale-dev/euryale/data/hdf5"
	"github.com/euryale-dev/euryale/internal/foreign"
	"github.com/euryale-dev/euryale/internal/unit"
)

// Metadata is what a file says about a measurement. Numbers that the file does not give, or gives in a way that cannot be
// understood, are NaN; angles that it does not give are 0.
type Metadata struct {
	FrameTime float64 // time from the start of a frame to the start of the next (s)
	CountTime float64 // exposure time of a frame (s)
	Energy    float64 // photon energy (keV)
	Distance  float64 // distance from the sample to the detector (m)
	PixelSize float64 // width of a pixel, and its height unless PixelHeight says otherwise (m)
	// PixelHeight is the height of a pixel (m). It is NaN if the file gives one size for both.
	PixelHeight  float64
	BeamX, BeamY float64 // column and row of the direct beam, for the detector where it stands (pixels)
	// ShiftX and ShiftY are how far the detector has moved since the beam's place was recorded (m). BeamX and BeamY include them.
	ShiftX, ShiftY float64
	// SwingHorizontal and SwingVertical are the angles by which the detector is rotated about the sample (rad).
	SwingHorizontal, SwingVertical float64
	Roll                           float64 // angle by which it is then turned about the beam, which adds to azimuths (rad)
	// Incidence is the angle between the beam and the surface that reflects it (rad), NaN for a beam that is transmitted. Roll is then
	// that of the surface's normal.
	Incidence     float64
	Height, Width int    // numbers of rows and columns of a frame, 0 unless the file is a geometry that says them
	Start         string // time at which the measurement began
	// Bare says of each number without a unit, other than those of pixels, in which unit it was taken.
	Bare []string
	// Faults are what the file gives and could not be understood, by the name of the field that is NaN for it.
	Faults []Fault
}

// Fault is a number of a file that could not be understood.
type Fault struct {
	Field string // name of the field of Metadata
	Err   error
}

// FaultOf returns why one of the given fields of the metadata could not be understood, or nil.
func (m *Metadata) FaultOf(fields ...string) error {
	var errs []error
	for _, f := range m.Faults {
		for _, field := range fields {
			if f.Field == field {
				errs = append(errs, f.Err)
			}
		}
	}
	return errors.Join(errs...)
}

// place is where files of detectors and beamlines have a number; of several keys, the first that is there counts.
type place struct {
	field string
	keys  []string
	kind  unit.Kind
	// least and most are the smallest and largest numbers that are plausible, in the unit of Metadata.
	least, most float64
	signed      bool // whether 0 and numbers below are numbers like others
	// bare converts a number without a unit; nil takes it in the unit of Metadata.
	bare func(v float64) float64
	to   func(m *Metadata) *float64
}

// angle is the bare unit of angles, degrees.
func angle(v float64) float64 { return v * math.Pi / 180 }

// bareEnergy takes numbers above 150 as eV: no diffraction experiment has more keV, and few have fewer eV.
func bareEnergy(v float64) float64 {
	if v > 150 {
		return v / 1000
	}
	return v
}

// bareUnit returns the unit in which a number without one was taken, which is v in the unit of Metadata; "" for pixels.
func (p place) bareUnit(given, v float64) string {
	switch {
	case p.field == "Energy" && v != given:
		return "eV"
	case p.field == "Energy":
		return "keV"
	case p.field == "wavelength":
		return "angstrom"
	case strings.HasPrefix(p.field, "Beam"):
		return ""
	case strings.HasPrefix(p.field, "Swing"):
		return "degrees"
	case strings.HasSuffix(p.field, "Time"):
		return "s"
	}
	return "m"
}

func detector(names ...string) (keys []string) {
	for _, of := range []string{"detector_1", "detector"} {
		for _, n := range names {
			keys = append(keys, "/entry/instrument/"+of+"/"+n)
		}
	}
	return keys
}

// places lists the numbers. Positions and beam centres come after the size of a pixel, which converts them.
var places = []place{
	{"FrameTime", detector("frame_time", "frame_period"), unit.Time, 1e-10, 1e6, false, nil, func(m *Metadata) *float64 { return &m.FrameTime }},
	{"CountTime", detector("count_time"), unit.Time, 1e-10, 1e6, false, nil, func(m *Metadata) *float64 { return &m.CountTime }},
	{"Energy", []string{"/entry/instrument/incident_beam/incident_energy", "/entry/instrument/beam/incident_energy"}, unit.Energy, 0.01, 1000, false, bareEnergy, func(m *Metadata) *float64 { return &m.Energy }},
	{"Energy", []string{"/entry/instrument/detector/detectorSpecific/photon_energy"}, unit.Energy, 0.01, 1000, false, func(v float64) float64 { return v / 1000 }, func(m *Metadata) *float64 { return &m.Energy }},
	{"wavelength", []string{"/entry/instrument/beam/incident_wavelength", "/entry/instrument/incident_beam/incident_wavelength"}, unit.Wavelength, 0.01, 1000, false, nil, nil},
	{"Distance", detector("distance", "detector_distance"), unit.Length, 1e-3, 300, false, nil, func(m *Metadata) *float64 { return &m.Distance }},
	{"PixelSize", detector("x_pixel_size"), unit.Length, 1e-7, 0.02, false, nil, func(m *Metadata) *float64 { return &m.PixelSize }},
	{"PixelHeight", detector("y_pixel_size"), unit.Length, 1e-7, 0.02, false, nil, func(m *Metadata) *float64 { return &m.PixelHeight }},
	{"BeamX", detector("beam_center_x"), unit.Pixel, -1e6, 1e6, true, nil, func(m *Metadata) *float64 { return &m.BeamX }},
	{"BeamY", detector("beam_center_y"), unit.Pixel, -1e6, 1e6, true, nil, func(m *Metadata) *float64 { return &m.BeamY }},
	{"SwingHorizontal", detector("flightpath_swing", "flightpath_swing_horizontal"), unit.Angle, -math.Pi, math.Pi, true, angle, func(m *Metadata) *float64 { return &m.SwingHorizontal }},
	{"SwingVertical", detector("flightpath_swing_vertical"), unit.Angle, -math.Pi, math.Pi, true, angle, func(m *Metadata) *float64 { return &m.SwingVertical }},
}

// hcKeV is the product of a photon's energy (keV) and wavelength (angstrom).
const hcKeV = 12.39841984

// ReadMetadata reads what a file says about a measurement: an HDF5 file of frames, a separate HDF5 file of metadata, or a geometry of pyFAI
// (.poni). A number whose unit is unknown, or that no experiment has, is one of the Faults.
func ReadMetadata(name string) (*Metadata, error) { return ReadMetadataFor(name, math.NaN()) }

// ReadMetadataFor is ReadMetadata for pixels of another size than the file says (m), by which lengths such as the beam's place
// are converted to pixels.
func ReadMetadataFor(name string, pixel float64) (*Metadata, error) {
	if isPONI(name) {
		return readPONI(name, pixel)
	}
	f, err := hdf5.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	m := unknown()
	m.PixelSize = pixel
	wavelength := math.NaN()
	for _, p := range places {
		if strings.HasPrefix(p.field, "Pixel") && !math.IsNaN(pixel) {
			continue
		}
		to := &wavelength
		if p.to != nil {
			to = p.to(m)
		}
		if p.field == "Energy" && !math.IsNaN(m.Energy) {
			continue
		}
		for _, key := range p.keys {
			v, there, err := p.read(f, key, m)
			if !there {
				continue
			}
			if given, _ := number(f, key); err == nil && unitOf(f, key) == "" && p.bareUnit(given, v) != "" {
				m.Bare = append(m.Bare, fmt.Sprintf("%s = %g is taken as %s", path.Base(key), given, p.bareUnit(given, v)))
			}
			if *to = v; err != nil {
				field := p.field
				if p.to == nil {
					field = "Energy"
				}
				m.Faults = append(m.Faults, Fault{field, fmt.Errorf("frames: %s: %s: %w", name, key, err)})
			}
			break
		}
	}
	switch by := hcKeV / wavelength; {
	case math.IsNaN(m.Energy) && m.FaultOf("Energy") == nil:
		m.Energy = by
	case math.Abs(m.Energy-by) > 0.01*by:
		m.Faults = append(m.Faults, Fault{"Energy", fmt.Errorf("frames: %s: the photon energy is %.6g keV, but the wavelength of %.6g angstrom is that of %.6g keV: correct one of them in the file, or give the energy yourself", name, m.Energy, wavelength, by)})
		m.Energy = math.NaN()
	}
	m.shift(f, name)
	m.reflection(f, name)
	if math.IsNaN(m.SwingHorizontal) && m.FaultOf("SwingHorizontal") == nil {
		m.SwingHorizontal = 0
	}
	if math.IsNaN(m.SwingVertical) && m.FaultOf("SwingVertical") == nil {
		m.SwingVertical = 0
	}
	if d, err := f.Dataset("/entry/start_time"); err == nil {
		m.Start, _ = d.Text()
	}
	return m, nil
}

// number reads one finite number.
func number(f *hdf5.File, key string) (float64, bool) {
	d, err := f.Dataset(key)
	if err != nil || d.Len() != 1 {
		return 0, false
	}
	v, err := d.Float64s()
	return first(v), err == nil && !math.IsNaN(first(v)) && !math.IsInf(first(v), 0)
}

func first(v []float64) float64 {
	if len(v) == 0 {
		return math.NaN()
	}
	return v[0]
}

// read returns the number at a key in the unit of Metadata, and whether the file has one.
func (p place) read(f *hdf5.File, key string, m *Metadata) (v float64, there bool, err error) {
	v, there = number(f, key)
	if !there {
		if f.Has(key) {
			return math.NaN(), true, errors.New("it is not one finite number: correct it in the file, or give the value yourself")
		}
		return math.NaN(), false, nil
	}
	if v <= 0 && !p.signed {
		return math.NaN(), true, fmt.Errorf("it is %g, and must be above 0: correct it in the file, or give the value yourself", v)
	}
	given, u := v, unitOf(f, key)
	switch {
	case u == "" && p.bare != nil:
		v = p.bare(v)
	case u == "":
	case p.kind.Knows(u):
		v, _ = p.kind.Convert(v, u)
	case strings.HasPrefix(p.field, "Beam") && unit.Length.Knows(u):
		v, _ = unit.Length.Convert(v, u)
		size := m.PixelSize
		if p.field == "BeamY" {
			size = m.height()
		}
		if math.IsNaN(size) {
			return math.NaN(), true, fmt.Errorf("it is %g %s, and the file has no size of pixels to convert it: give the size of a pixel, or the beam's place in pixels", given, u)
		}
		v /= size
	default:
		_, err = p.kind.Convert(v, u)
		return math.NaN(), true, err
	}
	if !(v >= p.least && v <= p.most) {
		return math.NaN(), true, fmt.Errorf("it is %s, which is %.4g in the unit of this program, and no experiment has that: want %g to %g; correct the unit in the file, or give the value yourself", strings.TrimSpace(fmt.Sprintf("%g %s", given, u)), v, p.least, p.most)
	}
	return v, true, nil
}

// farthestMove is how far a detector moves across the beam at most (m); numbers of more are not in m.
const farthestMove = 0.5

// shift moves the beam's place by how far the detector stands from where that was recorded, as APS 8-ID writes it:
//
//	beam = beam_center + (position - beam_center_position) / pixel size
func (m *Metadata) shift(f *hdf5.File, name string) {
	for _, axis := range []struct {
		letter, field string
		beam, shift   *float64
		size          float64
	}{{"x", "BeamX", &m.BeamX, &m.ShiftX, m.PixelSize}, {"y", "BeamY", &m.BeamY, &m.ShiftY, m.height()}} {
		at := func(what string) (float64, bool) {
			for _, key := range detector(what + axis.letter) {
				v, there := number(f, key)
				if !there {
					if f.Has(key) {
						m.Faults = append(m.Faults, Fault{axis.field, fmt.Errorf("frames: %s: %s: it is not one finite number: correct it in the file, or give the beam's place yourself", name, key)})
						*axis.beam = math.NaN()
					}
					continue
				}
				if u := unitOf(f, key); u != "" {
					var err error
					if v, err = unit.Length.Convert(v, u); err != nil {
						m.Faults = append(m.Faults, Fault{axis.field, fmt.Errorf("frames: %s: %s: %w", name, key, err)})
						*axis.beam = math.NaN()
					}
				}
				return v, true
			}
			return 0, false
		}
		now, stands := at("position_")
		then, recorded := at("beam_center_position_")
		if !stands || !recorded || now == then || math.IsNaN(*axis.beam) {
			continue
		}
		if *axis.shift = now - then; math.Abs(*axis.shift) > farthestMove {
			m.Faults = append(m.Faults, Fault{axis.field, fmt.Errorf("frames: %s: the detector's position_%s is %g m from its beam_center_position_%s, and no detector moves that far: correct the unit of the positions, or give the beam's place yourself", name, axis.letter, *axis.shift, axis.letter)})
			*axis.beam = math.NaN()
			continue
		}
		*axis.beam += *axis.shift / axis.size
	}
}

// height is the height of a pixel.
func (m *Metadata) height() float64 {
	if math.IsNaN(m.PixelHeight) {
		return m.PixelSize
	}
	return m.PixelHeight
}

// Square returns an error if pixels are not as high as they are wide, which a q map does not know of.
func (m *Metadata) Square() error {
	if w, h := m.PixelSize, m.height(); math.Abs(w-h) > 1e-3*math.Abs(w) {
		return fmt.Errorf("frames: pixels are %.4g um wide and %.4g um high: q maps need square pixels, so combine pixels until they are, and give their size", w*1e6, h*1e6)
	}
	return nil
}

// String lists what the file says, with units.
func (m *Metadata) String() string {
	var parts []string
	add := func(known bool, format string, a ...any) {
		if known {
			parts = append(parts, fmt.Sprintf(format, a...))
		}
	}
	is := func(v float64) bool { return !math.IsNaN(v) }
	add(is(m.Energy), "energy %.6g keV", m.Energy)
	add(is(m.Distance), "distance %.6g m", m.Distance)
	add(is(m.PixelSize), "pixel size %.6g um", m.PixelSize*1e6)
	add(is(m.BeamX) && is(m.BeamY), "beam at column %.6g, row %.6g", m.BeamX, m.BeamY)
	add(is(m.BeamX) && !is(m.BeamY), "beam at column %.6g", m.BeamX)
	add(is(m.BeamY) && !is(m.BeamX), "beam at row %.6g", m.BeamY)
	add(m.ShiftX != 0 || m.ShiftY != 0, "which includes a move of the detector by %.6g mm and %.6g mm", m.ShiftX*1e3, m.ShiftY*1e3)
	add(m.SwingHorizontal != 0 || m.SwingVertical != 0, "swing %.6g deg horizontal, %.6g deg vertical", m.SwingHorizontal*180/math.Pi, m.SwingVertical*180/math.Pi)
	add(is(m.Incidence), "reflection at an incidence of %.6g deg", m.Incidence*180/math.Pi)
	add(m.Roll != 0, "roll about the beam %.6g deg", m.Roll*180/math.Pi)
	add(is(m.FrameTime), "frame time %.6g s", m.FrameTime)
	add(len(m.Bare) > 0, "where the file gives no units, %s", strings.Join(m.Bare, " and "))
	if parts == nil {
		return "nothing about the measurement"
	}
	return strings.Join(parts, ", ")
}

// unitOf returns the attribute units of a dataset, or "".
func unitOf(f *hdf5.File, key string) string {
	for _, name := range []string{"units", "unit"} {
		if a, err := f.Attr(key, name); err == nil {
			if text, err := a.Text(); err == nil {
				return strings.TrimSpace(text)
			}
		}
	}
	return ""
}

func unknown() *Metadata {
	x := math.NaN()
	return &Metadata{FrameTime: x, CountTime: x, Energy: x, Distance: x, PixelSize: x, PixelHeight: x, BeamX: x, BeamY: x, SwingHorizontal: x, SwingVertical: x, Incidence: x}
}

// Metadata returns what the file of frames says about the measurement, and what the file of metadata beside it says of the rest.
func (f *File) Metadata() *Metadata {
	m := unknown()
	m.SwingHorizontal, m.SwingVertical = 0, 0
	if f.Format == "hdf5" {
		if own, err := ReadMetadata(f.Name); err == nil {
			m = own
		}
	}
	if beside := MetadataBeside(f.Name); beside != "" {
		if other, err := ReadMetadata(beside); err == nil {
			m.Complete(other)
		}
	}
	return m
}

var numberAtEnd = regexp.MustCompile(`_[0-9]+$`)

// MetadataBeside returns the file of metadata that stands beside a file of frames, as beamlines write A012_metadata.hdf beside A012.hdf,
// A012_00001.h5 or A012_master.h5, or "" if there is none.
func MetadataBeside(name string) string {
	stem := strings.TrimSuffix(name, filepath.Ext(name))
	for _, s := range []string{stem, strings.TrimSuffix(stem, "_master"), numberAtEnd.ReplaceAllString(stem, "")} {
		for _, ending := range []string{".hdf", ".h5", ".hdf5"} {
			if at := s + "_metadata" + ending; at != name && foreign.Exists(at) {
				return at
			}
		}
	}
	return ""
}

// Complete takes from other what m does not have.
func (m *Metadata) Complete(other *Metadata) {
	taken := map[string]bool{}
	lacksSize := math.IsNaN(m.PixelSize)
	for _, p := range places {
		if p.to == nil || p.field == "PixelHeight" && !lacksSize {
			continue
		}
		mine, theirs := p.to(m), *p.to(other)
		swing := strings.HasPrefix(p.field, "Swing") && *mine == 0
		if (math.IsNaN(*mine) || swing) && !math.IsNaN(theirs) && *mine != theirs {
			*mine, taken[p.field] = theirs, true
		}
	}
	if taken["BeamX"] {
		m.ShiftX = other.ShiftX
	}
	if taken["BeamY"] {
		m.ShiftY = other.ShiftY
	}
	if m.Height == 0 {
		m.Height, m.Width = other.Height, other.Width
	}
	if m.Start == "" {
		m.Start = other.Start
	}
	m.Faults = slices.DeleteFunc(m.Faults, func(f Fault) bool { return taken[f.Field] })
	if len(taken) > 0 {
		m.Bare = append(m.Bare, other.Bare...)
	}
	for _, f := range other.Faults {
		if v := fieldOf(m, f.Field); v == nil || math.IsNaN(*v) {
			m.Faults = append(m.Faults, f)
		}
	}
}

// fieldOf returns the number of a field by its name, or nil.
func fieldOf(m *Metadata, field string) *float64 {
	for _, p := range places {
		if p.field == field && p.to != nil {
			return p.to(m)
		}
	}
	return nil
}
