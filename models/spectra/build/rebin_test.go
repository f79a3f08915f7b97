// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package build

import (
	"context"
	"errors"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/data/fits"
	"github.com/euryale-dev/euryale/data/rvspecfit"
	sim "github.com/euryale-dev/euryale/sim/spectra"
	"github.com/euryale-dev/euryale/tensor"
)

// line is a spectrum of flux 1 with a Gaussian line of some depth and standard deviation.
func line(lam []float64, at, depth, sigma float64) []float32 {
	flux := make([]float32, len(lam))
	for i, x := range lam {
		z := (x - at) / sigma
		flux[i] = float32(1 - depth*math.Exp(-z*z/2))
	}
	return flux
}

var short = Settings{Setup: "x", Lam0: 5100, Lam1: 5150, Step: 0.3, Resolution: "x/1.5", Normalisation: NoNormalisation, Float64: true}

// width returns the standard deviation of the absorption line in a template, and where it is.
func width(lam, logs []float64) (sigma, at float64) {
	deepest := lam[slices.Index(logs, slices.Min(logs))]
	var sum, first, second float64
	for i, x := range lam {
		if math.Abs(x-deepest) > 4.5 { // there, the weights that are cut count more than the line
			continue
		}
		d := 1 - math.Exp(logs[i])
		sum, first, second = sum+d, first+d*x, second+d*x*x
	}
	at = first / sum
	return math.Sqrt(second/sum - at*at), at
}

// Spectra of files, with wavelengths in a file of their own or in the header, become lines of the width that the
// resolution says, in vacuum and in air.
func TestRebinFiles(t *testing.T) {
	dir := t.TempDir()
	lam := arange(5050, 5200, 0.02)
	logs := arange(math.Log(5050), math.Log(5200), 4e-6)
	waves := make([]float64, len(logs))
	tens := make([]float64, len(logs))
	for i, x := range logs {
		waves[i], tens[i] = math.Exp(x), math.Pow(10, x/math.Ln10)
	}
	writeTemplate(t, filepath.Join(dir, "plain.fits"), nil, line(lam, 5125, 0.5, 0.1), 5000, 4, 0, 0)
	writeTemplate(t, filepath.Join(dir, "header.fits"), map[string]float64{"CRVAL1": lam[10], "CDELT1": 0.02, "CRPIX1": 11}, line(lam, 5125, 0.5, 0.1), 5100, 4, 0, 0)
	writeTemplate(t, filepath.Join(dir, "log.fits"), map[string]float64{"CRVAL1": logs[0] / math.Ln10, "CD1_1": 4e-6 / math.Ln10, "DC-FLAG": 1}, line(tens, 5125, 0.5, 0.1), 5200, 4, 0, 0)
	w := must[*fits.Writer](t)(fits.Create(filepath.Join(dir, "WAVE_X.fits")))
	w.Image("", nil, []int{len(lam)}, lam)
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	ctx := context.Background()
	c := must[*rvspecfit.Catalog](t)(Scan(ctx, dir, ScanSettings{}))
	for _, x := range []struct {
		name, wave string
		set        func(s *Settings)
		fwhm, at   float64
	}{
		{"plain.fits", "WAVE_X.fits", func(s *Settings) {}, 1.5, 5125},
		{"header.fits", "", func(s *Settings) {}, 1.5, 5125},
		{"log.fits", "", func(s *Settings) {}, 1.5, 5125},
		{"plain.fits", "WAVE_X.fits", func(s *Settings) { s.Air = true }, 1.5, sim.Air(5125)},
		{"plain.fits", "WAVE_X.fits", func(s *Settings) { s.Resolution = "2562.5" }, 2, 5125},
		{"plain.fits", "WAVE_X.fits", func(s *Settings) { s.Resolution, s.FixedFWHM = "x/2", true }, 2, 5125},
		{"plain.fits", "WAVE_X.fits", func(s *Settings) { s.Linear = true }, 1.5, 5125},
		{"plain.fits", "WAVE_X.fits", func(s *Settings) { s.Float64 = false }, 1.5, 5125},
		{"plain.fits", "WAVE_X.fits", func(s *Settings) { s.Native = 6000 }, math.Sqrt(1.5*1.5 - 5125.*5125/6000/6000), 5125},
	} {
		one := &rvspecfit.Catalog{ParNames: c.ParNames, Entries: slices.Clone(c.Entries)}
		for i := range one.Entries {
			one.Entries[i].Bad = one.Entries[i].File != x.name
		}
		s := short
		s.Dir, s.WaveFile = dir, x.wave
		x.set(&s)
		l := must[*rvspecfit.Library](t)(Rebin(ctx, one, s))
		if l.LogStep == s.Linear || len(l.FileIDs) != 1 || l.Spectra.DType() == tensor.Float64 != s.Float64 || l.Lam[0] > s.Lam0/1.0033 || l.Lam[len(l.Lam)-1] < s.Lam1*1.0033 {
			t.Errorf("%+v: %v %v %g to %g", x, l.LogStep, l.FileIDs, l.Lam[0], l.Lam[len(l.Lam)-1])
		}
		sigma, at := width(l.Lam, l.Spectra.Convert(tensor.Float64).Float64s())
		fwhm := x.fwhm / (2 * math.Sqrt(2*math.Ln2))
		want := math.Sqrt(0.01 + fwhm*fwhm + 0.3*0.3/12) // with the pixels
		if math.Abs(sigma-want) > 0.004 || math.Abs(at-x.at) > 0.003 {
			t.Errorf("%s by %q: a line of width %.4f at %.4f, want %.4f at %.4f", x.name, s.Resolution, sigma, at, want, x.at)
		}
	}
}

