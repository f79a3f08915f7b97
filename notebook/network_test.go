// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package notebook_test

import (
	"errors"
	"math"
	"testing"

	G "gorgonia.org/gorgonia"
	gt "gorgonia.org/tensor"

	nb "github.com/euryale-dev/euryale/notebook"
)

// exclusive is the graph of a network for the exclusive or.
func exclusive() (cost, out *G.Node, weights G.Nodes) {
	g := G.NewGraph()
	x := G.NewMatrix(g, G.Float64, G.WithShape(4, 2), G.WithName("x"), G.WithValue(gt.New(gt.WithShape(4, 2), gt.WithBacking([]float64{0, 0, 0, 1, 1, 0, 1, 1}))))
	y := G.NewMatrix(g, G.Float64, G.WithShape(4, 1), G.WithName("y"), G.WithValue(gt.New(gt.WithShape(4, 1), gt.WithBacking([]float64{0, 1, 1, 0}))))
	w0 := G.NewMatrix(g, G.Float64, G.WithShape(2, 6), G.WithName("w0"), G.WithValue(gt.New(gt.WithShape(2, 6), gt.WithBacking([]float64{1, -1, 0.5, 2, -0.7, 1.2, -1, 1, 0.6, -2, 0.9, -0.4}))))
	w1 := G.NewMatrix(g, G.Float64, G.WithShape(6, 1), G.WithName("w1"), G.WithValue(gt.New(gt.WithShape(6, 1), gt.WithBacking([]float64{0.3, 0.2, -0.5, 0.8, 0.1, -0.2}))))
	out = G.Must(G.Mul(G.Must(G.Tanh(G.Must(G.Mul(x, w0)))), w1))
	cost = G.Must(G.Mean(G.Must(G.Square(G.Must(G.Sub(out, y))))))
	return cost, out, G.Nodes{w0, w1}
}

// A Gorgonia graph is trained by the compiled machine.
func TestNetwork(t *testing.T) {
	cost, _, weights := exclusive()
	calls := 0
	run := nb.TrainNetwork(cost, nb.NetworkSettings{Solver: G.NewAdamSolver(G.WithLearnRate(0.05)), Steps: 400, Before: func(int) error { calls++; return nil }}, weights...)
	displays(t, "network", run, "400 steps")
	if last := run.Loss[399]; last > 1e-3 || math.IsNaN(last) || calls != 400 {
		t.Errorf("cost %v after %d calls", last, calls)
	}
	fails(t, "before step 0: no data", func() {
		nb.TrainNetwork(cost, nb.NetworkSettings{Before: func(int) error { return errors.New("no data") }}, weights...)
	})
	fails(t, "no cost or no weights", func() { nb.TrainNetwork(nil, nb.NetworkSettings{}) })
	fails(t, "Steps is -1", func() { nb.TrainNetwork(cost, nb.NetworkSettings{Steps: -1}, weights...) })
}
