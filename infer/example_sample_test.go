// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package infer_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/infer"
	"github.com/euryale-dev/euryale/infer/diag"
	"github.com/euryale-dev/euryale/infer/dist"
)

// A normal density of two parameters with standard deviations 1 and 2.
func ExampleSample() {
	target := infer.Func(2, func(q, g []float64) float64 {
		g[0], g[1] = -q[0], -q[1]/4
		return -q[0]*q[0]/2 - q[1]*q[1]/8
	})
	fit, err := infer.Sample(context.Background(), target, infer.Settings{Seed: 1})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, r := range fit.Summary().Rows {
		fmt.Printf("%s: sd %.1f\n", r.Name, r.SD)
	}
	fmt.Println(fit.OK(diag.Criteria{}), fit.Diagnose().Verdict())
	// Output:
	// q[0]: sd 1.0
	// q[1]: sd 2.0
	// true All checks of the draws passed.
}

// A factor of 2 that is missing in a gradient.
func ExampleCheckGradient() {
	target := infer.Func(2, func(q, g []float64) float64 {
		g[0], g[1] = -q[0], -q[1]
		return -q[0]*q[0]/2 - q[1]*q[1]
	})
	err := infer.CheckGradient(target, []float64{1, 3})
	var wrong *infer.GradientError
	if errors.As(err, &wrong) {
		f := wrong.Faults[0]
		fmt.Printf("%s: %.3f given, %.3f expected\n", f.Parameter, f.Given, f.Expected)
	}
	// Output: q[1]: -3.000 given, -6.000 expected
}

// A scale sampled as its logarithm and stored as itself.
func ExampleWithOutputs() {
	logScale := infer.Func(1, func(q, g []float64) float64 { // exponential of mean 2, with the Jacobian
		x := math.Exp(q[0])
		g[0] = 1 - x/2
		return q[0] - x/2
	})
	target := infer.WithOutputs(logScale, []string{"scale"}, func(q, out []float64) error {
		out[0] = math.Exp(q[0])
		return nil
	})
	fit, err := infer.Sample(context.Background(), target, infer.Settings{Seed: 1})
	if err != nil {
		fmt.Println(err)
		return
	}
	r := fit.Summary().Row("scale")
	fmt.Println(math.Abs(r.Mean-2) < 4*r.MCSEMean, math.Abs(r.SD-2) < 4*r.MCSESD)
	// Output: true true
}

// A series that switches between two levels, whose states are summed out while the levels are sampled.
func ExampleMarkovChain() {
	m := infer.NewModel("switching")
	level := m.Param("level", dist.Normal(0, 5), infer.By(dist.OrderedTransform()), infer.Shape(2))
	stay := [][]float64{{0.9, 0.1}, {0.1, 0.9}}
	z := m.Param("z", infer.MarkovChain([]float64{0.5, 0.5}, autodiff.Const(slices.Concat(stay...), 2, 2)), infer.Shape(6))
	m.Observe("y", dist.Normal(autodiff.Gather(level, autodiff.FloorIndex(z), 0), 1), []float64{-2.1, -1.8, -2.3, 2.2, 1.9, 2.4})
	post, err := m.Compile()
	if err != nil {
		fmt.Println(err)
		return
	}
	fit, err := infer.Sample(context.Background(), post, infer.Settings{Seed: 1})
	if err != nil {
		fmt.Println(err)
		return
	}
	states, err := fit.Labels("z")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("path:", states.Joint)
	fmt.Printf("the fourth state is 1 with probability %.1f\n", states.Probabilities[3][1])
	// Output:
	// path: [0 0 0 1 1 1]
	// the fourth state is 1 with probability 1.0
}
