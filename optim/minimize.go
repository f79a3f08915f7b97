// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package optim

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/euryale-dev/euryale/internal/given"
	"github.com/euryale-dev/euryale/internal/linalg"
	"github.com/euryale-dev/euryale/optim/internal/marquardt"
)

// Algorithm minimises a function: LBFGS, LBFGSB, NewtonCG, or a method of gonum
// by FromGonum.
type Algorithm interface {
	// minimise continues from w.state until an end.
	minimise(w *search) (Status, error)
	name() string
}

// MinimizeSettings are the settings of Minimize. The zero value is the default.
type MinimizeSettings struct {
	// Algorithm is the method to use. Default LBFGS{}, or LBFGSB{} if there are bounds.
	Algorithm Algorithm
	// FTol ends the run when an iteration lowers the value by less than FTol max(|f|, 1), and GTol
	// when no element of the gradient (projected on the bounds) is larger than GTol. Default 1e-9
	// and 1e-6; a negative value switches a test off.
	FTol, GTol float64
	// MaxEvaluations limits the number of evaluations of the gradient. Default 15000.
	MaxEvaluations int
	// Progress, if not nil, is called after every iteration.
	Progress func(Progress)
	// Resume continues from the State of an earlier Minimum instead of from Start, as if that run
	// had not stopped.
	Resume *MinimizeState
}

// MinimizeState is the state that an algorithm carries from one iteration to the next. Its fields
// are exported so that any encoder can save it.
type MinimizeState struct {
	Algorithm string
	Iteration int
	// NFev is the number of evaluations of the gradient.
	NFev int
	// NHev is the number of products with second derivatives.
	NHev    int
	X, Grad []float64
	Value   float64
	// S and Y are the steps and the changes of the gradient, oldest first.
	S, Y   [][]float64
	Radius float64
	// Flat is the number of iterations in a row that did not lower the value.
	Flat int
}

// Minimum is the result of a minimisation.
type Minimum struct {
	Names []string
	X     []float64
	Value float64
	Grad  []float64
	// Active is -1 or 1 where a parameter lies on its lower or upper bound, and otherwise 0.
	Active []int
	Status Status
	// State is the state from which the run can be resumed.
	State MinimizeState
}

// Minimize finds a local minimum of f from its Start, or from the nearest point within the bounds.
//
// An error means that the function or the settings cannot be used, or that the function failed at
// the start; every other outcome is a Status. On cancellation the last iterate is returned with the
// context's error, and its State resumes.
func Minimize(ctx context.Context, f *Function, s MinimizeSettings) (_ *Minimum, err error) {
	defer given.Caught(&err)
	if err := given.Args("optim.Minimize", "ctx", ctx, "f", f); err != nil {
		return nil, err
	}
	if s.Resume != nil {
		f = &Function{N: f.N, Names: f.Names, Start: s.Resume.X, Lower: f.Lower, Upper: f.Upper, Value: f.Value, Gradient: f.Gradient, HVP: f.HVP}
	}
	if err := f.check(); err != nil {
		return nil, err
	}
	if s.Algorithm == nil {
		s.Algorithm = LBFGS{}
		if f.bounded() {
			s.Algorithm = LBFGSB{}
		}
	}
	s.FTol, s.GTol = max(0, orDefault(s.FTol, 1e-9)), max(0, orDefault(s.GTol, 1e-6))
	if s.MaxEvaluations <= 0 {
		s.MaxEvaluations = 15000
	}
	w := &search{ctx: ctx, n: f.N, s: s, evaluate: f.gradient, second: f.hvp, f: f}
	if f.bounded() {
		w.lower, w.upper = f.Lower, f.Upper
	}
	start := slices.Clone(f.Start)
	w.clip(start)
	if err := w.start(start); err != nil {
		return nil, err
	}
	status, err := s.Algorithm.minimise(w)
	if err != nil && !errors.Is(err, errStopped) {
		return nil, err
	}
	m := &Minimum{X: w.state.X, Value: w.state.Value, Grad: w.state.Grad, Status: status, State: w.state, Names: (&Problem{N: f.N, Names: f.Names}).allNames(), Active: make([]int, f.N)}
	for i, x := range m.X {
		switch {
		case x <= f.Lower[i] && m.Grad[i] >= 0:
			m.Active[i] = -1
		case x >= f.Upper[i] && m.Grad[i] <= 0:
			m.Active[i] = 1
		}
	}
	if status == Interrupted {
		return m, ctx.Err()
	}
	return m, nil
}