// A template that cannot be used ends the work or is left out, and is named.
func TestBadTemplates(t *testing.T) {
	lam := arange(5050, 5200, 0.1)
	c := must[*rvspecfit.Catalog](t)(Nodes([]string{"teff", "logg"}, [][]float64{{4000, 5000, 6000}, {1, 2}}))
	c.Entries[0].Bad = true
	s := short
	s.Read = func(e rvspecfit.Entry) ([]float64, []float64, error) {
		flux := make([]float64, len(lam))
		for i := range flux {
			flux[i] = e.Params[0]
		}
		switch e.ID {
		case 1:
			return lam, flux[1:], nil
		case 2:
			flux[700] = -1e9
		case 3:
			return nil, nil, errors.New("a worn tape")
		}
		return lam, flux, nil
	}
	var told []string
	s.Report = func(p Progress) {
		if p.Err != nil {
			told = append(told, p.Err.Error())
		}
	}
	ctx := context.Background()
	s.Threads = 1
	if _, err := Rebin(ctx, c, s); err == nil || !strings.Contains(err.Error(), "teff=4000,logg=2") || !strings.Contains(err.Error(), "arm x") {
		t.Error(err)
	}
	told, s.Skip, s.Threads = nil, true, 2
	l := must[*rvspecfit.Library](t)(Rebin(ctx, c, s))
	slices.Sort(told)
	if !slices.Equal(l.FileIDs, []int{4, 5}) || !slices.Equal(l.Points.Float64s(), []float64{6000, 6000, 1, 2}) || len(told) != 3 {
		t.Errorf("%v, %v, told %q", l.FileIDs, l.Points, told)
	}
	for i, text := range []string{"fluxes, but", "the flux at 51", "a worn tape"} {
		if !strings.Contains(told[i], text) {
			t.Errorf("told %q, want %q", told[i], text)
		}
	}
	if logs := l.Spectra.Float64s(); math.Abs(logs[0]-math.Log(6000)) > 1e-6 || math.Abs(logs[len(logs)-1]-math.Log(6000)) > 1e-6 { // weights beyond 5 sigma are cut
		t.Errorf("a constant became %v", logs[:3])
	}
	stopped, stop := context.WithCancel(ctx)
	stop()
	if _, err := Rebin(stopped, c, s); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	c.Entries = c.Entries[1:4]
	if _, err := Rebin(ctx, c, s); err == nil || !strings.Contains(err.Error(), "none of 3 templates") {
		t.Error(err)
	}
}

func TestBadSettings(t *testing.T) {
	lam := arange(5050, 5200, 0.1)
	read := func(e rvspecfit.Entry) ([]float64, []float64, error) { return lam, make([]float64, len(lam)), nil }
	c := must[*rvspecfit.Catalog](t)(Nodes([]string{"teff"}, [][]float64{{4000, 5000}}))
	for text, set := range map[string]func(s *Settings){
		"no name":                       func(s *Settings) { s.Setup = "" },
		"from 5100 to 5000":             func(s *Settings) { s.Lam1 = 5000 },
		"steps of -1":                   func(s *Settings) { s.Step = -1 },
		"padding is -5":                 func(s *Settings) { s.Padding = -5 },
		"normalisation is 7":            func(s *Settings) { s.Normalisation = 7 },
		`uses the name "y"`:             func(s *Settings) { s.Resolution = "y/2" },
		"build: the resolution":         func(s *Settings) { s.Resolution = "x/" },
		"the resolving power is":        func(s *Settings) { s.Resolution = "200000" },
		`the logarithm of "mass"`:       func(s *Settings) { s.LogParams = []string{"mass"} },
		"Angstrom":                      func(s *Settings) { s.Lam1 = 5500 },
		"no such file":                  func(s *Settings) { s.Read, s.WaveFile = nil, "nothing.fits" },
		"want it positive, because its": func(s *Settings) {},
	} {
		s := short
		s.Read = read
		if set(&s); s.WaveFile != "" {
			s.Dir = t.TempDir()
		}
		if _, err := Rebin(context.Background(), c, s); err == nil || !strings.Contains(err.Error(), text) {
			t.Errorf("got %v, want %q", err, text)
		}
	}
	c.Entries[0].Bad, c.Entries[1].Bad = true, true
	if _, err := Rebin(context.Background(), c, short); err == nil || !strings.Contains(err.Error(), "all 2 templates") {
		t.Error(err)
	}
	for i, name := range []string{"linear_continuum", "median", "none"} {
		if n, err := ParseNormalisation(name); n != Normalisation(i) || err != nil {
			t.Errorf("%s is %v, %v", name, n, err)
		}
	}
	if _, err := ParseNormalisation("mean"); err == nil {
		t.Error("a mean is accepted")
	}
}

