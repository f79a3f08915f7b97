// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package spectra

import (
	"fmt"
	"hash/fnv"
	"math"

	"github.com/euryale-dev/euryale/internal/errtext"
	"github.com/euryale-dev/euryale/sim/spectra"
)

// Spectrum is one observed spectrum of a star: an arm of an instrument, in one exposure.
type Spectrum struct {
	Arm  string    // name of its templates, such as desi_b
	Lam  []float64 // wavelengths in vacuum, ascending, in Angstrom
	Flux []float64
	Err  []float64 // standard deviations; a masked pixel has a large one
	// Exposure is the label of the exposure, which spectra of several arms share. It matters if
	// each exposure has a velocity of its own; see Settings.PerExposure.
	Exposure string
	// Bad marks pixels that do not count in the reported chi-square. They stay in the likelihood,
	// with their Err.
	Bad []bool
	// Unusable counts those of the pixels in Bad whose flux or error is no number that a fit can use. The verdict says if they are
	// more than half.
	Unusable int
	// Estimated says that Err was estimated from how Flux scatters: the size of the residuals is then no evidence against the fit.
	Estimated bool
	// Resolution is the matrix that mixes the pixels. Default: none, for templates that have the
	// instrument's resolution.
	Resolution *spectra.Resolution
}

// Star holds the data that are fitted together: spectra of any arms and exposures that share all
// parameters, except for velocities with Settings.PerExposure.
type Star struct {
	Name    string
	Spectra []Spectrum
	// Starts are the points from which fits begin; the best of their minima counts.
	Starts []Start

	spikes []Spike // what is masked in Spectra beside what the caller masked
	whole  *Star   // the star without that; nil if nothing is masked
}

// Start is a point from which a fit begins.
type Start struct {
	Vel float64 // velocity in km/s; NaN for the best of a scan with the other parameters
	// Vels holds the velocities of the exposures in place of Vel, with Settings.PerExposure; NaN
	// for the best of a scan. Default: the best of scans, if there are several exposures.
	Vels   []float64
	Vsini  float64   // projected rotation velocity in km/s
	Params []float64 // parameters of the library, in its order
}

func (s *Spectrum) check() error {
	n := len(s.Lam)
	switch {
	case n < 2 || len(s.Flux) != n || len(s.Err) != n || s.Bad != nil && len(s.Bad) != n:
		return fmt.Errorf("%s has %s, %d fluxes, %s and %s: give as many of each, and at least 2", s.Arm, errtext.Count(n, "wavelength"), len(s.Flux), errtext.Count(len(s.Err), "error"), errtext.Count(len(s.Bad), "bad-pixel flag"))
	case s.Resolution != nil && s.Resolution.Pixels != n:
		return fmt.Errorf("%s has a resolution matrix of %s, but %s: want as many", s.Arm, errtext.Count(s.Resolution.Pixels, "pixel"), errtext.Count(n, "wavelength"))
	}
	for i := range n {
		switch {
		case i > 0 && !(s.Lam[i] > s.Lam[i-1]), math.IsInf(s.Lam[i], 0) || math.IsNaN(s.Lam[i]):
			return fmt.Errorf("%s: wavelength %d is %g Angstrom after %g: want ascending, finite numbers", s.Arm, i, s.Lam[i], s.Lam[max(0, i-1)])
		case math.IsNaN(s.Flux[i]) || math.IsInf(s.Flux[i], 0):
			return fmt.Errorf("%s: the flux at %g Angstrom is %v: give a masked pixel any finite flux and a large error", s.Arm, s.Lam[i], s.Flux[i])
		case !(s.Err[i] > 0) || math.IsInf(s.Err[i], 0):
			return fmt.Errorf("%s: the error at %g Angstrom is %v: want a finite number above 0, and a large one for a masked pixel", s.Arm, s.Lam[i], s.Err[i])
		}
	}
	return nil
}

// shape is what spectra must have in common to be fitted side by side: arm, wavelengths, and how wide the
// resolution matrix is.
func (s *Spectrum) shape() string {
	h := fnv.New64a()
	var b [8]byte
	for _, x := range s.Lam {
		u := math.Float64bits(x)
		for k := range b {
			b[k] = byte(u >> (8 * k))
		}
		h.Write(b[:])
	}
	half := -1
	if s.Resolution != nil {
		half = s.Resolution.Half
	}
	return fmt.Sprintf("%s/%d/%x/%d", s.Arm, len(s.Lam), h.Sum64(), half)
}

// good is 1 for pixels that count in the reported chi-square, and 0 for others.
func (s *Spectrum) good(out []float64) []float64 {
	for i := range out {
		if out[i] = 1; s.Bad != nil && s.Bad[i] {
			out[i] = 0
		}
	}
	return out
}
