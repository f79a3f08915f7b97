// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package scatter

import (
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"github.com/euryale-dev/euryale/data"
)

// FormatError says what is wrong with a file, and where.
type FormatError = data.FormatError

// Kind says what a Set holds.
type Kind string

// The kinds of sets.
const (
	Images       Kind = "images"    // images of a detector, in Frames
	Curves       Kind = "I(q)"      // intensities by q, and by chi if there are directions, in Curves
	Anisotropies Kind = "A(q)"      // (parallel - perpendicular)/(parallel + perpendicular) by q, in Curves
	Maps         Kind = "I(qx, qy)" // images that were interpolated onto a grid of qx and qy, in Maps
)

// Set is what a file holds of a measurement.
type Set struct {
	Name string // name of the file or folder
	Form string // form of the file, one of Forms
	Kind Kind

	// Images have Rows x Columns pixels, after binning; for reduced data these, Geometry and Keep are those of the detector that was reduced,
	// as far as the settings say them. Rates says that their numbers are not counts but proportional to counts per second.
	Rows, Columns int
	Rates         bool
	DarksOff      bool // set where images of the dark detector were taken off, which scatter too
	Geometry      Geometry
	Frames        []Frame
	// Keep says which pixels count, in all frames; nil for all.
	Keep []bool

	Curves []Curve
	Maps   []Map

	// Notes say what was assumed or left out, one sentence each.
	Notes []string

	axes     string // of the numbers, for the summary
	source   string // of the geometry
	smallest float64
	unusable []string // what is wrong with pixels that were left out, with their numbers
	part     string   // place of the first number that is not whole
}

// Frame is an image of the detector.
type Frame struct {
	Energy       float64 // photon energy in eV
	Polarization float64 // angle of the electric field from +x towards +y in degrees
	Exposure     float64 // exposure time in s; 0 if it is not known
	// Flux is i0, Transmission that of the sample, and Dark the dark counts of a pixel of the image in a second; 0 if they are not known.
	Flux, Transmission, Dark float64
	// Readout is the variance of the noise with which a pixel of the image was read; 0 if it is not known or small.
	Readout float64
	// Counts are the pixels row by row, NaN where nothing was measured; Errors are their standard deviations, nil if there are none.
	Counts, Errors []float64
}

// Curve is a reduced pattern.
type Curve struct {
	Energy, Polarization, Exposure float64   // the same as in Frame; 0 if they are not known
	Q                              []float64 // momentum transfers in 1/nm
	Chi                            []float64 // directions from +x towards +y in degrees; nil for the mean over all directions
	// I are the values and Errors their standard deviations, by direction and then by q; NaN in bins without pixels. Errors is nil if there
	// are none.
	I, Errors []float64
}

// Map is a pattern on a grid of q.
type Map struct {
	Energy, Polarization, Exposure float64   // the same as in Frame
	QY, QX                         []float64 // momentum transfers in 1/nm
	I                              []float64 // intensities by qy and then by qx
}

// Patterns returns how many images, maps and curves a set has; 0 for nil.
func (s *Set) Patterns() int {
	if s == nil {
		return 0
	}
	return len(s.Frames) + len(s.Maps) + len(s.Curves)
}

// Energies lists the photon energies of a set in eV, in the order in which they are first met.
func (s *Set) Energies() (out []float64) {
	add := func(e float64) {
		if !slices.ContainsFunc(out, func(x float64) bool { return math.Abs(x-e) <= sameEnergy }) {
			out = append(out, e)
		}
	}
	for _, f := range s.Frames {
		add(f.Energy)
	}
	for _, c := range s.Curves {
		add(c.Energy)
	}
	for _, m := range s.Maps {
		add(m.Energy)
	}
	return out
}

// sameEnergy is how far apart two energies may be that count as one, in eV. Files round them.
const sameEnergy = 0.01

// Summary says in one line what was understood of the file.
func (s *Set) Summary() string {
	what, errors := string(s.Kind), "no errors"
	switch {
	case s.Kind == Images && s.Rates:
		what = "rates"
	case s.Kind == Images:
		what = "counts"
	}
	if len(s.Frames) > 0 && s.Frames[0].Errors != nil || len(s.Curves) > 0 && s.Curves[0].Errors != nil {
		errors = "with errors"
	}
	parts := []string{fmt.Sprintf("%s %s", what, s.axes)}
	if s.Kind == Images {
		mask := "no mask"
		if s.Keep != nil {
			kept := 0
			for _, k := range s.Keep {
				if k {
					kept++
				}
			}
			mask = fmt.Sprintf("mask keeps %.4g %%", 100*float64(kept)/float64(len(s.Keep)))
		}
		parts = append(parts, "geometry from "+s.source, mask)
	}
	return fmt.Sprintf("%s: %s", filepath.Base(s.Name), strings.Join(append(parts, errors), ", "))
}

// fewestOfPedestal is the smallest count above which an image without an empty pixel may be one with a pedestal.
const fewestOfPedestal = 90

// CheckCounts returns why the numbers of images cannot be compared with a Poisson distribution, or nil if they are counts.
func (s *Set) CheckCounts() error {
	switch {
	case s.Kind != Images:
		return s.defect("compare it with errors (a Gaussian likelihood), or give the images", "it holds %s, which are no counts", s.Kind)
	case s.Rates && s.part != "":
		return s.defect("give the raw counts, or compare the rates with their errors", "the numbers are no counts: %s is not whole", s.part)
	case s.Rates:
		return s.defect("give the raw counts, or compare the rates with their errors", "the numbers are rates and no counts")
	case s.smallest >= fewestOfPedestal && s.scatter() < leastOfPoisson:
		pedestal := math.Round(s.smallest/100) * 100
		return s.defect(fmt.Sprintf("subtract a pedestal with \"pedestal\": %g", pedestal), "the smallest count is %g", s.smallest)
	}
	return nil
}

// leastOfPoisson is the scatter below which numbers are more than their counts: part of them is the same in every pixel.
const leastOfPoisson = 0.7

// scatter returns the median over the frames of the mean square of differences between neighbours in a row over their sum: 1 for Poisson
// counts, and more where the pattern is steep. It is 0 if there are no neighbours.
func (s *Set) scatter() float64 {
	var all []float64
	for _, f := range s.Frames {
		total, n := 0.0, 0.0
		for i := 1; i < len(f.Counts); i++ {
			a, b := f.Counts[i-1], f.Counts[i]
			if i%s.Columns != 0 && a+b > 0 { // false for NaN
				total, n = total+(a-b)*(a-b)/(a+b), n+1
			}
		}
		if n > 0 {
			all = append(all, total/n)
		}
	}
	if len(all) == 0 {
		return 0
	}
	slices.Sort(all)
	return all[len(all)/2]
}

func (s *Set) defect(try, what string, args ...any) *FormatError {
	return defect(s.Name, try, what, args...)
}

func defect(file, try, what string, args ...any) *FormatError {
	return &FormatError{Format: "scatter", File: file, What: fmt.Sprintf(what, args...), Try: try}
}

func (s *Set) note(format string, args ...any) {
	s.Notes = append(s.Notes, fmt.Sprintf(format, args...))
}
