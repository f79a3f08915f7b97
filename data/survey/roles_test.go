// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package survey

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Tables with more columns than a spectrum needs: the right ones are taken, and what is not clear is refused by name.
func TestRolesOfColumns(t *testing.T) {
	for _, c := range []struct {
		head  string
		row   func(i int) string
		units Units
		ivar  float64 // of every pixel
		good  int     // of 40 pixels
		want  string  // in the notes, or in the error
		fails bool
	}{
		{"flux,err", func(int) string { return "1,0.5" }, Units{}, 4, 40, "errors from err", false},
		{"flux,err,weight", func(int) string { return "1,0.5,1" }, Units{}, 4, 40, "the column weight is not used", false},
		{"flux,weight", func(int) string { return "1,4" }, Units{}, 4, 40, "no column of errors", false},
		{"flux,err,ivar", func(int) string { return "1,0.5,4" }, Units{}, 4, 40, "with which err agrees", false},
		{"flux,err,ivar", func(int) string { return "1,0.5,1" }, Units{}, 0, 0, "are not those of the errors", true},
		{"flux,spec,err", func(int) string { return "1,7,0.5" }, Units{}, 0, 0, "flux and spec could both be the fluxes", true},
		{"flux,err,noise", func(int) string { return "1,0.5,0.7" }, Units{}, 0, 0, "err and noise could both be the errors", true},
		{"flux,ivar,invvar", func(int) string { return "1,4,4" }, Units{}, 0, 0, "ivar and invvar could both", true},
		{"flux,err,flag,quality", func(int) string { return "1,0.5,0,1" }, Units{}, 0, 0, "flag and quality could both be the mask", true},
		{"flux,err,mask,quality", func(int) string { return "1,0.5,0,0" }, Units{}, 0, 0, "mask and quality could both be the mask", true},
		{"flux,err,log_flux", func(int) string { return "1,0.5,0" }, Units{}, 4, 40, "log_flux is not used", false},
		{"log_flux,err", func(int) string { return "0,0.5" }, Units{}, 0, 0, "holds logarithms of fluxes", true},
		{"flux,log_err", func(int) string { return "1,0.5" }, Units{}, 0, 0, "do not show how large they are", true},
		{"flux,err,mask", func(i int) string { return fmt.Sprintf("1,0.5,%d", b2i(i < 4)) }, Units{}, 4, 36, "marks bad pixels", false},
		{"flux,err,mask", func(i int) string { return fmt.Sprintf("1,0.5,%d", b2i(i >= 4)) }, Units{}, 4, 36, "marks good pixels", false},
		{"flux,err,mask", func(i int) string { return fmt.Sprintf("1,0.5,%d", b2i(i < 20)) }, Units{}, 0, 0, "--mask-good", true},
		{"flux,err,mask", func(i int) string { return fmt.Sprintf("1,0.5,%d", b2i(i < 19)) }, Units{GoodMask: "1"}, 4, 19, "as asked for", false},
		{"flux,err,mask", func(i int) string { return fmt.Sprintf("1,0.5,%d", b2i(i >= 4)) }, Units{GoodMask: "0"}, 4, 4, "as asked for", false},
		{"flux,err,badmask", func(i int) string { return fmt.Sprintf("1,0.5,%d", b2i(i >= 4)) }, Units{}, 4, 4, "by its name", false},
		{"flux,err,goodmask", func(i int) string { return fmt.Sprintf("1,0.5,%d", b2i(i < 4)) }, Units{}, 4, 4, "by its name", false},
		{"flux,err,and_mask", func(i int) string { return fmt.Sprintf("1,0.5,%d", 64*b2i(i >= 4)) }, Units{}, 4, 4, "marks bad pixels", false},
		{"flux,err", func(int) string { return "1,0.5" }, Units{Air: true}, 4, 40, "in air, as asked for", false},
	} {
		for _, first := range []string{"wave", "wave_vac", "wave_air"} {
			if c.units.Air && first == "wave_vac" {
				continue
			}
			text := first + "," + c.head + "\n"
			for i := range 40 {
				text += fmt.Sprintf("%d,%s\n", 5000+i, c.row(i))
			}
			file := filepath.Join(t.TempDir(), "s.csv")
			if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
			r, err := ReadSpectrum(file, c.units)
			if c.fails {
				if err == nil || !strings.Contains(err.Error(), c.want) {
					t.Errorf("%s: %v, want %q", c.head, err, c.want)
				}
				continue
			}
			if err != nil {
				t.Errorf("%s: %v", c.head, err)
				continue
			}
			good := 40
			for _, bad := range r.Mask {
				good -= b2i(bad)
			}
			if good != c.good || slices.ContainsFunc(r.IVar, func(v float64) bool { return v != c.ivar }) || !strings.Contains(r.Told(), c.want) {
				t.Errorf("%s: %d good pixels, inverse variance %g, %q; want %d, %g, %q", c.head, good, r.IVar[0], r.Told(), c.good, c.ivar, c.want)
			}
			in := map[string]string{"wave": "vacuum, as the file does not say", "wave_vac": "vacuum, as the file says", "wave_air": "air, as the file says"}[first]
			if !c.units.Air && !strings.Contains(r.Told(), in) {
				t.Errorf("%s: %q does not say %q", first, r.Told(), in)
			}
		}
	}
}

