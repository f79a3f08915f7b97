// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package optim

import (
	"fmt"

	ad "github.com/euryale-dev/euryale/autodiff"
)

// UpdateNodes are the Nodes of one update by a Rule. Rate, Step and Momentum are scalars, so that
// one program serves all steps.
type UpdateNodes struct {
	X, G *ad.Node // parameters and gradient, as vectors
	// Memory holds as many vectors as Buffers returns. They are 0 before the first update.
	Memory []*ad.Node
	Rate   *ad.Node // learning rate
	Step   *ad.Node // number of the update, counted from 1
	// Momentum replaces the rule's momentum, or the decay of its mean of gradients, unless its
	// value is NaN. If it is nil, the rule's own is always used.
	Momentum *ad.Node
	// Decay multiplies the weight decay of each parameter; it is a vector. Nil means 1.
	Decay *ad.Node
}

// graphRule is a Rule that can be a graph: SGD, Adam, RMSProp and Adagrad.
type graphRule interface {
	Rule
	buffers(cycles bool) int
	nodes(u UpdateNodes) (x *ad.Node, memory []*ad.Node)
}

// Buffers returns the number of vectors that a rule keeps between updates when it is written as a
// graph. cycles says whether UpdateNodes.Momentum replaces the rule's momentum; a rule without
// momentum of its own then needs memory for it.
func Buffers(r Rule, cycles bool) (int, error) {
	g, ok := r.(graphRule)
	if !ok {
		return 0, fmt.Errorf("optim: %T cannot be written as a graph: use SGD, Adam, RMSProp or Adagrad", r)
	}
	return g.buffers(cycles), nil
}

// Update returns the parameters and the memory after an update; the numbers are those of
// Descent.Step. All of it is elementwise, so that one pass over memory updates all parameters
// together, on the processor or on a device.
func Update(r Rule, u UpdateNodes) (x *ad.Node, memory []*ad.Node) {
	n, err := Buffers(r, u.Momentum != nil)
	if err == nil && n != len(u.Memory) {
		err = fmt.Errorf("optim: %T was given %d vectors of memory: want %d, as Buffers says", r, len(u.Memory), n)
	}
	if err != nil {
		return ad.Fail(err), nil
	}
	return r.(graphRule).nodes(u)
}

// decayed returns the gradient with the L2 penalty.
func (u *UpdateNodes) decayed(weight float64) *ad.Node {
	if weight == 0 {
		return u.G
	}
	return ad.Add(u.G, ad.Mul(u.decay(weight), u.X))
}

// decay returns the weight decay of parameters.
func (u *UpdateNodes) decay(weight float64) *ad.Node {
	if u.Decay != nil {
		return ad.Scale(weight, u.Decay)
	}
	return ad.Scalar(weight)
}

func (u *UpdateNodes) momentumOr(own float64) *ad.Node {
	if u.Momentum == nil {
		return ad.Scalar(own)
	}
	return ad.Where(ad.Equal(u.Momentum, u.Momentum), u.Momentum, ad.Scalar(own))
}

// mixed returns a x + (1-a) y.
func mixed(a, x, y *ad.Node) *ad.Node {
	return ad.Add(ad.Mul(a, x), ad.Mul(ad.Sub(ad.Scalar(1), a), y))
}

// moved returns x - rate d.
func (u *UpdateNodes) moved(x, rate, d *ad.Node) *ad.Node { return ad.Sub(x, ad.Mul(rate, d)) }

func (m SGD) buffers(cycles bool) int {
	if m.Momentum == 0 && !cycles {
		return 0
	}
	return 1
}

