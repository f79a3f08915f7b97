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

	bridge "github.com/euryale-dev/euryale/autodiff/gorgonia"
)

// More of what Gorgonia v0.9.18 does wrongly, operation by operation.

// counted makes an input of 0, 1, 2 and so on.
func counted(shape ...int) *G.Node {
	v := make([]float64, gt.Shape(shape).TotalSize())
	for i := range v {
		v[i] = float64(i)
	}
	return G.NewTensor(G.NewGraph(), G.Float64, len(shape), G.WithName("x"), G.WithShape(shape...),
		G.WithValue(gt.New(gt.WithShape(shape...), gt.WithBacking(v))))
}

// differs says that Gorgonia is right now where it was not.
func differs(t *testing.T, theirs, right []float64) {
	t.Helper()
	if apart(theirs, right) < 1e-9 {
		t.Errorf("Gorgonia is right now: %v", theirs)
	}
}

// Sums and maxima along an inner axis of at least three elements, not the second.
func TestQuirkInnerAxes(t *testing.T) {
	x := counted(1, 2, 3, 2)
	total, largest := must(G.Sum(x, 2)), must(G.Max(x, 2))
	sums, tops := []float64{0 + 2 + 4, 1 + 3 + 5, 6 + 8 + 10, 7 + 9 + 11}, []float64{4, 5, 10, 11}
	w := here(t, total, largest)
	near(t, "sum", 0, w[0], sums)
	near(t, "max", 0, w[1], tops)
	v := onTape(t, total, largest)
	differs(t, v[0], sums)
	differs(t, v[1], tops)
}

func TestQuirkByIndices(t *testing.T) {
	look := func(axis int, x *G.Node, at ...int) *G.Node {
		return must(G.ByIndices(x, G.NewConstant(gt.New(gt.WithBacking(at)), G.In(x.Graph())), axis))
	}
	x := counted(2, 3, 2)
	y := look(1, x, 2, 0)
	right := []float64{4, 5, 0, 1, 10, 11, 6, 7}
	near(t, "inner axis", 0, here(t, y)[0], right)
	differs(t, onTape(t, y)[0], right)

	x = counted(4)
	theirs, ours := gradients(t, must(G.Sum(must(G.Square(look(0, x, 3, 1, 3))))), x)
	near(t, "gradient", 1e-14, ours, []float64{0, 2, 0, 12})
	differs(t, theirs, ours)
}

func TestQuirkSparsemax(t *testing.T) {
	x := counted(2, 3) // columns (0, 3), (1, 4), (2, 5)
	y := must(G.Sparsemax(must(G.Mul(num(0.1), x)), 0))
	right := []float64{0.35, 0.35, 0.35, 0.65, 0.65, 0.65}
	near(t, "first axis", 1e-14, here(t, y)[0], right)
	differs(t, onTape(t, y)[0], right)
}

// Vectors infer the length that they compute, matrices another.
func TestQuirkSliceWithARest(t *testing.T) {
	for _, dims := range []int{1, 2} {
		x := counted([]int{2, 5}[2-dims:]...)
		y := must(G.Slice(x, []gt.Slice{nil, G.S(0, 5, 2)}[2-dims:]...))
		if !slices.Equal(y.Shape(), []int{2, 2}[2-dims:]) {
			t.Errorf("Gorgonia infers the shape %v now", y.Shape())
		}
		near(t, "slice", 0, here(t, y)[0], []float64{0, 2, 5, 7}[:2*dims])
	}
}

// Variances of groups of more than 256 elements.
func TestQuirkGroupNorm(t *testing.T) {
	const n = 600
	x := counted(1, 1, 1, n)
	norm := func() *G.Node {
		one := func(name string) *G.Node {
			return G.NewTensor(x.Graph(), G.Float64, 4, G.WithName(name), G.WithShape(1, 1, 1, 1), G.WithInit(G.Ones()))
		}
		return must(G.GroupNorm(x, one("scale"), one("bias"), 1, 1, 0))
	}
	y := norm()
	right := make([]float64, n)
	for i := range right {
		right[i] = 1 + (float64(i)-(n-1)/2.0)/math.Sqrt((n*n-1)/12.0)
	}
	near(t, "group norm", 1e-12, here(t, y)[0], right)
	differs(t, onTape(t, y)[0], right)
}

// Padding is -MaxFloat64, at which the gradient has no place.
func TestQuirkMaxPoolPadding(t *testing.T) {
	x := counted(1, 1, 1, 2)
	y := must(G.MaxPool2D(x, gt.Shape{1, 1}, []int{0, 1}, []int{1, 1}))
	near(t, "value", 0, here(t, y)[0], []float64{-math.MaxFloat64, 0, 1, -math.MaxFloat64})
	vm, err := bridge.NewTrainer(must(G.Sum(y)), x)
	if err != nil {
		t.Fatal(err)
	}
	if err := vm.RunAll(); err != nil {
		t.Fatal(err)
	}
	d, _ := x.Grad()
	near(t, "gradient", 0, data(d), []float64{1, 1})
}

