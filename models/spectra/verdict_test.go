// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package spectra

import (
	"context"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/internal/tier"
)

// Right models are rarely said to be wrong, and wrong ones are.
func TestVerdicts(t *testing.T) {
	tier.SlowOnly(t)
	t.Parallel()
	stars, _ := batchStars(t)
	lib, settings := batchSettings(t)
	fitter, err := NewFitter(lib, Settings{Continuum: settings.Continuum, Chebyshev: settings.Chebyshev, Batch: 8})
	if err != nil {
		t.Fatal(err)
	}
	fits, err := fitter.Fit(context.Background(), stars)
	if err != nil {
		t.Fatal(err)
	}
	bad := 0
	for _, fit := range fits {
		if fit.Verdict == nil {
			t.Fatal("no verdict")
		}
		if fit.Verdict.Disagrees() {
			bad++
			t.Logf("%s: %v", fit.Star, fit.Verdict)
		}
	}
	if bad > 2 {
		t.Errorf("%d of %d right models are said to be wrong", bad, len(fits))
	}
	// An emission line that no template has, and errors that are too small.
	line, small := stars[0], stars[1]
	line.Spectra = slices.Clone(line.Spectra)
	x := line.Spectra[0]
	x.Flux = slices.Clone(x.Flux)
	for i := 200; i < 206; i++ {
		x.Flux[i] += 6 * x.Err[i]
	}
	line.Spectra[0] = x
	small.Spectra = slices.Clone(small.Spectra)
	for k, x := range small.Spectra {
		x.Err = slices.Clone(x.Err)
		for i := range x.Err {
			x.Err[i] *= 0.8
		}
		small.Spectra[k] = x
	}
	fits, err = fitter.Fit(context.Background(), []Star{line, small})
	if err != nil {
		t.Fatal(err)
	}
	for _, fit := range fits {
		t.Logf("%s: %v", fit.Star, fit.Verdict)
		if !fit.Verdict.Disagrees() {
			t.Errorf("%s: a wrong model is said to be right", fit.Star)
		}
	}
}

// Spectra of noise alone have no velocity, and say so.
func TestNoiseIsNoStar(t *testing.T) {
	tier.SlowOnly(t)
	t.Parallel()
	stars, _ := batchStars(t)
	lib, settings := batchSettings(t)
	fitter, err := NewFitter(lib, Settings{Continuum: settings.Continuum, Chebyshev: settings.Chebyshev, Batch: 8})
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(3, 1))
	noise := slices.Clone(stars[:tier.Of(2, min(8, len(stars)))])
	for i := range noise {
		noise[i].Spectra = slices.Clone(noise[i].Spectra)
		for k, x := range noise[i].Spectra {
			x.Flux, x.Err = make([]float64, len(x.Lam)), slices.Clone(x.Err)
			for p := range x.Flux {
				x.Err[p] = 1
				x.Flux[p] = rng.NormFloat64()
			}
			noise[i].Spectra[k] = x
		}
	}
	fits, err := fitter.Fit(context.Background(), noise)
	if err != nil {
		t.Fatal(err)
	}
	for _, fit := range fits {
		if fit.Err != nil || fit.Verdict.OK || !strings.Contains(fit.Verdict.String(), "do not show a star") {
			t.Errorf("%s: %v, %v", fit.Star, fit.Err, fit.Verdict)
		}
	}
}

// A spectrum of which most pixels have no usable flux or error is flagged, and one with fewer of them is not.
func TestUnusablePixelsAreFlagged(t *testing.T) {
	star := Star{Spectra: []Spectrum{{Arm: "b", Lam: make([]float64, 10), Unusable: 6}, {Arm: "r", Lam: make([]float64, 10), Unusable: 5}}}
	said := star.sayUnusable()
	if len(said) != 1 || said[0].Note || said[0].Kind != KindUnusable || !strings.HasPrefix(said[0].Text, "6 of the 10 pixels of b were left out") {
		t.Errorf("%+v", said)
	}
}
