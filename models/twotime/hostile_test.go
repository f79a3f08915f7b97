// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package twotime

import (
	"math"
	"slices"
	"strings"
	"testing"
)

// What cannot be fitted is said with its numbers.
func TestErrorsOfData(t *testing.T) {
	for name, c := range map[string]struct {
		spoil func(d *Data)
		want  string
	}{
		"one pair": {func(d *Data) { d.Band = len(d.Setup.Times) - 2 }, "only one pair of frames of angle 0"},
		"few":      {func(d *Data) { d.Band = len(d.Setup.Times) - 3 }, "only 6 entries of c2 for "},
		"huge":     {func(d *Data) { d.C2[1][5] = -1e300 }, "c2 reaches 1e+300 at angle 1"},
		"tiny q":   {func(d *Data) { d.Setup.Q = 1e-200 }, "with q = 1e-200 1/angstrom"},
		"one value": {func(d *Data) {
			for i := range d.C2[0] {
				d.C2[0][i] = 1.5
			}
		}, "c2 is 1.5 at all pairs of angle 0"},
	} {
		d := shearedData(t, 0, 45)
		c.spoil(d)
		if _, err := FitLeastSquares(t.Context(), *d, Settings{}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}

// A simulation of so few photons that frames have none says so.
func TestFramesWithoutPhotons(t *testing.T) {
	s := shearedData(t, 0).Setup
	of := Sample{Theta: []float64{2e4, 0.1, 1000, 1e-4, 0, 1e-5, 0}, Contrast: []float64{0.2}, Offset: []float64{1}, Speckles: 100, MeanCount: 1e-5}
	if _, err := Simulate(t.Context(), s, of); err == nil || !strings.Contains(err.Error(), "frames without a photon") {
		t.Error(err)
	}
}

// A solution that has a meaning goes first unless it is much worse than one that has none.
func TestSolutionsWithMeaningGoFirst(t *testing.T) {
	d := shearedData(t, 0, 45)
	f := &fitter{s: Settings{Scaling: Individual}, ctx: t.Context(), hasErrors: true}
	if err := f.prepare(d); err != nil {
		t.Fatal(err)
	}
	var err error
	if f.sums, err = newSums(d, 1, 64); err != nil {
		t.Fatal(err)
	}
	inside, outside := []float64{2e4, 0.1, 1000, 1e-4, 0, 1e-5, 0}, []float64{2e4, 0.1, -1e9, 1e-4, 0, 1e-5, 0}
	for above, first := range map[float64][]float64{mostAbove / 2: inside, 2 * mostAbove: outside} {
		found := []*solution{{theta: outside, ssq: 100}, {theta: inside, ssq: 100 + above}}
		if f.withMeaning(found); !slices.Equal(found[0].theta, first) || len(found) != 2 || math.Abs(found[0].ssq-found[1].ssq) != above {
			t.Errorf("%g above: %v goes first", above, found[0].theta)
		}
	}
}
