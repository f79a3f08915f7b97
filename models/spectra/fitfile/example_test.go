// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package fitfile_test

import (
	"context"
	"encoding/csv"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/euryale-dev/euryale/data/rvspecfit"
	"github.com/euryale-dev/euryale/data/survey"
	"github.com/euryale-dev/euryale/demo"
	"github.com/euryale-dev/euryale/models/spectra"
	"github.com/euryale-dev/euryale/models/spectra/fitfile"
)

// This example writes a library of templates and the spectrum of a star to files, and fits the star
// as a survey would: the pipeline finds its own first guess.
func Example() {
	dir, err := os.MkdirTemp("", "fitfile")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	ctx := context.Background()
	library, star := filepath.Join(dir, "library.h5"), filepath.Join(dir, "star.csv")
	truth, err := write(ctx, library, star)
	if err != nil {
		log.Fatal(err)
	}

	config := rvspecfit.DefaultConfig()
	config.Library = library
	p, err := fitfile.New(fitfile.Settings{Config: config, Continuum: 5, BruteForce: true, Batch: 1})
	if err != nil {
		log.Fatal(err)
	}
	source, err := fitfile.Open(star, 0, survey.Units{})
	if err != nil {
		log.Fatal(err)
	}
	defer source.Close()
	spectrum, left, err := p.Spectrum(source, 0, fitfile.Taking{})
	if err != nil {
		log.Fatal(err)
	}
	outcomes, err := p.Fit(ctx, []spectra.Star{{Name: "star", Spectra: []spectra.Spectrum{*spectrum}}})
	if err != nil {
		log.Fatal(err)
	}
	fit := outcomes[0].Fit
	if fit.Err != nil {
		log.Fatal(fit.Err)
	}
	fmt.Printf("%s of %d pixels, %.0f %% left out\n", source.Kind, len(spectrum.Lam), 100*left)
	fmt.Printf("%.0f km/s, truth %.0f km/s, model and data agree: %v\n", fit.X[0], truth, fit.Verdict.OK)
	// Output:
	// spectrum of 322 pixels, 0 % left out
	// -15 km/s, truth -16 km/s, model and data agree: true
}

// write writes a small library and the spectrum of a synthetic star, and returns its velocity in km/s.
func write(ctx context.Context, library, star string) (velocity float64, err error) {
	arms, err := demo.StarLibrary(ctx, demo.LibrarySettings{Arms: []string{"z"}})
	if err != nil {
		return 0, err
	}
	if err := rvspecfit.WriteOpen(library, arms, nil); err != nil {
		return 0, err
	}
	lib, err := spectra.From(arms, spectra.LoadSettings{})
	if err != nil {
		return 0, err
	}
	stars, truth, err := demo.Stars(ctx, lib, 1, demo.StarSettings{Seed: 1, SN: [2]float64{80, 100}})
	if err != nil {
		return 0, err
	}
	rows := [][]string{{"wavelength", "flux", "error"}}
	for s, i := stars[0].Spectra[0], 0; i < len(s.Lam); i++ {
		rows = append(rows, []string{fmt.Sprint(s.Lam[i]), fmt.Sprint(s.Flux[i]), fmt.Sprint(s.Err[i])})
	}
	f, err := os.Create(star)
	if err != nil {
		return 0, err
	}
	if err := csv.NewWriter(f).WriteAll(rows); err != nil {
		return 0, err
	}
	return truth[0].Vel, f.Close()
}
