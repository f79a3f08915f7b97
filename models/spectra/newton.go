// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package spectra

import (
	"math"
	"slices"

	"github.com/euryale-dev/euryale/internal/linalg"
)

// quadratic is an objective at a point: value, gradient and Hessian of the smooth part, and value and
// gradient of a penalty, which is the square of a distance beyond planes.
type quadratic struct {
	f       float64
	g, h    []float64
	penalty float64
	slope   []float64 // of the penalty
}

func (q *quadratic) total() float64 { return q.f + q.penalty }

// wall is a plane beyond which there is a penalty: the square of slope . x - offset, where that is above 0.
type wall struct {
	slope  []float64
	offset float64
}

// wall returns the plane that the penalty comes from.
func (q *quadratic) wall(at []float64) wall {
	root := math.Sqrt(q.penalty)
	w := wall{slope: make([]float64, len(at)), offset: -root}
	for k, g := range q.slope {
		w.slope[k] = g / (2 * root)
		w.offset += w.slope[k] * at[k]
	}
	return w
}

// beyond returns how far a point is beyond the plane, at least 0.
func (w *wall) beyond(x []float64) float64 {
	d := -w.offset
	for k, s := range w.slope {
		d += s * x[k]
	}
	return max(0, d)
}

func (q *quadratic) finite() bool {
	sum := q.f + q.penalty
	for _, x := range q.g {
		sum += x
	}
	for _, x := range q.slope {
		sum += x
	}
	for _, x := range q.h {
		sum += x
	}
	return !math.IsNaN(sum) && !math.IsInf(sum, 0)
}

// Settings of the search.
const (
	// nearEnough is the square of the distance from the minimum, in standard deviations, at which a search
	// ends.
	nearEnough = 1e-6
	mostSteps  = 100
	// visible is a fall of -2 log L that matters: a tenth of a standard deviation.
	visible = 0.01
	// roundingOf32 is descent.rounding of a program of float32, whose sums are exact to that.
	roundingOf32 = 1e-7
	// highestDamping is the damping at which steps are too short to matter.
	highestDamping = 1e9
)

// descent looks for the minimum of an objective, -2 log L, within bounds: damped Newton steps on the
// parameters that no bound holds (Levenberg-Marquardt with an active set). It asks for one evaluation at a
// time, so that many run side by side.
type descent struct {
	lower, upper []float64
	fixed        []bool
	least        []float64 // curvature along each parameter that damping takes for the least
	// rough says that penalties are not squares of distances beyond planes, and that the objective may jump
	// where they begin. Their walls would stand in wrong places: only that of the best point counts.
	rough bool
	// rounding is the fall of the objective, as part of it, that rounding hides.
	rounding float64
	// resting says that the parameter without a slope at its lower bound stays there.
	resting bool

	at      []float64 // best so far
	best    quadratic
	trial   []float64 // to be evaluated next
	expects float64   // fall that the quadratic model foresees for the trial
	damping float64
	walls   []wall // that were met
	steps   int
	begun   bool
	status  searchStatus
}

type searchStatus int

const (
	searching searchStatus = iota
	minimum
	// kink is a point from which no step leads down although the gradient is not 0: a corner of a surface
	// that is only piecewise smooth.
	kink
	// edge is a point like a kink at the edge of a hole of the library.
	edge
	tooManySteps
	notFinite
)

func newDescent(start, lower, upper, least []float64, fixed []bool) *descent {
	d := &descent{lower: lower, upper: upper, least: least, fixed: fixed, damping: 1e-3, rounding: 1e-9, trial: slices.Clone(start)}
	for k := range d.trial { // NaN stays
		d.trial[k] = min(max(d.trial[k], lower[k]), upper[k])
	}
	return d
}

// take takes the evaluation of the trial, and sets the next trial or a status.
func (d *descent) take(q quadratic) {
	ok := q.finite()
	if ok && q.penalty > 0 && !d.rough {
		d.meet(q.wall(d.trial))
	}
	switch {
	case !d.begun && !ok:
		d.at, d.best, d.status = slices.Clone(d.trial), q, notFinite
		return
	case !d.begun:
		d.begun = true
		d.keep(q)
	case ok && q.total() < d.best.total():
		ratio := (d.best.total() - q.total()) / d.expects
		d.keep(q)
		switch {
		case ratio > 0.75:
			d.damping = max(d.damping/10, 1e-12)
		case ratio < 0.25:
			d.damping *= 3
		}
	default:
		// No better than rounding allows.
		if ok && d.expects < d.rounding*math.Max(1, math.Abs(d.best.total())) {
			d.status = d.ended(q)
			return
		}
		d.damping = max(10*d.damping, 1e-6)
	}
	if d.steps++; d.steps > mostSteps {
		d.status = tooManySteps
		return
	}
	d.propose()
}

// ended returns the status of a search whose last step, to q, was too short to matter.
func (d *descent) ended(q quadratic) searchStatus {
	if !d.rough {
		return minimum
	}
	// Only damping may have made it short.
	switch _, fall := d.step(0); {
	case !(fall > visible):
		return minimum
	case q.penalty > 0 && d.best.penalty == 0:
		return edge
	}
	return kink
}

func (d *descent) keep(q quadratic) {
	d.at = slices.Clone(d.trial)
	d.best = quadratic{q.f, slices.Clone(q.g), slices.Clone(q.h), q.penalty, slices.Clone(q.slope)}
	if d.rough {
		d.walls = nil
		if q.penalty > 0 {
			d.walls = []wall{q.wall(d.at)}
		}
	}
}

