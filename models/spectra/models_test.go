// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package spectra

import (
	"context"
	"math"
	"testing"
)

// Models at points are those of fits there, in batches of any size, and every point has its own.
func TestModelsAtPoints(t *testing.T) {
	star := anyMock(t)
	star.Starts = []Start{{Vel: 55, Vsini: 26, Params: []float64{5212, 3.15, -0.9, 0.25}}}
	fitter, err := NewFitter(goldenLibrary(t, "nn"), Settings{Continuum: 10, Batch: 2, NoVerdict: true})
	if err != nil {
		t.Fatal(err)
	}
	fits, err := fitter.Fit(context.Background(), []Star{star})
	if err != nil || fits[0].Err != nil {
		t.Fatal(err, fits[0].Err)
	}
	best := fits[0]
	other := append([]float64(nil), best.X...)
	other[0] += 200
	models, err := fitter.Models(&star, [][]float64{best.X, other, best.X})
	if err != nil {
		t.Fatal(err)
	}
	chi := make([]float64, len(models))
	for i, point := range models {
		if len(point) != len(star.Spectra) {
			t.Fatalf("%d models of %d spectra", len(point), len(star.Spectra))
		}
		for k, s := range star.Spectra {
			if d := worst(point[k], best.Spectra[k].Model); i != 1 && !(d < 1e-12) {
				t.Errorf("point %d, %s: the model is off by %g", i, s.Arm, d)
			}
			for j, m := range point[k] {
				if s.Bad == nil || !s.Bad[j] {
					chi[i] += (m - s.Flux[j]) * (m - s.Flux[j]) / (s.Err[j] * s.Err[j])
				}
			}
		}
	}
	want := 0.0
	for _, s := range best.Spectra {
		want += s.ChiSquare
	}
	if math.Abs(chi[0]-want) > 1e-6*want || !(chi[1] > want+100) {
		t.Errorf("chi-squares %v, want %v and one that is much larger", chi, want)
	}
	if _, err := fitter.Models(&star, [][]float64{{1, 2}}); err == nil {
		t.Error("a point of two numbers has a model")
	}
}
