// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package ccf

import (
	"fmt"
	"math"

	"github.com/euryale-dev/euryale/data/survey"
	"github.com/euryale-dev/euryale/internal/errtext"
	"github.com/euryale-dev/euryale/internal/median"
	"github.com/euryale-dev/euryale/models/spectra"
)

const (
	filterWidth  = 11   // pixels of the median filter whose sign marks a pixel as bad
	largestError = 10   // medians above which an error marks a pixel as bad
	leastDivisor = 0.01 // of the median flux, below which the continuum is not taken
	maskedError  = 1e9  // medians that a bad pixel's error is in the fit of the continuum
	usablePixels = 3    // good pixels that a spectrum must have
)

// badPixels marks the pixels that do not count: those that the spectrum says are bad, fluxes that are not finite,
// and errors that are not positive and finite; where a continuum is divided out also errors above 10 medians, and
// pixels about which the median of 11 fluxes is not positive. Fluxes beyond the ends count as 0 there.
func badPixels(s *spectra.Spectrum, normalised bool) (bad []bool, good int, medianErr float64) {
	n := len(s.Lam)
	bad = make([]bool, n)
	usable := make([]float64, 0, n)
	for i := range n {
		bad[i] = s.Bad != nil && s.Bad[i]
		if !(s.Err[i] > 0) || math.IsInf(s.Err[i], 1) || math.IsNaN(s.Flux[i]) || math.IsInf(s.Flux[i], 0) {
			bad[i] = true
		} else {
			usable = append(usable, s.Err[i])
		}
	}
	medianErr = median.Of(usable)
	const half = filterWidth / 2
	positive := 0 // in the window
	count := func(i, by int) {
		if i >= 0 && i < n && s.Flux[i] > 0 {
			positive += by
		}
	}
	for i := range half {
		count(i, 1)
	}
	for i := range n {
		count(i+half, 1)
		count(i-half-1, -1)
		if normalised && (positive <= half || s.Err[i] > largestError*medianErr) {
			bad[i] = true
		}
		if !bad[i] {
			good++
		}
	}
	return bad, good, medianErr
}

// check says what makes a spectrum unusable, whatever its pixels are.
func check(s *spectra.Spectrum) error {
	n := len(s.Lam)
	if n < 2 || len(s.Flux) != n || len(s.Err) != n || s.Bad != nil && len(s.Bad) != n {
		return fmt.Errorf("ccf: %s has %s, %d fluxes, %s and %s: give as many of each, and at least 2", s.Arm, errtext.Count(n, "wavelength"), len(s.Flux), errtext.Count(len(s.Err), "error"), errtext.Count(len(s.Bad), "bad-pixel flag"))
	}
	for i, x := range s.Lam {
		if !(x > 0) || math.IsInf(x, 0) || i > 0 && !(x > s.Lam[i-1]) {
			return fmt.Errorf("ccf: wavelength %d of %s is %g Angstrom after %g: want them positive and ascending", i, s.Arm, x, s.Lam[max(0, i-1)])
		}
	}
	return nil
}

// prepared is a spectrum on the pixels of the templates: the flux, over its continuum unless templates keep theirs, and
// the inverse variance of that; both are 0 where there are no data.
type prepared struct {
	flux, ivar []float64
	used       int // pixels whose inverse variance is positive
}

// prepare brings a spectrum to the pixels of templates. It returns nil if too few of them are good.
func (a *arm) prepare(s *spectra.Spectrum) (*prepared, error) {
	bad, good, medianErr := badPixels(s, a.continuum)
	if good < usablePixels {
		return nil, nil
	}
	flux := survey.Bridge(s.Flux, bad)
	divisor, err := a.divisor(s.Lam, flux, s.Err, bad, medianErr)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.Arm, err)
	}
	ivar := make([]float64, len(flux))
	for i, d := range divisor {
		if bad[i] {
			flux[i] = 0
			continue
		}
		w := d / s.Err[i]
		flux[i], ivar[i] = flux[i]/d, w*w
	}
	return a.resample(s.Lam, flux, ivar), nil
}

// divisor returns what the flux is divided by: its continuum, or where templates keep theirs the median of its size.
func (a *arm) divisor(lam, flux, errors []float64, bad []bool, medianErr float64) ([]float64, error) {
	middle := median.Of(flux)
	if !a.continuum {
		if middle = math.Abs(middle); middle == 0 {
			middle = medianErr
		}
		d := make([]float64, len(lam))
		for i := range d {
			d[i] = middle
		}
		return d, nil
	}
	sigma := make([]float64, len(lam))
	for i := range sigma {
		if sigma[i] = errors[i]; bad[i] {
			sigma[i] = maskedError * medianErr
		}
	}
	d, err := continuum(lam, flux, sigma, a.nodeStep)
	if err != nil {
		return nil, err
	}
	least := 1.0
	if middle > 0 {
		least = leastDivisor * middle
	}
	for i := range d {
		d[i] = max(d[i], least)
	}
	return d, nil
}

// resample interpolates linearly to the pixels of the templates. The inverse variance is that of the interpolated
// flux, and 0 if one of the neighbours has none.
func (a *arm) resample(lam, flux, ivar []float64) *prepared {
	p := &prepared{flux: make([]float64, a.points), ivar: make([]float64, a.points)}
	l := 0
	for k, x := range a.lam {
		if x <= lam[0] {
			continue
		}
		for l+2 < len(lam) && lam[l+1] < x {
			l++
		}
		if x > lam[l+1] {
			break
		}
		right := (x - lam[l]) / (lam[l+1] - lam[l])
		left := 1 - right
		p.flux[k] = left*flux[l] + right*flux[l+1]
		if i, j := ivar[l], ivar[l+1]; i > 0 && j > 0 {
			p.ivar[k] = i * j / (left*left*j + right*right*i)
			p.used++
		}
	}
	return p
}
