// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package gorgonia_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	G "gorgonia.org/gorgonia"
	gt "gorgonia.org/tensor"

	ad "github.com/euryale-dev/euryale/autodiff"
	bridge "github.com/euryale-dev/euryale/autodiff/gorgonia"
	"github.com/euryale-dev/euryale/tensor"
)

// Every elementwise operation, run and differentiated by Gorgonia's TapeMachine,
// gives our own numbers; imported again, that graph gives them too.
func TestEveryOpInsideGorgonia(t *testing.T) {
	for _, op := range ad.Ops() {
		if !op.IsElementwise() {
			continue
		}
		t.Run(op.Name, func(t *testing.T) {
			g := G.NewGraph()
			rng := rand.New(rand.NewPCG(1, 2))
			var x G.Nodes
			var ours []*ad.Node
			for i := range op.Arity {
				d := make([]float64, 5)
				for k := range d {
					d[k] = op.Domain.Lo + (op.Domain.Hi-op.Domain.Lo)*rng.Float64()
				}
				x = append(x, vector(g, fmt.Sprintf("x%d", i), d...))
				ours = append(ours, ad.Const(append([]float64(nil), d...)))
			}
			y, err := bridge.Apply(op, x...)
			if err != nil {
				t.Fatal(err)
			}
			want := wanted(t, op.Apply(ours...), ours)
			tape := G.NewTapeMachine(g)
			if err := tape.RunAll(); err != nil {
				t.Fatal(err)
			}
			near(t, "TapeMachine value", 1e-14, data(y.Value()), want[0])
			tape.Close()
			cost := must(G.Sum(must(G.Square(y))))
			grads, err := G.Grad(cost, x...)
			if err != nil {
				t.Fatal(err)
			}
			tape = G.NewTapeMachine(g)
			defer tape.Close()
			vm, err := bridge.NewMachine(append(G.Nodes{y}, grads...)...)
			if err != nil {
				t.Fatal(err)
			}
			trainer, err := bridge.NewTrainer(cost, x...)
			if err != nil {
				t.Fatal(err)
			}
			for name, m := range map[string]G.VM{"TapeMachine": tape, "Machine": vm, "trainer": trainer} {
				if err := m.RunAll(); err != nil {
					t.Fatal(name, err)
				}
				if name == "Machine" { // TapeMachine has used y's memory again
					near(t, name+" value", 1e-14, data(y.Value()), want[0])
				}
				for i, n := range x {
					d, err := n.Grad()
					if err != nil {
						t.Fatal(name, err)
					}
					near(t, name+" gradient", 1e-13, data(d), want[i+1])
				}
			}
		})
	}
}

// wanted returns y and the gradients of the sum of its squares.
func wanted(t *testing.T, y *ad.Node, x []*ad.Node) [][]float64 {
	t.Helper()
	dense, err := ad.Eval(append([]*ad.Node{y}, ad.Grad(ad.Sum(ad.Square(y)), x...)...)...)
	if err != nil {
		t.Fatal(err)
	}
	out := make([][]float64, len(dense))
	for i, d := range dense {
		out[i] = d.Float64s()
	}
	return out
}

// simulator is a vector of a scalar and a vector, with a look-up by indices.
func simulator() (out, a, x, idx *ad.Node) {
	a, x, idx = ad.Input("a"), ad.Input("x", 4), ad.IntInput("idx", 3)
	return ad.Gather(ad.Sin(ad.Mul(a, x)), idx, 0), a, x, idx
}

