// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package plummer

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"testing"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/autodiff/gradtest"
	"github.com/euryale-dev/euryale/cli/clitest"
	"github.com/euryale-dev/euryale/kernels/cuda"
)

// cluster returns the coordinates of n points.
func cluster(n int) [3][]float64 {
	rng := rand.New(rand.NewPCG(1, 2))
	var at [3][]float64
	for k := range at {
		at[k] = make([]float64, n)
		for i := range at[k] {
			at[k][i] = rng.NormFloat64()
		}
	}
	return at
}

// The gradients with respect to all inputs agree with differences.
func TestGradient(t *testing.T) {
	const n = 7
	at := cluster(n)
	in := []*ad.Node{ad.Input("x", n), ad.Input("y", n), ad.Input("z", n), ad.Input("soft")}
	weights := ad.Const([]float64{1, -2, 0.5, 3, 1, 0.2, -1}, n)
	gradtest.Check(t, "plummer", ad.Sum(ad.Mul(weights, Potential(in[0], in[1], in[2], in[3]))), in,
		[][]float64{at[0], at[1], at[2], {0.3}}, false)
}

// hasGPU reports whether there is a device, real or emulated.
func hasGPU() bool {
	d, err := cuda.Open(0, cuda.Settings{})
	if err != nil {
		return false
	}
	_, err = d.Compiler()
	return err == nil
}

// The kernels compute what the CPU computes, in both precisions and for incomplete blocks.
func TestKernels(t *testing.T) {
	for _, n := range []int{1, 5, 300} {
		at := cluster(n)
		in := []*ad.Node{ad.Input("x", n), ad.Input("y", n), ad.Input("z", n), ad.Input("soft")}
		phi := Potential(in[0], in[1], in[2], in[3])
		outputs := append([]*ad.Node{phi}, ad.Grad(ad.Sum(ad.Square(phi)), in...)...)
		gradtest.Device(t, outputs, in, [][]float64{at[0], at[1], at[2], {0.3}}, 1e-12, 2e-6)
	}
}

// The command line fits and samples formulas with the function, also on a GPU.
func TestCommand(t *testing.T) {
	const n = 40
	at := cluster(n)
	phi, err := ad.Eval(Potential(ad.Const(at[0], n), ad.Const(at[1], n), ad.Const(at[2], n), ad.Scalar(0.5)))
	if err != nil {
		t.Fatal(err)
	}
	observed := phi[0].Float64s()
	for i := range observed {
		observed[i] = 2*observed[i] + 0.3*math.Sin(float64(i*i))
	}
	s := clitest.New(t)
	write := func(name string, more map[string]any) {
		problem := map[string]any{"expr": "mass*plummer(x, y, z, soft)", "data": map[string]any{"x": at[0], "y": at[1], "z": at[2], "phi": observed}, "y": "phi"}
		for k, v := range more {
			problem[k] = v
		}
		b, err := json.Marshal(problem)
		if err != nil {
			t.Fatal(err)
		}
		s.Write(name, string(b))
	}
	write("fit.json", map[string]any{"start": map[string]any{"mass": 1, "soft": 1}, "bounds": map[string]any{"soft": []float64{0, 10}}})
	write("sample.json", map[string]any{"sigma": "noise", "priors": map[string]any{"mass": "lognormal(0, 1)", "soft": "lognormal(0, 1)", "noise": "halfnormal(1)"}})
	devices := []string{"cpu"}
	if hasGPU() {
		devices = append(devices, "cuda")
	}
	for _, device := range devices {
		var fit struct{ X map[string]float64 }
		s.JSON(&fit, "fit", "nlsq", "--problem", "fit.json", "--device", device)
		if math.Abs(fit.X["mass"]-2) > 0.1 || math.Abs(fit.X["soft"]-0.5) > 0.1 {
			t.Errorf("%s: %v, want mass = 2 and soft = 0.5", device, fit.X)
		}
	}
	s.Run("sample", "expr", "--problem", "sample.json", "--out", "run", "--quiet", "--draws", "300", "--device", "cpu")
	var posterior struct {
		Summary map[string]struct{ Mean, RHat float64 }
	}
	s.JSON(&posterior, "summary", "run")
	if m := posterior.Summary["soft"].Mean; math.Abs(m-0.5) > 0.1 {
		t.Errorf("posterior mean of soft %g, want 0.5", m)
	}
	s.Run("plot", "pair", "run", "pair.svg")
	s.Picture("pair.svg")
	if _, err := os.Stat("run/report.html"); err != nil {
		t.Error(err)
	}
}

func ExamplePotential() {
	// Three points on a line, one apart.
	x := ad.Const([]float64{0, 1, 2}, 3)
	zero := ad.Const([]float64{0, 0, 0}, 3)
	phi, err := ad.Eval(Potential(x, zero, zero, ad.Scalar(0)))
	fmt.Println(phi[0].Float64s(), err)
	// Output: [-1.5 -2 -1.5] <nil>
}
