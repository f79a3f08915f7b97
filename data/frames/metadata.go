package frames

import (
	"math"

	"github.com/euryale-dev/euryale/data/hdf5"
)

// Metadata is what a file says about a measurement. Numbers that it does not have are NaN.
type Metadata struct {
	FrameTime    float64 // time from the begin of a frame to that of the next (s)
	CountTime    float64 // exposure time of a frame (s)
	Energy       float64 // photon energy (keV)
	Distance     float64 // from the sample to the detector (m)
	PixelSize    float64 // edge of a pixel (m)
	BeamX, BeamY float64 // column and row of the direct beam (pixels)
	Start        string  // when the measurement began
}

// places are where files of detectors and beamlines have a number; of several, the first that is there counts.
var places = []struct {
	keys []string
	set  func(m *Metadata, v float64)
}{
	{[]string{"/entry/instrument/detector_1/frame_time", "/entry/instrument/detector/frame_time", "/entry/instrument/detector/frame_period"}, func(m *Metadata, v float64) { m.FrameTime = v }},
	{[]string{"/entry/instrument/detector_1/count_time", "/entry/instrument/detector/count_time"}, func(m *Metadata, v float64) { m.CountTime = v }},
	{[]string{"/entry/instrument/beam/incident_wavelength"}, func(m *Metadata, v float64) { m.Energy = 12.39841984 / v }},
	{[]string{"/entry/instrument/incident_beam/incident_energy", "/entry/instrument/beam/incident_energy"}, func(m *Metadata, v float64) {
		if m.Energy = v; v > 1000 { // eV
			m.Energy = v / 1000
		}
	}},
	{[]string{"/entry/instrument/detector_1/distance", "/entry/instrument/detector/distance", "/entry/instrument/detector/detector_distance"}, func(m *Metadata, v float64) { m.Distance = v }},
	{[]string{"/entry/instrument/detector_1/x_pixel_size", "/entry/instrument/detector/x_pixel_size"}, func(m *Metadata, v float64) { m.PixelSize = v }},
	{[]string{"/entry/instrument/detector_1/beam_center_x", "/entry/instrument/detector/beam_center_x"}, func(m *Metadata, v float64) { m.BeamX = v }},
	{[]string{"/entry/instrument/detector_1/beam_center_y", "/entry/instrument/detector/beam_center_y"}, func(m *Metadata, v float64) { m.BeamY = v }},
}

// ReadMetadata reads what an HDF5 file says about a measurement: a file of frames, or the metadata beside it. What is
// not there, or is no positive number, is NaN.
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
				p.set(m, v[0])
				break
			}
		}
	}
	if d, err := f.Dataset("/entry/start_time"); err == nil {
		m.Start, _ = d.Text()
	}
	return m, nil
}

func unknown() *Metadata {
	x := math.NaN()
	return &Metadata{FrameTime: x, CountTime: x, Energy: x, Distance: x, PixelSize: x, BeamX: x, BeamY: x}
}

// Metadata returns what the file of the frames itself says about the measurement.
func (f *File) Metadata() *Metadata {
	if f.Format == "hdf5" {
		if m, err := ReadMetadata(f.Name); err == nil {
			return m
		}
	}
	return unknown()
}
