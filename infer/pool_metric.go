// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package infer

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"

	"github.com/euryale-dev/euryale/infer/internal/hamiltonian"
	"github.com/euryale-dev/euryale/infer/internal/warmup"
)

const (
	manyDirections  = 16  // of a low-rank metric, from which on a sparse one may serve better
	lookShare       = 4   // gradients so far, for each that the search for interactions takes
	densityCost     = 30  // operations for each parameter that a gradient is taken to cost beside a metric
	farFromDiagonal = 1   // misfit of a diagonal metric from which on a sparse one is looked for before one of low rank
	clearGain       = 0.9 // of the cost of an effective draw, below which the metric is changed
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
	draw := window[0][len(window[0])-1].z
	if m, ok := p.sparse(chains, draw); ok {
		return m, true
	}
	if p.opens && p.round == 1 {
		return hamiltonian.Metric{}, false
	}
	m, ok := p.learned(all(chains))
	if !ok || p.cfg.Metric != LowRank || m.Rank() < manyDirections || !p.interactions(m.Scale, draw) {
		return m, ok
	}
	if sparse, ok := p.pattern.Metric(all(chains).z, all(chains).g); ok && p.cheaper(chains) {
		return sparse, true
	}
	return m, true
}

// sparse returns the sparse metric where a diagonal one is far from what draws ask for and the sparse one, learned from half of the chains, serves the others as well as
// any can. One of low rank, which takes far longer to learn, is not tried then.
func (p *pool) sparse(chains []rows, draw []float64) (hamiltonian.Metric, bool) {
	r := all(chains)
	if p.cfg.Metric != LowRank || p.target.Dim() <= fewParameters || len(r.z) < 4 {
		return hamiltonian.Metric{}, false
	}
	scale, ok := warmup.Scales(r.z, r.g)
	if !ok || !(r.whitened(&hamiltonian.Metric{Scale: scale}).misfit() > farFromDiagonal) || !p.interactions(scale, draw) {
		return hamiltonian.Metric{}, false
	}
	learn := halves(chains)
	for i := range learn {
		if m, ok := p.pattern.Metric(learn[i].z, learn[i].g); !ok || !(learn[1-i].whitened(&m).misfit() < settledDrift) {
			return hamiltonian.Metric{}, false
		}
	}
	return p.pattern.Metric(r.z, r.g)
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
func (p *pool) interactions(scale, draw []float64) bool {
	spent := 0
	for i := range p.members {
		spent += p.members[i].grads
	}
	if !p.looked && p.chosen && spent >= lookShare*p.target.Dim() {
		at := p.at.Clone()
		p.looked = true
		p.pattern = warmup.Interactions(func(z, g []float64) error {
			p.members[0].grads++
			_, err := at.LogProbGrad(z, g)
			return err
		}, draw, scale)
	}
	return p.pattern != nil
}

// cheaper reports whether effective draws cost less with a sparse metric than with one of low rank: each is learned from one half and judged by the other. Trajectories are taken to be as long as the square root of the misfit.
func (p *pool) cheaper(chains []rows) bool {
	var sparse, low float64
	both := halves(chains)
	for i, learn := range both {
		judge := both[1-i]
		a, ok := p.pattern.Metric(learn.z, learn.g)
		if !ok {
			return false
		}
		b, ok := p.learned(learn)
		if !ok {
			return true
		}
		d := float64(p.target.Dim())
		sparse += math.Sqrt(judge.whitened(&a).misfit()) * (densityCost + 4*float64(p.pattern.Entries())/d)
		low += math.Sqrt(judge.whitened(&b).misfit()) * (densityCost + 4*float64(b.Rank()))
	}
	return sparse < clearGain*low
}

// halves are half of the chains and the others, or halves of the draws of one chain.
func halves(chains []rows) [2]rows {
	if len(chains) > 1 {
		return [2]rows{all(chains[:len(chains)/2]), all(chains[len(chains)/2:])}
	}
	c := chains[0]
	n := len(c.z) / 2
	return [2]rows{{c.z[:n], c.g[:n]}, {c.z[n:], c.g[n:]}}
}

// whitened returns the rows in the coordinates in which m is the identity.
func (r rows) whitened(m *hamiltonian.Metric) rows {
	white := rows{make([][]float64, len(r.z)), make([][]float64, len(r.z))}
	for k := range r.z {
		white.z[k], white.g[k] = make([]float64, len(r.z[k])), make([]float64, len(r.z[k]))
		m.Whiten(white.z[k], r.z[k])
		m.Force(white.g[k], r.g[k])
	}
	return white
}

// misfit is how far whitened draws are from the opposite of their gradients, which they are in a normal distribution of the metric's covariance: the
// mean square over draws and parameters. It centres the rows.
func (r rows) misfit() float64 {
	r.centre()
	sum, n := 0.0, 0
	for k, z := range r.z {
		for i, g := range r.g[k] {
			sum += (z[i] + g) * (z[i] + g)
		}
		n += len(z)
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
