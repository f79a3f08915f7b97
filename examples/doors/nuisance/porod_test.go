// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package porod

import (
	"bytes"
	"math"
	"strings"
	"testing"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/autodiff/gradtest"
	"github.com/euryale-dev/euryale/cli/clitest"
	"github.com/euryale-dev/euryale/models/morph"
	"github.com/euryale-dev/euryale/sim/rsoxs"
)

func TestGradient(t *testing.T) {
	strength, intensity := ad.Input("porod"), ad.Input("intensity", 3)
	seen := Window.Apply(func(string) *ad.Node { return strength }, intensity, ad.Const([]float64{0.4, 0.5, 0.8}))
	gradtest.Check(t, "window", ad.Sum(ad.Log(seen)), []*ad.Node{strength, intensity}, [][]float64{{0.03}, {1, 0.5, 0.1}}, true)
}

const problem = `{"model": "core_shell", "grid": {"shape": [8, 24, 24], "voxel": 3},
 "parameters": {"radius": {"start": 11, "bounds": [5, 25]}, "porod": {"start": 1e-7, "bounds": [0, 1]}},
 "fixed": {"shell": 6, "aligned": 0.3}, "energies": [284.7], "data": "data.npy", "sigma": 0.1,
 "constants": [[[1e-3, 1e-3, 5e-4, 2e-4]], [[5e-4, 4e-4, 9e-4, 1e-3]]]}`

// The command line finds the window and the particle in a pattern that has both.
func TestCommand(t *testing.T) {
	const radius, strength = 12.0, 3e-7
	s := clitest.New(t)
	s.Write("data.npy", pattern(t, radius, strength))
	s.Write("problem.json", problem)
	var fit struct{ X map[string]float64 }
	s.JSON(&fit, "invert", "rsoxs", "problem.json", "--out", "run", "--quiet")
	if math.Abs(fit.X["radius"]-radius) > 0.2 || math.Abs(fit.X["porod"]/strength-1) > 0.2 {
		t.Errorf("radius %g and porod %g: want %g and %g", fit.X["radius"], fit.X["porod"], radius, strength)
	}
	s.Write("problem.json", strings.Replace(problem, `"sigma"`, `"method": "nuts", "sigma"`, 1))
	s.Run("invert", "rsoxs", "problem.json", "--out", "posterior", "--draws", "60", "--warmup", "60", "--chains", "2", "--retries", "0", "--quiet")
	if table := s.Run("summary", "posterior"); !strings.Contains(table, "porod") {
		t.Error(table)
	}
	s.Run("plot", "pair", "posterior", "pair.svg")
	s.Picture("pair.svg")
	if help := s.Run("invert", "rsoxs", "--help"); !strings.Contains(help, "porod") {
		t.Error("the help does not list the parameter porod")
	}
}

// pattern returns the pattern of a particle behind a window as an NPY file, with noise of 10 %.
func pattern(t *testing.T, radius, strength float64) string {
	t.Helper()
	p, err := morph.ParseProblem([]byte(problem))
	if err != nil {
		t.Fatal(err)
	}
	scene, err := p.Scene([]float64{radius, strength})
	if err != nil {
		t.Fatal(err)
	}
	m, err := scene.Morphology(p.Grid.Voxel)
	if err != nil {
		t.Fatal(err)
	}
	sim, err := rsoxs.New(p.Grid.Shape, p.Grid.Voxel, rsoxs.Config{Energies: p.Energies})
	if err != nil {
		t.Fatal(err)
	}
	if err := sim.Transform(t.Context(), m); err != nil {
		t.Fatal(err)
	}
	image, err := sim.Pattern(t.Context(), rsoxs.Optics{{{DeltaPara: 1e-3, BetaPara: 1e-3, DeltaPerp: 5e-4, BetaPerp: 2e-4}, {DeltaPara: 5e-4, BetaPara: 4e-4, DeltaPerp: 9e-4, BetaPerp: 1e-3}}})
	if err != nil {
		t.Fatal(err)
	}
	at := image.Image(0, 0)
	for i := range at {
		q := max(math.Hypot(image.QY[i/len(image.QX)], image.QX[i%len(image.QX)]), lowest)
		at[i] = (at[i] + strength/math.Pow(q, 4)) * math.Exp(0.1*math.Sqrt2*math.Sin(float64(7*i*i)))
	}
	var b bytes.Buffer
	if err := image.Intensity.WriteNPY(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}
