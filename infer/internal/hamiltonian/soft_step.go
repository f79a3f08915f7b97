// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package hamiltonian

import "math"

// A soft step makes one leapfrog, or where its energy error e is large two halves of it, or four quarters and so on: from level l it goes on to the next
// with probability
//
//	s(e) = (e/delta)^4 / (1 + (e/delta)^4)
//
// and stops at softLevels. Where the density fails, e is infinite; smaller steps do not help at the edge of a density, so that a failure from failedLevel on
// ends the trajectory. A step to level l from a to b thus has the probability s(e_0) .. s(e_(l-1)) (1 - s(e_l)). Seen from b, the errors of levels below
// l are others, e'; that of level l is the same, since it retraces itself. The weight of b, and of all leaves beyond it, takes the ratio of both
// probabilities, prod_(j<l) s(e'_j)/s(e_j). Drawing a leaf of an orbit by exp(-H) and this ratio leaves the density as it is.
//
// With a threshold in place of s, as in WALNUTS (arXiv:2506.18746), the ratio would be 0 for most steps that leave a neck. The argument is that of GIST
// (arXiv:2404.15253).
const softLevels, failedLevel = 8, 3

// soft are the workspace and the numbers of soft steps.
type soft struct {
	from, to Point
	errors   [softLevels]float64 // of the levels that were left
	// ratio is the logarithm of the ratio of each side.
	ratio [2]float64
	// first is the energy after the leapfrog of level 0.
	first float64
}

// levelRises is s.
func (t *Tree) levelRises(e float64) float64 {
	r := e / t.SoftError
	r *= r
	r *= r
	if math.IsInf(r, 1) || math.IsNaN(r) {
		return 1
	}
	return r / (1 + r)
}

// softStep moves the end of the current side by a soft step. Like Leapfrog it returns the error of a place where the target fails.
func (t *Tree) softStep(end *Point, eps float64) error {
	s := t.soft
	s.from.Set(end)
	h := end.Energy()
	for level := 0; ; level++ {
		end.Set(&s.from)
		err := t.refined(end, eps, level)
		if err != nil && !Recoverable(err) {
			return err
		}
		e := math.Inf(1)
		if err == nil {
			e = math.Abs(end.Energy() - h)
		}
		if level == 0 {
			if s.first = math.Inf(1); err == nil {
				s.first = end.Energy()
			}
		}
		failed := math.IsInf(e, 1) && level >= failedLevel
		if failed || level == t.levels || !t.decide(t.levelRises(e), 1) {
			if failed || err != nil || level == 0 {
				return err
			}
			t.Out.Refined++
			return t.retrace(end, eps, level)
		}
		s.errors[level] = e
	}
}

// retrace takes the ratio of the probabilities of a step to a level, from its end back and forth, into the weight of its side.
func (t *Tree) retrace(end *Point, eps float64, level int) error {
	s := t.soft
	h, ratio := end.Energy(), 0.0
	for l := range level {
		s.to.Set(end)
		err := t.refined(&s.to, -eps, l)
		if err != nil && !Recoverable(err) {
			return err
		}
		e := math.Inf(1)
		if err == nil {
			e = math.Abs(s.to.Energy() - h)
		}
		if math.IsInf(e, 1) && l >= failedLevel { // the way back would have ended there
			e = 0
		}
		ratio += math.Log(t.levelRises(e)) - math.Log(t.levelRises(s.errors[l]))
	}
	if t.Weigh != nil {
		ratio = t.Weigh(ratio)
	}
	s.ratio[t.Side] += ratio
	return nil
}

// refined moves p by 2^level leapfrogs of eps/2^level.
func (t *Tree) refined(p *Point, eps float64, level int) error {
	n := 1 << level
	for range n {
		t.Out.Gradients++
		if err := t.Leapfrog(p, eps/float64(n)); err != nil || math.IsInf(p.Energy(), 1) {
			return err
		}
	}
	return nil
}
