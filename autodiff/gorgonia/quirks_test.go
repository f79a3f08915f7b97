// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package gorgonia_test

import (
	"math"
	"slices"
	"strings"
	"sync"
	"testing"

	G "gorgonia.org/gorgonia"
	gt "gorgonia.org/tensor"

	ad "github.com/euryale-dev/euryale/autodiff"
	bridge "github.com/euryale-dev/euryale/autodiff/gorgonia"
)

// These tests hold what Gorgonia v0.9.18 does wrongly or differently, and what
// this package does instead. Where Gorgonia's part fails one day, its behaviour
// has changed, and the rule here may go.

// onTape runs a graph by TapeMachine and returns copies of the values of outs.
func onTape(t *testing.T, outs ...*G.Node) [][]float64 {
	t.Helper()
	vm := G.NewTapeMachine(outs[0].Graph())
	defer vm.Close()
	if err := vm.RunAll(); err != nil {
		t.Fatal(err)
	}
	return copies(outs)
}

// here runs the nodes by a Machine and returns copies of their values.
func here(t *testing.T, outs ...*G.Node) [][]float64 {
	t.Helper()
	vm, err := bridge.NewMachine(outs...)
	if err != nil {
		t.Fatal(err)
	}
	if err := vm.RunAll(); err != nil {
		t.Fatal(err)
	}
	return copies(outs)
}

func copies(outs []*G.Node) [][]float64 {
	vals := make([][]float64, len(outs))
	for i, n := range outs {
		vals[i] = slices.Clone(data(n.Value()))
	}
	return vals
}

// gradients returns d cost/dx by Gorgonia's rules and by ours.
func gradients(t *testing.T, cost, x *G.Node) (theirs, ours []float64) {
	t.Helper()
	grads, err := G.Grad(cost, x)
	if err != nil {
		t.Fatal(err)
	}
	theirs = onTape(t, grads[0])[0]
	vm, err := bridge.NewTrainer(cost, x)
	if err != nil {
		t.Fatal(err)
	}
	if err := vm.RunAll(); err != nil {
		t.Fatal(err)
	}
	d, err := x.Grad()
	if err != nil {
		t.Fatal(err)
	}
	return theirs, slices.Clone(data(d))
}

// expect compares both sides with what is known of them.
func expect(t *testing.T, theirs, wantTheirs, ours, wantOurs []float64) {
	t.Helper()
	near(t, "Gorgonia", 1e-12, theirs, wantTheirs)
	near(t, "here", 1e-12, ours, wantOurs)
}

func TestQuirk1Log2Gradient(t *testing.T) {
	x := vector(G.NewGraph(), "x", 4)
	theirs, ours := gradients(t, must(G.Sum(must(G.Log2(x)))), x)
	expect(t, theirs, []float64{math.Ln2 / 4}, ours, []float64{1 / (4 * math.Ln2)})
}

func TestQuirk2InverseSqrtGradient(t *testing.T) {
	x := vector(G.NewGraph(), "x", 4)
	theirs, ours := gradients(t, must(G.Sum(must(G.InverseSqrt(x)))), x)
	expect(t, theirs, []float64{-4}, ours, []float64{-1.0 / 16})
}

func TestQuirk3OuterProductGradient(t *testing.T) {
	g := G.NewGraph()
	x, y := vector(g, "x", 1, 2, 3), vector(g, "y", 5, 7, 11)
	theirs, ours := gradients(t, must(G.Sum(must(G.OuterProd(x, y)))), x)
	near(t, "here", 1e-15, ours, []float64{23, 23, 23})
	if len(theirs) == 3 && theirs[0] == 23 && theirs[1] == 23 {
		t.Errorf("Gorgonia's gradient of OuterProd is right now: %v", theirs)
	}
}

func TestQuirk4SecondDerivative(t *testing.T) {
	g := G.NewGraph()
	x := G.NewScalar(g, G.Float64, G.WithName("x"), G.WithValue(2.0))
	y := must(G.Cube(x))
	first, err := G.Grad(y, x)
	if err != nil {
		t.Fatal(err)
	}
	second, err := G.Grad(first[0], x)
	if err != nil {
		t.Fatal(err)
	}
	theirs := onTape(t, second[0])[0]
	im, err := bridge.Import(y)
	if err != nil {
		t.Fatal(err)
	}
	dy, err := im.Grad(y, x)
	if err != nil {
		t.Fatal(err)
	}
	out := ad.Substitute(ad.Grad(dy[0], im.Node(x)), []*ad.Node{im.Node(x)}, []*ad.Node{ad.Scalar(2)})
	dense, err := ad.Eval(out...)
	if err != nil {
		t.Fatal(err)
	}
	ours := dense[0].Float64s()
	expect(t, theirs, []float64{6}, ours, []float64{12})
	vm, err := bridge.NewMachine(second[0])
	if err != nil {
		t.Fatal(err)
	}
	if w := strings.Join(vm.Warnings(), "\n"); !strings.Contains(w, "second derivatives") {
		t.Errorf("warnings %q do not name the second derivative", w)
	}
}

