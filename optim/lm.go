// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package optim

import (
	"context"
	"math"

	"github.com/euryale-dev/euryale/internal/linalg"
	"github.com/euryale-dev/euryale/optim/internal/marquardt"
)

// levenberg is an iteration of LM in progress.
type levenberg struct {
	*iterate
	d           *dense
	t           *linalg.Damped
	bend        *geodesic
	par, radius float64
	// first is true until a step has been tried.
	first bool
}

// LM is the method of Levenberg and Marquardt (Moré, Lecture Notes in Mathematics 630, 1978). It takes no bounds.
const LM Method = "lm"

func init() { methods[LM] = method{run: (*iterate).marquardt} }

// marquardt runs the Levenberg-Marquardt iteration of Moré (Lecture Notes in
// Mathematics 630, 1978): the region is an ellipsoid of the longest columns so
// far, a step that lowers the cost by more than 1e-4 of the prediction is taken.
func (w *iterate) marquardt(ctx context.Context) Status {
	l := &levenberg{iterate: w, d: w.model.(*dense), first: true}
	l.t = linalg.NewDamped(l.d.q)
	l.bend = w.newGeodesic(l.d, l.t)
	w.setInverseScales()
	l.radius = w.firstRadius()
	for {
		w.setInverseScales()
		if gnorm := w.slope(nil); gnorm < w.s.GTol || gnorm == 0 {
			return GradientSmall
		}
		l.d.scaled()
		for accepted := false; !accepted; {
			if end, is := w.over(ctx); is {
				return end
			}
			var end Status
			if accepted, end = l.try(); end != marquardt.None {
				return end
			}
		}
	}
}

// try finds a step, evaluates and judges it.
func (l *levenberg) try() (accepted bool, end Status) {
	w := l.iterate
	full := w.relative(linalg.Dot(l.d.b[:l.d.q.Rank], l.d.b[:l.d.q.Rank]))
	l.par = l.t.Within(w.stepH, l.d.b, l.radius, l.par)
	length := linalg.Norm(w.stepH)
	predicted, slope := w.expected(l.d, l.par, length)
	if l.first {
		if l.par > 0 && predicted < marquardt.Visible && full > marquardt.Visible {
			l.radius *= marquardt.Grow
			return false, marquardt.None
		}
		l.radius, l.first = min(l.radius, length), false
	}
	for i, h := range w.stepH {
		w.step[i] = w.d[i] * h
	}
	if !l.bend.follow(l.par, length) {
		if l.radius, l.par = l.radius/2, l.par*2; l.radius < 1e-300 {
			return false, Stuck
		}
		return false, marquardt.None
	}
	for i := range w.x {
		w.xNew[i] = w.x[i] + w.step[i]
	}
	cost, ok := w.tried()
	actual, ratio := marquardt.CostFarUp, 0.0
	if ok && cost < 100*w.cost {
		actual = 1 - cost/w.cost
	}
	if predicted > 0 {
		ratio = actual / predicted
	}
	l.radius, l.par = marquardt.AdaptRadius(l.radius, l.par, actual, ratio, slope, length)
	if accepted = ratio > 1e-4; accepted && !w.advance(cost) {
		if l.radius, l.par = length/4, l.par*4; l.radius < 1e-300 || length < 1e-17*linalg.Norm(w.x) {
			return true, Stuck
		}
		return true, marquardt.None // with the same Jacobian, factored again
	}
	return accepted, w.endedMarquardt(actual, full, ratio, l.radius)
}

// setInverseScales sets d to the inverse scales.
func (w *iterate) setInverseScales() {
	for i, s := range w.scale {
		w.d[i] = 1 / s
	}
}

// expected returns the relative decrease of the cost that the model predicts for
// stepH, and the relative slope of the cost along it.
func (w *iterate) expected(d *dense, par, length float64) (predicted, slope float64) {
	d.image(d.work[:w.n], w.stepH)
	size := linalg.Norm(w.fw)
	a := linalg.Norm(d.work[:w.n]) / size
	b := math.Sqrt(par) * length / size
	scale := size * size / (2 * w.cost) // 1 but for robust losses
	return (a*a + 2*b*b) * scale, -(a*a + b*b) * scale
}

// relative returns the decrease of a sum of weighted squares relative to the cost.
func (w *iterate) relative(squares float64) float64 { return squares / (2 * w.cost) }

// endedMarquardt applies FTol and XTol, and ends where rounding leaves nothing to
// gain.
func (w *iterate) endedMarquardt(actual, full, ratio, radius float64) Status {
	for i, x := range w.x {
		w.scratch[0][i] = x * w.scale[i]
	}
	return marquardt.Settled(w.s.FTol, w.s.XTol, actual, full, ratio, radius, linalg.Norm(w.scratch[0]))
}
