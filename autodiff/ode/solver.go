// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package ode

import (
	"math"
	"slices"

	ad "github.com/euryale-dev/euryale/autodiff"
)

// solver is the workspace of one integration. It keeps the last path, so that a gradient at the same
// point can go back over it.
type solver struct {
	*problem
	rhs, step, back *ad.State
	y               []float64 // state and tangent
	tried           int
	path            []place // accepted steps
	states          []float64
	of              []float64 // initial state, parameters and times of the path; empty for none
	lambda, dp      []float64
	moved           []float64 // scratch

	// Of an explicit method: the states of the stages at all steps of the path, and the arrays of one step and of its gradient.
	inner, stages, pull, next, estimate, zero []float64
	// Inputs and outputs of the programs.
	stepIn, stepOut, backIn, backOut []float64
	fused                            *fusedSolver // nil unless steps are one piece of code
}

// place is the time and the length of a step.
type place struct{ t, h float64 }

func newSolver(pr *problem) *solver {
	n, m := pr.n, 2*pr.parts
	s := &solver{problem: pr, rhs: pr.rhs.NewState(), step: pr.step.NewState(), back: pr.back.NewState(),
		y: make([]float64, 2*n), lambda: make([]float64, n), dp: make([]float64, pr.k)}
	if pr.table == nil {
		return s
	}
	stages := len(pr.table.c)
	s.stages, s.pull = make([]float64, 2*n*stages), make([]float64, n*stages)
	s.next, s.estimate, s.zero = make([]float64, 2*n), make([]float64, 2*n*len(pr.table.e)), make([]float64, 2*n)
	s.stepIn, s.stepOut = s.step.InputSpan(0, 2+m), s.step.OutputSpan(0, m)
	s.backIn, s.backOut = s.back.InputSpan(0, 2+m+pr.k), s.back.OutputSpan(0, pr.parts+pr.k)
	s.fuse()
	return s
}

// set writes t, h and the state into a program's inputs; the parameters are there
// already.
func set(to *ad.State, parts int, t, h float64, y []float64) {
	in := to.InputSpan(0, 2+parts)
	in[0], in[1] = t, h
	copy(in[2:], y)
}

// parameters writes p into all programs.
func (s *solver) parameters(p []float64) {
	if s.k == 0 {
		return
	}
	copy(s.rhs.InputSpan(2+s.parts, 2+s.parts+s.k), p)
	if s.fused != nil {
		s.fused.parameters(s.n, p)
		return
	}
	copy(s.back.InputSpan(2+s.parts, 2+s.parts+s.k), p)
	copy(s.step.InputSpan(2+2*s.parts, 2+2*s.parts+s.k), p)
}

// forward fills out with the states at the times.
func (pr *problem) forward(out []float64, in ...[]float64) error {
	s := pr.pool.Get().(*solver)
	defer pr.pool.Put(s)
	return s.integrate(out, in[0], in[1], in[2])
}

// integrate follows the path from the first time through the others, and keeps it.
func (s *solver) integrate(out, y0, p, times []float64) error {
	s.parameters(p)
	s.tried, s.path, s.states, s.inner, s.of = 0, s.path[:0], s.states[:0], s.inner[:0], s.of[:0]
	if math.IsNaN(total(y0) + total(p) + total(times)) {
		for i := range out {
			out[i] = math.NaN()
		}
		return nil
	}
	if !s.known {
		if err := ascending(times); err != nil {
			return err
		}
	}
	copy(s.y, y0)
	for i, v := range y0 { // the tangent begins as large as the state
		s.y[s.n+i] = float64(1-2*(i%2)) * v
	}
	t, h := times[0], 0.0
	for i, end := range times[1:] {
		var err error
		if h, err = s.interval(t, end, h); err != nil {
			return err
		}
		if t = end; out != nil {
			copy(out[i*s.n:(i+1)*s.n], s.y)
		}
	}
	s.of = append(append(append(s.of, y0...), p...), times...)
	return nil
}