// One Op at two places of a graph, between operations of Gorgonia, under each of
// the machines, in both precisions, against central differences.
func TestOpBetweenOtherOps(t *testing.T) {
	out, a, x, idx := simulator()
	op, err := bridge.NewOp("simulator", out, a, x, idx)
	if err != nil {
		t.Fatal(err)
	}
	build := func(typ gt.Dtype) (cost *G.Node, wrt G.Nodes) {
		g := G.NewGraph()
		ga := G.NewScalar(g, typ, G.WithName("a"))
		gx := G.NewVector(g, typ, G.WithName("x"), G.WithShape(4))
		gi := G.NewVector(g, gt.Int, G.WithName("idx"), G.WithShape(3), G.WithValue(gt.New(gt.WithBacking([]int{2, 0, 2}))))
		if typ == gt.Float64 {
			G.Let(ga, 0.7)
			G.Let(gx, gt.New(gt.WithBacking([]float64{0.2, -1, 1.5, 3})))
		} else {
			G.Let(ga, float32(0.7))
			G.Let(gx, gt.New(gt.WithBacking([]float32{0.2, -1, 1.5, 3})))
		}
		first := must(op.Apply(ga, must(G.Tanh(gx)), gi))
		second := must(op.Apply(ga, gx, gi))
		return must(G.Sum(must(G.HadamardProd(must(G.Exp(first)), second)))), G.Nodes{ga, gx}
	}
	cost, wrt := build(gt.Float64)
	var want []float64
	{
		f := compiledAt(t, cost, wrt)
		v, g := f([]float64{0.7, 0.2, -1, 1.5, 3})
		near(t, "gradient and differences", 1e-8, g, differences(f, []float64{0.7, 0.2, -1, 1.5, 3}))
		want = append([]float64{v}, g...)
	}
	for _, typ := range []gt.Dtype{gt.Float64, gt.Float32} {
		tol := map[gt.Dtype]float64{gt.Float64: 1e-13, gt.Float32: 1e-5}[typ]
		for name, machine := range map[string]func(cost *G.Node, w G.Nodes) (G.VM, error){
			"tape": func(cost *G.Node, w G.Nodes) (G.VM, error) {
				_, err := G.Grad(cost, w...)
				return G.NewTapeMachine(cost.Graph(), G.BindDualValues(w...)), err
			},
			"lisp":    func(cost *G.Node, w G.Nodes) (G.VM, error) { return G.NewLispMachine(cost.Graph()), nil },
			"trainer": func(cost *G.Node, w G.Nodes) (G.VM, error) { return bridge.NewTrainer(cost, w...) },
		} {
			cost, w := build(typ)
			vm, err := machine(cost, w)
			if err != nil {
				t.Fatal(name, err)
			}
			if err := vm.RunAll(); err != nil {
				t.Fatal(name, err)
			}
			got := append([]float64(nil), data(cost.Value())...)
			for _, n := range w {
				d, err := n.Grad()
				if err != nil {
					t.Fatal(name, err)
				}
				got = append(got, data(d)...)
			}
			near(t, fmt.Sprint(name, " ", typ), tol, got, want)
			vm.Close()
		}
	}
}

// compiledAt is compiled for the inputs a and x, one vector, with fixed indices.
func compiledAt(t *testing.T, cost *G.Node, wrt G.Nodes) func(at []float64) (float64, []float64) {
	t.Helper()
	vm, err := bridge.NewTrainer(cost, wrt...)
	if err != nil {
		t.Fatal(err)
	}
	return func(at []float64) (float64, []float64) {
		G.Let(wrt[0], at[0])
		G.Let(wrt[1], gt.New(gt.WithBacking(append([]float64(nil), at[1:]...))))
		if err := vm.RunAll(); err != nil {
			t.Fatal(err)
		}
		var g []float64
		for _, n := range wrt {
			d, _ := n.Grad()
			g = append(g, data(d)...)
		}
		return data(cost.Value())[0], g
	}
}

// A log density of ours, trained by a solver of Gorgonia on its own machine.
func TestLikelihoodWithGorgoniaSolver(t *testing.T) {
	mu, logS := ad.Input("mu"), ad.Input("log_s")
	y := ad.Const([]float64{1.2, 0.7, 2.1, 1.6})
	r := ad.Div(ad.Sub(y, mu), ad.Exp(logS))
	loss := ad.Add(ad.Scale(0.5, ad.Sum(ad.Square(r))), ad.Scale(4, logS))
	op, err := bridge.NewOp("loss", loss, mu, logS)
	if err != nil {
		t.Fatal(err)
	}
	g := G.NewGraph()
	a := G.NewScalar(g, G.Float64, G.WithName("a"), G.WithValue(0.0))
	b := G.NewScalar(g, G.Float64, G.WithName("b"), G.WithValue(0.0))
	cost := must(op.Apply(a, b))
	if _, err := G.Grad(cost, a, b); err != nil {
		t.Fatal(err)
	}
	vm := G.NewTapeMachine(g, G.BindDualValues(a, b))
	defer vm.Close()
	solver := G.NewAdamSolver(G.WithLearnRate(0.05))
	for range 600 {
		if err := vm.RunAll(); err != nil {
			t.Fatal(err)
		}
		if err := solver.Step(G.NodesToValueGrads(G.Nodes{a, b})); err != nil {
			t.Fatal(err)
		}
		vm.Reset()
	}
	// The mean and half the log of the mean square, by hand.
	near(t, "fit", 1e-4, append(data(a.Value()), data(b.Value())...), []float64{1.4, -0.66401})
}

