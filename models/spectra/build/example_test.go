// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package build_test

import (
	"context"
	"fmt"

	"github.com/euryale-dev/euryale/data/rvspecfit"
	"github.com/euryale-dev/euryale/models/spectra"
	"github.com/euryale-dev/euryale/models/spectra/build"
)

// A library of one line, at 12 temperatures and gravities, on a regular grid.
func ExampleRebin() {
	lines, err := build.ParseLines([]byte(`{"columns": ["lambda_vac", "kind", "s", "p", "q", "w", "lorentz"],
	  "kinds": {"H": [0, 0]}, "lines": [[6564.61, "H", 1.2, 0.6, 0, 2, 1]]}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	nodes, err := build.Nodes(build.LineParams(), [][]float64{{5000, 6000, 7000}, {2, 4}, {-1, 0}, {0, 0.4}})
	if err != nil {
		fmt.Println(err)
		return
	}
	var lam []float64
	for x := 6450.0; x < 6680; x += 0.2 {
		lam = append(lam, x)
	}
	templates, err := build.Rebin(context.Background(), nodes, build.Settings{
		Setup: "red", Lam0: 6500, Lam1: 6630, Step: 0.4, Resolution: "x/1.55",
		Read: func(e rvspecfit.Entry) ([]float64, []float64, error) {
			flux, err := lines.Flux(e.Params, lam)
			return lam, flux, err
		},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	grid, err := build.Regular(templates)
	if err != nil {
		fmt.Println(err)
		return
	}
	lib, err := spectra.From([]*rvspecfit.Library{grid}, spectra.LoadSettings{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(lib.Params, grid.Spectra.Shape(), grid.Grid.IDs.Shape())
	// Output: [teff logg feh alpha] [24 435] [3 2 2 2]
}
