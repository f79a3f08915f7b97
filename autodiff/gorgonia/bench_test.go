// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package gorgonia_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	G "gorgonia.org/gorgonia"
	gt "gorgonia.org/tensor"

	ad "github.com/euryale-dev/euryale/autodiff"
	bridge "github.com/euryale-dev/euryale/autodiff/gorgonia"
)

// benchGraph is a cost and what it is differentiated by.
type benchGraph func() (cost *G.Node, wrt G.Nodes)

// eightSchools is the non-centred log density with a half-Cauchy(5) scale.
func eightSchools() (*G.Node, G.Nodes) {
	g := G.NewGraph()
	mu := G.NewScalar(g, G.Float64, G.WithName("mu"), G.WithValue(1.0))
	lt := G.NewScalar(g, G.Float64, G.WithName("log_tau"), G.WithValue(0.5))
	z := vector(g, "z", .1, .2, .3, -.1, -.2, -.3, .4, .5)
	y := vector(g, "y", 28, 8, -3, 7, -1, 1, 18, 12)
	s := vector(g, "s", 15, 10, 16, 11, 9, 11, 10, 18)
	tau := must(G.Exp(lt))
	theta := must(G.Add(must(G.HadamardProd(z, tau)), mu))
	r := must(G.HadamardDiv(must(G.Sub(y, theta)), s))
	half := func(x *G.Node) *G.Node { return must(G.Mul(num(-0.5), must(G.Sum(must(G.Square(x)))))) }
	prior := must(G.Neg(must(G.Log1p(must(G.Mul(num(0.04), must(G.Square(tau))))))))
	lp := must(G.Add(must(G.Add(half(r), half(z))), must(G.Add(must(G.Mul(num(-0.02), must(G.Square(mu)))), must(G.Add(prior, lt))))))
	return lp, G.Nodes{mu, lt, z}
}

// chain is ten elementwise operations on n numbers.
func chain(n int) benchGraph {
	return func() (*G.Node, G.Nodes) {
		rng := rand.New(rand.NewPCG(1, 2))
		d := make([]float64, n)
		for i := range d {
			d[i] = rng.NormFloat64()
		}
		x := vector(G.NewGraph(), "x", d...)
		t := must(G.Tanh(must(G.Add(must(G.Mul(num(1.5), x)), num(0.25)))))
		u := must(G.Exp(must(G.Mul(num(-0.5), must(G.Square(x))))))
		q := must(G.HadamardDiv(x, must(G.Add(must(G.Square(x)), num(1)))))
		v := must(G.Add(must(G.HadamardProd(t, u)), q))
		return must(G.Sum(must(G.Square(v)))), G.Nodes{x}
	}
}

// BenchmarkMachines runs value and gradient of one graph by TapeMachine and by
// our machines, with as many threads as -cpu says: with gradients made by gorgonia.Grad ("machine") and
// by our rules ("trainer"), and for the chain our own graph ("own"). "times" is TapeMachine's time over ours, both
// measured here.
func BenchmarkMachines(b *testing.B) {
	for _, c := range []struct {
		name  string
		graph benchGraph
	}{
		{"schools", eightSchools},
		{"chain1e6", chain(1_000_000)},
		{"mlp", func() (*G.Node, G.Nodes) { return network(G.NewGraph(), gt.Float32, 128, 4, 256, 256, 4000) }},
	} {
		b.Run(c.name, func(b *testing.B) {
			cost, wrt := c.graph()
			grads, err := G.Grad(cost, wrt...)
			if err != nil {
				b.Fatal(err)
			}
			tape := G.NewTapeMachine(cost.Graph())
			defer tape.Close()
			machine, err := bridge.NewMachine(append(G.Nodes{cost}, grads...)...)
			if err != nil {
				b.Fatal(err)
			}
			own, w := c.graph()
			trainer, err := bridge.NewTrainer(own, w...)
			if err != nil {
				b.Fatal(err)
			}
			b.Run("tape", func(b *testing.B) { loop(b, tape, nil) })
			b.Run("machine", func(b *testing.B) { loop(b, machine, tape) })
			b.Run("trainer", func(b *testing.B) { loop(b, trainer, tape) })
			if c.name == "chain1e6" {
				b.Run("own", func(b *testing.B) { loop(b, ownChain(b, w[0]), tape) })
			}
		})
	}
}

