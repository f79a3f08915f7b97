// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package measured

import (
	"math"
	"slices"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/infer/dist"
)

// ends returns the lowest and the highest value of a parameter.
func (p *Param) ends() (low, high float64) {
	low, high = math.Inf(-1), math.Inf(1)
	if p.Bounds != nil {
		low, high = p.Bounds[0], p.Bounds[1]
	}
	if p.Prior != nil {
		if a, b, err := dist.Range(*p.Prior); err == nil {
			low, high = max(low, a), min(high, b)
		}
	}
	return low, high
}

// logPrior is the logarithm of the prior up to a constant.
func (p *Param) logPrior(x float64) float64 {
	if p.SD > 0 {
		z := (x - p.Mean) / p.SD
		return -z * z / 2
	}
	if p.Prior == nil {
		return 0
	}
	v, err := ad.Numbers(p.Prior.LogProb(ad.Scalar(x)))
	if err != nil {
		return math.Inf(-1)
	}
	return v[0][0]
}

// priorPeak is the largest log density of a prior that is not Gaussian, over a fine grid of its range where it is wide, or near the start.
func (p *Param) priorPeak() float64 {
	low, high := p.ends()
	x := p.Start
	best := p.logPrior(x)
	for _, step := range []float64{1, 0.1, 0.01, 1e-3, 1e-4} {
		step *= max(math.Abs(x), 1)
		for range 200 {
			next := slices.MaxFunc([]float64{x - step, x, x + step}, func(a, b float64) int {
				return compare(p.inside(a, low, high), p.inside(b, low, high))
			})
			if next == x {
				break
			}
			x = next
		}
		best = max(best, p.logPrior(x))
	}
	return best
}

func (p *Param) inside(x, low, high float64) float64 {
	if !(x > low && x < high) {
		return math.Inf(-1)
	}
	return p.logPrior(x)
}

func compare(a, b float64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// withPriors adds the residuals of the priors that are not Gaussian: the roots of twice how far their log densities lie below the largest.
func (t *Task) withPriors(residuals *ad.Node) *ad.Node {
	all := []*ad.Node{residuals}
	for i := range t.Params {
		p := &t.Params[i]
		if p.Prior == nil || t.isScale(p.Name) {
			continue
		}
		const above = 1e-6 // keeps the root smooth at the peak
		fall := ad.Sub(ad.Scalar(p.priorPeak()+above), p.Prior.LogProb(t.nodes[p.Name]))
		all = append(all, ad.Reshape(ad.Sqrt(ad.Maximum(ad.Scale(2, fall), ad.Scalar(above))), 1))
	}
	return ad.Concat(0, all...)
}

// addPriors adds what the priors say to the information at x.
func (t *Task) addPriors(information, x []float64) {
	n := len(t.Params)
	for i := range t.Params {
		p := &t.Params[i]
		switch {
		case p.SD > 0:
			information[i*n+i] += 1 / (p.SD * p.SD)
		case p.Prior != nil:
			h := 1e-4 * max(math.Abs(x[i]), 1e-3)
			if c := (2*p.logPrior(x[i]) - p.logPrior(x[i]+h) - p.logPrior(x[i]-h)) / (h * h); c > 0 && !math.IsInf(c, 0) {
				information[i*n+i] += c
			}
		}
	}
}
