// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package notebook_test

import (
	"context"
	"math"
	"path/filepath"
	"strings"
	"testing"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/internal/tier"
	"github.com/euryale-dev/euryale/models/morph"
	nb "github.com/euryale-dev/euryale/notebook"
	"github.com/euryale-dev/euryale/sim/rsoxs"
	"github.com/euryale-dev/euryale/tensor"
)

// displays checks that a value shows itself as HTML without a page around it, and as text.
func displays(t *testing.T, name string, v interface {
	HTML() string
	String() string
}, want ...string) {
	t.Helper()
	if h := v.HTML(); !strings.Contains(h, "<") || strings.Contains(h, "<html") {
		t.Errorf("%s: %.80s", name, h)
	}
	s := v.String()
	for _, w := range want {
		if !strings.Contains(s, w) {
			t.Errorf("%s: %q is not in\n%s", name, w, s)
		}
	}
}

// The particle of the demonstration is recovered, sampled and predicted.
func TestInversion(t *testing.T) {
	particle := nb.DemoInversion()
	displays(t, "inversion", particle, "core_shell", "radius", "3 to 15")
	fit := particle.Fit()
	displays(t, "fit", fit, "converged", "radius")
	if r := fit.Value("radius"); math.Abs(r-9.3) > 0.2 || !fit.Solution.Check.OK {
		t.Errorf("radius %v, %v", r, fit.Solution.Check)
	}
	if tier.Slow {
		post := particle.Sample(nb.Settings{Seed: 1, Chains: 2, Warmup: 30, Draws: 20})
		displays(t, "posterior", post, "radius", "R-hat")
		if m := post.Summary().Row("shell").Mean; math.Abs(m-6.4) > 0.3 {
			t.Errorf("shell %v", m)
		}
		post.Report(filepath.Join(t.TempDir(), "particle.html"))
	}
	flat := particle.Predict(map[string]float64{"aligned": 0})
	displays(t, "prediction", flat, "aligned")
	if flat.Value("aligned") != 0 || flat.Value("radius") != 7.5 {
		t.Errorf("%v", flat.Solution.X)
	}
	fails(t, "the parameters are radius, shell, aligned", func() { particle.Predict(map[string]float64{"width": 1}) })
	fails(t, "no option Draws", func() { particle.Fit(nb.Settings{Draws: 10}) })
	fails(t, "no parameter \"x\"", func() { fit.Value("x") })
	fails(t, "nowhere.json", func() { nb.OpenInversion("nowhere.json") })
}

// dumbbell is two balls of a radius at a distance.
func dumbbell(grid morph.Grid) func(p []*ad.Node) morph.Scene {
	return func(p []*ad.Node) morph.Scene {
		half := ad.Mul(ad.Scalar(0.5), p[1])
		left := morph.Vec{ad.Sub(ad.Scalar(39), half), ad.Scalar(38), ad.Scalar(14)}
		right := morph.Vec{ad.Add(ad.Scalar(39), half), ad.Scalar(38), ad.Scalar(14)}
		return morph.Scene{Materials: []rsoxs.MaterialNodes{{Vfrac: morph.Inside(morph.Union(grid.Sphere(left, p[0]), grid.Sphere(right, p[0])), 1)}}}
	}
}

// A morphology of one's own is a function that builds a graph.
func TestOwnMorphology(t *testing.T) {
	grid := morph.Grid{Shape: [3]int{12, 32, 32}, Voxel: 2.5}
	cfg := rsoxs.Config{Energies: []float64{284.7}, Angles: rsoxs.Angles{Increment: 30, End: 150}}
	optics := rsoxs.Optics{{{DeltaPara: -1.4e-3, BetaPara: 1.1e-3, DeltaPerp: -1.4e-3, BetaPerp: 1.1e-3}}}
	m, err := dumbbell(grid)([]*ad.Node{ad.Scalar(8), ad.Scalar(24)}).Morphology(grid.Voxel)
	if err != nil {
		t.Fatal(err)
	}
	pattern, err := rsoxs.Simulate(context.Background(), m, optics, cfg)
	if err != nil {
		t.Fatal(err)
	}
	noise := tensor.NewStream(1, 0, 0)
	for i := range pattern.Intensity.Data().([]float64) {
		pattern.Intensity.Data().([]float64)[i] *= math.Exp(0.1 * noise.Normal())
	}
	sim, err := rsoxs.New(grid.Shape, grid.Voxel, cfg)
	if err != nil {
		t.Fatal(err)
	}
	inv := &morph.Inversion{Sim: sim, Optics: optics, Build: dumbbell(grid), Data: pattern.Intensity, Sigma: 0.1,
		Params: []morph.Param{{Name: "radius", Start: []float64{6}, Bounds: []float64{2, 15}}, {Name: "distance", Start: []float64{20}, Bounds: []float64{5, 40}}}}
	fit := nb.NewInversion("dumbbell", inv).Fit()
	displays(t, "fit", fit, "converged", "distance")
	if r, d := fit.Value("radius"), fit.Value("distance"); math.Abs(r-8) > 0.05 || math.Abs(d-24) > 0.2 || !fit.Solution.Check.OK {
		t.Errorf("radius %v, distance %v; %v", r, d, fit.Solution.Check)
	}
	fails(t, "the inversion is nil", func() { nb.NewInversion("none", nil) })
	inv.Build = func([]*ad.Node) morph.Scene { panic("not today") }
	fails(t, "NewInversion bad: not today", func() { nb.NewInversion("bad", inv) })
}