// mostWalls bounds what is remembered of the walls.
const mostWalls = 8

// meet remembers a wall, in place of one that is almost the same, or of the oldest.
func (d *descent) meet(w wall) {
	for i, o := range d.walls {
		dot, a, b := 0.0, 0.0, 0.0
		for k := range w.slope {
			scale := 1 / math.Max(d.scale(k), 1e-300)
			dot, a, b = dot+w.slope[k]*o.slope[k]*scale, a+w.slope[k]*w.slope[k]*scale, b+o.slope[k]*o.slope[k]*scale
		}
		if dot*dot > 0.99*a*b {
			d.walls = slices.Delete(d.walls, i, i+1)
			break
		}
	}
	if len(d.walls) == mostWalls {
		d.walls = slices.Delete(d.walls, 0, 1)
	}
	d.walls = append(d.walls, w)
}

// scale returns the curvature along a parameter.
func (d *descent) scale(k int) float64 {
	if !d.begun {
		return 1
	}
	return math.Abs(d.best.h[k*len(d.at)+k])
}

// propose sets the next trial.
func (d *descent) propose() {
	if newton, fall := d.step(0); newton != nil && fall < nearEnough {
		d.status = minimum
		return
	}
	for ; d.damping < highestDamping; d.damping *= 10 {
		step, fall := d.step(d.damping)
		if step == nil {
			continue
		}
		moved := false
		for k := range step {
			d.trial[k] = d.at[k] + step[k]
			moved = moved || d.trial[k] != d.at[k]
		}
		if d.expects = fall; !moved || !(fall > 0) {
			break
		}
		return
	}
	d.status = kink
	if d.damping < highestDamping {
		d.status = minimum
	}
}

// slope returns the gradient of the objective, with that of its penalty.
func (d *descent) slope(k int) float64 { return d.best.g[k] + d.best.slope[k] }

// free returns the parameters that are neither fixed nor held by a bound.
func (d *descent) free() (list []int) {
	for k := range d.at {
		held := d.at[k] <= d.lower[k] && (d.slope(k) > 0 || d.resting && d.slope(k) == 0) || d.at[k] >= d.upper[k] && d.slope(k) < 0
		if !d.fixed[k] && !held {
			list = append(list, k)
		}
	}
	return list
}

// step returns the step to the minimum of the damped model within the bounds, and how far the model itself
// falls; nil if the model has no minimum. The model is the quadratic one of the smooth part, and the walls
// that its minimum is beyond.
func (d *descent) step(damping float64) (step []float64, fall float64) {
	up := make([]bool, len(d.walls))
	x := make([]float64, len(d.at))
	for range 2*len(d.walls) + 1 {
		if step = d.within(damping, up); step == nil {
			return nil, 0
		}
		for k := range x {
			x[k] = d.at[k] + step[k]
		}
		same := true
		for i := range d.walls {
			now := d.walls[i].beyond(x) > 0
			same, up[i] = same && now == up[i], now
		}
		if same {
			break
		}
	}
	return step, d.model(d.at) - d.model(x)
}

// model returns the model at a point, without damping, up to a constant.
func (d *descent) model(x []float64) (f float64) {
	n := len(x)
	for k := range n {
		f += d.best.g[k] * (x[k] - d.at[k])
		for l := range n {
			f += 0.5 * (x[k] - d.at[k]) * d.best.h[k*n+l] * (x[l] - d.at[l])
		}
	}
	for i := range d.walls {
		b := d.walls[i].beyond(x)
		f += b * b
	}
	return f
}

// within returns the step to the minimum of the damped quadratic model with some walls, within the bounds.
func (d *descent) within(damping float64, up []bool) []float64 {
	n := len(d.at)
	g, h := slices.Clone(d.best.g), slices.Clone(d.best.h)
	for i, w := range d.walls {
		if !up[i] {
			continue
		}
		beyond := -w.offset
		for k, s := range w.slope {
			beyond += s * d.at[k]
		}
		for k, s := range w.slope {
			g[k] += 2 * beyond * s
			for l, o := range w.slope {
				h[k*n+l] += 2 * s * o
			}
		}
	}
	step := make([]float64, n)
	free := d.free()
	for len(free) > 0 {
		m := len(free)
		a, b := make([]float64, m*m), make([]float64, m)
		for i, k := range free {
			b[i] = -g[k]
			for c := range n { // of those that a bound has stopped
				if step[c] != 0 && !slices.Contains(free, c) {
					b[i] -= h[k*n+c] * step[c]
				}
			}
			for j, l := range free {
				a[i*m+j] = h[k*n+l]
			}
			scale := math.Max(d.best.h[k*n+k], d.least[k])
			if d.rough {
				scale = math.Max(scale, h[k*n+k]) // which may be all there is
			}
			a[i*m+i] += damping * scale
		}
		if row, _ := linalg.Cholesky(a, m); row >= 0 {
			return nil
		}
		linalg.SolveCholesky(a, b)
		// The first bound in the way stops its parameter; the others go on without it.
		first, share := -1, 1.0
		for i, k := range free {
			x := d.at[k] + b[i]
			if bound := min(max(x, d.lower[k]), d.upper[k]); bound != x {
				if s := (bound - d.at[k]) / b[i]; s < share {
					first, share = i, s
				}
			}
		}
		if first < 0 {
			for i, k := range free {
				step[k] = b[i]
			}
			break
		}
		k := free[first]
		step[k] = d.upper[k] - d.at[k]
		if b[first] < 0 {
			step[k] = d.lower[k] - d.at[k]
		}
		free = slices.Delete(free, first, first+1)
	}
	return step
}
