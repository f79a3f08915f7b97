// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package build

import (
	"fmt"
	"math"
	"strings"

	"github.com/euryale-dev/euryale/data/fits"
	"github.com/euryale-dev/euryale/data/rvspecfit"
	"github.com/euryale-dev/euryale/internal/errtext"
)

// readWave reads the wavelengths of all spectra.
func (b *rebinner) readWave() error {
	f, err := fits.Open(b.path(b.WaveFile))
	if err != nil {
		return err
	}
	defer f.Close()
	im, err := firstImage(f)
	if err != nil {
		return err
	}
	b.wave, err = im.Float64s()
	return err
}

// firstImage returns the first image of a file that has pixels, of one axis but for axes of length 1.
func firstImage(f *fits.File) (*fits.Image, error) {
	for _, h := range f.HDUs() {
		im, err := h.Image()
		if err != nil || im.Len() == 0 {
			continue
		}
		shape := im.Shape()
		for k, n := range shape[:len(shape)-1] {
			if n != 1 {
				return nil, fmt.Errorf("build: %s has an image of shape %v, whose axis %d has more than one element: want a single spectrum", f.Name(), shape, k)
			}
		}
		return im, nil
	}
	return nil, fmt.Errorf("build: %s has no image: want a spectrum as an image with one axis", f.Name())
}

// readFITS reads the spectrum of a template.
func (b *rebinner) readFITS(e rvspecfit.Entry) (lam, flux []float64, err error) {
	name := b.path(e.File)
	f, err := fits.Open(name)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	im, err := firstImage(f)
	if err != nil {
		return nil, nil, err
	}
	if flux, err = im.Float64s(); err != nil {
		return nil, nil, err
	}
	if b.wave != nil {
		if len(flux) != len(b.wave) {
			return nil, nil, fmt.Errorf("build: %s has %s, but %s has %s: want as many", name, errtext.Count(len(flux), "pixel"), b.WaveFile, errtext.Count(len(b.wave), "wavelength"))
		}
		return b.wave, flux, nil
	}
	lam, err = waveOf(name, im.Header(), len(flux))
	return lam, flux, err
}

// waveOf returns the wavelengths that a header says.
func waveOf(name string, h *fits.Header, n int) ([]float64, error) {
	start, ok := h.Float("CRVAL1")
	step, ok1 := h.Float("CDELT1")
	if !ok1 {
		step, ok1 = h.Float("CD1_1")
	}
	if !ok || !ok1 || step == 0 {
		return nil, fmt.Errorf("build: the header of %s has no wavelengths (CRVAL1 and CDELT1 or CD1_1): name a file of wavelengths", name)
	}
	pixel, ok := h.Float("CRPIX1")
	if !ok {
		pixel = 1
	}
	flag, _ := h.Float("DC-FLAG")
	natural := strings.HasSuffix(strings.TrimSpace(h.Text("CTYPE1")), "LOG")
	lam := make([]float64, n)
	for i := range lam {
		x := start + (float64(i+1)-pixel)*step
		switch {
		case flag == 1:
			x = math.Pow(10, x)
		case natural:
			x = math.Exp(x)
		}
		lam[i] = x
	}
	return lam, nil
}