// Ties of Max, and what goes through At, which Grad leaves out: a Machine of
// Gorgonia's derivatives warns.
func TestQuirkMaxAndAtGradients(t *testing.T) {
	x := vector(G.NewGraph(), "x", 2, 1, 2)
	for want, f := range map[string]func() *G.Node{
		"in full": func() *G.Node { return must(G.Max(x)) },
		"At":      func() *G.Node { return must(G.Add(must(G.At(x, 1)), must(G.Sum(x)))) },
	} {
		x = vector(G.NewGraph(), "x", 2, 1, 2)
		cost := f()
		right := map[string][]float64{"in full": {0.5, 0, 0.5}, "At": {1, 2, 1}}[want]
		vm, err := bridge.NewTrainer(cost, x)
		if err != nil {
			t.Fatal(err)
		}
		if err := vm.RunAll(); err != nil {
			t.Fatal(err)
		}
		d, _ := x.Grad()
		near(t, want, 0, data(d), right)
		grads, err := G.Grad(cost, x)
		if err != nil {
			t.Fatal(err)
		}
		if vm, err = bridge.NewMachine(grads...); err != nil {
			t.Fatal(err)
		}
		if w := strings.Join(vm.Warnings(), "\n"); !strings.Contains(w, want) {
			t.Errorf("warnings %q, want one with %q", w, want)
		}
		differs(t, here(t, grads[0])[0], right)
	}
}

// Once a node was removed, Grad may take the others in a wrong order.
func TestQuirkGradientAfterARemoval(t *testing.T) {
	x := vector(G.NewGraph(), "x", 1, 2)
	y := must(G.Exp(x))
	z := must(G.Sin(y))
	x.Graph().RemoveNode(y)
	cost := must(G.Sum(must(G.Add(z, must(G.Cos(y))))))
	grads, err := G.Grad(cost, x)
	if err != nil {
		t.Fatal(err)
	}
	vm, err := bridge.NewMachine(grads...)
	if err != nil {
		t.Fatal(err)
	}
	if w := strings.Join(vm.Warnings(), "\n"); !strings.Contains(w, "lacks 1 of its") {
		t.Errorf("warnings %q do not tell of the removed node", w)
	}
}

// TapeMachine runs Set where the operation may overwrite its argument, LispMachine
// never, a Machine never, and it says so.
func TestQuirkSet(t *testing.T) {
	w := vector(G.NewGraph(), "w", 1, 2)
	y := must(G.Sub(w, num(0.5)))
	set := G.Set(w, y)
	near(t, "result", 0, here(t, y)[0], []float64{0.5, 1.5})
	near(t, "variable", 0, data(w.Value()), []float64{1, 2})
	vm, err := bridge.NewMachine(y)
	if err != nil {
		t.Fatal(err)
	}
	if warned := strings.Join(vm.Warnings(), "\n"); !strings.Contains(warned, "bind w") {
		t.Errorf("warnings %q do not tell of Set", warned)
	}
	if _, err := bridge.NewMachine(set); err == nil || !strings.Contains(err.Error(), "no value") {
		t.Errorf("a statement as output: %v", err)
	}
	onTape(t, y)
	near(t, "variable of TapeMachine", 0, data(w.Value()), []float64{0.5, 1.5})
}

func TestQuirkRandomNodesAreOne(t *testing.T) {
	g := G.NewGraph()
	a, b := G.UniformRandomNode(g, G.Float64, 0, 1, 3), G.GaussianRandomNode(g, G.Float64, 5, 1, 3)
	if a != b {
		t.Error("Gorgonia keeps random nodes of one shape apart now")
	}
}

func TestQuirkAveragePool(t *testing.T) {
	x := tensorInput(G.NewGraph(), []int{1, 1, 4, 4})
	y := must(G.AveragePool2D(x, gt.Shape{2, 2}, []int{0, 0}, []int{2, 2}))
	theirs, ours := gradients(t, must(G.Sum(y)), x)
	quarter := make([]float64, 16)
	for i := range quarter {
		quarter[i] = 0.25
	}
	near(t, "here", 1e-15, ours, quarter)
	if slices.Equal(theirs, quarter) {
		t.Error("Gorgonia's gradient of AveragePool2D is right now")
	}
}

func TestQuirkSoftmaxAndItsLogMerge(t *testing.T) {
	x := matrix(G.NewGraph(), nil)
	a, b := must(G.SoftMax(x, 1)), must(G.LogSoftMax(x, 1))
	if a != b {
		t.Error("Gorgonia keeps SoftMax and LogSoftMax of one node apart now")
	}
}

func TestQuirkDropoutGradient(t *testing.T) {
	x := tensorInput(G.NewGraph(), []int{10, 10})
	theirs, ours := gradients(t, must(G.Sum(must(G.Dropout(x, 0.2)))), x)
	near(t, "Gorgonia", 1e-12, []float64{slices.Max(theirs)}, []float64{1 / 0.2})
	near(t, "here", 1e-12, []float64{slices.Max(ours)}, []float64{1 / 0.8})
}
