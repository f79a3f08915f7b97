// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package demo

import (
	"context"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/data/survey"
	"github.com/euryale-dev/euryale/models/spectra"
	sim "github.com/euryale-dev/euryale/sim/spectra"
)

func must[T any](t testing.TB) func(v T, err error) T {
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// libraries are those that tests asked for.
var libraries = map[string]*spectra.Library{}

func library(t testing.TB, s LibrarySettings) *spectra.Library {
	t.Helper()
	key := fmt.Sprint(s)
	if libraries[key] == nil {
		files, err := StarLibrary(context.Background(), s)
		if err != nil {
			t.Fatal(err)
		}
		libraries[key] = must[*spectra.Library](t)(spectra.From(files, spectra.LoadSettings{}))
	}
	return libraries[key]
}

// Lines grow with what makes them grow in stars.
func TestStarLines(t *testing.T) {
	l := StarLines()
	depth := func(lam float64, params ...float64) float64 {
		flux := must[[]float64](t)(l.Flux(params, []float64{lam - 12, lam}))
		return 1 - flux[1]/flux[0]
	}
	sun := []float64{5750, 4.4, 0, 0}
	for _, c := range []struct {
		line   string
		lam    float64
		params []float64 // of a star with a deeper line
	}{
		{"H alpha", 6564.61, []float64{7000, 4.4, 0, 0}},
		{"H beta", 4862.68, []float64{7000, 4.4, 0, 0}},
		{"Mg b", 5185.05, []float64{5750, 4.4, 0, 0.4}},
		{"Na D", 5891.58, []float64{4500, 4.4, 0, 0}},
		{"Ca II", 8544.44, []float64{5750, 1, 0, 0}},
		{"Fe I", 5371.0 + 1.98, []float64{5750, 4.4, 0.4, 0}},
		{"Fe II", 5018.44 + 1.40, []float64{5750, 1, 0, 0}},
	} {
		a, b := depth(c.lam, sun...), depth(c.lam, c.params...)
		if !(a > 0.1 && b > a+0.01 && b < 1) {
			t.Errorf("%s: depth %.3f in the Sun and %.3f in %v", c.line, a, b, c.params)
		}
	}
}

// Fits of synthetic stars find the truth within their errors. All are good fits.
func TestStarsAreFitted(t *testing.T) {
	lib := library(t, LibrarySettings{Arms: []string{"b", "z"}})
	ctx := context.Background()
	stars, truth, err := Stars(ctx, lib, 6, StarSettings{Seed: 3, SN: [2]float64{40, 100}})
	if err != nil {
		t.Fatal(err)
	}
	again, _, err := Stars(ctx, lib, 2, StarSettings{Seed: 3, SN: [2]float64{40, 100}})
	if err != nil || !slices.Equal(again[1].Spectra[1].Flux, stars[1].Spectra[1].Flux) {
		t.Errorf("star 1 depends on how many there are: %v", err)
	}
	for i := range stars {
		stars[i].Starts = []spectra.Start{{Vel: math.NaN(), Vsini: truth[i].Vsini, Params: truth[i].Params}}
	}
	f := must[*spectra.Fitter](t)(spectra.NewFitter(lib, spectra.Settings{Continuum: 6, NoVerdict: true}))
	sum, count := 0.0, 0
	for i, fit := range must[[]spectra.Fit](t)(f.Fit(ctx, stars)) {
		if fit.Err != nil || !fit.Converged {
			t.Fatalf("star %d: %v, %s", i, fit.Err, fit.Status)
		}
		for k, want := range append([]float64{truth[i].Vel, truth[i].Vsini}, truth[i].Params...) {
			if z := (fit.X[k] - want) / fit.SD[k]; !math.IsNaN(z) {
				sum, count = sum+z*z, count+1
			}
		}
		for _, s := range fit.Spectra {
			if r := s.ChiSquare / float64(s.Pixels); math.Abs(r-1) > 0.3 {
				t.Errorf("star %d, %s: chi-square is %.2f for each pixel", i, s.Arm, r)
			}
		}
	}
	if mean := sum / float64(count); count < 25 || mean < 0.3 || mean > 2.5 {
		t.Errorf("the mean square of %d deviations is %.2f standard deviations: want about 1", count, mean)
	}
}

// The files of a field open as those of DESI, the right fibers are selected, and a star is fitted with and without
// resolution matrices.
func TestWriteDESI(t *testing.T) {
	ctx := context.Background()
	for _, matrices := range []bool{false, true} {
		lib := library(t, LibrarySettings{Arms: []string{"b", "z"}, Matrices: matrices})
		dir := t.TempDir()
		s := StarSettings{Seed: 5, SN: [2]float64{50, 60}, Matrices: matrices}
		fibers := must[[]Fiber](t)(WriteDESI(ctx, dir, "main-1", lib, 18, s))
		d := must[*survey.DESI](t)(survey.OpenDESI(filepath.Join(dir, "coadd-main-1.fits")))
		defer d.Close()
		chosen := must[*survey.Chosen](t)(d.Select(survey.Selection{StarsOnly: true, MinSN: 5}))
		var want []int
		for i, f := range fibers {
			if f.Kind == StarFiber || f.Kind == BlindFiber {
				want = append(want, i)
			}
			if d.TargetID[i] != f.TargetID {
				t.Errorf("fiber %d is target %d, want %d", i, d.TargetID[i], f.TargetID)
			}
		}
		if !slices.Equal(chosen.Rows, want) || len(want) != 15 || chosen.RedshiftFile == "" {
			t.Errorf("chose %v by %q, want %v", chosen.Rows, chosen.RedshiftFile, want)
		}
		if sn := chosen.SN["z"][0]; math.Abs(sn/fibers[0].Truth.SN-1) > 0.2 {
			t.Errorf("S/N of %g, want about %g", sn, fibers[0].Truth.SN)
		}
		if arms := must[[]*survey.Arm](t)(d.Fiber(11, d.Arms, false)); len(arms) != 1 || arms[0].Name != "desi_z" {
			t.Errorf("%d arms of a fiber without its first", len(arms))
		}
		star, bad := spectra.Star{Name: "0"}, 0
		for _, a := range must[[]*survey.Arm](t)(d.Fiber(0, d.Arms, matrices)) {
			x := spectra.Spectrum{Arm: a.Name, Lam: a.Wave, Flux: a.Flux, Err: a.Err, Bad: a.Bad}
			if matrices {
				x.Resolution = must[*sim.Resolution](t)(sim.DESIResolution(a.Resolution, a.Diagonals, 0.5, 0.8))
			}
			star.Spectra = append(star.Spectra, x)
			for _, b := range a.Bad {
				if b {
					bad++
				}
			}
		}
		if bad == 0 || bad > 60 {
			t.Errorf("%d bad pixels", bad)
		}
		truth := fibers[0].Truth
		star.Starts = []spectra.Start{{Vel: math.NaN(), Vsini: truth.Vsini, Params: truth.Params}}
		f := must[*spectra.Fitter](t)(spectra.NewFitter(lib, spectra.Settings{Continuum: 6, NoVerdict: true}))
		fit := must[[]spectra.Fit](t)(f.Fit(ctx, []spectra.Star{star}))[0]
		if fit.Err != nil {
			t.Fatal(fit.Err)
		}
		for k, want := range append([]float64{truth.Vel, truth.Vsini}, truth.Params...) {
			if z := (fit.X[k] - want) / fit.SD[k]; math.Abs(z) > 4 {
				t.Errorf("%s is %g, %.1f standard deviations from %g", fit.Names[k], fit.X[k], z, want)
			}
		}
		for _, x := range fit.Spectra {
			if r := x.ChiSquare / float64(x.Pixels); math.Abs(r-1) > 0.3 {
				t.Errorf("%s: chi-square is %.2f for each pixel", x.Arm, r)
			}
		}
	}
}

func TestBadStarSettings(t *testing.T) {
	ctx := context.Background()
	if _, err := StarTemplates(ctx, LibrarySettings{Arms: []string{"q"}}); err == nil || !strings.Contains(err.Error(), `"q"`) {
		t.Error(err)
	}
	lib := library(t, LibrarySettings{Arms: []string{"z"}})
	for text, s := range map[string]StarSettings{
		"vsini goes from 3 to 600": {Vsini: [2]float64{3, 600}},
		"teff is 6000 to 5000":     {Params: [4][2]float64{{6000, 5000}}},
		"outside the library":      {Params: [4][2]float64{{9000, 9001}}},
		"S/N above 0":              {SN: [2]float64{-1, 5}},
		"velocities up to 1000":    {Vel: [2]float64{-2000, 0}},
		"lie outside the library:": {Params: [4][2]float64{2: {1, 2}}},
	} {
		if _, _, err := Stars(ctx, lib, 1, s); err == nil || !strings.Contains(err.Error(), text) {
			t.Errorf("got %v, want %q", err, text)
		}
	}
	if _, err := WriteDESI(ctx, t.TempDir(), "x", lib, 0, StarSettings{}); err == nil || !strings.Contains(err.Error(), "0 fibers") {
		t.Error(err)
	}
	stopped, stop := context.WithCancel(ctx)
	stop()
	if _, _, err := Stars(stopped, lib, 1, StarSettings{}); err != context.Canceled {
		t.Error(err)
	}
	dir := t.TempDir()
	if _, err := WriteDESI(stopped, dir, "x", lib, 5, StarSettings{}); err == nil {
		t.Error("no error of a file that was not completed")
	}
	if left := must[[]string](t)(filepath.Glob(filepath.Join(dir, "*"))); len(left) > 0 {
		t.Errorf("%v are left", left)
	}
}

// BenchmarkStarTemplates makes libraries on one thread.
func BenchmarkStarTemplates(b *testing.B) {
	for name, whole := range map[string]bool{"short": false, "whole": true} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if _, err := StarTemplates(context.Background(), LibrarySettings{Whole: whole, Threads: 1}); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.N*350)/b.Elapsed().Seconds(), "stars/s")
		})
	}
}

// BenchmarkWriteDESI writes fields of short arms.
func BenchmarkWriteDESI(b *testing.B) {
	lib := library(b, LibrarySettings{})
	for b.Loop() {
		if _, err := WriteDESI(context.Background(), b.TempDir(), "x", lib, 500, StarSettings{}); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.N*500)/b.Elapsed().Seconds(), "fibers/s")
}
