// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package batch

import (
	"math"

	"github.com/euryale-dev/euryale/internal/linalg"
	"github.com/euryale-dev/euryale/optim/internal/marquardt"
)

// converged begins to polish, or ends the fit.
func (t *solver) converged(c *Worker, l int, v *lane, end marquardt.Status) {
	v.status = end
	if t.settings.NoPolish || v.cost == 0 {
		t.end(c, l, v)
		return
	}
	t.findFree(v)
	v.phase, v.lastPolish = polishing, math.Inf(1)
	t.polish(c, l, v)
}

// polish sets a Gauss-Newton step as the next trial. Where the rate of the last two steps
// says that nothing would be left to gain after it, the step is taken without a trial.
func (t *solver) polish(c *Worker, l int, v *lane) {
	before := v.length
	t.gaussNewton(v)
	v.length = linalg.Norm(v.y)
	rate := min(1, v.length/before)
	size, inside := 0.0, linalg.AllFinite(v.y)
	for k, y := range v.y {
		x := v.x[k] + v.scale[k]*y
		size = max(size, math.Abs(v.scale[k]*y)/max(math.Abs(v.x[k]), 1e-300))
		inside = inside && x == t.clipped(k, x)
		v.trial[k] = x
	}
	switch {
	case !inside || size < 1e-15 || v.length >= v.lastPolish || size > 1e-2 || v.polishSteps >= 10:
		t.end(c, l, v)
	case size*rate < 1e-10 && size < 1e-5:
		t.predict(v)
		copy(v.x, v.trial)
		v.cost *= 1 - max(0, v.predicted)
		t.finish(c, l, v, v.status)
	default:
		v.lastPolish = v.length
		v.polishSteps++
		c.setParameters(l, v.trial)
	}
}

// judgePolish accepts a polishing step that does not raise the cost.
func (t *solver) judgePolish(c *Worker, l int, v *lane, cost float64) {
	if !(cost <= v.cost*(1+1e-11)) {
		t.end(c, l, v)
		return
	}
	if !t.accept(v, cost) {
		t.finish(c, l, v, marquardt.Stuck)
		return
	}
	t.findFree(v)
	if t.factor(v, 0); t.smallestPivot < leastPivot {
		t.factorJacobian(c, l, v)
	}
	t.polish(c, l, v)
}
