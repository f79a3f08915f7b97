// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package optim

import (
	"math"

	ad "github.com/euryale-dev/euryale/autodiff"
)

func init() { graphRules = append(graphRules, Adagrad{}) }

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