func (m SGD) nodes(u UpdateNodes) (x *ad.Node, memory []*ad.Node) {
	g := u.decayed(m.WeightDecay)
	if m.Momentum == 0 && u.Momentum == nil {
		return u.moved(u.X, u.Rate, g), nil
	}
	mu := u.momentumOr(m.Momentum)
	first := ad.Equal(u.Step, ad.Scalar(1))
	b := ad.Where(first, g, ad.Add(ad.Mul(mu, u.Memory[0]), ad.Scale(1-m.Dampening, g)))
	d := b
	if m.Nesterov {
		d = ad.Add(g, ad.Mul(mu, b))
	}
	if u.Momentum != nil {
		none := ad.Equal(mu, ad.Scalar(0))
		b, d = ad.Where(none, u.Memory[0], b), ad.Where(none, g, d)
	}
	return u.moved(u.X, u.Rate, d), []*ad.Node{b}
}

func (a Adam) buffers(bool) int {
	if a.AMSGrad {
		return 3
	}
	return 2
}

func (a Adam) nodes(u UpdateNodes) (x *ad.Node, memory []*ad.Node) {
	b1, b2 := u.momentumOr(orDefault(a.Beta1, 0.9)), ad.Scalar(orDefault(a.Beta2, 0.999))
	x, g := u.X, u.G
	if a.Decoupled {
		x = ad.Mul(x, ad.Sub(ad.Scalar(1), ad.Mul(u.decay(a.WeightDecay), u.Rate)))
	} else {
		g = u.decayed(a.WeightDecay)
	}
	m, v := mixed(b1, u.Memory[0], g), mixed(b2, u.Memory[1], ad.Square(g))
	memory, top := []*ad.Node{m, v}, v
	if a.AMSGrad {
		top = ad.Maximum(u.Memory[2], v)
		memory = append(memory, top)
	}
	one := ad.Scalar(1)
	c1, c2 := ad.Sub(one, ad.Pow(b1, u.Step)), ad.Sqrt(ad.Sub(one, ad.Pow(b2, u.Step)))
	d := ad.Div(m, ad.Shift(ad.Div(ad.Sqrt(top), c2), orDefault(a.Eps, 1e-8)))
	return u.moved(x, ad.Div(u.Rate, c1), d), memory
}

func (r RMSProp) buffers(bool) int { return 3 }

func (r RMSProp) nodes(u UpdateNodes) (x *ad.Node, memory []*ad.Node) {
	a, g := ad.Scalar(orDefault(r.Alpha, 0.99)), u.decayed(r.WeightDecay)
	sq, mean, b := mixed(a, u.Memory[0], ad.Square(g)), u.Memory[1], u.Memory[2]
	size := sq
	if r.Centered {
		mean = mixed(a, mean, g)
		size = ad.Maximum(ad.Sub(sq, ad.Square(mean)), ad.Scalar(0)) // rounding takes it below for gradients that do not change
	}
	d := ad.Div(g, ad.Shift(ad.Sqrt(size), orDefault(r.Eps, 1e-8)))
	if r.Momentum > 0 || u.Momentum != nil {
		mu := u.momentumOr(r.Momentum)
		b = ad.Where(ad.Greater(mu, ad.Scalar(0)), ad.Add(ad.Mul(mu, b), d), b)
		d = ad.Where(ad.Greater(mu, ad.Scalar(0)), b, d)
	}
	return u.moved(u.X, u.Rate, d), []*ad.Node{sq, mean, b}
}

func (a Adagrad) buffers(bool) int { return 1 }

func (a Adagrad) nodes(u UpdateNodes) (x *ad.Node, memory []*ad.Node) {
	g := u.decayed(a.WeightDecay)
	before := u.Memory[0]
	if a.Initial != 0 {
		before = ad.Where(ad.Equal(u.Step, ad.Scalar(1)), ad.Scalar(a.Initial), before)
	}
	sum := ad.Add(before, ad.Square(g))
	rate := ad.Div(u.Rate, ad.Shift(ad.Scale(a.LRDecay, ad.Shift(u.Step, -1)), 1))
	return u.moved(u.X, rate, ad.Div(g, ad.Shift(ad.Sqrt(sum), orDefault(a.Eps, 1e-10)))), []*ad.Node{sum}
}
