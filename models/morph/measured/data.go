// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package measured

import (
	"errors"
	"fmt"
	"math"

	"github.com/euryale-dev/euryale/sim/rsoxs/farfield"
)

// Geometry is where the detector of a measurement stands, in the convention of pyFAI, as numbers.
type Geometry struct {
	Distance         float64 // distance from the sample to the plane of the detector in mm
	PoniY, PoniX     float64 // foot of the normal in mm from the corner
	Rot1, Rot2, Rot3 float64 // rotations in rad
}

// Frame is an image of the detector.
type Frame struct {
	Energy   float64 // nominal photon energy in eV
	Angle    float64 // angle of the electric field, from +x towards +y, in degrees
	Exposure float64 // exposure time in s
	// Flux is i0 relative to that of a frame whose flux is 1, Transmission that of the sample as it was measured, and Dark the dark
	// counts of a pixel in a second. A Flux or Transmission of 0 stands for 1.
	Flux, Transmission, Dark float64
	// Counts are the pixels, row by row; NaN where nothing was measured.
	Counts []float64
}

// Data are the frames of a measurement on one detector.
type Data struct {
	Detector farfield.Detector // Pad is chosen by the model
	Geometry Geometry
	Frames   []Frame
	// Keep says which pixels count, in all frames; nil for all.
	Keep []bool
}

// check returns what is wrong with the numbers, all of it.
func (d *Data) check() error {
	var bad []error
	say := func(format string, args ...any) { bad = append(bad, fmt.Errorf("measured: "+format, args...)) }
	pixels := d.Detector.Rows * d.Detector.Columns
	switch {
	case len(d.Frames) == 0:
		say("the measurement has no frames")
	case d.Detector.Rows < 1 || d.Detector.Columns < 1:
		say("the detector has %d rows and %d columns: want at least one of each", d.Detector.Rows, d.Detector.Columns)
	case !(d.Detector.PixelY > 0) || !(d.Detector.PixelX > 0):
		say("the pixels are %g by %g mm: want sizes above 0", d.Detector.PixelY, d.Detector.PixelX)
	case !(d.Geometry.Distance > 0) || math.IsInf(d.Geometry.Distance, 0):
		say("the distance is %g mm: want one above 0", d.Geometry.Distance)
	}
	if d.Keep != nil && len(d.Keep) != pixels {
		say("the mask has %d pixels, and the detector %d", len(d.Keep), pixels)
	}
	for i, f := range d.Frames {
		switch {
		case len(f.Counts) != pixels:
			say("frame %d has %d pixels, and the detector %d x %d", i+1, len(f.Counts), d.Detector.Rows, d.Detector.Columns)
		case !(f.Energy > 0) || math.IsInf(f.Energy, 0):
			say("frame %d has a photon energy of %g eV: want one above 0", i+1, f.Energy)
		case !(f.Exposure > 0) || math.IsInf(f.Exposure, 0):
			say("frame %d has an exposure of %g s: want one above 0", i+1, f.Exposure)
		case f.Flux < 0 || f.Transmission < 0 || f.Transmission > 1 || f.Dark < 0:
			say("frame %d has a flux of %g, a transmission of %g and %g dark counts per second: want none below 0, and a transmission of at most 1", i+1, f.Flux, f.Transmission, f.Dark)
		}
	}
	return errors.Join(bad...)
}

// selection lists the pixels of the frames that a likelihood takes, as indices of all frames one after another, with their counts.
type selection struct {
	index  []int
	counts []float64
	// left counts the pixels that are left out, by the reason.
	left map[string]int
}

// selected returns the pixels that are measured: kept by the mask, finite and not negative.
func (d *Data) selected() selection {
	s := selection{left: map[string]int{}}
	pixels := d.Detector.Rows * d.Detector.Columns
	for k, f := range d.Frames {
		for i, c := range f.Counts {
			switch {
			case d.Keep != nil && !d.Keep[i]:
				s.left["masked"]++
			case math.IsNaN(c) || math.IsInf(c, 0):
				s.left["not finite"]++
			case c < 0:
				s.left["negative"]++
			default:
				s.index, s.counts = append(s.index, k*pixels+i), append(s.counts, c)
			}
		}
	}
	return s
}
