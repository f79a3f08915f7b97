// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package demo_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/euryale-dev/euryale/demo"
	"github.com/euryale-dev/euryale/models/g2"
	"github.com/euryale-dev/euryale/models/morph"
	"github.com/euryale-dev/euryale/models/spectra"
	"github.com/euryale-dev/euryale/sim/assembly/script"
)

// The particle of the demonstration is measured, and recovered from its noisy patterns.
func ExampleWriteParticle() {
	dir, err := os.MkdirTemp("", "particle")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	ctx := context.Background()
	if err := demo.WriteParticle(ctx, dir, "my study"); err != nil {
		fmt.Println(err)
		return
	}
	task, err := morph.OpenTask(filepath.Join(dir, "problem.json"), 0)
	if err != nil {
		fmt.Println(err)
		return
	}
	best, err := task.Fit(ctx, morph.FitSettings{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(best.Status, best.Check.OK)
	for i, name := range task.Names() {
		fmt.Printf("%s %.1f, truth %.1f\n", name, best.X[i], demo.Particle()[name])
	}
	// Output:
	// converged true
	// radius 9.3, truth 9.3
	// shell 6.4, truth 6.4
	// aligned 0.6, truth 0.6
}

func ExampleCorrelations() {
	dir, err := os.MkdirTemp("", "g2")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, "g2_result.hdf")
	if err := os.WriteFile(file, demo.Correlations(), 0o644); err != nil {
		fmt.Println(err)
		return
	}
	curves, err := g2.OpenCurves(file)
	fmt.Println(len(curves), "bins of", len(curves[0].X), "delays", err)
	// Output:
	// 12 bins of 48 delays <nil>
}

func ExampleExperiments() {
	for _, x := range demo.Experiments() {
		s, err := script.Parse(x.Name, x.Script())
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(x.Name, len(s.Areas), "areas")
	}
	// Output:
	// project 4 areas
	// associate 3 areas
	// complete 1 areas
}

// Synthetic spectra of the Ca II triplet of two stars.
func ExampleStars() {
	ctx := context.Background()
	files, err := demo.StarLibrary(ctx, demo.LibrarySettings{Arms: []string{"z"}})
	if err != nil {
		fmt.Println(err)
		return
	}
	lib, err := spectra.From(files, spectra.LoadSettings{})
	if err != nil {
		fmt.Println(err)
		return
	}
	stars, truth, err := demo.Stars(ctx, lib, 2, demo.StarSettings{Seed: 1})
	if err != nil {
		fmt.Println(err)
		return
	}
	for i, s := range stars {
		fmt.Printf("%s: %d pixels of %s, %.0f km/s, %.0f K\n", s.Name, len(s.Spectra[0].Lam), s.Spectra[0].Arm, truth[i].Vel, truth[i].Params[0])
	}
	// Output:
	// star 0: 322 pixels of desi_z, -16 km/s, 6332 K
	// star 1: 322 pixels of desi_z, 135 km/s, 4544 K
}
