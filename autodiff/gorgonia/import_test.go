// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package gorgonia_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	G "gorgonia.org/gorgonia"
	gt "gorgonia.org/tensor"

	ad "github.com/euryale-dev/euryale/autodiff"
	bridge "github.com/euryale-dev/euryale/autodiff/gorgonia"
)

// Values equal TapeMachine's, gradients equal central differences and, where its
// rules are right, TapeMachine's; the same graph after gorgonia.Grad runs too.
func TestGraphs(t *testing.T) {
	for _, c := range graphCases {
		t.Run(c.name, func(t *testing.T) {
			x := matrix(G.NewGraph(), c.shape)
			cost := c.make(x)
			f := compiled(t, cost, x)
			at := slices.Clone(x.Value().Data().([]float64))
			value, grad := f(at)

			theirs, err := G.Grad(cost, x)
			if err != nil {
				t.Fatal(err)
			}
			tape := G.NewTapeMachine(x.Graph())
			defer tape.Close()
			if err := tape.RunAll(); err != nil {
				t.Fatal(err)
			}
			near(t, "value and TapeMachine", 1e-12, []float64{value}, data(cost.Value()))
			near(t, "gradient and differences", 1e-5, grad, differences(f, at))
			tapeGrad := slices.Clone(data(theirs[0].Value()))
			if c.wrong != "gradient" {
				near(t, "gradient and TapeMachine", 1e-11, grad, tapeGrad)
			}
			vm, err := bridge.NewMachine(cost, theirs[0])
			if err != nil {
				t.Fatal(err)
			}
			if warned := len(vm.Warnings()) > 0; warned != (c.wrong == "gradient" || c.wrong == "ties") {
				t.Errorf("warnings %q, Gorgonia's rule is wrong: %v", vm.Warnings(), c.wrong)
			}
			if p := vm.Program().String(); strings.Contains(p, "custom") {
				t.Errorf("an operation was not recognised:\n%s", p)
			}
			if err := vm.RunAll(); err != nil {
				t.Fatal(err)
			}
			near(t, "Gorgonia's own gradient, run here", 1e-11, data(theirs[0].Value()), tapeGrad)
		})
	}
}

// compiled imports cost and returns its value and gradient as a function.
func compiled(t *testing.T, cost, x *G.Node) func(at []float64) (float64, []float64) {
	t.Helper()
	im, err := bridge.Import(cost)
	if err != nil {
		t.Fatal(err)
	}
	if len(im.Warnings) > 0 {
		t.Errorf("warnings %q without derivatives", im.Warnings)
	}
	grad, err := im.Grad(cost, x)
	if err != nil {
		t.Fatal(err)
	}
	p, err := ad.Compile(append(im.Outputs(), grad...), ad.Settings{Inputs: []*ad.Node{im.Node(x)}, Precision: im.Precision})
	if err != nil {
		t.Fatal(err)
	}
	s := p.NewState()
	return func(at []float64) (float64, []float64) {
		if err := s.SetInput(0, at); err != nil {
			t.Fatal(err)
		}
		if err := s.Run(); err != nil {
			t.Fatal(err)
		}
		return s.OutputFloat64(0)[0], s.OutputFloat64(1)
	}
}

func differences(f func([]float64) (float64, []float64), at []float64) []float64 {
	const h = 1e-6
	out := make([]float64, len(at))
	for i := range at {
		x := slices.Clone(at)
		x[i] = at[i] + h
		up, _ := f(x)
		x[i] = at[i] - h
		down, _ := f(x)
		out[i] = (up - down) / (2 * h)
	}
	return out
}

// data returns a value's elements as float64.
func data(v G.Value) []float64 {
	switch d := v.Data().(type) {
	case []float64:
		return d
	case float64:
		return []float64{d}
	case float32:
		return []float64{float64(d)}
	case []float32:
		out := make([]float64, len(d))
		for i, v := range d {
			out[i] = float64(v)
		}
		return out
	}
	return nil
}

