// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package spectra_test

import (
	"context"
	"fmt"
	"log"
	"math"

	"github.com/euryale-dev/euryale/demo"
	"github.com/euryale-dev/euryale/models/spectra"
)

// This example fits synthetic spectra of the Ca II triplet of two stars, without any first guess of
// their velocities, and compares the velocities with the true ones.
func Example() {
	ctx := context.Background()
	// A library of templates that is made on the spot; spectra.Open reads one from a file.
	templates, err := demo.StarLibrary(ctx, demo.LibrarySettings{Arms: []string{"z"}})
	if err != nil {
		log.Fatal(err)
	}
	lib, err := spectra.From(templates, spectra.LoadSettings{})
	if err != nil {
		log.Fatal(err)
	}
	stars, truth, err := demo.Stars(ctx, lib, 2, demo.StarSettings{Seed: 1, SN: [2]float64{80, 100}})
	if err != nil {
		log.Fatal(err)
	}
	for i := range stars { // a velocity of NaN asks for a scan of all velocities
		stars[i].Starts = []spectra.Start{{Vel: math.NaN(), Vsini: 10, Params: []float64{5500, 3, -1, 0.2}}}
	}
	fitter, err := spectra.NewFitter(lib, spectra.Settings{})
	if err != nil {
		log.Fatal(err)
	}
	fits, err := fitter.Fit(ctx, stars)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(fitter.Names())
	for i, f := range fits {
		if f.Err != nil {
			log.Fatal(f.Err)
		}
		fmt.Printf("%s: %.0f km/s, truth %.0f km/s, model and data agree: %v\n", f.Star, f.X[0], truth[i].Vel, f.Verdict.OK)
	}
	// Output:
	// [vel vsini teff logg feh alpha]
	// star 0: -15 km/s, truth -16 km/s, model and data agree: true
	// star 1: 135 km/s, truth 135 km/s, model and data agree: true
}
