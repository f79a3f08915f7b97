// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package acute

import (
	"context"
	"math"
	"testing"

	"github.com/euryale-dev/euryale/infer"
	"github.com/euryale-dev/euryale/infer/dist/disttest"
)

// The checks of transforms of numbers.
func TestTransform(t *testing.T) { disttest.Transform(t, Transform(), -3, -0.4, 0.1, 2.5) }

// A sampler moves by the transform, and its draws are those of the distribution.
func TestTiltInAModel(t *testing.T) {
	m := infer.NewModel("tilt")
	m.Param("angle", Tilt())
	post, err := m.Compile()
	if err != nil {
		t.Fatal(err)
	}
	fit, err := infer.Sample(context.Background(), post, infer.Config{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	sum, n := 0.0, 0.0
	for _, chain := range fit.Draws("angle") {
		for _, v := range chain {
			if !(v > 0 && v < math.Pi/2) {
				t.Fatalf("an angle of %g", v)
			}
			sum, n = sum+v, n+1
		}
	}
	if mean := sum / n; math.Abs(mean-1) > 0.03 { // the integral of y sin y
		t.Errorf("a mean of %g, want 1", mean)
	}
}
