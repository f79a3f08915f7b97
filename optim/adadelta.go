// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package optim

import "math"

var _ Rule = Adadelta{}

// Adadelta scales steps by a running root mean square of past steps (arXiv:1212.5701).
type Adadelta struct {
	// Rho is the decay of the running means. Default 0.9.
	Rho float64
	// Eps is added under both square roots. Default 1e-6.
	Eps         float64
	WeightDecay float64
}

func (a Adadelta) update(s *DescentState, lr float64, x, g []float64) {
	rho, eps := orDefault(a.Rho, 0.9), orDefault(a.Eps, 1e-6)
	decayed(g, x, a.WeightDecay)
	sq, steps := s.buffer(0, len(x)), s.buffer(1, len(x))
	for i, d := range g {
		sq[i] = rho*sq[i] + (1-rho)*d*d
		d *= math.Sqrt(steps[i]+eps) / math.Sqrt(sq[i]+eps)
		steps[i] = rho*steps[i] + (1-rho)*d*d
		x[i] -= lr * d
	}
}
