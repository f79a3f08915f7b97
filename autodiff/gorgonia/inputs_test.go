// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package gorgonia_test

import (
	"strings"
	"testing"

	G "gorgonia.org/gorgonia"
	gt "gorgonia.org/tensor"

	bridge "github.com/euryale-dev/euryale/autodiff/gorgonia"
)

// Inputs without a name, and two of one name and different shapes, are told apart
// by their nodes, in values, gradients and messages.
func TestUnnamedInputs(t *testing.T) {
	g := G.NewGraph()
	a := G.NewScalar(g, G.Float64)
	v := G.NewVector(g, G.Float64, G.WithShape(2))
	w := G.NewVector(g, G.Float64, G.WithName("w"), G.WithShape(2))
	m := G.NewMatrix(g, G.Float64, G.WithName("w"), G.WithShape(2, 2))
	b := G.NewVector(g, G.Float64, G.WithName("input1"), G.WithShape(2))
	cost := must(G.Sum(must(G.Mul(m, must(G.Add(must(G.HadamardProd(must(G.Mul(v, a)), w)), b))))))
	inputs := []*G.Node{a, v, w, m, b}
	names := []string{"input0", "input1#2", "w", "w#2", "input1"}

	im, err := bridge.Import(cost)
	if err != nil {
		t.Fatal(err)
	}
	for i, n := range inputs {
		if im.Inputs()[i] != n || im.Node(n).Name() != names[i] {
			t.Errorf("input %d is called %q, want %q", i, im.Node(n).Name(), names[i])
		}
	}

	vm, err := bridge.NewTrainer(cost, inputs...)
	if err != nil {
		t.Fatal(err)
	}
	if err := vm.RunAll(); err == nil || !strings.Contains(err.Error(), "input0") {
		t.Errorf("without a value: error %v, want one that names input0", err)
	}
	values := []any{2.0, dense(3, 5), dense(7, 11), gt.New(gt.WithShape(2, 2), gt.WithBacking([]float64{1, 2, 3, 4})), dense(0.5, 0.25)}
	for i, n := range inputs {
		if err := G.Let(n, values[i]); err != nil {
			t.Fatal(err)
		}
	}
	if err := vm.RunAll(); err != nil {
		t.Fatal(err)
	}
	// By hand: y = 2 v w + b = (42.5, 110.25); cost = (1+3) y0 + (2+4) y1.
	near(t, "cost", 1e-15, data(cost.Value()), []float64{4*42.5 + 6*110.25})
	for i, want := range [][]float64{{4*21 + 6*55}, {4 * 14, 6 * 22}, {4 * 6, 6 * 10}, {42.5, 110.25, 42.5, 110.25}, {4, 6}} {
		d, err := inputs[i].Grad()
		if err != nil {
			t.Fatal(err)
		}
		near(t, names[i], 1e-14, data(d), want)
	}
}

func dense(v ...float64) *gt.Dense { return gt.New(gt.WithBacking(v)) }
