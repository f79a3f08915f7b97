// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package gorgonia_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	G "gorgonia.org/gorgonia"
	gt "gorgonia.org/tensor"

	bridge "github.com/euryale-dev/euryale/autodiff/gorgonia"
)

// network is tanh layers and a mean squared error, as a Gorgonia user writes it.
func network(g *G.ExprGraph, t gt.Dtype, batch int, sizes ...int) (cost *G.Node, weights G.Nodes) {
	rng := rand.New(rand.NewPCG(7, 11))
	matrix := func(name string, scale float64, r, c int) *G.Node {
		d := gt.New(gt.Of(t), gt.WithShape(r, c))
		for i := range r * c {
			v := scale * rng.NormFloat64()
			if t == gt.Float32 {
				d.Float32s()[i] = float32(v)
			} else {
				d.Float64s()[i] = v
			}
		}
		return G.NewMatrix(g, t, G.WithName(name), G.WithShape(r, c), G.WithValue(d))
	}
	h := matrix("x", 1, batch, sizes[0])
	last := len(sizes) - 1
	for i := range last {
		w, b := matrix(fmt.Sprintf("w%d", i), 0.06, sizes[i], sizes[i+1]), matrix(fmt.Sprintf("b%d", i), 0.06, 1, sizes[i+1])
		weights = append(weights, w, b)
		h = must(G.BroadcastAdd(must(G.Mul(h, w)), b, nil, []byte{0}))
		if i < last-1 {
			h = must(G.Tanh(h))
		}
	}
	return must(G.Mean(must(G.Square(must(G.Sub(h, matrix("y", 1, batch, sizes[last]))))))), weights
}

// Every machine trains the same network to the same weights; the changed line is
// the one that makes the machine.
func TestTraining(t *testing.T) {
	machines := map[string]func(cost *G.Node, w G.Nodes) (G.VM, error){
		"tape": func(cost *G.Node, w G.Nodes) (G.VM, error) {
			if _, err := G.Grad(cost, w...); err != nil {
				return nil, err
			}
			return G.NewTapeMachine(cost.Graph(), G.BindDualValues(w...)), nil
		},
		"machine": func(cost *G.Node, w G.Nodes) (G.VM, error) {
			grads, err := G.Grad(cost, w...)
			if err != nil {
				return nil, err
			}
			return bridge.NewMachine(append(G.Nodes{cost}, grads...)...)
		},
		"trainer": func(cost *G.Node, w G.Nodes) (G.VM, error) { return bridge.NewTrainer(cost, w...) },
		"trainer after Grad": func(cost *G.Node, w G.Nodes) (G.VM, error) {
			if _, err := G.Grad(cost, w...); err != nil {
				return nil, err
			}
			return bridge.NewTrainer(cost, w...)
		},
		"roots": func(cost *G.Node, w G.Nodes) (G.VM, error) {
			if _, err := G.Grad(cost, w...); err != nil {
				return nil, err
			}
			return bridge.NewMachine(cost.Graph().Roots()...)
		},
	}
	solvers := map[string]func() G.Solver{
		"adam":    func() G.Solver { return G.NewAdamSolver(G.WithLearnRate(0.01)) },
		"vanilla": func() G.Solver { return G.NewVanillaSolver(G.WithLearnRate(0.1)) },
	}
	for _, typ := range []gt.Dtype{gt.Float64, gt.Float32} {
		tol := map[gt.Dtype]float64{gt.Float64: 1e-9, gt.Float32: 1e-3}[typ]
		for solver, newSolver := range solvers {
			train := func(name string) (losses, weights []float64) {
				cost, w := network(G.NewGraph(), typ, 6, 3, 5, 2)
				var seen G.Value
				G.Read(cost, &seen)
				vm, err := machines[name](cost, w)
				if err != nil {
					t.Fatal(name, err)
				}
				defer vm.Close()
				s := newSolver()
				for range 40 {
					if err := vm.RunAll(); err != nil {
						t.Fatal(name, err)
					}
					if err := s.Step(G.NodesToValueGrads(w)); err != nil {
						t.Fatal(name, err)
					}
					vm.Reset()
					losses = append(losses, data(seen)[0])
				}
				for _, n := range w {
					weights = append(weights, data(n.Value())...)
				}
				return losses, weights
			}
			losses, weights := train("tape")
			if losses[39] > 0.95*losses[0] {
				t.Errorf("%s: TapeMachine's loss went from %g to %g only", solver, losses[0], losses[39])
			}
			for name := range machines {
				l, w := train(name)
				near(t, fmt.Sprint(typ, " ", solver, " ", name, ": losses"), tol, l, losses)
				near(t, fmt.Sprint(typ, " ", solver, " ", name, ": weights"), tol, w, weights)
			}
		}
	}
}

