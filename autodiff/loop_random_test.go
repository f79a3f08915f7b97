// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package autodiff_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	ad "github.com/euryale-dev/euryale/autodiff"
)

// repeater makes loops and choices: those of the package, or plain graphs of every step.
type repeater struct {
	scan  func(step scanStep, init, xs []*ad.Node, steps int, s ad.ScanSettings) (last, ys []*ad.Node)
	while func(cond func(carry []*ad.Node) *ad.Node, step func(carry []*ad.Node) []*ad.Node, init []*ad.Node, most int) (last []*ad.Node, count *ad.Node)
	cond  func(when *ad.Node, then, otherwise func() []*ad.Node) []*ad.Node
}

var asLoops = repeater{func(step scanStep, init, xs []*ad.Node, n int, s ad.ScanSettings) (last, ys []*ad.Node) {
	return ad.Scan(step, init, xs, n, s)
}, ad.While, ad.Cond}

// asSteps computes every step of a While, and both branches of a Cond, and chooses.
var asSteps = repeater{func(step scanStep, init, xs []*ad.Node, steps int, s ad.ScanSettings) (last, ys []*ad.Node) {
	if steps > 0 {
		return unrolled(step, init, xs, steps, s)
	}
	var x []*ad.Node
	for _, v := range xs {
		if v.IsInt() {
			x = append(x, ad.Ints(make([]int, v.Shape()[1:].Size()), v.Shape()[1:]...))
		} else {
			x = append(x, ad.Full(0, v.Shape()[1:]...))
		}
	}
	_, y := step(init, x)
	for _, y := range y {
		ys = append(ys, ad.Full(0, append([]int{0}, y.Shape()...)...))
	}
	return init, ys
}, func(cond func(carry []*ad.Node) *ad.Node, step func(carry []*ad.Node) []*ad.Node, init []*ad.Node, most int) (last []*ad.Node, count *ad.Node) {
	last, count = init, ad.Scalar(0)
	runs := ad.Scalar(1)
	for range most {
		runs = ad.Mul(runs, ad.NotEqual(cond(last), ad.Scalar(0)))
		next := step(last)
		for i, n := range next {
			next[i] = ad.Where(runs, n, last[i])
		}
		last, count = next, ad.Add(count, runs)
	}
	return last, count
}, func(when *ad.Node, then, otherwise func() []*ad.Node) (out []*ad.Node) {
	no := otherwise()
	for i, y := range then() {
		out = append(out, ad.Where(ad.NotEqual(when, ad.Scalar(0)), y, no[i]))
	}
	return out
}}

// writer writes a random program; the same seed gives the same program for any repeater.
type writer struct {
	*rand.Rand
	r     repeater
	ints  []*ad.Node // indices 0 or 1 of length 2
	scope []*ad.Node // numbers, vectors of 2, matrices 2 x 2
	rows  *ad.Node   // indices 0 or 1 of shape (4, 2)
	deep  int
}

// at returns a Node of the scope with so many axes, recent ones rather.
func (w *writer) at(axes int) *ad.Node {
	var have []*ad.Node
	for _, n := range w.scope {
		if len(n.Shape()) == axes {
			have = append(have, n)
		}
	}
	k := w.IntN(len(have))
	if w.IntN(2) == 0 {
		k = max(k, w.IntN(len(have)))
	}
	return have[k]
}

// inside returns a writer of what a function is made of, which is called several times.
func (w *writer) inside(seed uint64, more ...*ad.Node) *writer {
	return &writer{rand.New(rand.NewPCG(seed, 1)), w.r, w.ints, append(slices.Clone(w.scope), more...), w.rows, w.deep + 1}
}

func (w *writer) axes(list []*ad.Node) (out []int) {
	for _, n := range list {
		out = append(out, len(n.Shape()))
	}
	return out
}

func (w *writer) pick(most int) (out []*ad.Node) {
	for range w.IntN(most + 1) {
		out = append(out, w.at(w.IntN(3)))
	}
	return out
}

