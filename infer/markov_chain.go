// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package infer

import (
	"fmt"
	"math"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/infer/dist"
)

// markovChain is the name of the distribution MarkovChain.
const markovChain = "markovchain"

// MarkovChain is the distribution of a sequence of states 0 .. K-1 that a Markov chain goes through:
//
//	P(z_0) = initial[z_0],  P(z_t | z_(t-1)) = transition[z_(t-1), z_t]
//
// Shapes: initial (K) and transition (K, K), or (T-1, K, K) where it changes with time, with rows that sum to 1. A value is a sequence of length T. As the
// prior of a parameter it makes a hidden Markov model, whose states are summed out by HMMForward:
//
//	z := m.Param("z", infer.MarkovChain(initial, transition), infer.Over(time))
//	m.Observe("y", dist.Normal(autodiff.Gather(mu, autodiff.FloorIndex(z), 0), sigma), ys)
//
// Reference: Rabiner, doi:10.1109/5.18626.
func MarkovChain(initial, transition any) dist.Dist {
	first, step := ad.Of(initial), ad.Of(transition)
	d := dist.Dist{Name: markovChain, Params: []*ad.Node{first, step}, ParamEvent: []int{1, 2}, Discrete: true, Event: 1}
	if first.Err() != nil || step.Err() != nil {
		return d
	}
	k := first.Size()
	if s := step.Shape(); len(first.Shape()) != 1 || k == 0 || len(s) < 2 || len(s) > 3 || s[len(s)-1] != k || s[len(s)-2] != k {
		d.Params[0] = ad.Fail(fmt.Errorf("infer: MarkovChain: the initial probabilities have shape %v and the transitions %v: want (K), and (K, K) or (T-1, K, K)", first.Shape(), step.Shape()))
		return d
	}
	if len(step.Shape()) == 3 {
		d.ParamEvent = []int{1, 3}
	}
	d.Support = dist.Support{Lower: ad.Scalar(0), Upper: ad.Scalar(float64(k - 1)), Whole: true}
	d.LogProbOf = func(x *ad.Node) *ad.Node { return chainLogProb(logOrNever(first), logOrNever(step), x, k) }
	d.DrawOf = func(src dist.Source, dst, p []float64) error { return drawChain(src, dst, p, k) }
	return d
}

// logOrNever is the logarithm of probabilities, -Inf with a gradient of 0 where they are 0.
func logOrNever(p *ad.Node) *ad.Node {
	some := ad.Greater(p, ad.Scalar(0))
	return ad.Where(some, ad.Log(ad.Where(some, p, ad.Scalar(1))), ad.Scalar(math.Inf(-1)))
}

// chainLogProb is the log probability of one sequence.
func chainLogProb(initial, step, x *ad.Node, k int) *ad.Node {
	n := x.Size()
	first := ad.Gather(initial, ad.FloorIndex(ad.Slice(x, 0, 0, 1)), 0)
	if n == 1 {
		return ad.Sum(first)
	}
	before, after := ad.Slice(x, 0, 0, n-1), ad.Slice(x, 0, 1, n)
	place := ad.Add(ad.Scale(float64(k), before), after)
	if len(step.Shape()) == 3 {
		times := make([]float64, n-1)
		for t := range times {
			times[t] = float64(t * k * k)
		}
		place = ad.Add(place, ad.Const(times))
	}
	return ad.Add(ad.Sum(first), ad.Sum(ad.Gather(ad.Reshape(step, step.Size()), ad.FloorIndex(place), 0)))
}

// drawChain draws a sequence; p holds the initial probabilities and then the transitions.
func drawChain(src dist.Source, dst, p []float64, k int) error {
	row, steps := p[:k], p[k:]
	if changing := len(steps) > k*k; changing && len(steps) != (len(dst)-1)*k*k {
		return fmt.Errorf("infer: MarkovChain: there are transitions for %d steps, but a sequence of %d states has %d: make them match", len(steps)/(k*k), len(dst), len(dst)-1)
	}
	for t := range dst {
		u, state := src.Float64(), k-1
		for i, w := range row[:k-1] {
			if u -= w; u < 0 {
				state = i
				break
			}
		}
		dst[t] = float64(state)
		at := 0
		if len(steps) > k*k {
			at = t * k * k
		}
		if t < len(dst)-1 {
			row = steps[at+state*k : at+(state+1)*k]
		}
	}
	return nil
}
