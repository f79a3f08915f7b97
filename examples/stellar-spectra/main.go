// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

// Command stellar-spectra fits spectra of synthetic stars with a library of templates: first guesses by
// cross-correlation, the fits with their errors and a verdict, a binary whose velocity changes from one exposure to
// the next, and the posterior of one star. It needs no files and takes seconds.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"log"
	"os"

	"github.com/euryale-dev/euryale/data/rvspecfit"
	"github.com/euryale-dev/euryale/demo"
	"github.com/euryale-dev/euryale/infer"
	"github.com/euryale-dev/euryale/models/spectra"
	"github.com/euryale-dev/euryale/models/spectra/ccf"
)

func main() {
	draws := flag.Int("draws", 200, "draws of each of four chains")
	flag.Parse()
	if err := report(os.Stdout, *draws); err != nil {
		log.Fatal(err)
	}
}

func report(w io.Writer, draws int) error {
	ctx := context.Background()
	// A library is read by spectra.Open or spectra.Load; this one is made on the spot.
	files, err := demo.StarLibrary(ctx, demo.LibrarySettings{})
	if err != nil {
		return err
	}
	lib, err := spectra.From(files, spectra.LoadSettings{})
	if err != nil {
		return err
	}
	finder, err := finderOf(files, lib)
	if err != nil {
		return err
	}

	// Stars with spectra in three arms, and what they were made with.
	stars, truth, err := demo.Stars(ctx, lib, 4, demo.StarSettings{Seed: 5, SN: [2]float64{30, 60}})
	if err != nil {
		return err
	}
	fitter, err := spectra.NewFitter(lib, spectra.Settings{Continuum: 10, Batch: 4})
	if err != nil {
		return err
	}
	fits, err := fit(ctx, finder, fitter, stars)
	if err != nil {
		return err
	}
	for i, f := range fits {
		fmt.Fprintf(w, "%s: velocity %.1f +- %.1f km/s (truth %.1f), teff %.0f +- %.0f K (%.0f)\n", f.Star, f.X[0], f.SD[0], truth[i].Vel, f.X[2], f.SD[2], truth[i].Params[0])
		fmt.Fprintln(w, f.Verdict.Summary())
	}

	// A binary, seen twice: all is common to both exposures but the velocity.
	binary, err := seenTwice(ctx, lib, -40, 25)
	if err != nil {
		return err
	}
	each, err := spectra.NewFitter(lib, spectra.Settings{Continuum: 10, PerExposure: true, Batch: 1})
	if err != nil {
		return err
	}
	if fits, err = fit(ctx, finder, each, []spectra.Star{binary}); err != nil {
		return err
	}
	fmt.Fprintf(w, "binary: %.1f +- %.1f and %.1f +- %.1f km/s\n%s\n", fits[0].X[0], fits[0].SD[0], fits[0].X[1], fits[0].SD[1], fits[0].Common)

	// The posterior of the first star, with the continuum integrated out.
	if fits, err = fit(ctx, finder, fitter, stars[:1]); err != nil {
		return err
	}
	post, err := fitter.Sample(ctx, &stars[0], &fits[0], infer.Settings{Chains: 4, Warmup: min(200, draws), Draws: draws, Seed: 1})
	if err != nil {
		return err
	}
	fmt.Fprintln(w, post.Summary())
	return nil
}

// finderOf makes templates for cross-correlation of the library.
func finderOf(files []*rvspecfit.Library, lib *spectra.Library) (*ccf.Finder, error) {
	var arms []*rvspecfit.CCF
	for _, file := range files {
		source, err := ccf.FromTemplates(file)
		if err != nil {
			return nil, err
		}
		arm, err := ccf.Build(source, ccf.BuildSettings{Every: 4, Vsinis: []float64{0, 50}})
		if err != nil {
			return nil, err
		}
		arms = append(arms, arm)
	}
	templates, err := ccf.NewTemplates(arms...)
	if err != nil {
		return nil, err
	}
	return ccf.New(templates, ccf.Settings{Params: lib.Params, Starts: 2})
}

// fit fits stars from first guesses.
func fit(ctx context.Context, finder *ccf.Finder, fitter *spectra.Fitter, stars []spectra.Star) ([]spectra.Fit, error) {
	guesses, err := finder.Find(ctx, stars)
	if err != nil {
		return nil, err
	}
	for i, g := range guesses {
		if g.Err != nil {
			return nil, g.Err
		}
		stars[i].Starts = g.Starts
	}
	fits, err := fitter.Fit(ctx, stars)
	for _, f := range fits {
		if err == nil {
			err = f.Err
		}
	}
	return fits, err
}

// seenTwice returns one star in two exposures, with two velocities.
func seenTwice(ctx context.Context, lib *spectra.Library, first, second float64) (spectra.Star, error) {
	star := spectra.Star{Name: "binary"}
	for k, v := range []float64{first, second} {
		one, _, err := demo.Stars(ctx, lib, 1, demo.StarSettings{Seed: uint64(k + 1), SN: [2]float64{50, 50}, Vel: [2]float64{v, v}, Vsini: [2]float64{9, 9},
			Params: [4][2]float64{{5600, 5600}, {4.1, 4.1}, {-0.4, -0.4}, {0.1, 0.1}}})
		if err != nil {
			return star, err
		}
		for _, s := range one[0].Spectra {
			s.Exposure = fmt.Sprint("night ", k+1)
			star.Spectra = append(star.Spectra, s)
		}
	}
	return star, nil
}