// like returns Nodes of the scope with so many axes each.
func (w *writer) like(axes []int) (out []*ad.Node) {
	for _, k := range axes {
		n := w.at(k)
		if w.IntN(3) > 0 {
			n = ad.Tanh(n)
		}
		out = append(out, n)
	}
	return out
}

func (w *writer) statements(n int) {
	for range n {
		w.scope = append(w.scope, w.statement()...)
	}
}

func (w *writer) statement() []*ad.Node {
	k := w.IntN(3)
	switch op := w.IntN(17); {
	case op == 0:
		return []*ad.Node{ad.Sin(ad.Add(w.at(k), w.at(0)))}
	case op == 1:
		return []*ad.Node{ad.Mul(w.at(k), ad.Tanh(w.at(k)))}
	case op == 2:
		return []*ad.Node{ad.Tanh(ad.MatMul(w.at(2), w.at(2)))}
	case op == 3:
		return []*ad.Node{ad.Mean(w.at(1 + w.IntN(2)))}
	case op == 4:
		return []*ad.Node{ad.T(w.at(2)), ad.Index(w.at(2), w.IntN(2), w.IntN(2))}
	case op == 5:
		return []*ad.Node{ad.Gather(w.at(1+w.IntN(2)), w.ints[w.IntN(len(w.ints))], 0)}
	case op == 6:
		return []*ad.Node{ad.Where(ad.Greater(w.at(k), w.at(0)), w.at(k), w.at(k))}
	case op == 7:
		return []*ad.Node{ad.Stack(0, w.at(k%2), w.at(k%2)), ad.Sub(ad.Scalar(0.3), w.at(k))}
	case op == 8:
		return []*ad.Node{ad.TakeAlong(w.at(1), ad.Argmax(w.at(2), 0), 0), ad.Reshape(ad.MatMul(w.at(2), ad.Reshape(w.at(1), 2, 1)), 2)}
	case op == 9:
		x := ad.Sin(w.at(k)) // a Node of its own: a step sees its carries as independent of what it shares
		in := w.inside(w.Uint64(), x)
		in.statements(1 + w.IntN(2))
		return []*ad.Node{ad.Tanh(ad.Grad(ad.Sum(ad.Sin(in.at(w.IntN(3)))), x)[0])}
	case w.deep > 2:
		return []*ad.Node{ad.Sigmoid(w.at(k))}
	case op < 14:
		return w.scan()
	case op < 16:
		return w.while()
	}
	return w.choice()
}

func (w *writer) scan() []*ad.Node {
	steps := []int{0, 1, 2, 3, 4}[w.IntN(5)]
	init, rows := w.pick(3), w.pick(2)
	for i, x := range rows { // elements that differ
		v := make([]float64, steps)
		for k := range v {
			v[k] = 1 - 0.3*float64(k)
		}
		c := ad.Const(v, append([]int{steps}, slices.Repeat([]int{1}, len(x.Shape()))...)...)
		rows[i] = ad.Mul(c, x)
	}
	want, seed, settings := w.axes(init), w.Uint64(), ad.ScanSettings{Reverse: w.IntN(2) == 0, Every: w.IntN(4)}
	if w.IntN(3) == 0 {
		rows = append(rows, ad.Slice(w.rows, 0, 0, steps))
	}
	results := make([]int, w.IntN(3))
	for i := range results {
		results[i] = w.IntN(3)
	}
	n := 1 + w.IntN(3)
	last, ys := w.r.scan(func(carry, x []*ad.Node) (next, y []*ad.Node) {
		in := w.inside(seed, carry...)
		for _, x := range x {
			if x.IsInt() {
				in.ints = append(slices.Clone(in.ints), x)
			} else {
				in.scope = append(in.scope, x)
			}
		}
		in.statements(n)
		next, y = in.like(want), in.like(results)
		if len(carry) > 1 && in.IntN(3) == 0 && want[0] == want[1] {
			next[0], next[1] = carry[1], carry[0]
		}
		if len(y) > 0 && in.IntN(3) == 0 {
			y[0] = in.like(results[:1])[0]
			if len(y) > 1 && results[0] == results[1] {
				y[1] = y[0]
			}
		}
		return next, y
	}, init, rows, steps, settings)
	out := slices.Clone(last)
	for _, y := range ys {
		out = append(out, ad.SumAxes(y, 0))
		if steps > 0 && w.IntN(2) == 0 {
			out = append(out, ad.Index(y, 0, w.IntN(steps)))
		}
	}
	return out
}

