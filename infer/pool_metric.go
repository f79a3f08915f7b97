// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package infer

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"

	"github.com/euryale-dev/euryale/infer/internal/hamiltonian"
	"github.com/euryale-dev/euryale/infer/internal/warmup"
	"github.com/euryale-dev/euryale/internal/linalg"
)

const (
	manyDirections = 16  // of a low-rank metric, from which on a sparse one may serve better
	lookShare      = 8   // gradients so far, for each that the search for interactions takes
	densityCost    = 30  // operations for each parameter that a gradient is taken to cost beside a metric
	clearGain      = 0.9 // of the cost of an effective draw, below which the metric is changed
)

// estimate returns the metric of draws of all chains. Chains whose means disagree may be in several places, so that the distances between them say nothing.
func (p *pool) estimate(window [][]drawn) (hamiltonian.Metric, bool) {
	apart := !agree(window, p.target.Dim())
	chains := make([]rows, len(window))
	for i, chain := range window {
		for _, d := range chain {
			chains[i].z, chains[i].g = append(chains[i].z, slices.Clone(d.z)), append(chains[i].g, slices.Clone(d.g))
		}
		if apart {
			chains[i].centre()
		}
	}
	if p.metric.Sparse != nil && p.pattern != nil { // it was chosen in these coordinates
		if m, ok := p.pattern.Metric(all(chains).z, all(chains).g); ok {
			return m, true
		}
	}
	m, ok := p.learned(all(chains))
	if !ok || p.cfg.Metric != LowRank || m.Rank() < manyDirections || !p.interactions(&m, window[0]) {
		return m, ok
	}
	if sparse, ok := p.pattern.Metric(all(chains).z, all(chains).g); ok && p.cheaper(chains) {
		return sparse, true
	}
	return m, true
}

// rows are draws and the gradients there.
type rows struct{ z, g [][]float64 }

func all(chains []rows) (out rows) {
	for _, c := range chains {
		out.z, out.g = append(out.z, c.z...), append(out.g, c.g...)
	}
	return out
}

// centre subtracts the means.
func (r rows) centre() {
	for _, rows := range [][][]float64{r.z, r.g} {
		for i := range rows[0] {
			mean := 0.0
			for _, row := range rows {
				mean += row[i] / float64(len(rows))
			}
			for _, row := range rows {
				row[i] -= mean
			}
		}
	}
}

// learned returns the metric of the kind that is asked for.
func (p *pool) learned(r rows) (hamiltonian.Metric, bool) {
	e := p.cfg.estimator(p.target.Dim())
	for k := range r.z {
		e.Add(r.z[k], r.g[k])
	}
	return e.Metric()
}

// interactions looks once which parameters interact, if that costs little beside the gradients so far, and reports whether they are few enough.
func (p *pool) interactions(m *hamiltonian.Metric, draws []drawn) bool {
	spent := 0
	for i := range p.members {
		spent += p.members[i].grads
	}
	if !p.looked && p.chosen && spent >= lookShare*p.target.Dim() && len(draws) > 0 {
		at := p.at.Clone()
		p.looked = true
		p.pattern = warmup.Interactions(func(z, g []float64) error {
			p.members[0].grads++
			_, err := at.LogProbGrad(z, g)
			return err
		}, draws[len(draws)-1].z, m.Scale)
	}
	return p.pattern != nil
}

// cheaper reports whether effective draws cost less with a sparse metric than with one of low rank: each is learned from half of the chains, or of the draws
// of one chain, and judged by the other. Trajectories are taken to be as long as the square root of the misfit.
func (p *pool) cheaper(chains []rows) bool {
	halves := [2]rows{all(chains[:len(chains)/2]), all(chains[len(chains)/2:])}
	if len(chains) == 1 {
		c := chains[0]
		n := len(c.z) / 2
		halves = [2]rows{{c.z[:n], c.g[:n]}, {c.z[n:], c.g[n:]}}
	}
	var sparse, low float64
	for i, learn := range halves {
		judge := halves[1-i]
		a, ok := p.pattern.Metric(learn.z, learn.g)
		if !ok {
			return false
		}
		b, ok := p.learned(learn)
		if !ok {
			return true
		}
		d := float64(p.target.Dim())
		sparse += math.Sqrt(misfit(&a, judge)) * (densityCost + 4*float64(p.pattern.Entries())/d)
		low += math.Sqrt(misfit(&b, judge)) * (densityCost + 4*float64(b.Rank()))
	}
	return sparse < clearGain*low
}

// misfit is how far whitened draws are from the opposite of their gradients, which they are in a normal distribution of the metric's covariance: the
// mean square over draws and parameters.
func misfit(m *hamiltonian.Metric, r rows) float64 {
	white := rows{make([][]float64, len(r.z)), make([][]float64, len(r.z))}
	for k := range r.z {
		white.z[k], white.g[k] = make([]float64, len(r.z[k])), make([]float64, len(r.z[k]))
		m.Whiten(white.z[k], r.z[k])
		m.Force(white.g[k], r.g[k])
	}
	white.centre()
	sum, n := 0.0, 0
	for k := range white.z {
		linalg.AddScaled(white.z[k], 1, white.g[k])
		sum += linalg.FastDot(white.z[k], white.z[k])
		n += len(white.z[k])
	}
	return sum / float64(n)
}

// agree reports whether the means of chains differ no more than they may where one draw in ten is effective.
func agree(window [][]drawn, dim int) bool {
	for i := range dim {
		mean, variance := make([]float64, len(window)), 0.0 // of each chain, and within chains
		fewest := len(window[0])
		for c, chain := range window {
			x := make([]float64, len(chain))
			for k, d := range chain {
				x[k] = d.z[i]
			}
			var v float64
			mean[c], v = stat.MeanVariance(x, nil)
			variance += v / float64(len(window))
			fewest = min(fewest, len(chain))
		}
		if !(slices.Max(mean)-slices.Min(mean) <= 8*math.Sqrt(10*variance/float64(fewest))) {
			return false
		}
	}
	return true
}
