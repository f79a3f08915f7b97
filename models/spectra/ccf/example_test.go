// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package ccf_test

import (
	"context"
	"fmt"
	"log"

	"github.com/euryale-dev/euryale/demo"
	"github.com/euryale-dev/euryale/models/spectra"
	"github.com/euryale-dev/euryale/models/spectra/ccf"
)

// This example makes templates for cross-correlation from a library, and guesses the velocities of
// two synthetic stars. Fits begin at the starts of the guesses.
func Example() {
	ctx := context.Background()
	library, err := demo.StarLibrary(ctx, demo.LibrarySettings{Arms: []string{"z"}})
	if err != nil {
		log.Fatal(err)
	}
	lib, err := spectra.From(library, spectra.LoadSettings{})
	if err != nil {
		log.Fatal(err)
	}
	stars, truth, err := demo.Stars(ctx, lib, 2, demo.StarSettings{Seed: 1, SN: [2]float64{80, 100}})
	if err != nil {
		log.Fatal(err)
	}
	source, err := ccf.FromTemplates(library[0])
	if err != nil {
		log.Fatal(err)
	}
	arm, err := ccf.Build(source, ccf.BuildSettings{Every: 5, Vsinis: []float64{0, 50}})
	if err != nil {
		log.Fatal(err)
	}
	templates, err := ccf.NewTemplates(arm)
	if err != nil {
		log.Fatal(err)
	}
	finder, err := ccf.New(templates, ccf.Settings{Params: lib.Params})
	if err != nil {
		log.Fatal(err)
	}
	guesses, err := finder.Find(ctx, stars)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(templates.Len(), "templates of", templates.Arms())
	for i, g := range guesses {
		if g.Err != nil {
			log.Fatal(g.Err)
		}
		fmt.Printf("%s: %.0f km/s, truth %.0f km/s\n", g.Star, g.Vel, truth[i].Vel)
	}
	// Output:
	// 140 templates of [desi_z]
	// star 0: -14 km/s, truth -16 km/s
	// star 1: 131 km/s, truth 135 km/s
}
