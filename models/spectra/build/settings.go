// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package build

import (
	"errors"
	"fmt"
	"math"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/autodiff/formula"
	"github.com/euryale-dev/euryale/data/rvspecfit"
	"github.com/euryale-dev/euryale/sim/spectra"
)

// Settings describe the templates of one arm. Setup, Lam0, Lam1, Step and Resolution have no default.
type Settings struct {
	Setup string // name of the arm, such as desi_b
	// Lam0 and Lam1 are the first and the last wavelength, in Angstrom, before the padding, and Step is the
	// distance of the pixels.
	Lam0, Lam1, Step float64
	// Linear makes steps of equal wavelength. By default the steps of its logarithm are equal, as
	// rotation needs.
	Linear bool
	// Resolution is the resolving power lambda/FWHM of the arm: a number, or a formula of the wavelength x in
	// Angstrom, such as x/1.55, which is a FWHM of 1.55 Angstrom. See package autodiff/formula.
	Resolution string
	// FixedFWHM makes Resolution that at the middle of the arm, with a constant FWHM.
	FixedFWHM bool
	// Native is the resolving power of the spectra. Default 100000.
	Native float64
	// Air makes templates at wavelengths in air from spectra in vacuum. Default: vacuum.
	Air bool
	// Normalisation says how the level of a template is taken out; see the constants. Default
	// LinearContinuum.
	Normalisation Normalisation
	// Float64 keeps templates in float64. Default: float32, which rounds spectra to 1e-7.
	Float64 bool
	// Padding is the velocity, in km/s, by which the template extends beyond the arm at each end.
	// Default 1000.
	Padding float64
	// LogParams names the parameters whose logarithms are used in the interpolation. Default: teff,
	// if there is such a parameter.
	LogParams []string

	// Dir is the folder of the catalogue's files. Default: the working folder.
	Dir string
	// WaveFile has the wavelengths of all spectra (Angstrom, vacuum) in its first image; a relative name is
	// one in Dir. Default: they are in each file's header, as CRVAL1, CDELT1 (or CD1_1) and CRPIX1, or their
	// logarithms if DC-FLAG is 1 (base 10) or CTYPE1 ends in LOG (base e).
	WaveFile string
	// Read returns a template's wavelengths, ascending, and its energy flux per Angstrom, in place
	// of a FITS file. It is called from several goroutines. Spectra that have the same slice of
	// wavelengths share the weights.
	Read func(e rvspecfit.Entry) (lam, flux []float64, err error)

	// Skip leaves out templates that cannot be used. By default the first of them ends the work.
	Skip bool
	// Report is called with every template, from one goroutine at a time and in no particular
	// order.
	Report func(p Progress)
	// Threads is the number of templates that are made at the same time. Default GOMAXPROCS.
	Threads int
	// Revision is a name of the library's version, and Command the command that makes it; both go into its
	// files.
	Revision, Command string
}

// Normalisation says how the level of a template is taken out. The level taken out at the middle of
// the arm is kept in Library.LogNorms.
type Normalisation int

// The normalisations are LinearContinuum, Median and NoNormalisation.
const (
	// LinearContinuum divides by an exponential: the line, in the logarithm, through the median flux of both
	// halves at their median wavelengths.
	LinearContinuum Normalisation = iota
	Median                        // the flux is divided by its median
	NoNormalisation               // the flux is left as it is
)

// ParseNormalisation returns the normalisation that rvspecfit calls linear_continuum, median or none.
func ParseNormalisation(name string) (Normalisation, error) {
	for i, s := range []string{"linear_continuum", "median", "none"} {
		if s == name {
			return Normalisation(i), nil
		}
	}
	return 0, fmt.Errorf("build: the normalisation is %q: want linear_continuum, median or none", name)
}

// DESI returns the arms of DESI's spectrographs, for spectra without their resolution matrices.
func DESI() []Settings {
	return []Settings{
		{Setup: "desi_b", Lam0: 3500, Lam1: 5900, Step: 0.4, Resolution: "x/1.55"},
		{Setup: "desi_r", Lam0: 5660, Lam1: 7720, Step: 0.4, Resolution: "x/1.55"},
		{Setup: "desi_z", Lam0: 7420, Lam1: 9924, Step: 0.4, Resolution: "x/1.8"},
	}
}