func (w *writer) while() []*ad.Node {
	init := append([]*ad.Node{w.at(0)}, w.pick(2)...)
	want, seed, n := w.axes(init), w.Uint64(), 1+w.IntN(2)
	last, count := w.r.while(func(carry []*ad.Node) *ad.Node {
		in := w.inside(seed+1, carry...)
		in.deep = 3
		in.statements(1)
		return ad.Less(in.at(0), ad.Add(in.at(0), ad.Scalar(0.2)))
	}, func(carry []*ad.Node) []*ad.Node {
		in := w.inside(seed, carry...)
		in.statements(n)
		return in.like(want)
	}, init, w.IntN(4))
	return append(last, ad.Mul(ad.Scalar(0.1), count))
}

func (w *writer) choice() []*ad.Node {
	seed, want := w.Uint64(), make([]int, 1+w.IntN(2))
	for i := range want {
		want[i] = w.IntN(3)
	}
	branch := func(seed uint64) func() []*ad.Node {
		return func() []*ad.Node {
			in := w.inside(seed)
			in.statements(1 + in.IntN(2))
			return in.like(want)
		}
	}
	return w.r.cond(ad.Greater(w.at(0), w.at(0)), branch(seed), branch(seed+1))
}

// program is a random program and its derivatives.
func program(seed uint64, in []*ad.Node, r repeater) []*ad.Node {
	w := &writer{rand.New(rand.NewPCG(seed, 77)), r, []*ad.Node{in[3], ad.Ints([]int{1, 0}, 2)}, slices.Clone(in[:3]), in[4], 0}
	w.scope = append(w.scope, ad.Scalar(0.4), ad.Const([]float64{0.3, -0.2}, 2), ad.Const([]float64{0.2, 0.9, -0.4, 0.1}, 2, 2))
	before := len(w.scope)
	w.statements(4)
	outs := slices.Clone(w.scope[before:])
	var loss *ad.Node
	for i, y := range outs {
		if term := ad.Sum(ad.Tanh(ad.Mul(ad.Scalar(1+0.1*float64(i)), y))); loss == nil {
			loss = term
		} else {
			loss = ad.Add(loss, term)
		}
	}
	reals := in[:3]
	grads := ad.Grad(loss, reals...)
	outs = append(outs, grads...)
	var along []*ad.Node
	for _, x := range reals {
		along = append(along, ad.Cos(x))
	}
	switch w.IntN(5) {
	case 0:
		outs = append(outs, ad.HVP(loss, reals, along)...)
	case 1:
		outs = append(outs, ad.JVP(w.scope[len(w.scope)-1], reals, along))
	case 2:
		outs = append(outs, ad.Hessian(loss, reals[1]), ad.Jacobian(w.scope[before], reals[2]))
	case 3:
		outs = append(outs, ad.GradCheckpoint(loss, nil, reals...)...)
		third := ad.Grad(ad.Sum(ad.Sin(ad.Grad(ad.Sum(ad.Sin(grads[2])), reals[2])[0])), reals[2])
		outs = append(outs, third...)
	case 4: // another place for an input
		outs = ad.Substitute(outs, reals[:1], []*ad.Node{ad.Tanh(ad.Add(reals[0], ad.Mean(reals[2])))})
	}
	return outs
}