// follows says whether the path that is kept is that of these values.
func (s *solver) follows(in ...[]float64) bool {
	at := 0
	for _, x := range in {
		if len(s.of) < at+len(x) || !slices.Equal(s.of[at:at+len(x)], x) {
			return false
		}
		at += len(x)
	}
	return len(s.of) == at
}

func total(v []float64) (s float64) {
	for _, x := range v {
		s += x
	}
	return s
}

// fastest is how much longer than one step the next one may be.
const fastest = 5

// stretch is how much longer than the controller advises a step may be that reaches a time of the solution: the advice keeps a tenth in
// reserve.
const stretch = 1.1

// interval advances the state from t to end, beginning with step h (0: choose
// one), and returns the step to go on with.
func (s *solver) interval(t, end, h float64) (float64, error) {
	if h == 0 && end > t {
		var err error
		if h, err = s.first(t, end); err != nil {
			return 0, err
		}
	}
	for t < end {
		if s.tried++; s.tried > s.MaxSteps {
			return 0, &Error{t, s.tried - 1, h, tooMany}
		}
		step, last := h, false
		switch {
		case t+stretch*step >= end: // a small remainder is not worth a step
			step, last = end-t, true
		case t+2*step >= end: // two steps of one length are less likely to be refused than a long and a short one
			step = (end - t) / 2
		}
		if t+step == t {
			return 0, &Error{t, s.tried, h, "the step became too small to change t"}
		}
		next, estimate, err := s.attempt(t, step)
		if err != nil {
			return 0, err
		}
		e := s.norm(next, estimate)
		if e <= 1 {
			s.path, s.states = append(s.path, place{t, step}), append(s.states, s.y[:s.n]...)
			copy(s.y, next)
			if t += step; last {
				t = end
			}
		}
		factor := 0.1
		if !math.IsNaN(e) {
			factor = min(max(0.9/s.root(e), 0.2), fastest)
		}
		if factor < fastest || step*factor > h { // a step cut very short does not tell how long the next one may be
			h = step * factor
		}
	}
	return h, nil
}

// attempt returns the state after a step, with its tangent, and the estimates of the error.
func (s *solver) attempt(t, h float64) (next, estimate []float64, err error) {
	if s.table != nil {
		return s.explicit(t, h)
	}
	m := 2 * s.parts
	set(s.step, m, t, h, s.y)
	err = s.step.Run()
	return s.step.OutputSpan(0, m), s.step.OutputSpan(m, 2*m), err
}

// norm is the root mean square of the error over the tolerance, NaN or +Inf where
// the step failed. The tangent counts by its size or the state's, whichever is
// larger. Of two estimates of different orders, the one of the higher order counts, less so as the other one is larger than it.
func (s *solver) norm(next, e []float64) float64 {
	sum, lower := 0.0, 0.0
	for i := range s.n {
		size := max(math.Abs(s.y[i]), math.Abs(next[i]))
		a := s.ATol + s.RTol*size
		b := s.ATol + s.RTol*max(size, math.Abs(next[s.n+i]))
		r, d := e[i]/a, e[s.n+i]/b
		sum += r*r + d*d
		if len(e) > 2*s.n {
			r, d := e[2*s.n+i]/a, e[3*s.n+i]/b
			lower += r*r + d*d
		}
	}
	if lower > 0 {
		return sum / math.Sqrt((sum+0.01*lower)*float64(2*s.n))
	}
	return math.Sqrt(sum / float64(2*s.n))
}

// root is how much too long a step is whose error is e times the tolerance.
func (s *solver) root(e float64) float64 {
	if s.order == 8 {
		return math.Sqrt(math.Sqrt(math.Sqrt(e)))
	}
	return math.Pow(e, 1/s.order)
}