// DESIMatrices returns the arms of DESI for spectra with their resolution matrices, from which a
// line width of 0.5 Angstrom, as a standard deviation, is taken out.
func DESIMatrices() []Settings {
	all := DESI()
	for i := range all {
		all[i].Resolution = "0.849*x"
	}
	return all
}

// check returns all that is wrong with the settings.
func (s *Settings) check() error {
	var wrong []error
	bad := func(text string, args ...any) { wrong = append(wrong, fmt.Errorf("build: "+text, args...)) }
	if s.Setup == "" {
		bad("the arm has no name: give it one such as desi_b")
	}
	if !(s.Lam0 > 0 && s.Lam1 > s.Lam0) || math.IsInf(s.Lam1, 0) {
		bad("the arm %s has wavelengths from %g to %g Angstrom: want an ascending range above 0", s.Setup, s.Lam0, s.Lam1)
	}
	if !(s.Step > 0) || s.Step > (s.Lam1-s.Lam0)/10 || (s.Lam1-s.Lam0)/s.Step > 1e8 {
		bad("the arm %s has steps of %g Angstrom from %g to %g: want at least 10 and at most 1e8 steps", s.Setup, s.Step, s.Lam0, s.Lam1)
	}
	if !(s.Padding >= 0 && s.Padding < spectra.SpeedOfLight) {
		bad("the padding is %g km/s: want a number from 0 to the speed of light", s.Padding)
	}
	if s.Normalisation < LinearContinuum || s.Normalisation > NoNormalisation {
		bad("the normalisation is %d: want LinearContinuum, Median or NoNormalisation", s.Normalisation)
	}
	if s.Native < 0 || math.IsNaN(s.Native) {
		bad("the native resolving power is %g: want a positive number", s.Native)
	}
	return errors.Join(wrong...)
}

// wavelengths returns the pixels of the arm with the padding, as NumPy's arange makes them.
func (s *Settings) wavelengths() []float64 {
	padding := s.Padding
	if padding == 0 {
		padding = 1000
	}
	fac := 1 + padding/spectra.SpeedOfLight
	if s.Linear {
		return arange(s.Lam0/fac, (s.Lam1+s.Step)*fac, s.Step)
	}
	lam := arange(math.Log(s.Lam0/fac), math.Log(s.Lam1*fac), math.Log(1+s.Step/((s.Lam0+s.Lam1)/2)))
	for i, x := range lam {
		lam[i] = math.Exp(x)
	}
	return lam
}

// arange returns from, from+step, ... below to.
func arange(from, to, step float64) []float64 {
	out := make([]float64, int(math.Ceil((to-from)/step)))
	delta := (from + step) - from // what NumPy adds
	for i := range out {
		out[i] = from + float64(i)*delta
	}
	return out
}

// spread returns the resolution at the pixels and between them.
func (s *Settings) spread(lam []float64) (spectra.LineSpread, error) {
	none := spectra.LineSpread{}
	f, err := formula.Parse(s.Resolution)
	if err != nil {
		return none, fmt.Errorf("build: the resolution: %w", err)
	}
	for _, name := range f.Names() {
		if name != "x" {
			return none, fmt.Errorf("build: the resolution %q uses the name %q: want a formula of x, the wavelength in Angstrom", s.Resolution, name)
		}
	}
	at := lam
	middle := lam[0] + (lam[len(lam)-1]-lam[0])/2
	if s.FixedFWHM {
		at = []float64{middle}
	}
	y, err := f.Node(map[string]*ad.Node{"x": ad.Const(at)})
	if err != nil {
		return none, fmt.Errorf("build: the resolution: %w", err)
	}
	p, err := ad.Compile([]*ad.Node{y}, ad.Settings{})
	if err != nil {
		return none, fmt.Errorf("build: the resolution %q: %w", s.Resolution, err)
	}
	state := p.NewState()
	if err := state.Run(); err != nil {
		return none, fmt.Errorf("build: the resolution %q: %w", s.Resolution, err)
	}
	powers := state.Output(0)
	of := make(map[float64]float64, len(lam))
	for i, x := range lam {
		switch {
		case s.FixedFWHM:
			of[x] = powers[0] * x / middle
		case len(powers) == 1: // a constant
			of[x] = powers[0]
		default:
			of[x] = powers[i]
		}
	}
	return spectra.LineSpread{Power: func(x float64) float64 { return of[x] }, Native: s.Native}, nil
}
