// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package ellipsoid

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

// The scene has gradients by its parameters, is what it says, and problems find it by its name.
func TestEllipsoid(t *testing.T) {
	if !strings.Contains(morph.ProblemModels(), "ellipsoid: a ball stretched along z") {
		t.Error(morph.ProblemModels())
	}
	g := morph.Grid{Shape: [3]int{8, 6, 6}, Voxel: 2}
	radius, ratio := ad.Input("radius"), ad.Input("ratio")
	s := Definition.Build(&morph.Problem{}, g, func(name string) *ad.Node {
		return map[string]*ad.Node{"radius": radius, "ratio": ratio}[name]
	})
	total := ad.Sum(s.Materials[0].Vfrac)
	gradtest.Check(t, "volume", total, []*ad.Node{radius, ratio}, [][]float64{{3.3}, {1.7}}, true)
	p, err := ad.Compile([]*ad.Node{total}, ad.Settings{Inputs: []*ad.Node{radius, ratio}})
	if err != nil {
		t.Fatal(err)
	}
	st := p.NewState()
	st.Input(0)[0], st.Input(1)[0] = 4, 1.5
	if err := st.Run(); err != nil {
		t.Fatal(err)
	}
	// 4/3 pi radius^2 (radius ratio), in voxels of 8 nm^3, some of it blurred away at the edges of the grid.
	if v := st.Output(0)[0] * 8; v < 330 || v > 480 {
		t.Errorf("a volume of %g nm^3, want some 402", v)
	}
}

const problem = `{"model": "ellipsoid", "grid": {"shape": [12, 16, 16], "voxel": 3},
 "parameters": {"radius": {"start": 8.5, "bounds": [4, 20]}, "ratio": {"start": 1.3, "bounds": [0.5, 2]}},
 "energies": [284.7], "data": "data.npy", "sigma": 0.1, "constants": [[[1e-3, 1e-3, 5e-4, 2e-4]], "vacuum"]}`

// The command line finds the shape in a pattern.
func TestCommand(t *testing.T) {
	const radius, ratio = 9.5, 1.5
	s := clitest.New(t)
	s.Write("data.npy", pattern(t, radius, ratio))
	s.Write("problem.json", problem)
	var fit struct{ X map[string]float64 }
	s.JSON(&fit, "invert", "rsoxs", "problem.json", "--out", "run", "--quiet")
	if math.Abs(fit.X["radius"]-radius) > 0.2 || math.Abs(fit.X["ratio"]-ratio) > 0.1 {
		t.Errorf("%v: want radius %g and ratio %g", fit.X, radius, ratio)
	}
	s.Run("plot", "morphology", "run/morphology.h5", "slice.png")
	s.Picture("slice.png")
	s.Write("problem.json", strings.Replace(problem, `"sigma"`, `"method": "nuts", "sigma"`, 1))
	s.Run("invert", "rsoxs", "problem.json", "--out", "posterior", "--draws", "60", "--warmup", "60", "--chains", "2", "--retries", "0", "--quiet")
	if table := s.Run("summary", "posterior"); !strings.Contains(table, "ratio") {
		t.Error(table)
	}
	s.Run("plot", "pair", "posterior", "pair.svg")
	s.Picture("pair.svg")
}

// pattern returns the pattern of an ellipsoid as an NPY file, with noise of 10 %.
func pattern(t *testing.T, radius, ratio float64) string {
	t.Helper()
	p, err := morph.ParseProblem([]byte(problem))
	if err != nil {
		t.Fatal(err)
	}
	scene, err := p.Scene([]float64{radius, ratio})
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
	image, err := sim.Pattern(t.Context(), rsoxs.Optics{{{DeltaPara: 1e-3, BetaPara: 1e-3, DeltaPerp: 5e-4, BetaPerp: 2e-4}, {}}})
	if err != nil {
		t.Fatal(err)
	}
	at := image.Image(0, 0)
	for i := range at {
		at[i] *= math.Exp(0.1 * math.Sqrt2 * math.Sin(float64(7*i*i)))
	}
	var b bytes.Buffer
	if err := image.Intensity.WriteNPY(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}
