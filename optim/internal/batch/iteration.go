// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package batch

import (
	"fmt"

	"github.com/euryale-dev/euryale/internal/linalg"
	"github.com/euryale-dev/euryale/optim/internal/marquardt"
)

// advance takes the outputs of lane l and either ends its fit or sets the next trial.
func (t *solver) advance(c *Worker, l int, v *lane) {
	v.nfev++
	gramMatrix(t.gram, c.outputs[1:t.n+1], c.outputs[0], l)
	cost := t.costOf(c, l)
	switch v.phase {
	case atStart:
		if v.cost = cost; !linalg.Finite(cost) || !t.linearise(v) {
			c.fits.Fail(v.row, v.x, fmt.Errorf("the residual or its derivative is not finite at the start %v: choose another start, or leave the point out", v.x))
			v.busy = false
			return
		}
		v.phase, v.first = trying, v.nfev
		t.findFree(v)
		if v.radius = t.settings.FirstStep * v.scaledSize(); v.radius == 0 || !linalg.Finite(v.radius) {
			v.radius = t.settings.FirstStep
		}
		t.propose(c, l, v, true)
	case trying:
		t.judge(c, l, v, cost)
	case polishing:
		t.judgePolish(c, l, v, cost)
	}
}

// judge accepts or rejects the trial as the method LM does.
func (t *solver) judge(c *Worker, l int, v *lane, cost float64) {
	actual := marquardt.CostFarUp
	if linalg.Finite(cost) && cost < 100*v.cost {
		actual = 1 - cost/v.cost
	}
	ratio := 0.0
	if v.predicted > 0 {
		ratio = actual / v.predicted
	}
	v.radius, v.par = marquardt.AdaptRadius(v.radius, v.par, actual, ratio, v.slope, v.length)
	accepted := ratio > 1e-4
	if accepted && !t.accept(v, cost) {
		t.finish(c, l, v, marquardt.Stuck)
		return
	}
	size := v.scaledSize()
	if end := marquardt.Settled(t.settings.FTol, t.settings.XTol, actual, v.full, ratio, v.radius, size); end != marquardt.None {
		t.converged(c, l, v, end)
		return
	}
	if accepted {
		t.findFree(v)
	}
	t.propose(c, l, v, accepted)
}

// accept moves to the trial. It returns false where the derivative is not finite.
func (t *solver) accept(v *lane, cost float64) bool {
	v.x, v.trial = v.trial, v.x
	v.cost = cost
	return t.linearise(v)
}

// propose ends the fit where the gradient is small or the evaluations are used up;
// otherwise it sets the next trial. atX says that the outputs are those of x.
func (t *solver) propose(c *Worker, l int, v *lane, atX bool) {
	if slope := v.cosine(); slope < t.settings.GTol || slope == 0 {
		t.converged(c, l, v, marquardt.GradientSmall)
		return
	}
	if v.nfev >= t.settings.MaxEvaluations {
		t.finish(c, l, v, marquardt.MaxEvaluations)
		return
	}
	for grows := v.nfev == v.first; ; {
		t.solve(v, 0)
		if atX && t.smallestPivot < leastPivot && !v.orthogonal {
			t.factorJacobian(c, l, v)
			t.solve(v, 0)
		}
		v.full = -linalg.Dot(v.g, v.y) / (2 * v.cost)
		v.par = t.within(v, v.radius, v.par)
		t.keepInBounds(v)
		v.length = linalg.Norm(v.y)
		t.predict(v)
		if grows = grows && v.par > 0 && v.predicted < marquardt.Visible && v.full > marquardt.Visible; grows {
			v.radius *= marquardt.Grow
			continue
		}
		if v.predicted > 0 {
			break
		}
		// Bounds spoil the step, or rounding does: a shorter one leads downhill.
		if v.radius = 0.25 * min(v.radius, v.length); !(v.radius > 0x1p-52*v.scaledSize()) {
			t.converged(c, l, v, marquardt.StepSmall)
			return
		}
	}
	if v.nfev == v.first {
		v.radius = min(v.radius, v.length)
	}
	for k := range v.y {
		v.trial[k] = t.moved(v, k)
	}
	c.setParameters(l, v.trial)
}

// predict sets the relative decrease and slope that the model predicts for the step.
func (t *solver) predict(v *lane) {
	n := len(v.y)
	slope, curve := linalg.Dot(v.g, v.y), 0.0
	for i, y := range v.y {
		curve += y * linalg.Dot(v.h[i*n:(i+1)*n], v.y)
	}
	v.predicted = -(slope + curve/2) / v.cost
	v.slope = slope / (2 * v.cost)
}

// finish stores the fit and frees the lane.
func (t *solver) finish(c *Worker, l int, v *lane, end marquardt.Status) {
	v.status, v.busy = end, false
	c.store(v)
}
