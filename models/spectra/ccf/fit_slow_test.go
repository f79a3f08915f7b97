// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

//go:build slow

package ccf

import (
	"context"
	"testing"

	"github.com/euryale-dev/euryale/internal/golden"
	"github.com/euryale-dev/euryale/internal/golden/templates"
	"github.com/euryale-dev/euryale/models/spectra"
	sim "github.com/euryale-dev/euryale/sim/spectra"
)

// Fits from the guesses for the stars of the batch are not worse than the reference's, nor than the best known minima.
func TestFitsFromGuesses(t *testing.T) {
	c := goldenTemplates(t)
	lib := &spectra.Library{}
	for _, arm := range templates.CCFArms(t) {
		one := load(t, arm)
		lib.Params, lib.Arms = one.Params, append(lib.Arms, one.Arms...)
	}
	var f struct {
		NPoly        int
		RBF          bool
		Interpolator string
		Cases        []struct {
			Reference, Optimum64 struct{ ChiSq float64 }
		}
	}
	golden.JSON(t, &f, "spectra", "batch", "batch.json")
	stars := batch(t, len(f.Cases))
	for i, g := range find(t, c, Settings{Params: lib.Params}, stars...) {
		if g.Err != nil {
			t.Fatal(g.Err)
		}
		stars[i].Starts = g.Starts
	}
	fitter, err := spectra.NewFitter(lib, spectra.Settings{Continuum: f.NPoly, Chebyshev: !f.RBF, Rotation: sim.Rotation{Compat: true}, NoVerdict: true})
	if err != nil {
		t.Fatal(err)
	}
	fits, err := fitter.Fit(context.Background(), stars)
	if err != nil {
		t.Fatal(err)
	}
	for i, fit := range fits {
		best := min(f.Cases[i].Reference.ChiSq, f.Cases[i].Optimum64.ChiSq)
		t.Logf("star %d: chi-square %+.3f from the best known, %d evaluations", i, fit.ChiSquare-best, fit.Evaluations)
		if fit.Err != nil || fit.ChiSquare > best+0.05 {
			t.Errorf("star %d: chi-square %g (%v), want %g", i, fit.ChiSquare, fit.Err, best)
		}
	}
}
