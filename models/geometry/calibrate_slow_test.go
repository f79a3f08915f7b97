// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

//go:build slow

package geometry

import (
	"context"
	"math"
	"testing"
)

// Over many images the errors agree with the scatter, and the verdict flags few right calibrations.
func TestManyImages(t *testing.T) {
	manyImages(t, truth())
}

// The same for rings that are narrower than a pixel.
func TestManyImagesOfSharpRings(t *testing.T) {
	p := truth()
	p.width = 0.0018
	manyImages(t, p)
}

func manyImages(t *testing.T, p powder) {
	const trials = 60
	square, alarms := make([]float64, 3), 0
	for seed := range uint64(trials) {
		image, m := p.expose(t, 1000+seed)
		f, err := Calibrate(context.Background(), image, m, p.first(), p.q, Settings{})
		if err != nil {
			t.Fatal(err)
		}
		for i, want := range []float64{p.g.CenterRow, p.g.CenterCol, p.g.Distance} {
			square[i] += math.Pow((f.X[i]-want)/f.SD[i], 2) / trials
		}
		if !f.Check.OK {
			alarms++
			t.Log(f.Check)
		}
	}
	t.Logf("mean squares of (found - true)/error: %.2f; %d of %d flagged", square, alarms, trials)
	for i, s := range square {
		if s < 0.5 || s > 1.7 { // 60 degrees of freedom: outside with a probability of 0.001
			t.Errorf("the mean square of parameter %d is %.2f, want about 1", i, s)
		}
	}
	if alarms > 3 { // at a level of 1 %
		t.Errorf("%d of %d right calibrations were flagged", alarms, trials)
	}
}