func near(t *testing.T, what string, tol float64, got, want []float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: %d elements, want %d", what, len(got), len(want))
	}
	for i, v := range got {
		if w := want[i]; !(math.Abs(v-w) <= tol*(1+math.Abs(w))) && !(math.IsNaN(v) && math.IsNaN(w)) && v != w {
			t.Errorf("%s: element %d: %.15g, want %.15g", what, i, v, w)
		}
	}
}

func vector(g *G.ExprGraph, name string, v ...float64) *G.Node {
	return G.NewVector(g, G.Float64, G.WithName(name), G.WithShape(len(v)), G.WithValue(gt.New(gt.WithShape(len(v)), gt.WithBacking(v))))
}

func TestEveryUnary(t *testing.T) {
	for name, f := range map[string]func(*G.Node) (*G.Node, error){
		"abs": G.Abs, "sign": G.Sign, "ceil": G.Ceil, "floor": G.Floor, "sin": G.Sin, "cos": G.Cos, "exp": G.Exp, "log": G.Log,
		"log2": G.Log2, "neg": G.Neg, "square": G.Square, "sqrt": G.Sqrt, "inverse": G.Inverse, "inverseSqrt": G.InverseSqrt,
		"cube": G.Cube, "tanh": G.Tanh, "sigmoid": G.Sigmoid, "log1p": G.Log1p, "expm1": G.Expm1, "softplus": G.Softplus,
	} {
		t.Run(name, func(t *testing.T) {
			g := G.NewGraph()
			x := vector(g, "x", 0.3, 1.2, 2.6)
			y := must(f(x))
			cost := must(G.Sum(y))
			run := compiled(t, cost, x)
			at := slices.Clone(data(x.Value()))
			_, grad := run(at)
			near(t, "gradient", 1e-7, grad, differences(run, at))
			tape := G.NewTapeMachine(g)
			defer tape.Close()
			if err := tape.RunAll(); err != nil {
				t.Fatal(err)
			}
			want := slices.Clone(data(y.Value()))
			vm, err := bridge.NewMachine(y)
			if err != nil {
				t.Fatal(err)
			}
			if err := vm.RunAll(); err != nil {
				t.Fatal(err)
			}
			near(t, "value", 1e-13, data(y.Value()), want)
		})
	}
}

func TestEveryComparison(t *testing.T) {
	for name, f := range map[string]func(a, b *G.Node, same bool) (*G.Node, error){
		"lt": G.Lt, "gt": G.Gt, "lte": G.Lte, "gte": G.Gte, "eq": G.Eq, "ne": G.Ne,
	} {
		for _, same := range []bool{true, false} {
			g := G.NewGraph()
			x, y := vector(g, "x", 1, 2, 3), vector(g, "y", 2, 2, 2)
			z := must(f(x, y, same))
			tape := G.NewTapeMachine(g)
			if err := tape.RunAll(); err != nil {
				t.Fatal(err)
			}
			want := z.Value().(*gt.Dense).Clone().(*gt.Dense)
			tape.Close()
			vm, err := bridge.NewMachine(z)
			if err != nil {
				t.Fatal(name, err)
			}
			if err := vm.RunAll(); err != nil {
				t.Fatal(name, err)
			}
			if !want.Eq(z.Value()) {
				t.Errorf("%s: %v, TapeMachine %v", name, z.Value(), want)
			}
		}
	}
}

func TestImportRefuses(t *testing.T) {
	g := G.NewGraph()
	x := vector(g, "x", 1, 2)
	for _, c := range []struct {
		name string
		outs func() []*G.Node
		want string
	}{
		{"nothing", func() []*G.Node { return nil }, "no outputs"},
		{"two graphs", func() []*G.Node { return []*G.Node{x, vector(G.NewGraph(), "x", 1)} }, "different graphs"},
		{"two precisions", func() []*G.Node {
			s := G.NewScalar(g, G.Float32, G.WithName("single"))
			return []*G.Node{x, s}
		}, "one precision"},
		{"complex", func() []*G.Node { return []*G.Node{G.NewVector(g, gt.Complex128, G.WithName("z"), G.WithShape(2))} }, "complex128"},
	} {
		if _, err := bridge.Import(c.outs()...); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want one with %q", c.name, err, c.want)
		}
	}
}
