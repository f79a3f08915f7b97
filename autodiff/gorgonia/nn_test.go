// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package gorgonia_test

import (
	"testing"

	G "gorgonia.org/gorgonia"
	gt "gorgonia.org/tensor"

	ad "github.com/euryale-dev/euryale/autodiff"
	bridge "github.com/euryale-dev/euryale/autodiff/gorgonia"
)

// Layers that run by Gorgonia's own code inside our program: value equal to
// TapeMachine's, gradient to central differences and to TapeMachine's.
func TestLayers(t *testing.T) {
	for _, c := range []struct {
		name  string
		shape []int
		make  func(x *G.Node) *G.Node
		own   bool // our gradient differs from TapeMachine's, which is wrong
	}{
		{"convolution", []int{1, 2, 5, 4}, func(x *G.Node) *G.Node {
			w := G.NewConstant(array(3, 2, 2, 2), G.In(x.Graph()))
			return must(G.Conv2d(x, w, gt.Shape{2, 2}, []int{1, 0}, []int{1, 2}, []int{1, 1}))
		}, false},
		{"max pool", []int{1, 2, 4, 4}, func(x *G.Node) *G.Node {
			return must(G.MaxPool2D(x, gt.Shape{2, 2}, []int{0, 0}, []int{2, 2}))
		}, false},
		{"average pool", []int{1, 2, 4, 4}, func(x *G.Node) *G.Node {
			return must(G.AveragePool2D(x, gt.Shape{2, 2}, []int{0, 0}, []int{2, 2}))
		}, true},
		{"average pool with padding", []int{2, 1, 4, 5}, func(x *G.Node) *G.Node {
			return must(G.AveragePool2D(x, gt.Shape{3, 2}, []int{1, 1}, []int{1, 2}))
		}, true},
		{"upsample", []int{1, 2, 2, 3}, func(x *G.Node) *G.Node { return must(G.Upsample2D(x, 2)) }, false},
		{"look-up", []int{4, 3}, func(x *G.Node) *G.Node {
			idx := G.NewVector(x.Graph(), gt.Int, G.WithName("idx"), G.WithShape(3), G.WithValue(gt.New(gt.WithBacking([]int{2, 0, 2}))))
			return must(G.ByIndices(x, idx, 0))
		}, false},
		{"tensor product", []int{2, 3, 2}, func(x *G.Node) *G.Node {
			return must(G.Tensordot([]int{1, 2}, []int{2, 0}, x, G.NewConstant(array(2, 4, 3))))
		}, false},
		{"sparsemax", []int{2, 3}, func(x *G.Node) *G.Node { return must(G.Sparsemax(x)) }, true},
		{"log softmax", []int{2, 3}, func(x *G.Node) *G.Node { return must(G.LogSoftMax(x, 1)) }, false},
		{"global average pool", []int{1, 2, 4, 4}, func(x *G.Node) *G.Node { return must(G.GlobalAveragePool2D(x)) }, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			x := tensorInput(G.NewGraph(), c.shape)
			y := c.make(x)
			weights := G.NewConstant(array(y.Shape()...))
			cost := must(G.Sum(must(G.HadamardProd(must(G.Square(y)), weights))))
			vm, err := bridge.NewTrainer(cost, x)
			if err != nil {
				t.Fatal(err)
			}
			f := func(at []float64) (float64, []float64) {
				G.Let(x, gt.New(gt.WithShape(c.shape...), gt.WithBacking(append([]float64(nil), at...))))
				if err := vm.RunAll(); err != nil {
					t.Fatal(err)
				}
				d, _ := x.Grad()
				return data(cost.Value())[0], append([]float64(nil), data(d)...)
			}
			at := append([]float64(nil), data(x.Value())...)
			value, grad := f(at)
			near(t, "gradient and differences", 1e-6, grad, differences(f, at))

			x = tensorInput(G.NewGraph(), c.shape)
			y = c.make(x)
			cost = must(G.Sum(must(G.HadamardProd(must(G.Square(y)), G.NewConstant(array(y.Shape()...))))))
			if !c.own {
				if _, err := G.Grad(cost, x); err != nil {
					t.Fatal(err)
				}
			}
			tape := G.NewTapeMachine(x.Graph(), G.BindDualValues(x))
			defer tape.Close()
			if err := tape.RunAll(); err != nil {
				t.Fatal(err)
			}
			near(t, "value and TapeMachine", 1e-12, []float64{value}, data(cost.Value()))
			if !c.own {
				d, err := x.Grad()
				if err != nil {
					t.Fatal(err)
				}
				near(t, "gradient and TapeMachine", 1e-11, grad, data(d))
			}
		})
	}
}

