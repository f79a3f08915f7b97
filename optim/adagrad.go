// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package optim

import "math"

// RMSProp divides the gradient by a running root mean square (Hinton, lecture 6e); with Centered,
// the running mean is subtracted first.
type RMSProp struct {
	// Alpha is the decay of the running mean square. Default 0.99.
	Alpha float64
	// Eps is added to the root of the mean square. Default 1e-8.
	Eps         float64
	Centered    bool
	Momentum    float64
	WeightDecay float64
}

func (r RMSProp) update(s *DescentState, lr float64, x, g []float64) {
	a, eps, mu := orDefault(r.Alpha, 0.99), orDefault(r.Eps, 1e-8), s.momentumOr(r.Momentum)
	decayed(g, x, r.WeightDecay)
	sq, mean, b := s.buffer(0, len(x)), s.buffer(1, len(x)), s.buffer(2, len(x))
	for i, d := range g {
		sq[i] = a*sq[i] + (1-a)*d*d
		size := sq[i]
		if r.Centered {
			mean[i] = a*mean[i] + (1-a)*d
			size = max(size-mean[i]*mean[i], 0) // rounding takes it below for gradients that do not change
		}
		d /= math.Sqrt(size) + eps
		if mu > 0 {
			b[i] = mu*b[i] + d
			d = b[i]
		}
		x[i] -= lr * d
	}
}

// Adagrad divides the gradient by the root of the sum of its squares
// (Duchi, Hazan & Singer, JMLR 12, 2011).
type Adagrad struct {
	// Eps is added to the root. Default 1e-10.
	Eps float64
	// Initial is the initial value of the sums of squares.
	Initial float64
	// LRDecay divides the learning rate of step t by 1 + LRDecay (t-1).
	LRDecay     float64
	WeightDecay float64
}

func (a Adagrad) update(s *DescentState, lr float64, x, g []float64) {
	decayed(g, x, a.WeightDecay)
	sum := s.buffer(0, len(x))
	lr /= 1 + float64(s.Step-1)*a.LRDecay
	for i, d := range g {
		if s.Step == 1 {
			sum[i] = a.Initial
		}
		sum[i] += d * d
		x[i] -= lr * d / (math.Sqrt(sum[i]) + orDefault(a.Eps, 1e-10))
	}
}

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

var (
	_ Rule = SGD{}
	_ Rule = Adam{}
	_ Rule = NAdam{}
	_ Rule = RAdam{}
	_ Rule = Adamax{}
	_ Rule = RMSProp{}
	_ Rule = Adagrad{}
	_ Rule = Adadelta{}
)
