// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package spectra

import "fmt"

// GridError says that wavelengths do not form the grid that was promised.
type GridError struct {
	Index int     // position of the first step that differs
	Step  float64 // step at Index, in Angstrom, or of the logarithm
	Want  float64 // first step of the grid, in the same unit
	// Log reports whether the grid was to be logarithmic.
	Log bool
	// Ascending reports whether the wavelengths ascend.
	Ascending bool
}

func (e *GridError) Error() string {
	kind, other := "linear", "Log"
	if e.Log {
		kind, other = "logarithmic", "no Log"
	}
	if !e.Ascending {
		return fmt.Sprintf("spectra: wavelength %d does not exceed the one before it: want ascending wavelengths", e.Index)
	}
	return fmt.Sprintf("spectra: step %d of the %s grid is %.12g, but the first is %.12g: want them equal within 1e-10; resample the template, or set %s", e.Index, kind, e.Step, e.Want, other)
}

// CoverageError says that a template does not reach all wavelengths at which it is needed.
type CoverageError struct {
	First, Last         float64 // template's range, in Angstrom
	NeedFirst, NeedLast float64 // range that is needed
	Point               int     // index of a wavelength outside, or -1 for a range of velocities
	Velocity            float64 // velocity at which the range is needed, in km/s
}

func (e *CoverageError) Error() string {
	if e.Point >= 0 {
		return fmt.Sprintf("spectra: point %d at %.10g Angstrom is outside the template, %.10g to %.10g: drop it, or use a template with more padding", e.Point, e.NeedFirst, e.First, e.Last)
	}
	return fmt.Sprintf("spectra: at %g km/s the template covers %.10g to %.10g Angstrom, the spectrum needs %.10g to %.10g: narrow the range of velocities, or use a template with more padding",
		e.Velocity, e.First, e.Last, e.NeedFirst, e.NeedLast)
}
