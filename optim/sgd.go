// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package optim

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
