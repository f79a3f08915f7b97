// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package gorgonia_test

import (
	"math"
	"testing"

	G "gorgonia.org/gorgonia"
	gt "gorgonia.org/tensor"

	"github.com/euryale-dev/euryale/autodiff"
	bridge "github.com/euryale-dev/euryale/autodiff/gorgonia"
	"github.com/euryale-dev/euryale/internal/pretend"
)

// perceptron is a network of two layers on 20 points, with its cost.
func perceptron() (cost *G.Node, weights G.Nodes) {
	numbers := func(n int, shift float64) []float64 {
		v := make([]float64, n)
		for i := range v {
			v[i] = math.Sin(float64(3*i) + shift)
		}
		return v
	}
	g := G.NewGraph()
	matrix := func(name string, rows, columns int, shift float64) *G.Node {
		return G.NewMatrix(g, G.Float64, G.WithShape(rows, columns), G.WithName(name), G.WithValue(gt.New(gt.WithShape(rows, columns), gt.WithBacking(numbers(rows*columns, shift)))))
	}
	x, y := matrix("x", 20, 5, 0), matrix("y", 20, 3, 1)
	w0, b0, w1 := matrix("w0", 5, 8, 2), matrix("b0", 1, 8, 3), matrix("w1", 8, 3, 4)
	hidden := G.Must(G.Tanh(G.Must(G.BroadcastAdd(G.Must(G.Mul(x, w0)), b0, nil, []byte{0}))))
	out := G.Must(G.Sigmoid(G.Must(G.Mul(hidden, w1))))
	return G.Must(G.Mean(G.Must(G.Square(G.Must(G.Sub(out, y)))))), G.Nodes{w0, b0, w1}
}

// A network of Gorgonia that is trained on the device ends with the weights that Gorgonia's own
// machine gives.
func TestTrainerOnDevice(t *testing.T) {
	pretend.Shared(t)
	train := func(machine func(cost *G.Node, weights G.Nodes) G.VM) []float64 {
		cost, weights := perceptron()
		vm := machine(cost, weights)
		defer vm.Close()
		solver := G.NewAdamSolver(G.WithLearnRate(0.05))
		for range 50 {
			if err := vm.RunAll(); err != nil {
				t.Fatal(err)
			}
			if err := solver.Step(G.NodesToValueGrads(weights)); err != nil {
				t.Fatal(err)
			}
			vm.Reset()
		}
		var all []float64
		for _, w := range weights {
			all = append(all, w.Value().Data().([]float64)...)
		}
		return all
	}
	want := train(func(cost *G.Node, weights G.Nodes) G.VM {
		if _, err := G.Grad(cost, weights...); err != nil {
			t.Fatal(err)
		}
		return G.NewTapeMachine(cost.Graph(), G.BindDualValues(weights...))
	})
	got := train(func(cost *G.Node, weights G.Nodes) G.VM {
		vm, err := bridge.Settings{Backend: autodiff.CUDA{Strict: true}}.NewTrainer(cost, weights...)
		if err != nil {
			t.Fatal(err)
		}
		return vm
	})
	for i, v := range got {
		if math.Abs(v-want[i]) > 1e-9*max(1, math.Abs(want[i])) {
			t.Fatalf("weight %d: %g on the device, %g by Gorgonia", i, v, want[i])
		}
	}
}