func TestTrainerListsItsLearnables(t *testing.T) {
	cost, w := network(G.NewGraph(), gt.Float64, 4, 2, 3, 1)
	vm, err := bridge.NewTrainer(cost, w...)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(vm.Learnables(), w) {
		t.Errorf("learnables %v, want %v", vm.Learnables(), w)
	}
	grads, err := G.Grad(cost, w...)
	if err != nil {
		t.Fatal(err)
	}
	if vm, err = bridge.NewMachine(grads...); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(vm.Learnables(), w) {
		t.Errorf("machine of gradients: learnables %v, want %v", vm.Learnables(), w)
	}
}

// A scalar parameter, a value of a slice of another tensor, new values by Let.
func TestMachineReadsWhatIsBound(t *testing.T) {
	g := G.NewGraph()
	a := G.NewScalar(g, G.Float64, G.WithName("a"), G.WithValue(2.0))
	x := G.NewMatrix(g, G.Float64, G.WithName("x"), G.WithShape(3, 2))
	cost := must(G.Sum(must(G.Mul(must(G.HadamardProd(x, a)), G.NewConstant(gt.New(gt.WithBacking([]float64{1, 10})))))))
	vm, err := bridge.NewTrainer(cost, a, x)
	if err != nil {
		t.Fatal(err)
	}
	if err := vm.RunAll(); err == nil || !strings.Contains(err.Error(), "gorgonia.Let") {
		t.Errorf("without a value: %v", err)
	}
	big := gt.New(gt.WithShape(3, 4), gt.WithBacking([]float64{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}))
	column, _ := big.Slice(nil, G.S(1, 3))
	transposed := gt.New(gt.WithShape(2, 3), gt.WithBacking([]float64{1, 5, 9, 2, 6, 10}))
	if err := transposed.T(); err != nil {
		t.Fatal(err)
	}
	plain := gt.New(gt.WithShape(3, 2), gt.WithBacking([]float64{1, 2, 5, 6, 9, 10}))
	for name, v := range map[string]gt.Tensor{"plain": plain, "sliced": column, "transposed": transposed} {
		if err := G.Let(x, v.(*gt.Dense)); err != nil {
			t.Fatal(err)
		}
		if err := vm.RunAll(); err != nil {
			t.Fatal(name, err)
		}
		near(t, name+" cost", 1e-15, data(cost.Value()), []float64{2 * (1 + 5 + 9 + 20 + 60 + 100)})
		da, err := a.Grad()
		if err != nil {
			t.Fatal(err)
		}
		near(t, name+" gradient", 1e-15, data(da), []float64{195})
		dx, _ := x.Grad()
		near(t, name+" gradient", 1e-15, data(dx), []float64{2, 20, 2, 20, 2, 20})
	}
	if err := G.Let(a, 3.0); err != nil {
		t.Fatal(err)
	}
	if err := vm.RunAll(); err != nil {
		t.Fatal(err)
	}
	near(t, "after Let", 1e-15, data(cost.Value()), []float64{585})
}

