// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package batch

import (
	"math"

	"github.com/euryale-dev/euryale/internal/linalg"
	"github.com/euryale-dev/euryale/optim/internal/marquardt"
)

// mostRestarts is how often a fit that ended too early begins again.
const mostRestarts = 5

// end ends a fit that calls itself converged. Where the model at x says that the cost can still fall, the fit begins again
// there, with a new trust region and the scales of that point; where it has done so in vain, it is Stuck.
func (t *solver) end(c *Worker, l int, v *lane) {
	left := t.ahead(v)
	switch {
	case left <= 10*t.settings.FTol:
		t.finish(c, l, v, v.status)
	case v.restarts == mostRestarts || v.restarts > 0 && v.cost > v.lastCost*(1-1e-3):
		if marquardt.Unfinished(left, v.points-t.n) {
			v.status = marquardt.Stuck
		}
		t.finish(c, l, v, v.status)
	default:
		v.restarts++
		v.lastCost, v.phase, v.par, v.polishSteps, v.orthogonal = v.cost, atStart, 0, 0, false
		clear(v.longest)
		c.setParameters(l, v.x)
	}
}

// ahead returns the relative decrease of the cost that a Gauss-Newton step of the free parameters at x predicts, or along the
// best single parameter where that step leaves the bounds or cannot be computed. It is 0 where the step is no more than rounding.
func (t *solver) ahead(v *lane) float64 {
	if v.cost == 0 {
		return 0
	}
	t.findFree(v)
	t.gaussNewton(v)
	negligible, inside, reach := true, linalg.Norm(v.y) > 0 && linalg.AllFinite(v.y), 0.0
	for k, y := range v.y {
		step := v.scale[k] * y
		negligible = negligible && math.Abs(step) <= 1e-8*math.Abs(v.x[k])
		inside = inside && v.x[k]+step == t.clipped(k, v.x[k]+step)
		reach = max(reach, math.Abs(v.x[k])/v.scale[k]*v.column[k])
	}
	c := v.cosine()
	left := c * c
	if inside {
		if negligible {
			return 0
		}
		left = -linalg.Dot(v.g, v.y) / (2 * v.cost)
	}
	if math.Sqrt(max(left, 0))*v.size <= 1e3*0x1p-52*reach {
		return 0
	}
	return left
}
