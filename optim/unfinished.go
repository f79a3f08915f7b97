// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package optim

import (
	"context"
	"math"

	"github.com/euryale-dev/euryale/internal/linalg"
	"github.com/euryale-dev/euryale/optim/internal/marquardt"
)

// mostRestarts is how often a fit that ended too early begins again.
const mostRestarts = 20

// runToMinimum runs the method and tests its promise: a fit that calls itself converged where the linearised model says
// that the cost can still fall begins again there with a new trust region. One that gains nothing by it is Stuck.
func (w *iterate) runToMinimum(ctx context.Context) Status {
	before, cost := 0.0, 0.0
	for restarts := 0; ; restarts++ {
		w.past = w.past[:0]
		status := methods[w.s.Method].run(w, ctx)
		d, ok := w.model.(*dense)
		if ok && !w.s.NoPolish && status.Converged() {
			status = d.polish(status)
		}
		if !status.Converged() {
			return status
		}
		left := w.ahead()
		switch {
		case left <= 10*w.s.FTol:
			return w.alongValley(ctx, status)
		case restarts == mostRestarts || restarts > 0 && left > before/2 && w.cost > cost*(1-1e-3):
			if marquardt.Unfinished(left, w.rows-w.n) {
				return Stuck
			}
			return status
		}
		before, cost = left, w.cost
		w.begin = nil // the region begins anew, with the scales of this point
		copy(w.longest, w.column)
		w.setScales()
	}
}

// Numbers of alongValley: the predicted decrease of the cost, relative to it, that rounding does not hide, and the relative step from which digits of a parameter are missing.
const (
	aboveRounding = 1e-13
	digitsMissing = 1e-7
)

// alongValley goes on without tolerances where the cost has settled and parameters have not: along the floor of a curved valley the cost falls by less than any tolerance
// while parameters move by a part of themselves. It ends as the fit did if nothing comes of it.
func (w *iterate) alongValley(ctx context.Context, status Status) Status {
	d, ok := w.model.(*dense)
	if !ok || w.s.NoPolish || w.cost == 0 || !w.s.Loss.plain() || !w.unsettled(d) {
		return status
	}
	s := w.s
	defer func() { w.s = s }()
	w.s.FTol, w.s.XTol, w.s.GTol = 1e-15, 1e-15, 1e-15
	w.s.MaxEvaluations = min(w.s.MaxEvaluations, w.nfev+valleyEach*w.n)
	w.begin = nil
	copy(w.longest, w.column)
	w.setScales()
	end := methods[w.s.Method].run(w, ctx)
	if end == Interrupted {
		return end
	}
	if end.Converged() {
		d.polish(end)
	}
	return status
}

// valleyEach is the number of evaluations for each parameter that alongValley may take.
const valleyEach = 300

// unsettled reports whether a Gauss-Newton step promises a decrease above rounding and moves a parameter by more than its last digits, which the data
// determine to a part of its value.
func (w *iterate) unsettled(d *dense) bool {
	held := w.pressed()
	clear(d.diagH)
	if !d.gaussNewton(held) || !d.staysInside(held) {
		return false
	}
	gain := linalg.Dot(d.b[:d.q.Rank], d.b[:d.q.Rank]) / (2 * w.cost)
	if !(gain > aboveRounding) {
		return false
	}
	for i, s := range w.step {
		if !held[i] && math.Abs(s) > digitsMissing*math.Abs(w.x[i]) {
			return true
		}
	}
	return false
}

// ahead returns the relative decrease of the cost that the model of the residuals at x still predicts for the free
// parameters: that of a Gauss-Newton step, or where the data leave a direction open or a bound is in the way, that along the best
// single parameter. It is 0 where the step is no more than rounding.
func (w *iterate) ahead() float64 {
	if w.cost == 0 {
		return 0
	}
	held := w.pressed()
	slope := w.slope(held)
	left := slope * slope
	if d, ok := w.model.(*dense); ok {
		clear(d.diagH)
		if d.gaussNewton(held) && d.staysInside(held) {
			if d.negligible() {
				return 0
			}
			b := d.b[:d.q.Rank]
			left = w.relative(linalg.Dot(b, b))
		}
	}
	reach := 0.0
	for i, c := range w.column {
		reach = max(reach, c*math.Abs(w.x[i]))
	}
	if math.Sqrt(left)*linalg.Norm(w.fw) <= 1e3*0x1p-52*reach {
		return 0
	}
	return left
}

// staysInside reports whether the step of the parameters that are not held keeps to the bounds.
func (w *iterate) staysInside(held []bool) bool {
	for i, s := range w.step {
		if x := w.x[i] + s; !held[i] && !(x >= w.p.Lower[i] && x <= w.p.Upper[i]) {
			return false
		}
	}
	return true
}

// negligible reports whether the step changes no parameter by more than 1e-8 of its value.
func (w *iterate) negligible() bool {
	for i, s := range w.step {
		if !(math.Abs(s) <= 1e-8*math.Abs(w.x[i])) {
			return false
		}
	}
	return true
}

// pressed marks the parameters that the gradient pushes against a bound, on it or so near that it is the bound that
// stops them.
func (w *iterate) pressed() []bool {
	held := make([]bool, w.n)
	for i, x := range w.x {
		reach := 1e-3 * min(w.p.Upper[i]-w.p.Lower[i], w.size(i))
		// The distance that a step along the gradient would go is the test: a bound well inside it is active.
		downhill := math.Abs(w.grad[i]) / (w.longest[i] * w.longest[i])
		held[i] = w.grad[i] > 0 && x-w.p.Lower[i] < min(reach, 0.1*downhill) || w.grad[i] < 0 && w.p.Upper[i]-x < min(reach, 0.1*downhill)
	}
	return held
}
