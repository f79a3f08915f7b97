// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package infer

import (
	"math"
	"slices"

	"github.com/euryale-dev/euryale/infer/internal/hamiltonian"
	"github.com/euryale-dev/euryale/internal/linalg"
)

// ascent maximises a log density by L-BFGS with backtracking. It serves starts and
// Pathfinder: where it stops does not matter much, so it need not be a minimiser
// of the last digit; see optim for those.
type ascent struct {
	target hamiltonian.Density
	q, g   []float64
	lp     float64
	// s and y are the last steps and the decreases of the gradient along them, oldest first.
	s, y [][]float64
	// newS and newY are memory for the next of them, nil for none.
	newS, newY []float64
	calls      int
	// first is the length of a step of which nothing is known, 1 for 0. It grows where the density is not concave.
	first float64
	// metric is an estimate F F^T of the inverse Hessian, but for a factor, from which the directions after the first are improved. nil for the unit matrix.
	metric *hamiltonian.Metric

	next, nextG, dir []float64
	along            []float64
}

const (
	ascentMemory   = 10
	ascentHalvings = 20
)

// newAscent starts at q, which it changes, with its density and gradient g.
func newAscent(t hamiltonian.Density, q, g []float64, lp float64) *ascent {
	n := len(q)
	return &ascent{target: t, q: q, g: g, lp: lp, next: make([]float64, n), nextG: make([]float64, n), dir: make([]float64, n),
		along: make([]float64, ascentMemory)}
}

// step makes one step upwards. It returns false where there is none.
func (a *ascent) step() (bool, error) {
	a.direction()
	slope := linalg.FastDot(a.dir, a.g)
	if !(slope > 0) {
		if len(a.s) == 0 {
			return false, nil
		}
		a.s, a.y = nil, nil
		a.direction()
		slope = linalg.FastDot(a.dir, a.g)
	}
	length := 1.0
	for range ascentHalvings {
		copy(a.next, a.q)
		linalg.AddScaled(a.next, length, a.dir)
		lp, err := a.target.LogProbGrad(a.next, a.nextG)
		a.calls++
		if err != nil && !hamiltonian.Recoverable(err) {
			return false, err
		}
		if err == nil && lp >= a.lp+1e-4*length*slope && linalg.Finite(lp) && linalg.AllFinite(a.nextG) {
			a.accept(lp)
			return true, nil
		}
		length /= 3
	}
	return false, nil
}

func (a *ascent) accept(lp float64) {
	if a.newS == nil {
		a.newS, a.newY = make([]float64, len(a.q)), make([]float64, len(a.q))
	}
	s, y := a.newS, a.newY
	for i := range s {
		s[i], y[i] = a.next[i]-a.q[i], a.g[i]-a.nextG[i]
	}
	if linalg.FastDot(s, y) > 1e-10*math.Sqrt(linalg.FastDot(s, s)*linalg.FastDot(y, y)) {
		a.newS, a.newY = nil, nil
		if a.s, a.y = append(a.s, s), append(a.y, y); len(a.s) > ascentMemory { // the next step takes the memory of the oldest
			a.newS, a.newY = a.s[0], a.y[0]
			a.s, a.y = slices.Delete(a.s, 0, 1), slices.Delete(a.y, 0, 1)
		}
	} else if a.first > 0 {
		a.first *= 10
	}
	copy(a.q, a.next)
	copy(a.g, a.nextG)
	a.lp = lp
}

// direction is the two-loop product of the inverse Hessian and the gradient; the
// first has length 1, or that of a.first.
func (a *ascent) direction() {
	copy(a.dir, a.g)
	k := len(a.s)
	if k == 0 {
		scale := 1 / math.Sqrt(linalg.FastDot(a.g, a.g))
		if a.first > 0 {
			scale *= a.first
		}
		for i := range a.dir {
			a.dir[i] *= scale
		}
		return
	}
	for i := k - 1; i >= 0; i-- {
		a.along[i] = linalg.FastDot(a.s[i], a.dir) / linalg.FastDot(a.s[i], a.y[i])
		linalg.AddScaled(a.dir, -a.along[i], a.y[i])
	}
	white := a.y[k-1]
	if a.metric != nil {
		white = a.nextG
		a.metric.Force(white, a.dir)
		a.metric.Velocity(a.dir, white)
		a.metric.Force(white, a.y[k-1])
	}
	scale := linalg.FastDot(a.s[k-1], a.y[k-1]) / linalg.FastDot(white, white)
	for i := range a.dir {
		a.dir[i] *= scale
	}
	for i := range k {
		linalg.AddScaled(a.dir, a.along[i]-linalg.FastDot(a.y[i], a.dir)/linalg.FastDot(a.s[i], a.y[i]), a.s[i])
	}
}

// The ascent from a random start ends when ascentSteps steps gain less than ascentGain per
// parameter, or after ascentLongest steps. Nearer the mode the density of a hierarchy can
// grow without end towards a group scale of 0, far from where draws lie. Only to compare
// modes the ascent goes on, until steps gain less than refineGain, a part of the slack in
// comparisons, or for refineLongest steps.
const (
	ascentSteps   = 5
	ascentGain    = 5.0
	ascentLongest = 500
	refineGain    = 0.1
	refineLongest = 60
)

// ascendToMode moves p up to where the log density no longer grows fast. A start far
// out could otherwise cost a chain half of its warm-up.
//
// It also returns the scales of the curvature on the way, for the first metric, and the
// height and mass of the mode above.
func ascendToMode(s *hamiltonian.System, p *hamiltonian.Point) (scale []float64, mode modeMass, err error) {
	a := newAscent(s.Target, p.Q, p.G, p.Lp)
	defer func() { s.Count += a.calls }()
	if err := a.ascendUntil(ascentGain*float64(len(p.Q)), ascentLongest); err != nil {
		return nil, mode, err
	}
	p.Lp, scale = a.lp, a.scale()
	a.q, a.g = slices.Clone(a.q), slices.Clone(a.g)
	if err := a.ascendUntil(refineGain*modeSlack(len(p.Q)), refineLongest); err != nil {
		return nil, mode, err
	}
	mode = modeMass{a.lp, a.lp}
	for _, v := range a.scale() {
		mode.mass += math.Log(v)
	}
	return scale, mode, nil
}

// modeMass describes a mode: the log density there, and Laplace's estimate of the logarithm
// of the mass around it, but for a constant.
//
//	mass = height + sum of log scale
type modeMass struct{ height, mass float64 }

// ascendUntil makes steps until ascentSteps of them gain less than gain.
func (a *ascent) ascendUntil(gain float64, longest int) error {
	heights := []float64{a.lp}
	for range longest {
		up, err := a.step()
		if err != nil || !up {
			return err
		}
		heights = append(heights, a.lp)
		if k := len(heights) - 1; k >= ascentSteps && a.lp-heights[k-ascentSteps] < gain {
			return nil
		}
	}
	return nil
}

// scale returns the scales of the density along the parameters that the last steps imply.
func (a *ascent) scale() []float64 {
	scale := make([]float64, len(a.q))
	for i := range scale {
		scale[i] = 1
	}
	for k := range a.s {
		updateDiagonal(scale, a.s[k], a.y[k])
	}
	for i, v := range scale {
		scale[i] = math.Sqrt(v)
	}
	return scale
}
