// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package measured

import (
	"cmp"
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
	File     string  // file that the frame was read from; empty for none
	// Flux is i0 relative to that of a frame whose flux is 1, Transmission that of the sample as it was measured, and Dark the dark
	// counts of a pixel in a second. A Flux or Transmission of 0 stands for 1.
	Flux, Transmission, Dark float64
	// Counts are the numbers that were measured, NaN where there is none: the counts of the pixels, row by row, or what Bins make of them.
	Counts []float64
	// Bins say how the numbers follow from the pixels; nil for the pixels themselves.
	Bins *Bins
	// Noise names the likelihood of the numbers, one of Noises. Default poisson.
	Noise string
	// Gains are what the rates of the numbers, in counts per second and pixel, are multiplied with to be compared; nil for the exposure.
	// Offsets are added to the numbers and to their expectations, such as what was subtracted; nil for none.
	Gains, Offsets []float64
	// Errors are the standard deviations of the numbers, and Freedom the degrees of freedom behind them, for noise that needs them.
	Errors, Freedom []float64
}

// Fan is a set of directions in place of a detector, for reduced data of a detector that is not known.
type Fan struct {
	Q, Chi []float64 // q in 1/nm at the nominal energies, and the direction from +x towards +y in rad
}

// Data are the frames of a measurement on one detector.
type Data struct {
	Detector farfield.Detector // Pad is chosen by the model
	Geometry Geometry
	// Fan replaces the detector; nil if there is one.
	Fan    *Fan
	Frames []Frame
	// Keep says which pixels count, in all frames; nil for all.
	Keep []bool
	// Bin is the number of pixels of the file along each side that are added up to one of Detector, over which the model is averaged; 0 is 1.
	Bin int
}

// check returns what is wrong with the numbers, all of it.
func (d *Data) check() error {
	var bad []error
	say := func(format string, args ...any) { bad = append(bad, fmt.Errorf("measured: "+format, args...)) }
	pixels := d.pixels()
	switch {
	case len(d.Frames) == 0:
		say("the measurement has no frames")
	case d.Fan != nil && (len(d.Fan.Q) == 0 || len(d.Fan.Q) != len(d.Fan.Chi)):
		say("the fan has %d q and %d directions: want as many of each, at least one", len(d.Fan.Q), len(d.Fan.Chi))
	case d.Fan != nil:
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
		if f.Bins != nil {
			if err := d.checkBins(&f); err != nil {
				bad = append(bad, err)
				continue
			}
		}
		if _, err := noiseOf(cmp.Or(f.Noise, "poisson")); err != nil {
			bad = append(bad, err)
		}
		for _, x := range [][]float64{f.Gains, f.Offsets, f.Errors, f.Freedom} {
			if x != nil && len(x) != len(f.Counts) {
				say("frame %d has %d numbers, and gains, offsets, errors or freedom of %d: want as many of each", i+1, len(f.Counts), len(x))
			}
		}
		switch {
		case f.Bins != nil && len(f.Counts) != f.Bins.length():
			say("frame %d has %d numbers and %d bins", i+1, len(f.Counts), f.Bins.length())
		case f.Bins == nil && len(f.Counts) != pixels:
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