// search is a minimisation in progress.
type search struct {
	ctx context.Context
	n   int
	s   MinimizeSettings
	// f is the function, nil under gonum.
	f *Function
	// lower and upper are the bounds, nil where there are none.
	lower, upper []float64
	evaluate     func(g, x []float64) (float64, error)
	second       func(out, x, v []float64) error
	// major is called after every iteration, if not nil.
	major func(s *MinimizeState) error
	state MinimizeState
	// cut is true if a trust region cut the last step, so that a small change of the value says nothing.
	cut bool
	// nfev and nhev count the evaluations, also of an iteration that was not finished.
	nfev, nhev int
}

// errStopped ends an algorithm between iterations; the status says why.
var errStopped = errors.New("optim: stopped")

// start evaluates the first point, or checks what is resumed.
func (w *search) start(x []float64) error {
	if r := w.s.Resume; r != nil {
		if r.Algorithm != w.s.Algorithm.name() || len(r.X) != w.n || len(r.Grad) != w.n {
			return fmt.Errorf("optim: the state to resume is from %s with %d parameters, but this run uses %s with %d: use the same algorithm and function", r.Algorithm, len(r.X), w.s.Algorithm.name(), w.n)
		}
		w.state = *r
		w.state.X, w.state.Grad = slices.Clone(r.X), slices.Clone(r.Grad)
		w.state.S, w.state.Y = slices.Clone(r.S), slices.Clone(r.Y)
		w.nfev, w.nhev = r.NFev, r.NHev
		return nil
	}
	w.state = MinimizeState{Algorithm: w.s.Algorithm.name(), X: x, Grad: make([]float64, w.n)}
	v, err := w.evaluate(w.state.Grad, w.state.X)
	w.nfev = 1
	if err != nil {
		return fmt.Errorf("optim: the function failed at the start: %w", err)
	}
	if !linalg.Finite(v) || !linalg.AllFinite(w.state.Grad) {
		return fmt.Errorf("optim: the function is %g at the start and its gradient is %v: choose another start", v, w.state.Grad[:min(w.n, 20)])
	}
	w.state.Value, w.state.NFev = v, 1
	return nil
}

// at evaluates value and gradient; +Inf where they are not finite. It fails with
// errStopped on cancellation and when the evaluations are used up.
func (w *search) at(g, x []float64) (float64, error) {
	if w.ctx.Err() != nil || w.nfev >= w.s.MaxEvaluations {
		return math.Inf(1), errStopped
	}
	w.nfev++
	v, err := w.evaluate(g, x)
	if errors.Is(err, errStopped) {
		return v, err
	}
	if err != nil || math.IsNaN(v) || !linalg.AllFinite(g) && !math.IsInf(v, -1) {
		return math.Inf(1), nil
	}
	return v, nil
}

// stopped is the status that belongs to errStopped.
func (w *search) stopped() Status {
	if w.ctx.Err() != nil {
		return Interrupted
	}
	return MaxEvaluations
}

// move makes x the iterate, and reports an end by FTol or GTol.
func (w *search) move(value float64, x, g []float64) (Status, error) {
	s := &w.state
	before := s.Value
	copy(s.X, x)
	copy(s.Grad, g)
	s.Value = value
	s.Iteration++
	s.NFev, s.NHev = w.nfev, w.nhev
	if w.s.Progress != nil {
		w.s.Progress(Progress{Step: s.Iteration, NFev: s.NFev, Cost: value, X: s.X})
	}
	if w.major != nil {
		if err := w.major(s); err != nil {
			return marquardt.None, err
		}
	}
	if s.Flat++; value < before {
		s.Flat = 0
	}
	switch {
	case math.IsInf(value, -1):
		return Unbounded, nil
	case w.projected() <= w.s.GTol:
		return GradientSmall, nil
	case s.Flat >= 5: // rounding is all that is left
		return CostSettled, nil
	case !w.cut && w.s.FTol > 0 && before-value <= w.s.FTol*max(math.Abs(before), math.Abs(value), 1):
		return CostSettled, nil
	}
	return marquardt.None, nil
}

// projected is the largest element of the gradient that no bound stops.
func (w *search) projected() float64 {
	worst := 0.0
	for i, g := range w.state.Grad {
		if w.lower != nil {
			if g > 0 {
				g = min(g, w.state.X[i]-w.lower[i])
			} else {
				g = max(g, w.state.X[i]-w.upper[i])
			}
		}
		worst = max(worst, math.Abs(g))
	}
	return worst
}

// unbounded is the error of an algorithm that takes no bounds.
func (w *search) unbounded(name string) error {
	if w.lower != nil {
		return fmt.Errorf("optim: %s cannot keep to bounds: use LBFGSB", name)
	}
	return nil
}
