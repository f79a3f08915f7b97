// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package survey

import (
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/data/fits"
)

// One spectrum in the images that programs write: of one row however many axes there are, with errors or variances in an extension, or in rows
// whose meaning the header tells.
func TestSpectraAsImages(t *testing.T) {
	const n = 12
	flux, sigma, variance, ivar, wave, none := make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n)
	for i := range n {
		flux[i], sigma[i], wave[i] = 1+0.1*float64(i), 0.5, 5000+float64(i)
		variance[i], ivar[i] = 0.25, 4
	}
	type extension struct {
		name  string
		shape []int
		data  []float64
	}
	rows := func(all ...[]float64) []float64 { return slices.Concat(all...) }
	for what, c := range map[string]struct {
		header map[string]any
		images []extension
	}{
		"one row, errors":        {nil, []extension{{"", []int{1, n}, flux}, {"ERR", []int{1, n}, sigma}}},
		"variances":              {nil, []extension{{"", []int{n}, flux}, {"VARIANCE", []int{n}, variance}}},
		"standard deviations":    {nil, []extension{{"", []int{n}, flux}, {"STDDEV", []int{n}, sigma}}},
		"an image beside it":     {nil, []extension{{"", []int{n}, flux}, {"RESOLUTION", []int{3, n}, rows(flux, flux, flux)}, {"IVAR", []int{n}, ivar}}},
		"LAMOST":                 {map[string]any{"TELESCOP": "LAMOST"}, []extension{{"", []int{5, n}, rows(flux, ivar, wave, none, none)}}},
		"SDSS spSpec":            {map[string]any{"TELESCOP": "SDSS 2.5-M"}, []extension{{"", []int{4, n}, rows(flux, none, sigma, flux)}}},
		"bands of IRAF, optimal": {map[string]any{"BANDID1": "spectrum - background fit, weights variance", "BANDID2": "raw - background fit", "BANDID3": "background - fit", "BANDID4": "sigma - background fit"}, []extension{{"", []int{4, 1, n}, rows(flux, none, none, sigma)}}},
	} {
		name := filepath.Join(t.TempDir(), "s.fits")
		w, err := fits.Create(name)
		if err != nil {
			t.Fatal(err)
		}
		h := &fits.Header{}
		for k, v := range c.header {
			h.Set(k, v, "")
		}
		if what != "LAMOST" {
			h.Set("CRVAL1", 5000.0, "")
			h.Set("CDELT1", 1.0, "")
		}
		for _, e := range c.images {
			if err := w.Image(e.name, h, e.shape, e.data); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		s, err := ReadSpectrum(name, Units{})
		if err != nil {
			t.Errorf("%s: %v", what, err)
			continue
		}
		if len(s.Flux) != n || s.Flux[3] != flux[3] || math.Abs(s.IVar[3]-4) > 1e-12 || math.Abs(s.Wave[3]-5003) > 1e-9 {
			t.Errorf("%s: %d pixels, flux %g, inverse variance %g, wavelength %g", what, len(s.Flux), s.Flux[3], s.IVar[3], s.Wave[3])
		}
	}
	name := filepath.Join(t.TempDir(), "unknown.fits")
	w, err := fits.Create(name)
	if err == nil {
		err = w.Image("", nil, []int{3, n}, rows(flux, flux, flux))
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	if _, err := ReadSpectrum(name, Units{}); err == nil || !strings.Contains(err.Error(), "the image has 3 rows of 12 pixels") {
		t.Error(err)
	}
}
