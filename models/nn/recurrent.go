// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package nn

import (
	"fmt"
	"math"

	ad "github.com/euryale-dev/euryale/autodiff"
)

// RNN runs a plain recurrent layer, h_t = tanh(x_t w + b + h_(t-1) u), over x (steps, batch, inputs) and returns its outputs (steps,
// batch, units) and the last one (Cognitive Science 14, 179, 1990). Parameters are name.input (inputs, units), name.hidden (units, units)
// and name.bias.
//
// Layers are stacked by giving the outputs of one to the next. For both directions a second layer takes ad.Flip(x, 0), and its outputs,
// flipped again, are joined: ad.Concat(2, forward, ad.Flip(backward, 0)).
func (m *Model) RNN(name string, x *ad.Node, units int) (ys, hidden *ad.Node) {
	w, wh, bias, zero, bad := m.recurrence(name, x, units, 1)
	if bad != nil {
		return bad, bad
	}
	inputs, sum := linear(x, w, wh, bias)
	last, y := ad.Scan(func(c, x []*ad.Node) (next, y []*ad.Node) {
		h := ad.Tanh(sum(c[0], x[0]))
		return []*ad.Node{h}, []*ad.Node{h}
	}, []*ad.Node{zero}, []*ad.Node{inputs}, x.Shape()[0], ad.ScanSettings{})
	return y[0], last[0]
}

// LSTM runs a long short-term memory over x (steps, batch, inputs) and returns its outputs (steps, batch, units), the last
// output and the last cell (Neural Computation 9, 1735, 1997). See RNN for several layers and both directions. Parameters are name.input (inputs, 4 units), name.hidden
// (units, 4 units) and name.bias, of the input, forget, cell and output gates in this order.
func (m *Model) LSTM(name string, x *ad.Node, units int) (ys, hidden, cell *ad.Node) {
	w, wh, bias, zero, bad := m.recurrence(name, x, units, 4)
	if bad != nil {
		return bad, bad, bad
	}
	inputs, sum := linear(x, w, wh, bias)
	last, y := ad.Scan(func(c, x []*ad.Node) (next, y []*ad.Node) {
		a := sum(c[0], x[0])
		gate := func(k int) *ad.Node { return ad.Slice(a, 1, k*units, (k+1)*units) }
		cell := ad.Add(ad.Mul(ad.Sigmoid(gate(1)), c[1]), ad.Mul(ad.Sigmoid(gate(0)), ad.Tanh(gate(2))))
		h := ad.Mul(ad.Sigmoid(gate(3)), ad.Tanh(cell))
		return []*ad.Node{h, cell}, []*ad.Node{h}
	}, []*ad.Node{zero, zero}, []*ad.Node{inputs}, x.Shape()[0], ad.ScanSettings{})
	return y[0], last[0], last[1]
}

// GRU runs gated recurrent units over x (steps, batch, inputs) and returns their outputs (steps, batch, units) and the last one
// (arXiv:1406.1078). See RNN for several layers and both directions. Parameters are name.input (inputs, 3 units), name.hidden (units, 3 units), name.bias, and name.new of
// the hidden part of the new state; gates are reset, update and new.
func (m *Model) GRU(name string, x *ad.Node, units int) (ys, hidden *ad.Node) {
	w, wh, bias, zero, bad := m.recurrence(name, x, units, 3)
	if bad != nil {
		return bad, bad
	}
	own := m.Param(name+".new", Uniform(1/math.Sqrt(float64(max(1, units)))), units)
	last, y := ad.Scan(func(c, x []*ad.Node) (next, y []*ad.Node) {
		a, in := ad.MatMul(c[0], wh), ad.Add(x[0], bias)
		part := func(n *ad.Node, k int) *ad.Node { return ad.Slice(n, 1, k*units, (k+1)*units) }
		reset, update := ad.Sigmoid(ad.Add(part(a, 0), part(in, 0))), ad.Sigmoid(ad.Add(part(a, 1), part(in, 1)))
		fresh := ad.Tanh(ad.Add(part(in, 2), ad.Mul(reset, ad.Add(part(a, 2), own))))
		h := ad.Add(fresh, ad.Mul(update, ad.Sub(c[0], fresh)))
		return []*ad.Node{h}, []*ad.Node{h}
	}, []*ad.Node{zero}, []*ad.Node{ahead(x, w)}, x.Shape()[0], ad.ScanSettings{})
	return y[0], last[0]
}

// recurrence declares the parameters of a recurrent layer, and returns the weights of its inputs and of the hidden state, the
// biases, and the state before the first step.
func (m *Model) recurrence(name string, x *ad.Node, units, gates int) (input, hidden, bias, zero, bad *ad.Node) {
	if x.Err() != nil {
		return nil, nil, nil, nil, x
	}
	s := x.Shape()
	if len(s) != 3 || units < 1 {
		return nil, nil, nil, nil, ad.Fail(fmt.Errorf("nn: %s has %d units and an input of shape %v: want at least 1 unit, and (steps, batch, inputs)", name, units, s))
	}
	init := Uniform(1 / math.Sqrt(float64(units)))
	input = m.Param(name+".input", init, s[2], gates*units)
	hidden = m.Param(name+".hidden", init, units, gates*units)
	bias = m.Param(name+".bias", init, gates*units)
	return input, hidden, bias, ad.Full(0, s[1], units), nil
}

// linear returns what each step of a recurrence over x takes of the inputs, and a function that multiplies it and the state by their weights and
// adds the biases. Few inputs are multiplied in the step, together with the state, since the products of all steps would not stay in the caches.
func linear(x, w, wh, bias *ad.Node) (inputs *ad.Node, sum func(h, x *ad.Node) *ad.Node) {
	if 2*w.Shape()[0] > wh.Shape()[0] {
		return ahead(x, w), func(h, x *ad.Node) *ad.Node { return ad.Add(ad.MatMul(h, wh), ad.Add(x, bias)) }
	}
	both := ad.Concat(0, wh, w)
	return x, func(h, x *ad.Node) *ad.Node { return ad.Add(ad.MatMul(ad.Concat(1, h, x), both), bias) }
}

// ahead multiplies the inputs of all steps at once.
func ahead(x, w *ad.Node) *ad.Node {
	s := x.Shape()
	return ad.Reshape(ad.MatMul(ad.Reshape(x, s[0]*s[1], s[2]), w), s[0], s[1], w.Shape()[1])
}