// Fluxes that increase like wavelengths, beside wavelengths that do not, are asked about; others are not.
func TestSwappedColumns(t *testing.T) {
	for text, swapped := range map[string]bool{
		"wave,flux,err\n1.5,5000,0.1\n1.2,5001,0.1\n1.3,5002,0.1\n": true,
		"wave,flux,err\n5001,1,0.1\n5000,2,0.1\n5002,3,0.1\n":       false,
		"wave,flux,err\n1.5,5000,0.1\n1.2,5002,0.1\n1.3,5001,0.1\n": false,
	} {
		file := filepath.Join(t.TempDir(), "s.csv")
		if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		_, err := ReadSpectrum(file, Units{})
		if err == nil || strings.Contains(err.Error(), "do increase, from 5000 to 5002: are the columns") != swapped {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// Fluxes and their errors that stand in each other's columns are asked about; faint spectra, and those without noise, are not.
func TestErrorsInPlaceOfFluxes(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for name, c := range map[string]struct {
		flux, sigma func(noise float64) float64
		swapped     bool
	}{
		"swapped":       {func(float64) float64 { return 0.15 }, func(n float64) float64 { return 14 + 0.15*n }, true},
		"as they are":   {func(n float64) float64 { return 14 + 0.15*n }, func(float64) float64 { return 0.15 }, false},
		"all noise":     {func(n float64) float64 { return 0.01 + n }, func(float64) float64 { return 1 }, false},
		"without noise": {func(float64) float64 { return 0.15 }, func(float64) float64 { return 14 }, false},
	} {
		text := "wave,flux,err\n"
		for i := range 60 {
			n := r.NormFloat64()
			text += fmt.Sprintf("%d,%g,%g\n", 5000+i, c.flux(n), c.sigma(n))
		}
		file := filepath.Join(t.TempDir(), "s.csv")
		if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		_, err := ReadSpectrum(file, Units{})
		if (err != nil) != c.swapped || err != nil && !strings.Contains(err.Error(), "are the columns flux and err swapped?") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Pixels without a usable error or flux are told, whatever they have in place of it; those that are masked are not counted again.
func TestUnusablePixels(t *testing.T) {
	for _, c := range []struct{ head, bad string }{
		{"wave,flux,err", "1,0"}, {"wave,flux,err", "1,-2"}, {"wave,flux,err", "1,nan"}, {"wave,flux,err", "1,inf"}, {"wave,flux,err", "nan,0.1"}, {"wave,flux,err", "inf,0.1"},
		{"wave,flux,ivar", "1,0"}, {"wave,flux,ivar", "1,-2"}, {"wave,flux,ivar", "1,nan"}, {"wave,flux,ivar", "1,inf"}, {"wave,flux,weight", "1,0"},
	} {
		file := filepath.Join(t.TempDir(), "star.csv")
		text := c.head + ",badmask\n"
		for i := range 40 {
			pixel := "1,0.1"
			if i < 3 {
				pixel = c.bad
			}
			text += fmt.Sprintf("%d,%s,%d\n", 5000+i, pixel, b2i(i == 0 || i == 20))
		}
		if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		r, err := ReadSpectrum(file, Units{})
		if err != nil {
			t.Errorf("%s %s: %v", c.head, c.bad, err)
			continue
		}
		if want := "2 of 40 pixels are left out"; !strings.Contains(r.Told(), want) {
			t.Errorf("%s %s: %q does not say %q", c.head, c.bad, r.Told(), want)
		}
		if a := Prepare(r, Preparation{}); a.Unusable != 2 || !a.Bad[1] || !a.Bad[2] || a.Bad[3] {
			t.Errorf("%s %s: %d pixels are unusable, bad are %v", c.head, c.bad, a.Unusable, a.Bad[:4])
		}
	}
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}