func TestTrainerRefuses(t *testing.T) {
	g := G.NewGraph()
	x := vector(g, "x", 1, 2)
	if _, err := bridge.NewTrainer(must(G.Exp(x)), x); err == nil || !strings.Contains(err.Error(), "one element") {
		t.Errorf("a vector as cost: %v", err)
	}
	if _, err := bridge.NewTrainer(must(G.Sum(x)), vector(g, "other", 1)); err == nil || !strings.Contains(err.Error(), "depends") {
		t.Errorf("a weight of nothing: %v", err)
	}
	if _, err := bridge.NewTrainer(must(G.Sum(must(G.Exp(x)))), must(G.Exp(x))); err == nil || !strings.Contains(err.Error(), "not an input") {
		t.Errorf("an inner node as weight: %v", err)
	}
	if _, err := (bridge.Settings{SIMD: "mmx"}).NewMachine(x); err == nil {
		t.Error("an unknown instruction set was taken")
	}
}

func TestRunAllDoesNotAllocate(t *testing.T) {
	cost, w := network(G.NewGraph(), gt.Float64, 16, 4, 8, 8, 3)
	vm, err := bridge.Settings{Threads: 1}.NewTrainer(cost, w...)
	if err != nil {
		t.Fatal(err)
	}
	run := func() {
		if err := vm.RunAll(); err != nil {
			t.Fatal(err)
		}
	}
	run()
	if n := testing.AllocsPerRun(100, run); n != 0 {
		t.Errorf("%v allocations in a run, want 0", n)
	}
}

// Separate graphs run at the same time (meant for -race).
func TestMachinesOfSeparateGraphsRunTogether(t *testing.T) {
	var wait sync.WaitGroup
	losses := make([]float64, 2)
	for k := range losses {
		wait.Go(func() {
			cost, w := network(G.NewGraph(), gt.Float64, 32, 4, 16, 3)
			vm, err := bridge.NewTrainer(cost, w...)
			if err != nil {
				t.Error(err)
				return
			}
			for range 50 {
				if err := vm.RunAll(); err != nil {
					t.Error(err)
				}
			}
			losses[k] = data(cost.Value())[0]
		})
	}
	wait.Wait()
	if losses[0] != losses[1] || losses[0] == 0 {
		t.Errorf("losses %v: want the same twice", losses)
	}
}

// A convolution in float32: opaque steps at the lower precision, and a node used
// twice by one operation.
func TestFloat32Layers(t *testing.T) {
	build := func() (*G.Node, G.Nodes) {
		g := G.NewGraph()
		ranged := func(name string, s ...int) *G.Node {
			d := make([]float32, gt.Shape(s).TotalSize())
			for i := range d {
				d[i] = float32((i*7)%11)/5 - 1
			}
			return G.NewTensor(g, G.Float32, len(s), G.WithName(name), G.WithShape(s...), G.WithValue(gt.New(gt.WithShape(s...), gt.WithBacking(d))))
		}
		x, w := ranged("x", 2, 1, 6, 6), ranged("w", 2, 1, 3, 3)
		y := must(G.Rectify(must(G.Conv2d(x, w, gt.Shape{3, 3}, []int{1, 1}, []int{1, 1}, []int{1, 1}))))
		y = must(G.MaxPool2D(y, gt.Shape{2, 2}, []int{0, 0}, []int{2, 2}))
		return must(G.Mean(must(G.HadamardProd(y, y)))), G.Nodes{w, x}
	}
	cost, w := build()
	if _, err := G.Grad(cost, w...); err != nil {
		t.Fatal(err)
	}
	tape := G.NewTapeMachine(cost.Graph(), G.BindDualValues(w...))
	defer tape.Close()
	cost2, w2 := build()
	trainer, err := bridge.NewTrainer(cost2, w2...)
	if err != nil {
		t.Fatal(err)
	}
	for _, vm := range []G.VM{tape, trainer} {
		if err := vm.RunAll(); err != nil {
			t.Fatal(err)
		}
	}
	near(t, "cost", 1e-6, data(cost2.Value()), data(cost.Value()))
	for i := range w {
		theirs, _ := w[i].Grad()
		ours, _ := w2[i].Grad()
		near(t, "gradient", 1e-5, data(ours), data(theirs))
	}
}
