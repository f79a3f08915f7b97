// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package infer

import (
	"math"
	"slices"

	"github.com/euryale-dev/euryale/infer/diag"
	"github.com/euryale-dev/euryale/infer/internal/hamiltonian"
	"github.com/euryale-dev/euryale/internal/linalg"
)

// The search for starts climbs from modeSearchStarts random places, and each chain takes one of the modes found. Chains that happen
// to take the same one agree with each other and do not know of the others, so R-hat cannot tell. After a run the modes of the search
// are therefore compared with those that climbs from draws come to. Two places belong to one mode if the log density between them
// dips by no more than modeDip below the lower of them.
const (
	modeDip = 3.0
	// modeShare is the estimated part of the posterior from which a mode is missed.
	modeShare = 0.01
	// modeClimbs is the number of draws from which climbs start.
	modeClimbs = 8
	// modeHessian is the largest dimension in which second derivatives estimate the mass of a mode.
	modeHessian = 200
	// modeStarts is the number of draws from the prior from which climbs start, beside those of the search for starts.
	modeStarts = 8
	// modeFlat is the Newton decrement below which a climb has reached a mode.
	modeFlat = 1e-2
)

// priorStarter is a target that can draw from its prior.
type priorStarter interface {
	PriorStarts(chains int, seed uint64) ([][]float64, error)
}

// summit is a mode that a climb reached, with Laplace's estimate of the logarithm of its mass.
type summit struct {
	q        []float64
	lp, mass float64
}

// missedModes returns the modes that the search for starts found and no chain visited.
func (f *Fit) missedModes() (missed []diag.MissedMode) {
	defer func() { _ = recover() }() // of the target: it has done its work
	random := !slices.ContainsFunc(f.cfg.Init, func(q []float64) bool { return q != nil })
	if f.cfg.Method != NUTS || f.cfg.NoWarmup || !random || f.Stopped != "" || len(f.chains) == 0 {
		return nil
	}
	for c, n := range f.n {
		if n == 0 || n < f.cfg.Draws || f.chains[c].target.Dim() == 0 {
			return nil
		}
	}
	c := f.chains[0]
	pool := append(slices.Clone(c.pool.all(c)), c.priorClimbs()...)
	if !c.several(pool) {
		return nil
	}
	var visited []summit
	for k := range modeClimbs {
		chain := k % len(f.chains)
		rows := f.chains[chain].kept.rows[:f.n[chain]]
		if at, ok := c.climb(rows[len(rows)-1-(k/len(f.chains))*len(rows)/2]); ok {
			visited = append(visited, at)
		}
	}
	total := math.Inf(-1)
	for _, v := range visited {
		total = max(total, v.mass)
	}
	for i := range pool {
		if pool[i].err != nil {
			continue
		}
		at, ok := c.climb(pool[i].at.Q)
		share := 1 / (1 + math.Exp(total-at.mass))
		if !ok || !(share > modeShare) || slices.ContainsFunc(visited, func(v summit) bool { return c.connected(v, at) }) {
			continue
		}
		visited = append(visited, at) // each is told once
		missed = append(missed, f.describeMode(c, at.q, share))
	}
	return missed
}

// priorClimbs returns the ends of climbs from draws from the prior: places near 0, where the search for starts begins, may all lie on one side
// of what separates two modes.
func (c *chain) priorClimbs() (ends []ascentEnd) {
	p, ok := c.target.(priorStarter)
	if !ok {
		return nil
	}
	starts, err := p.PriorStarts(modeStarts, c.cfg.Seed)
	if err != nil {
		return nil // no prior to draw from
	}
	before := c.tr.Count
	defer func() { c.tr.Count = before }()
	for _, q := range starts {
		end := ascentEnd{at: hamiltonian.NewPoint(len(q))}
		copy(end.at.Q, q)
		if end.at.Lp, end.err = c.target.LogProbGrad(end.at.Q, end.at.G); end.err != nil || !linalg.Finite(end.at.Lp) || !linalg.AllFinite(end.at.G) {
			continue
		}
		if end.scale, end.mode, end.err = ascendToMode(&c.tr.System, &end.at); end.err == nil {
			ends = append(ends, end)
		}
	}
	return ends
}

// several reports whether the climbs seem to lead to more than one mode. They end early, so each goes on for a few steps first.
func (c *chain) several(pool []ascentEnd) bool {
	best := largestMode(pool)
	var first summit
	for i := range pool {
		e := &pool[i]
		if e.err != nil || e.mode.dominated(best, len(e.at.Q)) {
			continue
		}
		a := newAscent(c.target, slices.Clone(e.at.Q), slices.Clone(e.at.G), e.at.Lp)
		if a.ascendUntil(0.1, refineLongest) != nil {
			continue
		}
		at := summit{q: a.q, lp: a.lp}
		if first.q == nil {
			first = at
		} else if !c.connected(first, at) {
			return true
		}
	}
	return false
}

