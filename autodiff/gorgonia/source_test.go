// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package gorgonia_test

import (
	"testing"

	G "gorgonia.org/gorgonia"
	gt "gorgonia.org/tensor"

	bridge "github.com/euryale-dev/euryale/autodiff/gorgonia"
)

const long = 10_000 // enough to be read in place

func longVector(typ gt.Dtype, v float64) *gt.Dense {
	d := gt.New(gt.Of(typ), gt.WithShape(long))
	if typ == gt.Float32 {
		d.Memset(float32(v))
	} else {
		d.Memset(v)
	}
	return d
}

// Whatever is bound, and however often it changes, a run sees its elements of
// that moment.
func TestLargeInputs(t *testing.T) {
	for _, typ := range []gt.Dtype{gt.Float64, gt.Float32} {
		x := G.NewVector(G.NewGraph(), typ, G.WithName("x"), G.WithShape(long))
		cost := must(G.Mean(must(G.Square(x))))
		vm, err := bridge.NewTrainer(cost, x)
		if err != nil {
			t.Fatal(err)
		}
		run := func(what string, want float64) {
			t.Helper()
			if err := vm.RunAll(); err != nil {
				t.Fatal(err)
			}
			near(t, what, 1e-6, data(cost.Value()), []float64{want})
		}
		a, b := longVector(typ, 2), longVector(typ, 3)
		G.Let(x, a)
		run("first", 4)
		run("second, in place", 4)
		a.Zero()
		run("changed in place", 0)
		G.Let(x, b)
		run("another tensor", 9)
		run("another tensor again", 9)
		b.Zero()
		run("changed after that", 0)
		G.Let(x, a)
		if typ == gt.Float64 {
			a.Memset(5.0)
		} else {
			a.Memset(float32(5))
		}
		run("the first tensor", 25)
	}
}

// A result that becomes the input of the next run is copied: the run would
// overwrite what it reads.
func TestResultFedBack(t *testing.T) {
	x := G.NewVector(G.NewGraph(), G.Float64, G.WithName("x"), G.WithShape(long), G.WithValue(longVector(gt.Float64, 1)))
	y := must(G.Add(must(G.Mul(num(2), x)), must(G.Mean(x))))
	vm, err := bridge.NewMachine(y)
	if err != nil {
		t.Fatal(err)
	}
	want := 1.0
	for range 5 {
		if err := vm.RunAll(); err != nil {
			t.Fatal(err)
		}
		want *= 3
		v := data(y.Value())
		near(t, "fed back", 1e-12, []float64{v[0], v[long/2], v[long-1]}, []float64{want, want, want})
		G.Let(x, y.Value())
	}
}

// Training of large weights by a solver, which changes them where they lie.
func TestLargeWeights(t *testing.T) {
	w := G.NewVector(G.NewGraph(), G.Float64, G.WithName("w"), G.WithShape(long), G.WithValue(longVector(gt.Float64, 0)))
	target := G.NewVector(w.Graph(), G.Float64, G.WithName("target"), G.WithShape(long), G.WithValue(longVector(gt.Float64, 0.5)))
	cost := must(G.Sum(must(G.Square(must(G.Sub(w, target))))))
	vm, err := bridge.NewTrainer(cost, w)
	if err != nil {
		t.Fatal(err)
	}
	solver := G.NewVanillaSolver(G.WithLearnRate(0.25))
	for range 30 {
		if err := vm.RunAll(); err != nil {
			t.Fatal(err)
		}
		if err := solver.Step(G.NodesToValueGrads(vm.Learnables())); err != nil {
			t.Fatal(err)
		}
	}
	v := data(w.Value())
	near(t, "weights", 1e-8, []float64{v[0], v[long-1]}, []float64{0.5, 0.5})
}
