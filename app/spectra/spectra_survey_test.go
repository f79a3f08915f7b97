// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package spectra_test

import (
	"encoding/json"
	"math"
	"path/filepath"
	"testing"

	"github.com/euryale-dev/euryale/app/apptest"
	"github.com/euryale-dev/euryale/app/exit"
	"github.com/euryale-dev/euryale/app/spectra"
	"github.com/euryale-dev/euryale/data/fits"
	"github.com/euryale-dev/euryale/data/survey"
	"github.com/euryale-dev/euryale/internal/tier"
)

// A star has the same fit in the files of every survey: of SDSS, alone and on a plate, of WEAVE, and as one spectrum in a
// FITS table or in text.
func TestFitSpectraOfSurveys(t *testing.T) {
	dir := starFolder(t)
	at := func(name string) string { return filepath.Join(dir, name) }
	csv := plainStar(t, dir)[1]
	r, err := survey.ReadSpectrum(csv, survey.Units{})
	if err != nil {
		t.Fatal(err)
	}
	n := len(r.Wave)
	log := make([]float64, n)
	for i, x := range r.Wave {
		log[i] = math.Log10(x)
	}
	write := func(name string, fill func(w *fits.Writer)) {
		t.Helper()
		w, err := fits.Create(at(name))
		if err != nil {
			t.Fatal(err)
		}
		fill(w)
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
	}
	write("one.fits", func(w *fits.Writer) {
		w.Table("SPECTRUM", nil, []fits.Data{{Name: "wavelength", Unit: "Angstrom", Values: r.Wave}, {Name: "flux", Values: r.Flux}, {Name: "ivar", Values: r.IVar}})
	})
	write("spec-0266-51602-0001.fits", func(w *fits.Writer) {
		w.Table("COADD", nil, []fits.Data{{Name: "flux", Values: r.Flux}, {Name: "loglam", Values: log}, {Name: "ivar", Values: r.IVar}, {Name: "and_mask", Values: make([]int32, n)}})
		w.Table("SPECOBJ", nil, []fits.Data{{Name: "PLATE", Values: []int32{266}}})
	})
	write("stack_1.fit", func(w *fits.Writer) {
		h := &fits.Header{}
		h.Set("CRVAL1", r.Wave[0], "")
		h.Set("CRPIX1", 1.0, "")
		h.Set("CD1_1", (r.Wave[n-1]-r.Wave[0])/float64(n-1), "")
		h.Set("CUNIT1", "Angstrom", "")
		h.Set("CTYPE1", "WAVE", "")
		w.Image("RED_DATA", h, []int{1, n}, r.Flux)
		w.Image("RED_IVAR", nil, []int{1, n}, r.IVar)
		w.Table("FIBTABLE", nil, []fits.Data{{Name: "TARGID", Values: []string{"a"}}})
	})
	// A plate has wavelengths that are equal steps in the logarithm: of the spectrum, the nearest pixels.
	const step = 1e-4
	var flux, ivar []float64
	k := 0
	for i := 0; log[0]+step*float64(i) < log[n-1]; i++ {
		for k+1 < n && math.Abs(log[k+1]-log[0]-step*float64(i)) < math.Abs(log[k]-log[0]-step*float64(i)) {
			k++
		}
		flux, ivar = append(flux, r.Flux[k]), append(ivar, r.IVar[k])
	}
	write("spPlate-0266-51602.fits", func(w *fits.Writer) {
		h := &fits.Header{}
		h.Set("COEFF0", log[0], "")
		h.Set("COEFF1", step, "")
		w.Image("", h, []int{2, len(flux)}, append(flux, flux...))
		w.Image("IVAR", nil, []int{2, len(ivar)}, append(ivar, ivar...))
		w.Image("ANDMASK", nil, []int{2, len(ivar)}, make([]int32, 2*len(ivar)))
		w.Table("PLUGMAP", nil, []fits.Data{{Name: "RA", Values: []float64{1, 2}}})
	})
	var want spectra.StarDoc
	for i, c := range []struct {
		name   string
		stars  int
		within float64 // standard deviations
	}{{filepath.Base(csv), 1, 0}, {"one.fits", 1, 1e-3}, {"spec-0266-51602-0001.fits", 1, 0.05}, {"stack_1.fit", 1, 0.05}, {"spPlate-0266-51602.fits", 2, 3}} {
		if i%2 == 1 && !tier.Slow {
			continue
		}
		code, out, stderr := apptest.Do(t, "fit", "spectra", at(c.name), "--config", at("config.yaml"), "--arm", "desi_r", "--json", "--quiet")
		var doc spectra.SpectraDoc
		if err := json.Unmarshal([]byte(out), &doc); code != exit.OK || err != nil || len(doc.Stars) != c.stars {
			t.Errorf("%s: exit %d, %v, %d stars: %s", c.name, code, err, len(doc.Stars), stderr)
			continue
		}
		if want.X == nil {
			want = doc.Stars[0]
		}
		for _, star := range doc.Stars {
			for _, name := range []string{"vel", "teff", "logg", "feh"} {
				if d := math.Abs(float64(star.X[name]-want.X[name])) / float64(want.SD[name]); !(d <= c.within) {
					t.Errorf("%s: %s is %v, %.2g standard deviations from %v", c.name, name, star.X[name], d, want.X[name])
				}
			}
		}
	}
}
