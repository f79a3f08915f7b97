// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package optim

import (
	"context"
	"errors"
	"fmt"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/optimize"

	"github.com/euryale-dev/euryale/optim/internal/marquardt"
)

// FromGonum lets Minimize run a method of gonum/optimize, such as &optimize.NelderMead{} or
// &optimize.CmaEsChol{}. Tolerances, limits, progress and cancellation are those of Minimize.
// Bounds are not supported, and a resumed run starts afresh from the last point.
func FromGonum(m optimize.Method) Algorithm { return fromGonum{m} }

type fromGonum struct{ method optimize.Method }

func (a fromGonum) name() string { return fmt.Sprintf("gonum %T", a.method) }

func (a fromGonum) minimise(w *search) (Status, error) {
	if a.method == nil {
		return marquardt.None, fmt.Errorf("optim: FromGonum was given a nil method: pass one such as &optimize.NelderMead{}")
	}
	if err := w.unbounded("gonum's methods"); err != nil {
		return marquardt.None, err
	}
	var failed error
	p := w.f.gonum(func(err error) {
		if failed == nil {
			failed = err
		}
	}, func() { w.nfev++ })
	p.Status = func() (optimize.Status, error) {
		if w.ctx.Err() != nil || failed != nil {
			return optimize.RuntimeLimit, nil
		}
		return optimize.NotTerminated, nil
	}
	if _, err := a.method.Uses(optimize.Available{Grad: p.Grad != nil, Hess: p.Hess != nil}); err != nil {
		return marquardt.None, fmt.Errorf("optim: %w", err)
	}
	settings := &optimize.Settings{GradientThreshold: w.s.GTol, FuncEvaluations: w.s.MaxEvaluations, Recorder: recorder{w},
		Converger: &optimize.FunctionConverge{Absolute: w.s.FTol, Relative: w.s.FTol, Iterations: 20}}
	if w.s.FTol == 0 {
		settings.Converger = optimize.NeverTerminate{}
	}
	res, err := optimize.Minimize(p, w.state.X, settings, a.method)
	if res == nil {
		return marquardt.None, fmt.Errorf("optim: gonum: %w", errors.Join(err, failed))
	}
	if res.F <= w.state.Value {
		w.state.Value = res.F
		copy(w.state.X, res.X)
		if _, err := w.f.gradient(w.state.Grad, w.state.X); err != nil {
			return marquardt.None, fmt.Errorf("optim: %w", err)
		}
	}
	w.state.NFev = w.nfev
	switch {
	case w.ctx.Err() != nil:
		return Interrupted, nil
	case failed != nil:
		return Stuck, nil
	case err != nil && res.Status == optimize.Failure:
		if w.projected() <= 1e3*max(w.s.GTol, 1e-12) { // line searches fail at the limit of rounding
			return CostSettled, nil
		}
		return Stuck, nil
	}
	return statusOfGonum(res.Status), nil
}

// statusOfGonum translates the end of gonum's minimisation.
func statusOfGonum(s optimize.Status) Status {
	switch s {
	case optimize.GradientThreshold, optimize.Success:
		return GradientSmall
	case optimize.FunctionConvergence, optimize.FunctionThreshold:
		return CostSettled
	case optimize.StepConvergence, optimize.MethodConverge:
		return StepSmall
	case optimize.FunctionNegativeInfinity:
		return Unbounded
	case optimize.IterationLimit, optimize.RuntimeLimit, optimize.FunctionEvaluationLimit, optimize.GradientEvaluationLimit, optimize.HessianEvaluationLimit:
		return MaxEvaluations
	}
	return Stuck
}

// recorder passes gonum's iterations on as progress.
type recorder struct{ w *search }

// Init has nothing to prepare.
func (recorder) Init() error { return nil }

// Record tells of an iteration.
func (r recorder) Record(loc *optimize.Location, op optimize.Operation, _ *optimize.Stats) error {
	if op == optimize.MajorIteration {
		s := &r.w.state
		s.Iteration++
		if r.w.s.Progress != nil {
			r.w.s.Progress(Progress{Step: s.Iteration, NFev: r.w.nfev, Cost: loc.F, X: loc.X})
		}
	}
	return nil
}

// ToGonum returns f as a problem of gonum/optimize, with its gradient and with second derivatives
// from products with unit vectors. Where f returns an error, gonum sees NaN.
func (f *Function) ToGonum() optimize.Problem { return f.gonum(func(error) {}, func() {}) }