// ownGraph runs a State where a machine is asked for.
type ownGraph struct{ *ad.State }

func (o ownGraph) RunAll() error { return o.Run() }
func (o ownGraph) Reset()        {}
func (o ownGraph) Close() error  { return nil }

// ownChain is chain written with autodiff, without Gorgonia.
func ownChain(b *testing.B, from *G.Node) G.VM {
	x := ad.Input("x", from.Shape()...)
	t := ad.Tanh(ad.Shift(ad.Scale(1.5, x), 0.25))
	u := ad.Exp(ad.Scale(-0.5, ad.Square(x)))
	cost := ad.Sum(ad.Square(ad.Add(ad.Mul(t, u), ad.Div(x, ad.Shift(ad.Square(x), 1)))))
	p, err := ad.Compile([]*ad.Node{cost, ad.Grad(cost, x)[0]}, ad.Settings{})
	if err != nil {
		b.Fatal(err)
	}
	s := p.NewState()
	if err := s.SetInput(0, data(from.Value())); err != nil {
		b.Fatal(err)
	}
	return ownGraph{s}
}

// loop times vm and reports how many times faster than tape it is.
func loop(b *testing.B, vm, tape G.VM) {
	b.ReportAllocs()
	for b.Loop() {
		step(b, vm)
	}
	if tape != nil {
		b.ReportMetric(times(b, tape, vm), "times")
	}
}

func step(b *testing.B, vm G.VM) {
	if err := vm.RunAll(); err != nil {
		b.Fatal(err)
	}
	vm.Reset()
}

// times is the time of slow over that of fast: they take turns, and the shortest
// turns count, which other users of the processor disturb least.
func times(b *testing.B, slow, fast G.VM) float64 {
	s, f := time.Hour, time.Hour
	for range 9 {
		s, f = min(s, turn(b, slow)), min(f, turn(b, fast))
	}
	return s.Seconds() / f.Seconds()
}

// turn runs vm for 30 ms or more and returns the time of a run.
func turn(b *testing.B, vm G.VM) time.Duration {
	n, start := 0, time.Now()
	for time.Since(start) < 30*time.Millisecond {
		step(b, vm)
		n++
	}
	return time.Since(start) / time.Duration(n)
}

// BenchmarkCompile differentiates and compiles a chain of n operations on
// vectors of 8, by Gorgonia and by us.
func BenchmarkCompile(b *testing.B) {
	for _, n := range []int{100, 1000} {
		build := func() (*G.Node, *G.Node) {
			x := vector(G.NewGraph(), "x", 1, 2, 3, 4, 5, 6, 7, 8)
			y := x
			for i := range n {
				switch i % 3 {
				case 0:
					y = must(G.Add(y, x))
				case 1:
					y = must(G.Tanh(y))
				case 2:
					y = must(G.HadamardProd(y, x))
				}
			}
			return must(G.Sum(y)), x
		}
		b.Run(fmt.Sprintf("%d/tape", n), func(b *testing.B) {
			for b.Loop() {
				b.StopTimer()
				cost, x := build()
				b.StartTimer()
				if _, err := G.Grad(cost, x); err != nil {
					b.Fatal(err)
				}
				G.NewTapeMachine(cost.Graph()).Close()
			}
		})
		b.Run(fmt.Sprintf("%d/trainer", n), func(b *testing.B) {
			for b.Loop() {
				b.StopTimer()
				cost, x := build()
				b.StartTimer()
				if _, err := bridge.NewTrainer(cost, x); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
