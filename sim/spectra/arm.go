// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package spectra

import (
	"fmt"

	"github.com/euryale-dev/euryale/autodiff"
)

// ArmSettings describe the spectra of one arm: an instrument's wavelength grid and the templates for it.
type ArmSettings struct {
	Name     string    // name of the arm in messages, such as desi_b
	Template []float64 // wavelengths of the templates, in Angstrom
	// Linear says that templates have equal steps of wavelength. By default they have equal steps
	// of its logarithm.
	Linear   bool
	Observed []float64 // observed wavelengths, ascending, in Angstrom
	// Continuum is the number of functions of the continuum. Default 5; DESI spectra take 10.
	Continuum int
	// Chebyshev uses Chebyshev polynomials for the continuum, and not the radial basis of the
	// function Basis.
	Chebyshev bool
	// Polynomials is the number of Chebyshev polynomials that the continuum has beside these functions; see Polynomials.
	// Default: none.
	Polynomials int
	// PlainBasis keeps the functions of the continuum as they are. By default they are made
	// orthonormal, which changes no result except for rounding.
	PlainBasis bool
	// Resolution is the matrix that mixes observed pixels, the same for all spectra. Default: none;
	// see Exposure.Band for one of each spectrum.
	Resolution *Resolution
	Rotation   Rotation
	// MinVel and MaxVel are the range of velocities, in km/s, that the template must cover. Default -1000 to 1000.
	MinVel, MaxVel float64
	// Nearest reads the template at the knot that follows, without a spline. It has no derivative
	// with respect to velocity.
	Nearest bool
}

// Arm holds what all spectra of one arm share. It is immutable.
type Arm struct {
	s         ArmSettings
	grid      *Grid
	doppler   *shifted
	basis     *autodiff.Node // (K, N)
	functions []float64      // of basis
	change    *autodiff.Node // A of basis = A P for the functions P; nil if they are the same
	logDet    float64        // log |det A|
	band      *autodiff.Node
	rotation  Rotation
}

// NewArm checks the settings and computes the constants. It returns a *GridError if the template
// grid is not what the settings say, and a *CoverageError if it does not cover the observed
// wavelengths at all velocities.
func NewArm(s ArmSettings) (*Arm, error) {
	fail := func(err error) (*Arm, error) { return nil, fmt.Errorf("spectra: arm %s: %w", s.Name, err) }
	if s.Continuum == 0 {
		s.Continuum = 5
	}
	if s.MinVel == 0 && s.MaxVel == 0 {
		s.MinVel, s.MaxVel = -1000, 1000
	}
	if !(s.MinVel <= s.MaxVel) || s.MinVel <= -SpeedOfLight || s.MaxVel >= SpeedOfLight {
		return fail(fmt.Errorf("the velocities go from %g to %g km/s: want an ascending range below the speed of light", s.MinVel, s.MaxVel))
	}
	grid, err := NewGrid(s.Template, !s.Linear)
	if err != nil {
		return fail(err)
	}
	for i, x := range s.Observed {
		if i > 0 && !(x > s.Observed[i-1]) {
			return fail(fmt.Errorf("observed wavelength %d is %g Angstrom after %g: want ascending wavelengths", i, x, s.Observed[i-1]))
		}
	}
	p, err := Basis(s.Observed, s.Continuum, s.Chebyshev)
	if err != nil {
		return fail(err)
	}
	if s.Polynomials < 0 || s.Continuum+s.Polynomials > len(s.Observed) {
		return fail(fmt.Errorf("%d polynomials beside a continuum of %d functions do not fit %d pixels: want at least 0, and at most as many functions as there are pixels", s.Polynomials, s.Continuum, len(s.Observed)))
	}
	p = append(p, Polynomials(s.Observed, s.Continuum, s.Chebyshev, s.Polynomials)...)
	if err := grid.CheckCoverage(s.Observed, s.MinVel, s.MaxVel); err != nil {
		return fail(err)
	}
	if s.Linear && !s.Rotation.None {
		return fail(fmt.Errorf("rotation cannot be computed on a linear template grid: use a logarithmic one, or fit without rotation"))
	}
	a := &Arm{s: s, grid: grid, doppler: grid.shifted(s.Observed), rotation: s.Rotation.withDefaults()}
	k, n := s.Continuum+s.Polynomials, len(s.Observed)
	if !s.PlainBasis {
		change, logDet, err := orthonormalised(p, k)
		if err != nil {
			return fail(err)
		}
		a.change, a.logDet = autodiff.Const(change, k, k), logDet
	}
	a.basis, a.functions = autodiff.Const(p, k, n), p
	if r := s.Resolution; r != nil {
		if r.Pixels != n {
			return fail(fmt.Errorf("the resolution matrix has %d pixels, but there are %d wavelengths: want as many", r.Pixels, n))
		}
		a.band = r.Node()
	}
	return a, nil
}

// Settings returns the settings, with defaults in place of zeros.
func (a *Arm) Settings() ArmSettings { return a.s }

// Grid returns the template's grid.
func (a *Arm) Grid() *Grid { return a.grid }

// Basis returns the functions of the continuum as the likelihood uses them, a row of pixels for
// each; they are orthonormal unless PlainBasis is set.
func (a *Arm) Basis() []float64 { return a.functions }

// Pixels returns the number of observed wavelengths.
func (a *Arm) Pixels() int { return len(a.s.Observed) }

// Model returns the spectra at the observed wavelengths, without continuum, of templates whose
// natural logarithms are the rows of logFlux. vel and vsini, in km/s, have one number for each row;
// a nil vsini broadens nothing. band is a resolution matrix, or one for each row; nil stands for
// that of the arm. Giving both is a mistake, which stays on the Node. Gradient: with respect to
// all.
func (a *Arm) Model(logFlux, vel, vsini, band *autodiff.Node) *autodiff.Node {
	flux := a.grid.Broaden(autodiff.Exp(logFlux), vsini, a.rotation)
	return a.resolved(a.doppler.evaluate(flux, vel, a.s.Nearest), band)
}

func (a *Arm) resolved(x, band *autodiff.Node) *autodiff.Node {
	switch {
	case band != nil && a.band != nil:
		return autodiff.Fail(fmt.Errorf("spectra: both arm %s and the exposure have a resolution matrix: give only one of them", a.s.Name))
	case band == nil && a.band == nil:
		return x
	case band == nil:
		band = a.band
	}
	return autodiff.BandedMatVec(band, x, false)
}

// coefficients returns those of the functions as they were before they were made orthonormal.
func (a *Arm) coefficients(c *autodiff.Node) *autodiff.Node {
	if a.change == nil {
		return c
	}
	return autodiff.MatMul(c, a.change)
}
