// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package tabulated

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/cli/clitest"
	"github.com/euryale-dev/euryale/data/rvspecfit"
	"github.com/euryale-dev/euryale/models/spectra"
)

// flux is the spectrum of a made-up star that moves with a velocity in km/s: lines get weaker with the temperature in K, and broader
// with logg.
func flux(lam, teff, logg, velocity float64) float64 {
	depth := 0.0
	for _, line := range []float64{5103, 5131, 5152, 5167.3, 5172.7, 5183.6, 5210, 5248} {
		x := (lam/(1+velocity/299792.458) - line) / (0.4 + 0.15*logg)
		depth += (0.2 + 0.05*math.Sin(line)) * math.Pow(5500/teff, 3) * math.Exp(-x*x/2)
	}
	return math.Exp(-depth)
}

// wavelength returns that of a pixel of the templates, from 5080 to 5287 Angstrom.
func wavelength(i int) float64 { return 5080 * math.Exp(4e-5*float64(i)) }

// table is a library of 4 x 3 templates.
func table() string {
	var b strings.Builder
	b.WriteString("teff,logg")
	for i := range 1001 {
		fmt.Fprintf(&b, ",%.9f", wavelength(i))
	}
	for _, teff := range []float64{4500, 5000, 5500, 6000} {
		for _, logg := range []float64{2, 3.5, 5} {
			fmt.Fprintf(&b, "\n%g,%g", teff, logg)
			for i := range 1001 {
				fmt.Fprintf(&b, ",%.7f", flux(wavelength(i), teff, logg, 0))
			}
		}
	}
	return b.String() + "\n"
}

// The library of another module is opened like any other.
func TestLibrary(t *testing.T) {
	path := filepath.Join(t.TempDir(), "grid.templates.csv")
	if err := os.WriteFile(path, []byte(table()), 0o644); err != nil {
		t.Fatal(err)
	}
	l, err := spectra.Open(path, spectra.LoadSettings{})
	if err != nil || len(l.Arms) != 1 || len(l.Arms[0].Lam) != 1001 || l.Params[1] != "logg" {
		t.Fatalf("%+v, %v", l, err)
	}
	for want, text := range map[string]string{
		"there are no templates": "teff,5000,5001\n", "wrong number of fields": "teff,5000,5001\n1,2\n",
		"line 2, column 3": "teff,5000,5001\n1,2,x\n", `column 3 is "logg"`: "teff,5000,logg\n1,2,3\n",
	} {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		c, err := rvspecfit.OpenLibrary(path)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := c.Read([]string{"templates"}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want %q: %v", want, err)
		}
	}
}

// The command line fits a star with the library.
func TestCommand(t *testing.T) {
	s := clitest.New(t)
	s.Write("grid.templates.csv", table())
	var b strings.Builder
	b.WriteString("wavelength,flux,error\n")
	for i := range 600 {
		lam := 5100 + 0.25*float64(i)
		fmt.Fprintf(&b, "%g,%.6f,0.01\n", lam, flux(lam, 5500, 3.5, 40)+0.01*math.Sin(float64(i*i)))
	}
	s.Write("star.csv", b.String())
	var doc struct {
		Stars []struct {
			X map[string]float64 `json:"x"`
		}
	}
	s.JSON(&doc, "fit", "spectra", "star.csv", "--library", "grid.templates.csv", "--param-init", "bruteforce", "--npoly", "3", "--fixed", "vsini=0", "--quiet")
	if len(doc.Stars) != 1 || math.Abs(doc.Stars[0].X["vel"]-40) > 1 || math.Abs(doc.Stars[0].X["teff"]-5500) > 50 {
		t.Errorf("%+v", doc)
	}
	if code, _, errs := s.Exit("fit", "spectra", "star.csv", "--library", "grid.templates.csv", "--quiet"); code == 0 || !strings.Contains(errs, "no templates for cross-correlation") {
		t.Errorf("exit code %d, %s", code, errs)
	}
}
