// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package optim

import (
	"math"

	ad "github.com/euryale-dev/euryale/autodiff"
)

func init() { graphRules = append(graphRules, RMSProp{}) }

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
