// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package acute

import (
	"context"
	"math"
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/cli/clitest"
	"github.com/euryale-dev/euryale/infer"
	"github.com/euryale-dev/euryale/infer/dist/disttest"
)

// The checks of transforms of numbers.
func TestTransform(t *testing.T) { disttest.Transform(t, Transform(), -3, -0.4, 0, 0.1, 2.5) }

// The checks of the distribution that moves by it.
func TestTilt(t *testing.T) { disttest.Family(t, Family) }

// A sampler moves by the transform, and its draws are those of the distribution.
func TestTiltInAModel(t *testing.T) {
	m := infer.NewModel("tilt")
	m.Param("angle", Tilt())
	post, err := m.Compile()
	if err != nil {
		t.Fatal(err)
	}
	fit, err := infer.Sample(context.Background(), post, infer.Settings{Seed: 1})
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

// The command line samples an angle by the transform.
func TestCommand(t *testing.T) {
	s := clitest.New(t)
	s.Write("tilt.json", `{"expr": "cos(angle)", "data": {"y": [0.52, 0.47, 0.51]}, "sigma": "0.05", "priors": {"angle": "tilt()"}}`)
	var run struct {
		Summary map[string]struct{ Mean float64 }
	}
	s.JSON(&run, "sample", "expr", "--problem", "tilt.json", "--out", "run", "--quiet")
	if mean := run.Summary["angle"].Mean; math.Abs(mean-math.Acos(0.5)) > 0.05 {
		t.Errorf("an angle of %g: want %g", mean, math.Acos(0.5))
	}
	if table := s.Run("summary", "run"); !strings.Contains(table, "angle") {
		t.Error(table)
	}
	s.Run("plot", "trace", "run", "trace.svg")
	s.Picture("trace.svg")
}