func tensorInput(g *G.ExprGraph, shape []int) *G.Node {
	x := matrix(G.NewGraph(), []int{1, gt.Shape(shape).TotalSize()})
	v := gt.New(gt.WithShape(shape...), gt.WithBacking(append([]float64(nil), data(x.Value())...)))
	return G.NewTensor(g, G.Float64, len(shape), G.WithName("x"), G.WithShape(shape...), G.WithValue(v))
}

// Views of whole-number and diagonal kind that have no gradient in Gorgonia.
func TestAtAndDiagonal(t *testing.T) {
	g := G.NewGraph()
	x := vector(g, "x", 1, 2, 3)
	at, diag := must(G.At(x, 1)), must(G.DiagFlat(x))
	vm, err := bridge.NewMachine(at, diag)
	if err != nil {
		t.Fatal(err)
	}
	if err := vm.RunAll(); err != nil {
		t.Fatal(err)
	}
	near(t, "at", 0, data(at.Value()), []float64{2})
	near(t, "diagonal", 0, data(diag.Value()), []float64{1, 0, 0, 0, 2, 0, 0, 0, 3})
	im, err := bridge.Import(at, diag)
	if err != nil {
		t.Fatal(err)
	}
	for n, want := range map[*G.Node][]float64{at: {0, 1, 0}, diag: {1, 1, 1}} {
		d, err := im.Grad(n, x)
		if err != nil {
			t.Fatal(err)
		}
		near(t, "gradient", 0, eval(t, ad.Substitute(d, []*ad.Node{im.Node(x)}, []*ad.Node{ad.Const([]float64{1, 2, 3})})[0]), want)
	}
}

// Batch normalisation keeps its means from the forward step: gradients of scale
// and bias come from its parts, that of x from the same step.
func TestBatchNorm(t *testing.T) {
	build := func() (cost *G.Node, w G.Nodes) {
		g := G.NewGraph()
		x := tensorInput(g, []int{3, 2, 2, 2})
		scale := G.NewTensor(g, G.Float64, 4, G.WithName("scale"), G.WithShape(1, 2, 1, 1), G.WithValue(array(1, 2, 1, 1)))
		bias := G.NewTensor(g, G.Float64, 4, G.WithName("bias"), G.WithShape(1, 2, 1, 1), G.WithValue(array(1, 2, 1, 1)))
		y, _, _, _, err := G.BatchNorm(x, scale, bias, 0.9, 1e-5)
		if err != nil {
			t.Fatal(err)
		}
		return must(G.Sum(must(G.HadamardProd(must(G.Square(y)), G.NewConstant(array(3, 2, 2, 2)))))), G.Nodes{x, scale, bias}
	}
	grads := func(vm G.VM, cost *G.Node, w G.Nodes) []float64 {
		if err := vm.RunAll(); err != nil {
			t.Fatal(err)
		}
		out := append([]float64(nil), data(cost.Value())...)
		for _, n := range w {
			d, err := n.Grad()
			if err != nil {
				t.Fatal(err)
			}
			out = append(out, data(d)...)
		}
		return out
	}
	cost, w := build()
	ours, err := bridge.NewTrainer(cost, w...)
	if err != nil {
		t.Fatal(err)
	}
	got := grads(ours, cost, w)
	cost, w = build()
	if _, err := G.Grad(cost, w...); err != nil {
		t.Fatal(err)
	}
	tape := G.NewTapeMachine(cost.Graph(), G.BindDualValues(w...))
	defer tape.Close()
	near(t, "cost and gradients", 1e-10, got, grads(tape, cost, w))
}

// Dropout: kept elements are x/keep, their gradient is 1/keep, off in Eval.
func TestDropout(t *testing.T) {
	for _, eval := range []bool{false, true} {
		x := tensorInput(G.NewGraph(), []int{20, 10})
		y := must(G.Dropout(x, 0.2))
		cost := must(G.Sum(y))
		vm, err := bridge.Settings{Eval: eval}.NewTrainer(cost, x)
		if err != nil {
			t.Fatal(err)
		}
		if err := vm.RunAll(); err != nil {
			t.Fatal(err)
		}
		dx, _ := x.Grad()
		kept, dot := 0, 0.0
		for i, g := range data(dx) {
			if g != 0 {
				kept++
				near(t, "gradient", 1e-15, []float64{g}, []float64{map[bool]float64{false: 1 / 0.8, true: 1}[eval]})
			}
			dot += g * data(x.Value())[i]
		}
		near(t, "cost", 1e-12, data(cost.Value()), []float64{dot})
		if all := kept == 200; all != eval || kept < 120 {
			t.Errorf("eval %v: kept %d of 200", eval, kept)
		}
	}
}