// Imported as it is built; use autodiff.LogSumExp or an Op of it.
func TestQuirk5LogSumExp(t *testing.T) {
	x := vector(G.NewGraph(), "x", 1, 2, 3)
	theirs := must(G.LogSumExp(x, 0))
	in := ad.Input("x", 3)
	op, err := bridge.NewOp("logsumexp", ad.LogSumExp(in), in)
	if err != nil {
		t.Fatal(err)
	}
	ours := must(op.Apply(x))
	v := onTape(t, theirs, ours)
	right := math.Log(math.Exp(1) + math.Exp(2) + math.Exp(3))
	expect(t, v[0], []float64{math.Log(1 + math.Exp(-1) + math.Exp(-2) + 3)}, v[1], []float64{right})
	near(t, "imported", 1e-14, here(t, theirs)[0], v[0])
}

func TestQuirk6UnnamedInputsAreOne(t *testing.T) {
	g := G.NewGraph()
	a, b := G.NewScalar(g, G.Float64), G.NewScalar(g, G.Float64)
	if a != b {
		t.Error("Gorgonia keeps unnamed inputs apart now")
	}
}

func TestQuirk7ConstantsMergeByText(t *testing.T) {
	constant := func(middle float64) *gt.Dense {
		d := make([]float64, 100)
		for i := range d {
			d[i] = 1
		}
		d[50] = middle
		return gt.New(gt.WithBacking(d))
	}
	x := G.NewScalar(G.NewGraph(), G.Float64, G.WithName("x"), G.WithValue(1.0))
	total := func(c *G.Node) *G.Node { return must(G.Sum(must(G.HadamardProd(c, x)))) }
	a, b := total(G.NewConstant(constant(1))), total(G.NewConstant(constant(7)))
	near(t, "equal text", 0, here(t, a, b)[1], []float64{100}) // merged before we see it
	c := total(G.NewConstant(constant(7), G.WithName("seven")))
	near(t, "another name does not help", 0, here(t, a, c)[1], []float64{100})
	d := total(vector(x.Graph(), "seven", constant(7).Float64s()...))
	near(t, "an input does", 0, here(t, a, d)[1], []float64{106})
}

// Our identities are pointers and counters: equal names and shapes stay apart.
func TestQuirk8NodeIdentity(t *testing.T) {
	in := ad.Input("x", 2)
	g := G.NewGraph()
	x := vector(g, "x", 1, 2)
	op1, err1 := bridge.NewOp("f", ad.Scale(2, in), in)
	op2, err2 := bridge.NewOp("f", ad.Scale(3, in), in)
	if err1 != nil || err2 != nil {
		t.Fatal(err1, err2)
	}
	v := onTape(t, must(op1.Apply(x)), must(op2.Apply(x)))
	near(t, "first", 0, v[0], []float64{2, 4})
	near(t, "second", 0, v[1], []float64{3, 6})
}

func TestQuirk9InnerValuesAreOverwritten(t *testing.T) {
	g := G.NewGraph()
	a, b := vector(g, "a", 1, 2, 3), vector(g, "b", 10, 20, 30)
	square := must(G.Square(a))
	total := must(G.Add(square, b))
	v := onTape(t, square, total)
	w := here(t, square, total)
	expect(t, v[0], []float64{11, 24, 39}, w[0], []float64{1, 4, 9})
	near(t, "output", 0, w[1], v[1])
}

func TestQuirk10DivisionByZero(t *testing.T) {
	g := G.NewGraph()
	a, b := vector(g, "a", -1, 0, 2), vector(g, "b", 0, 0, 0)
	q := must(G.HadamardDiv(a, b))
	inf := math.Inf(1)
	v, w := onTape(t, q), here(t, q)
	expect(t, v[0], []float64{inf, inf, inf}, w[0], []float64{-inf, math.NaN(), inf})
}