func (f *Function) gonum(fail func(error), count func()) optimize.Problem {
	p := optimize.Problem{Func: func(x []float64) float64 {
		count()
		v, err := f.value(x)
		if err != nil {
			fail(err)
			return nan
		}
		return v
	}, Grad: func(g, x []float64) {
		count()
		if _, err := f.gradient(g, x); err != nil {
			fail(err)
			fillNaN(g)
		}
	}}
	if f.HVP != nil {
		p.Hess = func(h *mat.SymDense, x []float64) {
			e, col := make([]float64, f.N), make([]float64, f.N)
			for k := range f.N {
				e[k] = 1
				if err := f.HVP(col, x, e); err != nil {
					fail(err)
					fillNaN(col)
				}
				e[k] = 0
				for i := range k + 1 {
					h.SetSym(i, k, col[i])
				}
			}
		}
	}
	return p
}

// GonumMethod lets gonum/optimize run an algorithm of this package, as in gonum.Minimize(problem,
// x, settings, optim.GonumMethod(optim.LBFGS{})). NewtonCG asks for the second derivatives as a
// matrix.
func GonumMethod(a Algorithm) optimize.Method { return &toGonum{a: a} }

type toGonum struct {
	a      Algorithm
	status Status
	err    error
}

// Uses says that we need gradients.
func (m *toGonum) Uses(has optimize.Available) (optimize.Available, error) {
	_, second := m.a.(NewtonCG)
	if !has.Grad {
		return optimize.Available{}, optimize.ErrMissingGrad
	}
	if second && !has.Hess {
		return optimize.Available{}, optimize.ErrMissingHess
	}
	return optimize.Available{Grad: true, Hess: second}, nil
}

// Init asks for one task at a time.
func (m *toGonum) Init(_, _ int) int { return 1 }

// Status reports how the algorithm ended.
func (m *toGonum) Status() (optimize.Status, error) {
	switch {
	case m.err != nil:
		return optimize.Failure, m.err
	case m.status == GradientSmall:
		return optimize.GradientThreshold, nil
	case m.status == CostSettled:
		return optimize.FunctionConvergence, nil
	case m.status.Converged():
		return optimize.StepConvergence, nil
	case m.status == Unbounded:
		return optimize.FunctionNegativeInfinity, nil
	case m.status == MaxEvaluations:
		return optimize.FunctionEvaluationLimit, nil
	}
	return optimize.Failure, fmt.Errorf("optim: %s", m.status.Message())
}

// Run drives the algorithm by gonum's channels.
func (m *toGonum) Run(operation chan<- optimize.Task, result <-chan optimize.Task, tasks []optimize.Task) {
	task := tasks[0]
	n := len(task.X)
	ask := func(op optimize.Operation) error {
		task.Op = op
		operation <- task
		var open bool
		if task, open = <-result; !open || task.Op == optimize.PostIteration {
			return errStopped
		}
		return nil
	}
	w := &search{ctx: context.Background(), n: n, s: MinimizeSettings{Algorithm: m.a, MaxEvaluations: 1 << 40}}
	w.evaluate = func(g, x []float64) (float64, error) {
		copy(task.X, x)
		if len(task.Gradient) != n {
			task.Gradient = make([]float64, n)
		}
		if err := ask(optimize.FuncEvaluation | optimize.GradEvaluation); err != nil {
			return nan, err
		}
		copy(g, task.Gradient)
		return task.F, nil
	}
	w.second = func(out, x, v []float64) error {
		copy(task.X, x)
		if task.Hessian == nil {
			task.Hessian = mat.NewSymDense(n, nil)
		}
		if err := ask(optimize.HessEvaluation); err != nil {
			return err
		}
		mat.NewVecDense(n, out).MulVec(task.Hessian, mat.NewVecDense(n, append([]float64{}, v...)))
		return nil
	}
	w.major = func(s *MinimizeState) error {
		copy(task.X, s.X)
		copy(task.Gradient, s.Grad)
		task.F = s.Value
		return ask(optimize.MajorIteration)
	}
	err := w.start(append([]float64{}, task.X...))
	if err == nil {
		m.status, err = m.a.minimise(w)
	}
	stopped := errors.Is(err, errStopped)
	if !stopped {
		m.err = err
		task.Op = optimize.MethodDone
		operation <- task
	}
	for range result { // until gonum has closed it
	}
	close(operation)
}
