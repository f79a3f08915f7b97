// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package gorgonia_test

import (
	"fmt"
	"io"
	"log"
	"math"
	"reflect"
	"slices"

	G "gorgonia.org/gorgonia"
	gt "gorgonia.org/tensor"

	ad "github.com/euryale-dev/euryale/autodiff"
	bridge "github.com/euryale-dev/euryale/autodiff/gorgonia"
)

// The answers to what a graph computes: Gorgonia's two, and differences.

func init() { log.SetOutput(io.Discard) } // Gorgonia's GroupNorm logs its gradients

// byDo computes outs by Gorgonia's operations alone, each on copies of its
// arguments, and by referees where these have a say. It tells whether they
// corrected something.
func byDo(outs ...*G.Node) (vs [][]float64, corrected bool, err error) {
	defer caught(&err)
	values := map[*G.Node]G.Value{}
	var visit func(n *G.Node) G.Value
	visit = func(n *G.Node) G.Value {
		if n.Op() == nil {
			return n.Value()
		}
		if values[n] == nil {
			var in []G.Value
			for _, k := range bridge.Arguments(n) {
				in = append(in, sure(G.CloneValue(visit(k))))
			}
			v, wrong := refereed(n, in)
			values[n], corrected = v, corrected || wrong
		}
		return values[n]
	}
	for _, n := range outs {
		vs = append(vs, elements(visit(n)))
	}
	return vs, corrected, nil
}

// byTape computes outs by TapeMachine. RunAll would run the instructions in a
// goroutine of its own, where a panic ends the process: Run does not.
func byTape(eval bool, outs ...*G.Node) (vs [][]float64, err error) {
	defer caught(&err)
	seen := make([]G.Value, len(outs))
	for i, n := range outs {
		G.Read(n, &seen[i])
	}
	var opts []G.VMOpt
	if eval {
		opts = append(opts, G.EvalMode())
	}
	vm := G.NewTapeMachine(outs[0].Graph().SubgraphRoots(outs...), opts...)
	defer vm.Close()
	instructions := reflect.ValueOf(vm.Prog()).Elem().FieldByName("instructions")
	instructions = reflect.NewAt(instructions.Type(), instructions.Addr().UnsafePointer()).Elem()
	if r := reflect.ValueOf(vm).MethodByName("Run").Call([]reflect.Value{instructions})[0]; !r.IsNil() {
		return nil, r.Interface().(error)
	}
	for _, v := range seen {
		vs = append(vs, elements(v))
	}
	return vs, nil
}

// derived is the gradient of cost by G.Grad's rules.
func derived(cost *G.Node, inputs []*G.Node) (grads G.Nodes, err error) {
	defer caught(&err)
	return G.Grad(cost, inputs...)
}

// caught makes an error of a panic.
func caught(err *error) {
	if r := recover(); r != nil {
		*err = fmt.Errorf("%v", r)
	}
}

func sure[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// elements returns a value's elements in row-major order.
func elements(v G.Value) []float64 {
	out := make([]float64, max(1, v.Shape().TotalSize()))
	if err := bridge.ReadValue(out, v); err != nil {
		panic(err)
	}
	return out
}

// program is cost as a function of its inputs, compiled by us in float64.
type program struct {
	state  *ad.State
	inputs []*G.Node
}

func newProgram(cost *G.Node) (*program, error) {
	im, err := bridge.Import(cost)
	if err != nil {
		return nil, err
	}
	p := &program{inputs: im.Inputs()}
	in := make([]*ad.Node, len(p.inputs))
	for i, n := range p.inputs {
		in[i] = im.Node(n)
	}
	compiled, err := ad.Compile(im.Outputs(), ad.Settings{Inputs: in, Backend: ad.CPU{Threads: 1}})
	if err != nil {
		return nil, err
	}
	p.state = compiled.NewState()
	return p, nil
}

// load reads the values that are bound to the inputs.
func (p *program) load() {
	for i, n := range p.inputs {
		if whole := p.state.InputInts(i); whole != nil {
			for k, v := range n.Value().Data().([]int) {
				whole[k] = int64(v)
			}
		} else {
			copy(p.state.Input(i), elements(n.Value()))
		}
	}
}

// reals returns the inputs that are no whole numbers.
func (p *program) reals() []*G.Node {
	return slices.DeleteFunc(slices.Clone(p.inputs), func(n *G.Node) bool { return n.Dtype() == gt.Int })
}

func (p *program) run() float64 {
	if err := p.state.Run(); err != nil {
		panic(err)
	}
	return p.state.Output(0)[0]
}

// differences returns the central differences by all inputs of reals, a relative
// step apart, and whether both sides of each agree: where they do not, there is
// a kink.
func (p *program) differences(step float64) (grads map[*G.Node][]float64, smooth bool) {
	grads, smooth = map[*G.Node][]float64{}, true
	mid := p.run()
	for i, n := range p.inputs {
		if n.Dtype() == gt.Int {
			continue
		}
		x := p.state.Input(i)
		g := make([]float64, len(x))
		for k, v := range x {
			h := step * max(1, math.Abs(v))
			x[k] = v + h
			up := p.run()
			x[k] = v - h
			down := p.run()
			x[k] = v
			g[k] = (up - down) / (2 * h)
			smooth = smooth && math.Abs(up-2*mid+down) < 1e-3*h*(1+math.Abs(g[k]))
		}
		grads[n] = g
	}
	return grads, smooth
}

// apart is the largest difference of two arrays, measured by 1 and their largest
// element; NaN and infinities must agree.
func apart(a, b []float64) float64 {
	if len(a) != len(b) {
		return math.Inf(1)
	}
	worst, scale := 0.0, 1.0
	for i, v := range a {
		switch w := b[i]; {
		case v == w || math.IsNaN(v) && math.IsNaN(w):
		case math.IsNaN(v-w) || math.IsInf(v-w, 0):
			return math.Inf(1)
		default:
			worst = max(worst, math.Abs(v-w))
		}
		if !math.IsInf(b[i], 0) && !math.IsNaN(b[i]) {
			scale = max(scale, math.Abs(b[i]))
		}
	}
	return worst / scale
}
