// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package optim

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/euryale-dev/euryale/internal/linalg"
	"github.com/euryale-dev/euryale/optim/internal/marquardt"
)

// iterate is a fit in progress: the point and what all methods share.
type iterate struct {
	p    *Problem
	s    Settings
	m, n int
	// rows is the number of residuals that the m stand for.
	rows int

	x, xNew []float64
	// begin is the start before it was moved off the bounds, nil without bounds.
	begin []float64
	// f and fNew are the residuals at x and xNew.
	f, fNew []float64
	// fw are the residuals weighted by the loss.
	fw []float64
	// weights are the weights of the rows, nil for least squares.
	weights []float64
	cost    float64
	// grad is the gradient of the cost.
	grad []float64
	// column holds the norms of the columns of the weighted Jacobian.
	column []float64
	// longest holds the largest norms of the columns so far.
	longest []float64
	// scale holds the scales of the parameters: longest, 1 for a column of zeros, or
	// 1/XScale.
	scale []float64
	model model

	nfev, njev, steps int
	// past holds the cost before each trial of the current run, if it has a patience.
	past []float64

	// d is what a scaled step is multiplied by.
	d []float64
	// diagH is the curvature that the bounds add to the scaled problem.
	diagH []float64
	// gh is the scaled gradient.
	gh []float64
	// distance is the distance to the bound that the gradient points at.
	distance []float64
	// step and stepH are the step and the scaled step.
	step, stepH []float64
	scratch     [3][]float64
	images      [2][]float64
	// lent is the memory of what no result needs, see Problem.lend.
	lent []float64
}

// model is the weighted Jacobian at a point as trust regions see it, its columns
// multiplied by d.
type model interface {
	// update evaluates the Jacobian at x and sets grad and column.
	update() error
	// factor prepares for steps with d and diagH as they are now.
	factor()
	// region sets stepH to a minimiser of at most radius; par is a guess of its
	// multiplier, the result is the multiplier.
	region(radius, par float64) float64
	// image fills dst with a vector whose inner products are those of J d h.
	image(dst, h []float64)
	// imageSize is the length of images.
	imageSize() int
}

func newIterate(p *Problem, s Settings) *iterate {
	m, n := p.M, p.N
	w := &iterate{p: p, s: s, m: m, n: n, rows: m}
	result, need := 3*n+2*m, 12*n+2*m
	if s.Solver == Exact {
		result, need = result+m*n, need+denseFloats(m, n)
	}
	w.lent = p.lend(need)
	kept, mem := linalg.NewArena(result), linalg.ArenaOf(w.lent)
	for _, v := range []*[]float64{&w.x, &w.xNew, &w.grad} {
		*v = kept.Floats(n)
	}
	for _, v := range []*[]float64{&w.column, &w.longest, &w.scale, &w.d, &w.diagH, &w.gh, &w.distance, &w.step, &w.stepH, &w.scratch[0], &w.scratch[1], &w.scratch[2]} {
		*v = mem.Floats(n)
	}
	copy(w.x, p.Start)
	w.f, w.fNew, w.fw = kept.Floats(m), kept.Floats(m), mem.Floats(m)
	if !s.Loss.plain() {
		w.weights = mem.Floats(m)
	}
	if s.Solver == LSMR {
		w.model = newOperator(w)
	} else {
		w.model = newDense(w, kept.Floats(m*n), mem)
	}
	return w
}

// lend returns need zeros for a fit. Those for a graph are kept when the fit is over, for the next one.
func (p *Problem) lend(need int) []float64 {
	if p.data == nil || len(p.data.scratch) < need {
		return make([]float64, need)
	}
	out := p.data.scratch[:need]
	p.data.scratch = nil
	clear(out)
	return out
}

// keep takes back what a finished fit was lent. A Jacobian that is not stored still needs it.
func (p *Problem) keep(w *iterate) {
	if _, stored := w.model.(*dense); stored && p.data != nil {
		p.data.scratch = w.lent
	}
}

// start evaluates the residual and the Jacobian at the start.
func (w *iterate) start() error {
	if w.p.bounded() && !methods[w.s.Method].on {
		w.begin = slices.Clone(w.x)
		w.inside(w.x, 1e-10)
	}
	if err := w.residual(w.f, w.x); err != nil {
		return fmt.Errorf("optim: the residual failed at the start: %w", err)
	}
	for i, v := range w.f {
		if !linalg.Finite(v) {
			return fmt.Errorf("optim: residual %d is %g at the start %v: choose another start, or leave the point out", i, v, w.x[:min(w.n, 20)])
		}
	}
	if w.cost = w.costOf(w.f); !linalg.Finite(w.cost) {
		return fmt.Errorf("optim: the sum of the squares of the residuals overflows at the start %v, where the largest residual is %.3g: divide the data and their errors by a common factor, or choose another start", w.x[:min(w.n, 20)], linalg.MaxAbs(w.f))
	}
	return w.linearise()
}

func (w *iterate) residual(r, x []float64) error {
	w.nfev++
	return w.p.Residual(r, x)
}

// costOf is the cost of residuals; the loss leaves priors alone.
func (w *iterate) costOf(f []float64) float64 {
	k := w.m - w.p.extra
	return w.s.Loss.cost(f[:k], w.s.LossScale) + linalg.Dot(f[k:], f[k:])/2
}