// randomLoops compares random programs of scans, whiles and choices with their steps one after another.
func randomLoops(t *testing.T, from, to uint64, device func(seed uint64) bool) {
	for seed := from; seed < to; seed++ {
		in := []*ad.Node{ad.Input("a"), ad.Input("b", 2), ad.Input("c", 2, 2), ad.IntInput("i", 2), ad.IntInput("j", 4, 2)}
		got, want := program(seed, in, asLoops), program(seed, in, asSteps)
		rng := rand.New(rand.NewPCG(seed, 3))
		values := [][]float64{{rng.NormFloat64()}, {rng.NormFloat64(), rng.NormFloat64()}, nil, {float64(rng.IntN(2)), float64(rng.IntN(2))}, {0, 1, 1, 1, 0, 0, 1, float64(rng.IntN(2))}}
		for range 4 {
			values[2] = append(values[2], 0.7*rng.NormFloat64())
		}
		near := func(what string, a, b [][]float64) {
			for i := range a {
				if len(a[i]) != len(b[i]) {
					t.Errorf("seed %d, %s, result %d: %d numbers, want %d", seed, what, i, len(a[i]), len(b[i]))
					continue
				}
				nearArrays(t, fmt.Sprintf("seed %d, %s, result %d", seed, what, i), a[i], b[i], 1e-9)
			}
		}
		b := results(t, way{64, ""}, want, in, values)
		near("alone", results(t, way{64, ""}, got, in, values), b)
		var batched []*ad.Node
		for _, x := range in[:3] {
			if rng.IntN(2) == 0 {
				batched = append(batched, x)
			}
		}
		if len(batched) > 0 {
			near(fmt.Sprint("batch of ", batched), batchOf(t, got, in, batched, values, 3), batchOf(t, want, in, batched, values, 3))
		}
		near("hoisted", hoisted(t, got, in, values, in[2]), b)
		if seed%8 == 0 {
			for _, g := range atOnce(t, got, in, values) {
				near("at once", g, b)
			}
		}
		if device(seed) {
			near("device", onDevice(t, got, in, values, 64), b)
		}
		if t.Failed() {
			return
		}
	}
}

// hoisted runs outputs of which what depends on a still input alone is computed before.
func hoisted(t *testing.T, outs, in []*ad.Node, values [][]float64, still *ad.Node) [][]float64 {
	t.Helper()
	rest, made, places := ad.Hoist(outs, still)
	if len(made) > 0 {
		values = append(slices.Clone(values), results(t, way{64, ""}, made, in, values)...)
	}
	return results(t, way{64, ""}, rest, append(slices.Clone(in), places...), values)
}

// atOnce compiles a graph in several goroutines, and runs States of each Program in several, with inputs that are bound to arrays.
func atOnce(t *testing.T, outs, in []*ad.Node, values [][]float64) (all [][][]float64) {
	t.Helper()
	const programs, states = 2, 2
	all = make([][][]float64, programs*states)
	var wait sync.WaitGroup
	for k := range programs {
		wait.Go(func() {
			p, err := ad.Compile(outs, ad.Settings{Inputs: in, Isolate: true, Backend: ad.CPU{Threads: 2}})
			if err != nil {
				t.Error(err)
				return
			}
			for i := range states {
				wait.Go(func() {
					out, err := bound(p, in, values)
					if err != nil {
						t.Error(err)
					}
					all[states*k+i] = out
				})
			}
		})
	}
	wait.Wait()
	if t.Failed() {
		t.FailNow()
	}
	return all
}

// bound runs a program twice, with inputs that are bound to other arrays for each run.
func bound(p *ad.Program, in []*ad.Node, values [][]float64) ([][]float64, error) {
	s := p.NewState()
	for run := range 2 {
		for i, v := range values {
			v = slices.Clone(v)
			for k := range v {
				v[k] += float64(1 - run)
			}
			if in[i].IsInt() {
				for k, v := range values[i] {
					s.InputInts(i)[k] = int64(v)
				}
			} else if err := s.Bind(i, v); err != nil {
				return nil, err
			}
		}
		if err := s.Run(); err != nil {
			return nil, err
		}
	}
	var out [][]float64
	for i := range p.Outputs() {
		out = append(out, s.OutputFloat64(i))
	}
	return out, nil
}

func TestRandomLoops(t *testing.T) {
	randomLoops(t, 0, 40, func(uint64) bool { return false })
}
