// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package optim

import (
	"math"
	"slices"

	"github.com/euryale-dev/euryale/internal/linalg"
	"github.com/euryale-dev/euryale/optim/internal/marquardt"
)

// LBFGS is the limited-memory quasi-Newton method (Liu & Nocedal, doi:10.1007/BF01589116) with
// strong Wolfe steps. It does not support bounds.
type LBFGS struct {
	// Memory is the number of stored pairs of a step and a change of the gradient. Default 10.
	Memory int
}

func (LBFGS) name() string { return "lbfgs" }

func (a LBFGS) minimise(w *search) (Status, error) {
	if err := w.unbounded("LBFGS"); err != nil {
		return marquardt.None, err
	}
	memory := orMemory(a.Memory)
	dir, x, g := make([]float64, w.n), make([]float64, w.n), make([]float64, w.n)
	s := &w.state
	if w.projected() <= w.s.GTol {
		return GradientSmall, nil
	}
	for {
		copy(dir, s.Grad)
		twoLoop(dir, s.S, s.Y)
		linalg.Scale(dir, -1)
		if !(linalg.Dot(dir, s.Grad) < 0) { // memory has gone bad
			s.S, s.Y = nil, nil
			copy(dir, s.Grad)
			linalg.Scale(dir, -1)
		}
		first := 1.0
		if len(s.S) == 0 {
			first = min(1, 1/linalg.Norm(dir))
		}
		value, ok, err := w.line(wolfe{decrease: 1e-4, curvature: 0.9, width: 1e-10, most: 1e20}, dir, first, x, g)
		if err != nil {
			return w.stopped(), err
		}
		if !ok {
			if len(s.S) == 0 {
				return Stuck, nil
			}
			s.S, s.Y = nil, nil // once more, along the gradient
			continue
		}
		remember(s, memory, x, g)
		if end, err := w.move(value, x, g); end != marquardt.None || err != nil {
			return end, err
		}
	}
}

func orMemory(m int) int {
	if m <= 0 {
		return 10
	}
	return m
}

// line searches along dir and leaves the point in x and its gradient in g.
func (w *search) line(rule wolfe, dir []float64, first float64, x, g []float64) (value float64, ok bool, err error) {
	s := &w.state
	at := math.NaN()
	phi := func(t float64) (f, d float64, err error) {
		for i, v := range s.X {
			x[i] = v + t*dir[i]
		}
		w.clip(x)
		value, err = w.at(g, x)
		at = t
		return value, linalg.Dot(g, dir), err
	}
	t, ok, err := rule.search(phi, s.Value, linalg.Dot(s.Grad, dir), first)
	if err == nil && ok && t != at {
		_, _, err = phi(t)
	}
	return value, ok && value <= s.Value+rounding(s.Value), err
}

// clip keeps rounding from leaving the bounds.
func (w *search) clip(x []float64) {
	if w.lower == nil {
		return
	}
	for i, v := range x {
		x[i] = min(max(v, w.lower[i]), w.upper[i])
	}
}

// twoLoop multiplies q by the inverse that the pairs describe (Nocedal & Wright,
// algorithm 7.4).
func twoLoop(q []float64, s, y [][]float64) {
	k := len(s)
	alpha := make([]float64, k)
	for i := k - 1; i >= 0; i-- {
		alpha[i] = linalg.Dot(s[i], q) / linalg.Dot(s[i], y[i])
		linalg.AddScaled(q, -alpha[i], y[i])
	}
	if k > 0 {
		linalg.Scale(q, linalg.Dot(s[k-1], y[k-1])/linalg.Dot(y[k-1], y[k-1]))
	}
	for i := range k {
		beta := linalg.Dot(y[i], q) / linalg.Dot(s[i], y[i])
		linalg.AddScaled(q, alpha[i]-beta, s[i])
	}
}

// remember adds the pair of a move to x, unless its curvature is not positive.
func remember(m *MinimizeState, memory int, x, g []float64) bool {
	n := len(x)
	var s, y []float64
	if len(m.S) >= memory { // its memory serves again
		s, y = m.S[0], m.Y[0]
	} else {
		s, y = make([]float64, n), make([]float64, n)
	}
	sy, yy := 0.0, 0.0
	for i := range n {
		a, b := x[i]-m.X[i], g[i]-m.Grad[i]
		sy, yy = sy+a*b, yy+b*b
	}
	if !(sy > 0x1p-52*yy) {
		return false
	}
	for i := range n {
		s[i], y[i] = x[i]-m.X[i], g[i]-m.Grad[i]
	}
	if len(m.S) >= memory {
		m.S, m.Y = append(m.S[1:len(m.S):len(m.S)], s), append(m.Y[1:len(m.Y):len(m.Y)], y)
	} else {
		m.S, m.Y = append(slices.Clip(m.S), s), append(slices.Clip(m.Y), y)
	}
	return true
}