// weigh sets the weighted residuals and the weights of the rows.
func (w *iterate) weigh() {
	copy(w.fw, w.f)
	if w.weights == nil {
		return
	}
	k := w.m - w.p.extra
	w.s.Loss.weigh(w.weights[:k], w.fw[:k], w.s.LossScale)
	for i := k; i < w.m; i++ {
		w.weights[i] = 1
	}
}

// linearise computes the Jacobian, the gradient and the scales at x.
func (w *iterate) linearise() error {
	w.njev++
	w.weigh()
	if err := w.model.update(); err != nil {
		return fmt.Errorf("optim: the Jacobian failed: %w", err)
	}
	for k, c := range w.column {
		if !linalg.Finite(c) || !linalg.Finite(w.grad[k]) {
			return fmt.Errorf("optim: the derivative with respect to %s is not finite at %v: choose another start, or bound the parameter", w.p.name(k), w.x[:min(w.n, 20)])
		}
		w.longest[k] = max(w.longest[k], c)
	}
	w.setScales()
	return nil
}

// setScales sets the scales of the parameters from the longest columns.
func (w *iterate) setScales() {
	for k, c := range w.longest {
		w.scale[k] = orDefault(c, 1)
		if w.s.XScale != nil {
			w.scale[k] = 1 / w.s.XScale[k]
		}
	}
}

// advance makes the tried point the current one and linearises there. It stays where it was, and returns false, if the model has no derivatives at the
// tried point, as 0^x has none for a small x.
func (w *iterate) advance(cost float64) bool {
	before := w.cost
	w.x, w.xNew, w.f, w.fNew, w.cost = w.xNew, w.x, w.fNew, w.f, cost
	if w.linearise() != nil {
		w.x, w.xNew, w.f, w.fNew, w.cost = w.xNew, w.x, w.fNew, w.f, before
		_ = w.linearise() // which it has done before
		return false
	}
	w.steps++
	if w.s.Progress != nil {
		w.s.Progress(Progress{Step: w.steps, NFev: w.nfev, Cost: cost, X: w.x})
	}
	return true
}

// over reports an end that no step can change.
func (w *iterate) over(ctx context.Context) (Status, bool) {
	switch {
	case ctx.Err() != nil:
		return Interrupted, true
	case w.outOfPatience():
		return CostSettled, true
	}
	return MaxEvaluations, w.nfev >= w.s.MaxEvaluations
}

// outOfPatience reports whether as many trials as the patience says have lowered the cost by less than FTol of itself.
func (w *iterate) outOfPatience() bool {
	if w.s.Patience == 0 {
		return false
	}
	w.past = append(w.past, w.cost)
	before := len(w.past) - 1 - w.s.Patience
	return before >= 0 && w.past[before]-w.cost < w.s.FTol*w.cost
}

// tried evaluates the cost at xNew; false where it is not finite.
func (w *iterate) tried() (float64, bool) {
	err := w.residual(w.fNew, w.xNew)
	cost := w.costOf(w.fNew)
	return cost, err == nil && linalg.Finite(cost)
}

// slope is the largest cosine between the residuals and a column of the
// Jacobian, which no unit changes; a parameter whose way down ends at a bound
// counts by how much of the residuals that way could remove. Held parameters do
// not count.
func (w *iterate) slope(held []bool) float64 {
	size := linalg.Norm(w.fw)
	if size == 0 {
		return 0
	}
	worst := 0.0
	for i, g := range w.grad {
		if w.column[i] == 0 || held != nil && held[i] {
			continue
		}
		c := math.Abs(g) / w.column[i] / size
		if w.diagH[i] != 0 { // a bound ahead
			c *= min(1, w.distance[i]*w.column[i]/size)
		}
		worst = max(worst, c)
	}
	return worst
}

// firstRadius is the length of the scaled start.
func (w *iterate) firstRadius() float64 {
	x := w.x
	if w.begin != nil {
		x = w.begin // where all parameters start at a bound of 0, the distance to it says nothing about their size
	}
	for i := range x {
		w.step[i] = x[i] / w.d[i]
	}
	r := w.s.FirstStep * linalg.Norm(w.step)
	if r == 0 || !linalg.Finite(r) {
		r = w.s.FirstStep
	}
	return r
}

// tooSmall reports whether a first step would barely lower the cost only because the region cuts it: gnorm
// is the slope at the start.
func (w *iterate) tooSmall(predicted, gnorm float64, cut bool) bool {
	return cut && predicted < marquardt.Visible*w.cost && gnorm*gnorm > marquardt.Visible
}

// ended applies FTol and XTol to a step that changed the cost by actual, ratio
// of what the model predicted. A step that the region cut says nothing about the cost at the
// minimum.
func (w *iterate) ended(actual, ratio float64, cut bool) Status {
	settled := actual < w.s.FTol*w.cost && ratio > 0.25 && !cut
	small := w.shortStep(cut)
	switch {
	case settled && small:
		return BothSettled
	case settled:
		return CostSettled
	case small:
		return StepSmall
	}
	return marquardt.None
}

// shortStep reports whether the step moves each parameter by less than XTol of its value, or
// by what changes the residuals by less than XTol of their length, unless the region cut it.
func (w *iterate) shortStep(cut bool) bool {
	size := linalg.Norm(w.fw)
	for i, s := range w.step {
		if s = math.Abs(s); !(s <= w.s.XTol*math.Abs(w.x[i]) || !cut && s*w.column[i] <= w.s.XTol*size) {
			return false
		}
	}
	return true
}
