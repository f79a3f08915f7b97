// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package optim

import (
	"context"
	"fmt"
	"math"

	"github.com/euryale-dev/euryale/internal/given"
	"github.com/euryale-dev/euryale/internal/linalg"
)

// Rule is a first-order update rule, such as SGD or Adam. The conventions are those of PyTorch, so
// that learning rates carry over.
type Rule interface {
	// update moves x along gradient g with learning rate lr; s is the rule's memory.
	update(s *DescentState, lr float64, x, g []float64)
}

// DescentState is the memory of a first-order descent. Its fields are exported so that any encoder
// can save it; a descent continues from a saved state exactly.
type DescentState struct {
	// Step is the number of updates done.
	Step int
	// Buffers are the vectors that the rule keeps, each as long as x.
	Buffers [][]float64
	// Scalars are the numbers that the rule keeps.
	Scalars []float64
	// Mean is the moving average of the parameters.
	Mean []float64
	// Sum is the sum of the gradients since the last update.
	Sum []float64
	// Summed is the number of gradients in Sum.
	Summed int

	// momentum takes the place of the rule's momentum where a schedule cycles it. NaN: it
	// does not.
	momentum float64
}

// buffer returns memory k, zero at first.
func (s *DescentState) buffer(k, n int) []float64 {
	for len(s.Buffers) <= k {
		s.Buffers = append(s.Buffers, make([]float64, n))
	}
	return s.Buffers[k]
}

// Descent is a first-order descent: a rule, a learning rate that may follow a
// schedule, and limits on the gradient.
type Descent struct {
	Rule Rule
	// LR is the learning rate.
	LR float64
	// Schedule changes the learning rate from step to step. Default: a constant rate.
	Schedule Schedule
	// Accumulate is the number of gradients that are averaged for one update, for batches that do
	// not fit in memory at once. Default 1.
	Accumulate int
	// ClipValue limits the size of every element of the gradient, and ClipNorm limits its Euclidean
	// norm. Default: no limits.
	ClipValue, ClipNorm float64
	// Average keeps an exponential moving average of the parameters, which decays by this factor in
	// each update; Averaged returns it. Default: no average.
	Average float64
	// Progress, if not nil, is called after every update that Descend makes.
	Progress func(Progress)
	State    DescentState

	work []float64
}

// Step moves x against the gradient g, which it does not change. It reports whether x moved, which
// happens once in every Accumulate calls.
func (d *Descent) Step(x, g []float64) bool {
	g, ready := d.accumulated(g)
	if !ready {
		return false
	}
	s := &d.State
	lr := d.LR
	s.momentum = math.NaN()
	if d.Schedule != nil {
		lr, s.momentum = d.Schedule(d.LR, s.Step)
	}
	d.work = append(d.work[:0], g...)
	d.clip(d.work)
	s.Step++
	d.Rule.update(s, lr, x, d.work)
	if d.Average > 0 {
		if s.Mean == nil {
			s.Mean = append([]float64{}, x...)
		}
		for i, v := range x {
			s.Mean[i] = d.Average*s.Mean[i] + (1-d.Average)*v
		}
	}
	return true
}

// accumulated adds g to the gradients waiting and returns their mean when there
// are enough.
func (d *Descent) accumulated(g []float64) ([]float64, bool) {
	if d.Accumulate <= 1 {
		return g, true
	}
	s := &d.State
	if s.Summed == 0 {
		s.Sum = append(s.Sum[:0], g...)
	} else {
		linalg.AddScaled(s.Sum, 1, g)
	}
	if s.Summed++; s.Summed < d.Accumulate {
		return nil, false
	}
	s.Summed = 0
	linalg.Scale(s.Sum, 1/float64(d.Accumulate))
	return s.Sum, true
}

// Averaged returns the moving average of the parameters. It is nil if Average is not set.
func (d *Descent) Averaged() []float64 { return d.State.Mean }

func (d *Descent) clip(g []float64) {
	if c := d.ClipValue; c > 0 {
		for i, v := range g {
			g[i] = min(max(v, -c), c)
		}
	}
	if c := d.ClipNorm; c > 0 {
		if f := c / (linalg.Norm(g) + 1e-6); f < 1 {
			linalg.Scale(g, f)
		}
	}
}

// Descend runs the given number of steps of d on f, starting from x, which it changes. f fills the
// gradient and returns the value. Descend returns the value before the last step. A value that is
// not finite ends the run with an error.
func Descend(ctx context.Context, f func(x, g []float64) float64, x []float64, d *Descent, steps int) (_ float64, err error) {
	defer given.Caught(&err)
	if err := given.Args("optim.Descend", "ctx", ctx, "f", f, "d", d); err != nil {
		return math.NaN(), err
	}
	if d.Rule == nil || !(d.LR > 0) {
		return math.NaN(), fmt.Errorf("optim: the descent has Rule %v and LR %g: set a Rule and a learning rate above 0", d.Rule, d.LR)
	}
	g, value := make([]float64, len(x)), math.NaN()
	for k := range steps {
		if err := ctx.Err(); err != nil {
			return value, err
		}
		if value = f(x, g); math.IsNaN(value) || math.IsInf(value, 0) {
			return value, fmt.Errorf("optim: the value is %g at step %d: lower the learning rate (%g) or clip the gradient", value, k, d.LR)
		}
		if d.Step(x, g) && d.Progress != nil {
			d.Progress(Progress{Step: d.State.Step, NFev: k + 1, Cost: value, X: x})
		}
	}
	return value, nil
}

// momentumOr returns the schedule's momentum if it has one, else own.
func (s *DescentState) momentumOr(own float64) float64 {
	if math.IsNaN(s.momentum) {
		return own
	}
	return s.momentum
}

// orDefault returns v, or d where v is 0.
func orDefault(v, d float64) float64 {
	if v == 0 {
		return d
	}
	return v
}

// decayed adds the L2 penalty to the gradient.
func decayed(g, x []float64, weight float64) {
	if weight != 0 {
		for i, v := range x {
			g[i] += weight * v
		}
	}
}