func TestNewOpRefuses(t *testing.T) {
	x, y := ad.Input("x", 3), ad.Input("y", 3)
	for _, c := range []struct {
		want string
		make func() (*bridge.Op, error)
	}{
		{"list it", func() (*bridge.Op, error) { return bridge.NewOp("f", ad.Add(x, y), x) }},
		{"no inputs", func() (*bridge.Op, error) { return bridge.NewOp("f", ad.Scalar(1)) }},
		{"op_test.go", func() (*bridge.Op, error) { return bridge.NewOp("f", ad.Add(x, ad.Const([]float64{1, 2})), x) }},
		{"reals", func() (*bridge.Op, error) { return bridge.NewOp("f", ad.Argmax(x, 0), x) }},
	} {
		if _, err := c.make(); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("error %v, want one with %q", err, c.want)
		}
	}
	op, err := bridge.NewOp("f", ad.Add(x, y), x, y)
	if err != nil {
		t.Fatal(err)
	}
	v := vector(G.NewGraph(), "v", 1, 2)
	if _, err := op.Apply(v, v); err == nil {
		t.Error("arguments of another shape were taken")
	}
	if _, err := op.Apply(v); err == nil {
		t.Error("one argument of two was taken")
	}
}

// The gradients of an Op run once for all inputs, and again for other arguments.
func TestOpRunsItsGradientsOnce(t *testing.T) {
	runs := 0
	counted := &ad.Custom{Name: "counted",
		Shape: func(in ...tensor.Shape) (tensor.Shape, error) { return in[0], nil },
		Forward: func(out []float64, in ...[]float64) error {
			runs++
			for i := range out {
				out[i] = in[0][i] * in[1][i]
			}
			return nil
		},
		VJP: func(g, _ *ad.Node, x []*ad.Node) []*ad.Node { return []*ad.Node{ad.Mul(g, x[1]), ad.Mul(g, x[0])} },
	}
	a, b := ad.Input("a", 2), ad.Input("b", 2)
	y := ad.Call(counted, a, b)
	for name, out := range map[string]*ad.Node{"scalar": ad.Sum(ad.Square(y)), "vector": ad.Square(y)} {
		op, err := bridge.NewOp(name, out, a, b)
		if err != nil {
			t.Fatal(err)
		}
		x := vector(G.NewGraph(), "x", 1, 2)
		z := vector(x.Graph(), "z", 3, 4)
		cost := must(op.Apply(x, z))
		if !cost.IsScalar() {
			cost = must(G.Sum(cost))
		}
		grads, err := G.Grad(cost, x, z)
		if err != nil {
			t.Fatal(err)
		}
		vm := G.NewTapeMachine(x.Graph())
		defer vm.Close()
		runs = 0
		perRun := map[string]int{"scalar": 1, "vector": 2}[name]
		for k, v := range []float64{1, 5} {
			G.Let(x, gt.New(gt.WithBacking([]float64{v, 2})))
			if err := vm.RunAll(); err != nil {
				t.Fatal(err)
			}
			vm.Reset()
			near(t, name, 1e-14, data(grads[0].Value()), []float64{2 * v * 9, 64})
			near(t, name, 1e-14, data(grads[1].Value()), []float64{2 * v * v * 3, 32})
			if want := perRun * (k + 1); runs != want {
				t.Errorf("%s: %d computations after %d runs, want %d", name, runs, k+1, want)
			}
		}
	}
}