// The arms of DESI hold all wavelengths of its spectra at velocities up to 1000 km/s.
func TestDESI(t *testing.T) {
	for k, all := range [][]Settings{DESI(), DESIMatrices()} {
		for i, s := range all {
			lam := s.wavelengths()
			grid := must[*sim.Grid](t)(sim.NewGrid(lam, true))
			ends := [][]float64{{3600, 5800}, {5760, 7620}, {7520, 9824}}[i]
			if err := grid.CheckCoverage(ends, -1000, 1000); err != nil || s.check() != nil {
				t.Errorf("%s: %v, %v", s.Setup, err, s.check())
			}
			spread := must[sim.LineSpread](t)(s.spread(lam))
			mid := lam[len(lam)/2]
			if got, want := mid/spread.Power(mid), []float64{1.55, 1.55, 1.8}[i]; k == 0 && math.Abs(got-want) > 1e-9 {
				t.Errorf("%s: a FWHM of %g Angstrom, want %g", s.Setup, got, want)
			}
			if k == 1 && math.Abs(mid/spread.Power(mid)/(2*math.Sqrt(2*math.Ln2))-0.5) > 1e-3 {
				t.Errorf("%s: a resolving power of %g is not 0.5 Angstrom", s.Setup, spread.Power(mid))
			}
		}
	}
}

// BenchmarkRebin brings spectra of 0.01 to 0.02 Angstrom, as those of PHOENIX are, to an arm of DESI, on one thread.
func BenchmarkRebin(b *testing.B) {
	lam := arange(3000, 10000, 0.015)
	flux := make([]float64, len(lam))
	for i, x := range lam {
		flux[i] = 1 + 0.1*math.Sin(x)
	}
	c := must[*rvspecfit.Catalog](b)(Nodes([]string{"teff"}, [][]float64{arange(4000, 4016, 1)}))
	s := DESI()[0]
	s.Threads, s.Read = 1, func(rvspecfit.Entry) ([]float64, []float64, error) { return lam, flux, nil }
	for b.Loop() {
		must[*rvspecfit.Library](b)(Rebin(context.Background(), c, s))
	}
	b.ReportMetric(float64(b.N*16)/b.Elapsed().Seconds(), "templates/s")
}

// Headers give wavelengths, or their logarithms to either base.
func TestWavelengthsOfHeaders(t *testing.T) {
	for want, set := range map[float64]func(h *fits.Header){
		4002: func(h *fits.Header) { h.Set("CRVAL1", 4000.0, ""); h.Set("CDELT1", 1.0, "") },
		4001: func(h *fits.Header) {
			h.Set("CRVAL1", 4000.0, "")
			h.Set("CD1_1", 1.0, "")
			h.Set("CRPIX1", 2.0, "")
		},
		4000 * 1.02: func(h *fits.Header) {
			h.Set("CRVAL1", math.Log(4000), "")
			h.Set("CDELT1", math.Log(1.02)/2, "")
			h.Set("CTYPE1", "WAVE-LOG", "")
		},
		4000 * 1.04: func(h *fits.Header) {
			h.Set("CRVAL1", math.Log10(4000), "")
			h.Set("CDELT1", math.Log10(1.04)/2, "")
			h.Set("DC-FLAG", 1, "")
		},
	} {
		h := &fits.Header{}
		set(h)
		if lam, err := waveOf("x.fits", h, 3); err != nil || math.Abs(lam[2]-want) > 1e-8 {
			t.Errorf("got %v, %v, want %g", lam, err, want)
		}
	}
	if _, err := waveOf("x.fits", &fits.Header{}, 3); err == nil || !strings.Contains(err.Error(), "name a file of wavelengths") {
		t.Error(err)
	}
}
