// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

//go:build slow

package spectra

import (
	"math"
	"testing"
)

// Of 1,000 right stars at S/N from 10 to 200, at most 1 % are flagged.
func TestRightStarsAgree(t *testing.T) {
	lib := goldenLibrary(t, "nn")
	d := draw(t, lib, 21)
	const stars = 1000
	fits := fitAll(t, lib, Settings{Continuum: 10}, d.stars(t, stars, func(int) float64 { return 1 / (10 * math.Pow(20, d.rng.Float64())) }, nil))
	flagged, wider, spikes, square := 0, 0, 0, 0.0
	kinds := map[string]int{}
	for i, fit := range fits {
		if !fit.Verdict.OK {
			flagged++
			kinds[fit.Verdict.Flags[0].Kind]++
			t.Log(fit.Star, fit.Verdict)
		}
		if fit.Polynomials > 0 {
			wider++
		}
		spikes += len(fit.Spikes)
		pull := (fit.X[0] - d.truth[i][0]) / fit.SD[0]
		square += pull * pull / stars
	}
	t.Logf("%d of %d right stars are flagged (%v); %d got polynomials, %d spikes were left out; the velocities have pulls of sd %.3f", flagged, stars, kinds, wider, spikes, math.Sqrt(square))
	if flagged > stars/100 || spikes > 1 || wider > stars/7 || !(math.Abs(math.Sqrt(square)-1) < 0.08) {
		t.Errorf("%d of %d right stars are flagged", flagged, stars)
	}
}

// Departures of 20 stars each: how many are flagged, and how many are named first.
func TestTableOfDepartures(t *testing.T) {
	lib := goldenLibrary(t, "nn")
	for _, c := range []struct {
		name, kind string
		least      int
		change     func(d *drawn) func(theta []float64, s, own []Spectrum)
	}{
		{"second star 50 to 200 km/s away", KindSecondStar, 12, func(d *drawn) func(theta []float64, s, own []Spectrum) { return d.withSecond(t, 50) }},
		{"second star 100 to 200 km/s away", KindSecondStar, 19, func(d *drawn) func(theta []float64, s, own []Spectrum) { return d.withSecond(t, 100) }},
		{"lines 2 pixels wider", KindResolution, 19, func(*drawn) func(theta []float64, s, own []Spectrum) { return wider }},
		{"lines 2 pixels narrower", KindResolution, 19, func(*drawn) func(theta []float64, s, own []Spectrum) { return sharper }},
		{"a step of 8 %", KindJump, 19, func(*drawn) func(theta []float64, s, own []Spectrum) { return stepped }},
	} {
		for _, sn := range []float64{30, 50, 100} {
			d := draw(t, lib, 31)
			fits := fitAll(t, lib, Settings{Continuum: 10}, d.stars(t, 20, same(1/sn), c.change(d)))
			flagged, named := count(fits, c.kind)
			t.Logf("%s, S/N %g: %d of 20 flagged, %d named first", c.name, sn, flagged, named)
			if sn == 50 && (flagged < c.least || named < flagged-1) {
				t.Errorf("%s: %d of 20 flagged, %d named", c.name, flagged, named)
			}
		}
	}
}

// Cosmic rays do not move velocities.
func TestPullsWithSpikes(t *testing.T) {
	lib := goldenLibrary(t, "nn")
	d := draw(t, lib, 41)
	const stars = 100
	fits := fitAll(t, lib, Settings{Continuum: 10}, d.stars(t, stars, same(0.02), d.plant))
	square, worst, silent, found := 0.0, 0.0, 0, 0
	for i, fit := range fits {
		pull := math.Abs(fit.X[0]-d.truth[i][0]) / fit.SD[0]
		square, worst, found = square+pull*pull/stars, max(worst, pull), found+len(fit.Spikes)
		if pull > 3.5 && fit.Verdict.OK {
			silent++
		}
	}
	t.Logf("%d of %d spikes were found; velocities have pulls of sd %.2f, at most %.1f; %d of those above 3.5 are silent", found, 6*stars, math.Sqrt(square), worst, silent)
	if silent > 0 || math.Sqrt(square) > 1.2 || found < 570 {
		t.Error("spikes move velocities")
	}
}

// The continuum of a cubic leaves nothing, at any S/N, in the chi-square of 20 stars on average, and the velocities have no bias.
func TestCubicsAtAllSN(t *testing.T) {
	lib := goldenLibrary(t, "nn")
	for _, sn := range []float64{20, 60, 200} {
		for _, quiet := range []bool{true, false} {
			d := draw(t, lib, 51)
			d.sim.quiet = quiet
			var stars []Star
			for range 20 {
				a, b, c := d.between(-0.3, 0.3), d.between(-0.2, 0.2), d.between(-0.3, 0.3)
				d.sim.continuum = func(z float64) float64 { return 1 + a*z + b*z*z + c*z*z*z }
				stars = append(stars, d.stars(t, 1, same(1/sn), nil)...)
			}
			var residue, square [2]float64
			for k, fixed := range []bool{true, false} {
				for i, fit := range fitAll(t, lib, Settings{Continuum: 10, FixedContinuum: fixed, NoVerdict: true}, stars) {
					for _, s := range fit.Spectra {
						residue[k] += s.ChiSquare / 20
					}
					pull := (fit.X[0] - d.truth[i][0]) / fit.SD[0]
					square[k] += pull * pull / 20
				}
			}
			t.Logf("S/N %g, noise %v: chi-square %.2f with fixed functions and %.2f with polynomials where they are needed; mean squares of the pulls %.3f and %.3f", sn, !quiet, residue[0], residue[1], square[0], square[1])
			if quiet && sn >= 60 && residue[1] > 2 || !quiet && square[1] > 2 {
				t.Errorf("S/N %g: a residue of %.2f, pulls of mean square %.2f", sn, residue[1], square[1])
			}
		}
	}
}
