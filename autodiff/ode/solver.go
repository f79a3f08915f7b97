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
	of              []float64 // initial state and parameters of the path; empty for none
	lambda, dp      []float64
}

// place is the time and the length of a step.
type place struct{ t, h float64 }

func newSolver(pr *problem) *solver {
	return &solver{problem: pr, rhs: pr.rhs.NewState(), step: pr.step.NewState(), back: pr.back.NewState(),
		y: make([]float64, 2*pr.n), lambda: make([]float64, pr.n), dp: make([]float64, pr.k)}
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
	copy(s.back.InputSpan(2+s.parts, 2+s.parts+s.k), p)
	copy(s.step.InputSpan(2+2*s.parts, 2+2*s.parts+s.k), p)
}

// forward fills out with the states at the times.
func (pr *problem) forward(out []float64, in ...[]float64) error {
	s := pr.pool.Get().(*solver)
	defer pr.pool.Put(s)
	return s.integrate(out, in[0], in[1])
}

// integrate follows the path and keeps it.
func (s *solver) integrate(out, y0, p []float64) error {
	s.parameters(p)
	s.tried, s.path, s.states, s.of = 0, s.path[:0], s.states[:0], s.of[:0]
	if math.IsNaN(total(y0) + total(p)) {
		for i := range out {
			out[i] = math.NaN()
		}
		return nil
	}
	copy(s.y, y0)
	for i, v := range y0 { // the tangent begins as large as the state
		s.y[s.n+i] = float64(1-2*(i%2)) * v
	}
	t, h := s.t0, 0.0
	for i, end := range s.times {
		var err error
		if h, err = s.interval(t, end, h); err != nil {
			return err
		}
		if t = end; out != nil {
			copy(out[i*s.n:(i+1)*s.n], s.y)
		}
	}
	s.of = append(append(s.of, y0...), p...)
	return nil
}

func total(v []float64) (s float64) {
	for _, x := range v {
		s += x
	}
	return s
}

// interval advances the state from t to end, beginning with step h (0: choose
// one), and returns the step to go on with.
func (s *solver) interval(t, end, h float64) (float64, error) {
	if h == 0 && end > t {
		var err error
		if h, err = s.first(t, end); err != nil {
			return 0, err
		}
	}
	m := 2 * s.parts
	for t < end {
		if s.tried++; s.tried > s.MaxSteps {
			return 0, &Error{t, s.tried - 1, h, "MaxSteps was reached"}
		}
		step, last := h, false
		if t+1.01*step >= end { // a tiny remainder is not worth a step
			step, last = end-t, true
		}
		if t+step == t {
			return 0, &Error{t, s.tried, h, "the step became too small to change t"}
		}
		set(s.step, m, t, step, s.y)
		if err := s.step.Run(); err != nil {
			return 0, err
		}
		next := s.step.OutputSpan(0, m)
		e := s.norm(next, s.step.OutputSpan(m, 2*m))
		if e <= 1 {
			s.path, s.states = append(s.path, place{t, step}), append(s.states, s.y[:s.n]...)
			copy(s.y, next)
			if t += step; last {
				t = end
			}
		}
		factor := 0.1
		if !math.IsNaN(e) {
			factor = math.Min(math.Max(0.9*math.Pow(e, -1/s.order), 0.2), 5)
		}
		if e > 1 || !last || factor < 1 { // a step cut short does not tell of a longer one
			h = step * factor
		}
	}
	return h, nil
}

// norm is the root mean square of the error over the tolerance, NaN or +Inf where
// the step failed. The tangent counts by its size or the state's, whichever is
// larger.
func (s *solver) norm(next, e []float64) float64 {
	sum := 0.0
	for i := range s.n {
		size := math.Max(math.Abs(s.y[i]), math.Abs(next[i]))
		r := e[i] / (s.ATol + s.RTol*size)
		d := e[s.n+i] / (s.ATol + s.RTol*math.Max(size, math.Abs(next[s.n+i])))
		sum += r*r + d*d
	}
	return math.Sqrt(sum / float64(2*s.n))
}

// first returns a first step in which the state changes by about a hundredth.
func (s *solver) first(t, end float64) (float64, error) {
	set(s.rhs, s.parts, t, 0, s.y[:s.n])
	if err := s.rhs.Run(); err != nil {
		return 0, err
	}
	var size, rate float64
	for i, f := range s.rhs.OutputSpan(0, s.parts) {
		w := s.ATol + s.RTol*math.Abs(s.y[i])
		size += s.y[i] * s.y[i] / (w * w)
		rate += f * f / (w * w)
	}
	h := 0.01 * math.Sqrt(size/rate)
	if !(h > 0) || math.IsInf(h, 0) {
		h = 1e-6 * (end - t)
	}
	return math.Min(h, end-t), nil
}

// adjoint goes back over the steps, which it makes again if the workspace holds
// another path.
func (pr *problem) adjoint(dIn [][]float64, g, _ []float64, in ...[]float64) error {
	s := pr.pool.Get().(*solver)
	defer pr.pool.Put(s)
	if n := len(in[0]); len(s.of) != n+s.k || !slices.Equal(s.of[:n], in[0]) || !slices.Equal(s.of[n:], in[1]) {
		if err := s.integrate(nil, in[0], in[1]); err != nil {
			return err
		}
	}
	clear(s.lambda)
	clear(s.dp)
	k := len(s.path) - 1
	for i := len(s.times) - 1; i >= 0; i-- {
		for j := range s.n {
			s.lambda[j] += g[i*s.n+j]
		}
		before := s.t0
		if i > 0 {
			before = s.times[i-1]
		}
		for ; k >= 0 && s.path[k].t >= before; k-- {
			if err := s.backward(s.path[k], s.states[k*s.n:(k+1)*s.n]); err != nil {
				return err
			}
		}
	}
	copy(dIn[0], s.lambda)
	copy(dIn[1], s.dp)
	return nil
}

// backward propagates the gradient back over one step.
func (s *solver) backward(at place, y []float64) error {
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