// first returns a first step: one of which the error of an explicit method of the order is about a hundredth of the state's tolerance
// (Hairer, Nørsett and Wanner, Solving Ordinary Differential Equations I, section II.4).
func (s *solver) first(t, end float64) (float64, error) {
	y := s.y[:s.n]
	rates := func(t float64, y []float64) ([]float64, error) {
		set(s.rhs, s.parts, t, 0, y)
		err := s.rhs.Run()
		return s.rhs.OutputSpan(0, s.parts), err
	}
	f, err := rates(t, y)
	if err != nil {
		return 0, err
	}
	f = append(s.lambda[:0], f...)
	size, rate := s.weighed(y), s.weighed(f)
	h := 0.01 * size / rate
	if !(h > 0) || math.IsInf(h, 0) {
		return 1e-6 * (end - t), nil
	}
	h = math.Min(h, end-t)
	moved := append(s.moved[:0], y...)
	for i := range moved {
		moved[i] += h * f[i]
	}
	g, err := rates(t+h, moved)
	if err != nil {
		return 0, err
	}
	for i := range moved {
		moved[i] = (g[i] - f[i]) / h
	}
	s.moved = moved
	longest := math.Pow(0.01/math.Max(rate, s.weighed(moved)), 1/s.order)
	if !(longest > 0) {
		longest = h
	}
	return math.Min(math.Min(100*h, longest), end-t), nil
}

// weighed is the root mean square of v over the tolerance of the state.
func (s *solver) weighed(v []float64) float64 {
	sum := 0.0
	for i, x := range v {
		r := x / (s.ATol + s.RTol*math.Abs(s.y[i]))
		sum += r * r
	}
	return math.Sqrt(sum / float64(len(v)))
}

// adjoint goes back over the steps, which it makes again if the workspace holds
// another path. A later time moves the state there along its rate, and a later beginning moves all states as an initial state that is
// carried back would.
func (pr *problem) adjoint(dIn [][]float64, g, out []float64, in ...[]float64) error {
	s := pr.pool.Get().(*solver)
	defer pr.pool.Put(s)
	times := in[2]
	if !s.follows(in...) {
		if err := s.integrate(nil, in[0], in[1], times); err != nil {
			return err
		}
	}
	clear(s.lambda)
	clear(s.dp)
	k := len(s.path) - 1
	for i := len(times) - 2; i >= 0; i-- {
		at := g[i*s.n : (i+1)*s.n]
		for j, v := range at {
			s.lambda[j] += v
		}
		if !s.known {
			d, err := s.along(times[i+1], out[i*s.n:(i+1)*s.n], at)
			if err != nil {
				return err
			}
			dIn[2][i+1] = d
		}
		for ; k >= 0 && s.path[k].t >= times[i]; k-- {
			if err := s.backward(k); err != nil {
				return err
			}
		}
	}
	copy(dIn[0], s.lambda)
	copy(dIn[1], s.dp)
	if s.known {
		return nil
	}
	d, err := s.along(times[0], in[0], s.lambda)
	dIn[2][0] = -d
	return err
}

// along is the product of a gradient with the rates at a time.
func (s *solver) along(t float64, y, g []float64) (sum float64, err error) {
	set(s.rhs, s.parts, t, 0, y)
	if err := s.rhs.Run(); err != nil {
		return 0, err
	}
	for i, f := range s.rhs.OutputSpan(0, s.parts) {
		sum += f * g[i]
	}
	return sum, nil
}

// backward propagates the gradient back over a step of the path.
func (s *solver) backward(k int) error {
	at, y := s.path[k], s.states[k*s.n:(k+1)*s.n]
	if s.table != nil {
		each := s.n * len(s.table.c)
		return s.explicitBackward(at, s.inner[k*each:(k+1)*each])
	}
	m := s.parts
	set(s.back, m, at.t, at.h, y)
	copy(s.back.InputSpan(2+m+s.k, 2+2*m+s.k), s.lambda)
	if err := s.back.Run(); err != nil {
		return err
	}
	copy(s.lambda, s.back.OutputSpan(0, m))
	if s.k > 0 {
		for i, v := range s.back.OutputSpan(m, m+s.k) {
			s.dp[i] += v
		}
	}
	return nil
}