func TestQuirk11Float32Sums(t *testing.T) {
	const n = 1<<24 + 1000
	x := G.NewVector(G.NewGraph(), G.Float32, G.WithName("x"), G.WithShape(n), G.WithInit(G.Ones()))
	s := must(G.Sum(x))
	v, w := onTape(t, s), here(t, s)
	expect(t, v[0], []float64{1 << 24}, w[0], []float64{n})
}

func TestQuirk12SlicedViews(t *testing.T) {
	whole := gt.New(gt.WithShape(2, 3), gt.WithBacking([]float64{1, 2, 3, 4, 5, 6}))
	view, _ := whole.Slice(nil, G.S(1, 3)) // 2 3; 5 6
	v := gt.New(gt.WithBacking([]float64{10, 100}))
	g := G.NewGraph()
	m := G.NewMatrix(g, G.Float64, G.WithName("m"), G.WithShape(2, 2), G.WithValue(view))
	y := must(G.Mul(m, G.NewConstant(v)))
	theirs := onTape(t, y)[0]
	if slices.Equal(theirs, []float64{320, 650}) {
		t.Error("Gorgonia multiplies by sliced views correctly now")
	}
	near(t, "here", 0, here(t, y)[0], []float64{320, 650})
	near(t, "as a constant", 0, eval(t, bridge.FromDense(view.(*gt.Dense))), []float64{2, 3, 5, 6})
}

func eval(t *testing.T, n *ad.Node) []float64 {
	t.Helper()
	d, err := ad.Eval(ad.Add(n, ad.Scalar(0)))
	if err != nil {
		t.Fatal(err)
	}
	return d[0].Float64s()
}

func TestQuirk13GradientsPileUp(t *testing.T) {
	g := G.NewGraph()
	x := vector(g, "x", 1, 2)
	cost := must(G.Sum(must(G.Square(x))))
	if _, err := G.Grad(cost, x); err != nil {
		t.Fatal(err)
	}
	tape := G.NewTapeMachine(g, G.BindDualValues(x))
	defer tape.Close()
	trainer, err := bridge.NewTrainer(cost, x)
	if err != nil {
		t.Fatal(err)
	}
	for _, vm := range []G.VM{tape, trainer} {
		var last []float64
		for range 2 {
			if err := vm.RunAll(); err != nil {
				t.Fatal(err)
			}
			d, err := x.Grad()
			if err != nil {
				t.Fatal(err)
			}
			last = slices.Clone(data(d))
			vm.Reset()
		}
		want := []float64{2, 4}
		if vm == tape {
			want = []float64{4, 8}
		}
		near(t, "second run", 0, last, want)
	}
}

func TestQuirk14UnusedNodesRun(t *testing.T) {
	g := G.NewGraph()
	x := vector(g, "x", 1, 2)
	must(G.Exp(G.NewVector(g, G.Float64, G.WithName("unbound"), G.WithShape(2))))
	y := must(G.Square(x))
	vm := G.NewTapeMachine(g)
	defer vm.Close()
	if err := vm.RunAll(); err == nil {
		t.Error("Gorgonia leaves unused inputs alone now")
	}
	near(t, "here", 0, here(t, y)[0], []float64{1, 4})
}

// Two machines on one graph race in Gorgonia. Here a Program is immutable, and
// only the graph, where values are bound, belongs to one goroutine.
func TestQuirk15OneProgramManyStates(t *testing.T) {
	x := matrix(G.NewGraph(), nil)
	cost := graphCases[7].make(x)
	vm, err := bridge.NewTrainer(cost, x)
	if err != nil {
		t.Fatal(err)
	}
	p := vm.Program()
	var wait sync.WaitGroup
	for range 4 {
		wait.Go(func() {
			s := p.NewState()
			for range 50 {
				if err := bridge.SetInput(s, 0, x.Value().(*gt.Dense)); err != nil {
					t.Error(err)
				}
				if err := s.Run(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wait.Wait()
}

// Gorgonia turns log(1+x) into log1p where the 1 is its own constant, which no
// user holds: both forms are imported.
func TestQuirk16Stabilisation(t *testing.T) {
	x := G.NewScalar(G.NewGraph(), G.Float64, G.WithName("x"), G.WithValue(0.5))
	y := must(G.Log(must(G.Add(x, num(1)))))
	near(t, "log(1+x)", 1e-15, here(t, y)[0], []float64{math.Log1p(0.5)})
	p := must(G.BinaryXent(x, G.NewScalar(x.Graph(), G.Float64, G.WithName("target"), G.WithValue(1.0))))
	near(t, "cross entropy", 1e-12, here(t, p)[0], []float64{math.Ln2})
}