// connected reports whether the log density on the straight line between two places stays near that of the lower one.
func (c *chain) connected(a, b summit) bool {
	const steps = 12
	q, g := make([]float64, len(a.q)), make([]float64, len(a.q))
	floor := min(a.lp, b.lp) - modeDip
	for k := 1; k < steps; k++ {
		t := float64(k) / steps
		for i := range q {
			q[i] = a.q[i] + t*(b.q[i]-a.q[i])
		}
		if lp, err := c.target.LogProbGrad(q, g); err != nil || !(lp >= floor) {
			return false
		}
	}
	return true
}

// climb goes from q to the mode above and estimates its mass. It returns false if the density there is not that of a mode.
func (c *chain) climb(q []float64) (summit, bool) {
	at, g := slices.Clone(q), make([]float64, len(q))
	lp, err := c.target.LogProbGrad(at, g)
	if err != nil || !linalg.Finite(lp) {
		return summit{}, false
	}
	a := newAscent(c.target, at, g, lp)
	if a.ascendUntil(1e-9, ascentLongest) != nil {
		return summit{}, false
	}
	mass, ok := c.laplaceMass(a)
	return summit{q: a.q, lp: a.lp, mass: mass}, ok
}

// laplaceMass returns the logarithm of the mass around the mode of a climb, but for a constant,
//
//	lp - log det(-H)/2,
//
// with the second derivatives H by differences of the gradient. It returns false where -H is not positive definite, or where a
// Newton step would still gain something, as in a long curved valley in which the climb came to a halt.
func (c *chain) laplaceMass(a *ascent) (float64, bool) {
	n := len(a.q)
	if n > modeHessian {
		mass := a.lp
		for _, s := range a.scale() {
			mass += math.Log(s)
		}
		return mass, true
	}
	h, up, down, q := make([]float64, n*n), make([]float64, n), make([]float64, n), slices.Clone(a.q)
	for i, scale := range a.scale() {
		step := 1e-3 * scale
		q[i] = a.q[i] + step
		_, first := c.target.LogProbGrad(q, up)
		q[i] = a.q[i] - step
		_, second := c.target.LogProbGrad(q, down)
		q[i] = a.q[i]
		if first != nil || second != nil {
			return 0, false
		}
		for j := range n {
			h[i*n+j] = (down[j] - up[j]) / (2 * step)
		}
	}
	half := 0.0 // log det(-H)/2, by Cholesky factorisation
	for i := range n {
		for j := range i + 1 {
			s := (h[i*n+j] + h[j*n+i]) / 2
			for k := range j {
				s -= h[i*n+k] * h[j*n+k]
			}
			if j < i {
				h[i*n+j] = s / h[j*n+j]
				continue
			}
			if !(s > 0) {
				return 0, false
			}
			h[i*n+i] = math.Sqrt(s)
			half += math.Log(s) / 2
		}
	}
	decrement := 0.0 // |L^-1 g|^2, twice what a Newton step would gain
	for i := range n {
		s := a.g[i]
		for k := range i {
			s -= h[i*n+k] * q[k]
		}
		q[i] = s / h[i*n+i]
		decrement += q[i] * q[i]
	}
	return a.lp - half, decrement < modeFlat
}

// describeMode names the coordinate in which a mode is farthest from the draws, in units of their spread.
func (f *Fit) describeMode(c *chain, q []float64, share float64) diag.MissedMode {
	at, most := 0, -1.0
	for i := range q {
		lo, hi, mean, square, n := math.Inf(1), math.Inf(-1), 0.0, 0.0, 0.0
		for k, d := range f.chains {
			for _, row := range d.kept.rows[:f.n[k]] {
				lo, hi = min(lo, row[i]), max(hi, row[i])
				n++
				delta := row[i] - mean
				mean += delta / n
				square += delta * (row[i] - mean)
			}
		}
		beyond := max(lo-q[i], q[i]-hi, 0)
		if z := (beyond + 1e-3*math.Abs(q[i]-mean)) / math.Sqrt(max(square/n, 1e-300)); z > most {
			at, most = i, z
		}
	}
	m := diag.MissedMode{Share: share, By: "the search for starts", Lowest: math.Inf(1), Highest: math.Inf(-1)}
	m.Name, m.Value = describe(c.target, q, at)
	for k, d := range f.chains {
		for _, row := range d.kept.rows[:f.n[k]] {
			_, v := describe(c.target, row, at)
			m.Lowest, m.Highest = min(m.Lowest, v), max(m.Highest, v)
		}
	}
	return m
}
