// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package optim

import ad "github.com/euryale-dev/euryale/autodiff"

func init() { graphRules = append(graphRules, SGD{}) }

// SGD is gradient descent with momentum.
//
//	b = momentum b + (1 - dampening) g    (b = g in the first step)
//	x -= lr b                              or lr (g + momentum b) with Nesterov
type SGD struct {
	Momentum, Dampening float64
	Nesterov            bool
	// WeightDecay is the L2 penalty that is added to the gradient.
	WeightDecay float64
}

func (m SGD) update(s *DescentState, lr float64, x, g []float64) {
	decayed(g, x, m.WeightDecay)
	mu := s.momentumOr(m.Momentum)
	if mu == 0 {
		for i := range x {
			x[i] -= lr * g[i]
		}
		return
	}
	b := s.buffer(0, len(x))
	for i := range x {
		if s.Step == 1 {
			b[i] = g[i]
		} else {
			b[i] = mu*b[i] + (1-m.Dampening)*g[i]
		}
		d := b[i]
		if m.Nesterov {
			d = g[i] + mu*b[i]
		}
		x[i] -= lr * d
	}
}

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
