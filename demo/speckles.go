// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package demo

import (
	"fmt"
	"math"
	"path/filepath"

	"github.com/euryale-dev/euryale/data/hdf5"
	"github.com/euryale-dev/euryale/data/nexus"
	"github.com/euryale-dev/euryale/models/xpcs"
	sim "github.com/euryale-dev/euryale/sim/xpcs"
	"github.com/euryale-dev/euryale/sim/xpcs/speckle"
)

// Speckles is a simulated measurement of diffusing particles: frames of fluctuating speckles behind a beam
// stop.
type Speckles struct {
	Frames    int
	FrameTime float64 // time from frame to frame in s
	Geometry  sim.Geometry
	Diffusion float64 // diffusion coefficient D of the particles in square angstroms per second: the field relaxes with 1/(D q^2)
	Modes     int     // number of independent speckle patterns; the contrast of g2 is 1/Modes
	Counts    float64 // mean counts per pixel and frame at small q
	Seed      uint64
}

// Particles returns the measurement that the demonstration simulates.
func Particles(seed uint64) Speckles {
	return Speckles{
		Frames: 2000, FrameTime: 1e-3, Diffusion: 3e6, Modes: 3, Counts: 0.6, Seed: seed,
		Geometry: sim.Geometry{Height: 96, Width: 112, CenterRow: 47.3, CenterCol: 50.8, PixelSize: 75e-6, Distance: 4, Energy: 11},
	}
}

// beamStop is the radius of the beam stop in pixels.
const beamStop = 7

// Write simulates the measurement into a folder: movie.h5 with the frames and their metadata, and
// qmap.hdf with a mask that leaves out the beam stop.
func (s Speckles) Write(dir string) error {
	m, err := s.Geometry.QMap("q")
	if err != nil {
		return err
	}
	q := m.Values[0]
	n := len(q)
	sample := speckle.Sample{Height: s.Geometry.Height, Width: s.Geometry.Width, Tau: make([]float64, n), Mean: make([]float64, n),
		FrameTime: s.FrameTime, Modes: s.Modes, Flicker: 0.02, Seed: s.Seed}
	mask := make([]bool, n)
	for i, v := range q {
		dr, dc := float64(i/s.Geometry.Width)-s.Geometry.CenterRow, float64(i%s.Geometry.Width)-s.Geometry.CenterCol
		mask[i] = math.Hypot(dr, dc) > beamStop
		sample.Tau[i] = 1 / (s.Diffusion * v * v)
		if mask[i] {
			sample.Mean[i] = s.Counts / (1 + math.Pow(v/1.2e-3, 2))
		}
		if v == 0 {
			sample.Tau[i] = math.Inf(1)
		}
	}
	setup := xpcs.Setup{Geometry: s.Geometry, Dynamic: [2]int{8, 1}, Static: [2]int{80, 1}, Source: "movie.h5"}
	qmap, err := setup.Map(mask)
	if err != nil {
		return err
	}
	if err := nexus.WriteQMap(filepath.Join(dir, "qmap.hdf"), qmap); err != nil {
		return err
	}
	movie, err := speckle.New(sample)
	if err != nil {
		return err
	}
	return s.writeMovie(filepath.Join(dir, "movie.h5"), movie)
}

// writeMovie writes the frames as a detector of two bytes a pixel does.
func (s Speckles) writeMovie(name string, movie *speckle.Movie) error {
	w, err := hdf5.Create(name)
	if err != nil {
		return err
	}
	defer w.Discard()
	g := s.Geometry
	rows, err := w.Rows("/entry/data/data", []uint16(nil), hdf5.Layout{Shape: []int{s.Frames, g.Height, g.Width}, Chunk: []int{1, g.Height, g.Width}, Gzip: 1, Shuffle: true})
	if err != nil {
		return err
	}
	size := g.Height * g.Width
	block := make([]float32, 50*size)
	frame := make([]uint16, size)
	for done := 0; done < s.Frames; done += 50 {
		some := block[:min(50, s.Frames-done)*size]
		movie.Frames(some)
		for f := 0; f < len(some); f += size {
			for i, v := range some[f : f+size] {
				frame[i] = uint16(min(v, math.MaxUint16-1))
			}
			if err := rows.Append(frame); err != nil {
				return err
			}
		}
	}
	for key, v := range map[string]float64{"frame_time": s.FrameTime, "count_time": s.FrameTime, "x_pixel_size": g.PixelSize, "y_pixel_size": g.PixelSize,
		"distance": g.Distance, "beam_center_x": g.CenterCol, "beam_center_y": g.CenterRow} {
		if err := w.Write("/entry/instrument/detector_1/"+key, v, hdf5.Layout{}); err != nil {
			return err
		}
	}
	if err := w.Write("/entry/instrument/incident_beam/incident_energy", g.Energy, hdf5.Layout{}); err != nil {
		return err
	}
	if err := w.Write("/entry/sample/name", fmt.Sprintf("simulated particles, D = %g square angstroms per second", s.Diffusion), hdf5.Layout{}); err != nil {
		return err
	}
	return w.Close()
}
