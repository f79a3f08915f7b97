// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package gorgonia_test

import (
	"fmt"

	G "gorgonia.org/gorgonia"
	gt "gorgonia.org/tensor"

	"github.com/euryale-dev/euryale/autodiff"
	bridge "github.com/euryale-dev/euryale/autodiff/gorgonia"
)

// A line through points, written and trained with Gorgonia: NewTrainer stands
// where NewTapeMachine stood.
func ExampleNewTrainer() {
	g := G.NewGraph()
	dense := func(v ...float64) *gt.Dense { return gt.New(gt.WithBacking(v)) }
	x := G.NewVector(g, G.Float64, G.WithName("x"), G.WithShape(4), G.WithValue(dense(0, 1, 2, 3)))
	y := G.NewVector(g, G.Float64, G.WithName("y"), G.WithShape(4), G.WithValue(dense(1, 3, 5, 7)))
	slope := G.NewScalar(g, G.Float64, G.WithName("slope"), G.WithValue(0.0))
	start := G.NewScalar(g, G.Float64, G.WithName("start"), G.WithValue(0.0))
	line := G.Must(G.Add(G.Must(G.Mul(x, slope)), start))
	cost := G.Must(G.Mean(G.Must(G.Square(G.Must(G.Sub(y, line))))))

	vm, err := bridge.NewTrainer(cost, slope, start)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer vm.Close()
	solver := G.NewAdamSolver(G.WithLearnRate(0.1))
	for range 500 {
		if err := vm.RunAll(); err != nil {
			fmt.Println(err)
			return
		}
		if err := solver.Step(G.NodesToValueGrads(vm.Learnables())); err != nil {
			fmt.Println(err)
			return
		}
	}
	fmt.Printf("slope %.3f, start %.3f\n", slope.Value().Data(), start.Value().Data())
	// Output: slope 2.000, start 1.000
}

// A function of ours inside a graph of Gorgonia.
func ExampleNewOp() {
	in := autodiff.Input("x", 3)
	op, err := bridge.NewOp("logsumexp", autodiff.LogSumExp(in), in)
	if err != nil {
		fmt.Println(err)
		return
	}
	g := G.NewGraph()
	x := G.NewVector(g, G.Float64, G.WithName("x"), G.WithShape(3), G.WithValue(gt.New(gt.WithBacking([]float64{1, 2, 3}))))
	y := G.Must(op.Apply(x))
	if _, err := G.Grad(y, x); err != nil {
		fmt.Println(err)
		return
	}
	vm := G.NewTapeMachine(g)
	defer vm.Close()
	if err := vm.RunAll(); err != nil {
		fmt.Println(err)
		return
	}
	softmax, _ := x.Grad()
	fmt.Printf("%.4f %.4f\n", y.Value().Data(), softmax.Data())
	// Output: 3.4076 [0.0900 0.2447 0.6652]
}

// Second derivatives of a Gorgonia graph, which Gorgonia itself gets wrong.
func ExampleImport() {
	g := G.NewGraph()
	x := G.NewScalar(g, G.Float64, G.WithName("x"))
	y := G.Must(G.Cube(x))
	im, err := bridge.Import(y)
	if err != nil {
		fmt.Println(err)
		return
	}
	first, err := im.Grad(y, x)
	if err != nil {
		fmt.Println(err)
		return
	}
	second := autodiff.Grad(first[0], im.Node(x))[0]
	p, err := autodiff.Compile([]*autodiff.Node{first[0], second}, autodiff.Settings{})
	if err != nil {
		fmt.Println(err)
		return
	}
	s := p.NewState()
	s.Input(0)[0] = 2
	if err := s.Run(); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(s.Output(0)[0], s.Output(1)[0])
	// Output: 12 12
}
