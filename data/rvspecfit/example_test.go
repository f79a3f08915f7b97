// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package rvspecfit_test

import (
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/euryale-dev/euryale/data/rvspecfit"
	"github.com/euryale-dev/euryale/tensor"
)

// A library of three templates on a grid of temperatures is written in the open format and read back.
func Example() {
	dir, err := os.MkdirTemp("", "rvspecfit")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	temperatures, err := tensor.From([]float64{5000, 5500, 6000}, 1, 3)
	if err != nil {
		log.Fatal(err)
	}
	fluxes, err := tensor.From([]float32{1, 0.8, 1, 0.7, 1, 0.6}, 3, 2) // one row per template
	if err != nil {
		log.Fatal(err)
	}
	numbers, err := tensor.From([]int64{0, 1, 2}, 3) // templates at the nodes of the grid
	if err != nil {
		log.Fatal(err)
	}
	arm := &rvspecfit.Library{
		Setup: "desi_z", Lam: []float64{8500, 8501}, ParNames: []string{"teff"},
		Points: temperatures, Spectra: fluxes,
		Grid: &rvspecfit.Grid{Axes: [][]float64{{5000, 5500, 6000}}, IDs: numbers},
	}
	name := filepath.Join(dir, "library.h5")
	if err := rvspecfit.WriteOpen(name, []*rvspecfit.Library{arm}, nil); err != nil {
		log.Fatal(err)
	}

	arms, _, err := rvspecfit.ReadOpen(name)
	if err != nil {
		log.Fatal(err)
	}
	for _, a := range arms {
		fmt.Println(a.Setup, a.ParNames, a.Grid.Axes[0], "K,", a.Spectra.Shape()[0], "templates of", len(a.Lam), "pixels")
	}
	// Output:
	// desi_z [teff] [5000 5500 6000] K, 3 templates of 2 pixels
}
