// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package batch

import (
	"math"

	"github.com/euryale-dev/euryale/internal/linalg"
	"github.com/euryale-dev/euryale/optim/internal/marquardt"
)

// lane is one fit in progress: Levenberg-Marquardt on normal equations, scaled like those
// of the method LM.
type lane struct {
	// busy is false in a lane without a row; row is the number of the row.
	busy  bool
	row   int
	phase phase
	// points is the number of residuals whose weight is not 0.
	points int

	// x holds the parameters, and trial those that are evaluated next.
	x, trial []float64
	// longest holds the largest norms so far of the columns of the Jacobian, and scale
	// their inverses, 1 for a column of zeros.
	longest, scale []float64
	// h and g are the normal equations at x: D J^T J D and D J^T f with D = diag(scale).
	h, g []float64
	// column holds the norms of the scaled columns at x.
	column []float64
	// y is the scaled step.
	y []float64
	// free marks the parameters that no bound stops.
	free []bool

	// orthogonal is true where h has lost the digits that the step needs. Then r is the
	// triangular factor R of J D, and qtf is Q^T f.
	orthogonal bool
	r, qtf     []float64

	// cost is the cost at x, and size is |f|.
	cost, size float64
	// radius is that of the trust region, and par the multiplier of the last step.
	radius, par float64
	// predicted is the relative decrease of the cost that the model predicts for the step,
	// full that for the step without the trust region, slope the relative slope of the cost
	// along the step, and length the norm of y.
	predicted, full, slope, length float64
	// lastPolish is the length of the last polishing step, and polishSteps counts them.
	lastPolish  float64
	polishSteps int
	// nfev counts the evaluations, of which the one numbered first was that of the start.
	nfev, first int
	// restarts counts how often the fit has begun again, the last time at the cost lastCost.
	restarts int
	lastCost float64
	status   marquardt.Status
}

// phase says what the next outputs of a lane are.
type phase uint8

const (
	// atStart is the phase before the start has been evaluated.
	atStart phase = iota
	// trying is the phase in which the outputs are those of a step to judge.
	trying
	// polishing is the phase after convergence, of Gauss-Newton steps.
	polishing
)

// laneFloats is the number of floats in a lane of n parameters.
func laneFloats(n int) int { return 2*n*n + 9*n }

func newLane(n int, mem *linalg.Arena) lane {
	v := lane{free: make([]bool, n)}
	for _, p := range []*[]float64{&v.x, &v.trial, &v.longest, &v.scale, &v.g, &v.column, &v.y, &v.qtf} {
		*p = mem.Floats(n)
	}
	v.h, v.r = mem.Floats(n*n), mem.Floats(n*n)
	return v
}

// reset makes a lane one of the given row.
func (v *lane) reset(row, points int) {
	v.busy, v.row, v.points, v.phase = true, row, points, atStart
	v.orthogonal, v.par, v.radius, v.nfev, v.polishSteps, v.restarts, v.status = false, 0, 0, 0, 0, 0, marquardt.None
	clear(v.longest)
}

// scaledSize is the norm of the scaled parameters.
func (v *lane) scaledSize() float64 {
	s := 0.0
	for k, x := range v.x {
		u := x / v.scale[k]
		s += u * u
	}
	return math.Sqrt(s)
}

// cosine is the largest cosine of the angle between the residuals and a free column.
func (v *lane) cosine() float64 {
	worst := 0.0
	for k, g := range v.g {
		if v.column[k] > 0 && v.free[k] && v.size > 0 {
			worst = max(worst, math.Abs(g)/(v.column[k]*v.size))
		}
	}
	return worst
}
