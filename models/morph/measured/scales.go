// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package measured

import (
	"math"
	"slices"
)

// scales returns the scales of the noise of all parts by name: where they start, or are held.
func (t *Task) scales() map[string]float64 {
	out := map[string]float64{}
	for _, p := range t.single.parts {
		name := p.scaleName(t.models())
		if name == "" {
			continue
		}
		x, ok := t.start(name)
		if !ok {
			x = 1
		}
		out[name] = x
	}
	return out
}

// scaleAt is the scale of a part, 1 for one that has none.
func (t *Task) scaleAt(p *part, scales map[string]float64) float64 {
	if name := p.scaleName(t.models()); name != "" {
		return scales[name]
	}
	return 1
}

// rescale moves the scales that are searched for to where the likelihood is largest, given the expectations of a solution, and returns the
// largest relative change.
func (t *Task) rescale(s *Solution, scales map[string]float64) (moved float64, err error) {
	means := []float64(nil)
	for i, p := range t.Params {
		if !t.isScale(p.Name) {
			continue
		}
		if means == nil {
			if means, err = t.meansAt(s.X); err != nil {
				return 0, err
			}
		}
		before := scales[p.Name]
		scales[p.Name] = highest(func(x float64) float64 { return t.scaleDensity(i, means, x) }, before)
		moved = max(moved, math.Abs(scales[p.Name]/before-1))
		s.X[i] = scales[p.Name]
	}
	return moved, nil
}

// scaleDensity is the log density of the data and the prior as the scale that is parameter i takes a value.
func (t *Task) scaleDensity(i int, means []float64, x float64) float64 {
	q := &t.Params[i]
	sum := q.logPrior(x)
	k := 0
	for _, p := range t.single.parts {
		if p.scaleName(t.models()) == q.Name {
			sum += p.likelihood(means[k:k+len(p.values)], x)
		}
		k += len(p.values)
	}
	return sum
}

// highest returns the positive number at which f is largest, to a thousandth: f has one maximum along the logarithm.
func highest(f func(x float64) float64, from float64) float64 {
	at := func(u float64) float64 { return f(math.Exp(u)) }
	u, step := math.Log(from), 1.0
	best := at(u)
	for step > 5e-4 {
		up, down := at(u+step), at(u-step)
		switch {
		case up > best && up >= down && u < 60:
			u, best = u+step, up
		case down > best && u > -60:
			u, best = u-step, down
		default:
			step /= 2
		}
	}
	return math.Exp(u)
}

// scaleInformation adds the information that the data have of the scales, the curvature of their log density. That with the other
// parameters is 0 at the maximum to leading order.
func (t *Task) scaleInformation(out, x []float64, scales map[string]float64) error {
	n := len(t.Params)
	if !slices.ContainsFunc(t.Params, func(p Param) bool { return t.isScale(p.Name) }) {
		return nil
	}
	means, err := t.meansAt(x)
	if err != nil {
		return err
	}
	for i, p := range t.Params {
		if !t.isScale(p.Name) {
			continue
		}
		q := *t
		q.Params = slices.Clone(t.Params)
		q.Params[i] = Param{Name: p.Name} // the prior is not of the data
		h := 0.01 * scales[p.Name]
		f := func(d float64) float64 { return q.scaleDensity(i, means, scales[p.Name]+d) }
		out[i*n+i] = max(0, (2*f(0)-f(h)-f(-h))/(h*h))
	}
	return nil
}
