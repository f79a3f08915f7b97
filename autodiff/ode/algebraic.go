// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package ode

import (
	"fmt"
	"math"
	"slices"
	"sync"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/tensor"
)

// The coefficients of Radau IIA with three stages, of order 5.
//
// Reference: Hairer and Wanner, Solving Ordinary Differential Equations II, section IV.5, table 5.6.
var (
	radauC = [3]float64{(4 - math.Sqrt(6)) / 10, (4 + math.Sqrt(6)) / 10, 1}
	radauA = [3][3]float64{
		{(88 - 7*math.Sqrt(6)) / 360, (296 - 169*math.Sqrt(6)) / 1800, (-2 + 3*math.Sqrt(6)) / 225},
		{(296 + 169*math.Sqrt(6)) / 1800, (88 + 7*math.Sqrt(6)) / 360, (-2 - 3*math.Sqrt(6)) / 225},
		{(16 - math.Sqrt(6)) / 36, (16 + math.Sqrt(6)) / 36, 1. / 9},
	}
)

// SolveAlgebraic returns the solution of f(t, y, dy/dt, p) = 0 at the given times, with shape (times, n), starting from y0 and its
// derivative rate0 at t0. Equations of index 1 may leave derivatives out, as algebraic ones do; y0 and rate0 have to obey all of them. f
// takes and returns vectors of n elements, and p as scalars. Method of the settings does not count: the steps are those of Radau IIA, with
// an error that is estimated from two halves of a step. Gradient: with respect to y0 and p, first order; rate0 only tells where to begin
// to search the first derivative.
func SolveAlgebraic(f func(t, y, rate *ad.Node, p []*ad.Node) *ad.Node, y0, rate0 *ad.Node, t0 float64, times []float64, p *ad.Node, s Settings) *ad.Node {
	for _, n := range []*ad.Node{y0, rate0, p} {
		if n.Err() != nil {
			return n
		}
	}
	a, err := newAlgebraic(f, y0.Size(), p.Size(), append([]float64{t0}, times...), s)
	if err == nil && y0.Size() != rate0.Size() {
		err = fmt.Errorf("the state has %d elements and its derivative %d: give both the same size", y0.Size(), rate0.Size())
	}
	op := &ad.Custom{Name: "dae", Shape: func(...tensor.Shape) (tensor.Shape, error) { return tensor.Shape{len(times), y0.Size()}, err }}
	if err == nil {
		op.Forward, op.Adjoint = a.forward, a.adjoint
	}
	return ad.Call(s.tells(op), y0, rate0, p)
}

// algebraic is a system with its compiled programs.
type algebraic struct {
	Settings
	n, k  int
	times []float64
	// Program from t, h, y, p and the derivatives of y at the stages to the step of Newton's method for these.
	newton *ad.Program
	// Program from t, h, y, p, the derivatives at the stages and the gradient of the next y to those of y and p.
	back *ad.Program
	pool sync.Pool // of *collocation
}

func newAlgebraic(f func(t, y, rate *ad.Node, p []*ad.Node) *ad.Node, n, k int, times []float64, s Settings) (*algebraic, error) {
	if s.RTol == 0 {
		s.RTol = 1e-8
	}
	if s.ATol == 0 {
		s.ATol = 1e-8
	}
	if s.MaxSteps == 0 {
		s.MaxSteps = 10000
	}
	if !(s.RTol > 0) || !(s.ATol > 0) {
		return nil, fmt.Errorf("the tolerances are %g and %g: want numbers above 0", s.RTol, s.ATol)
	}
	if len(times) < 2 {
		return nil, fmt.Errorf("there are no times to solve for: give at least one")
	}
	if err := ascending(times); err != nil {
		return nil, err
	}
	a := &algebraic{Settings: s, n: n, k: k, times: times}
	a.pool.New = func() any { return a.workspace() }
	return a, a.compile(f)
}

func (a *algebraic) compile(f func(t, y, rate *ad.Node, p []*ad.Node) *ad.Node) (err error) {
	n := a.n
	t, h, y := ad.Input("t"), ad.Input("h"), ad.Input("y", n)
	in := []*ad.Node{t, h, y}
	p := make([]*ad.Node, a.k)
	for i := range p {
		p[i] = ad.Input(fmt.Sprintf("p%d", i))
		in = append(in, p[i])
	}
	stages := ad.Input("stages", 3*n)
	in = append(in, stages)
	var residuals []*ad.Node
	for i, c := range radauC {
		at := y
		for j, w := range radauA[i] {
			at = ad.Add(at, ad.Mul(ad.Scale(w, h), ad.Slice(stages, 0, j*n, (j+1)*n)))
		}
		r := f(ad.Add(t, ad.Scale(c, h)), at, ad.Slice(stages, 0, i*n, (i+1)*n), p)
		if r.Err() != nil {
			return r.Err()
		}
		if r.Size() != n {
			return fmt.Errorf("f returned %d residuals, but the state has %d components: return one residual for each", r.Size(), n)
		}
		residuals = append(residuals, ad.Reshape(r, n))
	}
	g := ad.Concat(0, residuals...)
	bend := ad.Jacobian(g, stages)
	d := ad.Reshape(ad.Solve(bend, ad.Reshape(g, 3*n, 1)), 3*n)
	if a.newton, err = ad.Compile([]*ad.Node{d}, ad.Settings{Inputs: in, Backend: ad.CPU{Threads: 1}}); err != nil {
		return err
	}
	if extra := a.newton.Inputs()[len(in):]; len(extra) > 0 {
		return fmt.Errorf("f uses %v, which is neither t, y, its derivative nor p: pass it in p", extra)
	}
	lambda := ad.Input("lambda", n)
	var pull []*ad.Node
	for _, w := range radauA[2] {
		pull = append(pull, ad.Mul(ad.Scale(w, h), lambda))
	}
	mu := ad.StopGradient(ad.Reshape(ad.Solve(ad.T(bend), ad.Reshape(ad.Concat(0, pull...), 3*n, 1)), 3*n))
	grads := ad.Grad(ad.Neg(ad.Dot(mu, g)), append([]*ad.Node{y}, p...)...)
	grads[0] = ad.Add(lambda, grads[0])
	a.back, err = ad.Compile(grads, ad.Settings{Inputs: append(in, lambda), Backend: ad.CPU{Threads: 1}})
	return err
}

// collocation is the workspace of one integration with its path.
type collocation struct {
	*algebraic
	newton, back    *ad.State
	y, rate         []float64
	path            []place
	states, stages  []float64 // by step of the path
	of              []float64
	one, two, slope []float64 // scratch
	lambda          []float64
}

func (a *algebraic) workspace() *collocation {
	n := a.n
	return &collocation{algebraic: a, newton: a.newton.NewState(), back: a.back.NewState(), y: make([]float64, n), rate: make([]float64, n),
		one: make([]float64, n), two: make([]float64, n), slope: make([]float64, 3*n), lambda: make([]float64, n)}
}

func (a *algebraic) forward(out []float64, in ...[]float64) error {
	c := a.pool.Get().(*collocation)
	defer a.pool.Put(c)
	return c.integrate(out, in)
}

func (c *collocation) integrate(out []float64, in [][]float64) error {
	n := c.n
	c.path, c.states, c.stages, c.of = c.path[:0], c.states[:0], c.stages[:0], c.of[:0]
	if math.IsNaN(total(in[0]) + total(in[1]) + total(in[2])) {
		for i := range out {
			out[i] = math.NaN()
		}
		return nil
	}
	copy(c.y, in[0])
	copy(c.rate, in[1])
	for i := range c.slope {
		c.slope[i] = in[1][i%n]
	}
	tried, h := 0, 1e-3*(c.times[len(c.times)-1]-c.times[0])
	for i, end := range c.times[1:] {
		for t := c.times[i]; t < end; {
			if tried++; tried > c.MaxSteps {
				return &Error{t, tried - 1, h, tooMany}
			}
			step, last := h, false
			if t+1.01*step >= end {
				step, last = end-t, true
			}
			if t+step/2 == t {
				return &Error{t, tried, h, "the step became too small to change t"}
			}
			e := c.attempt(t, step, in[2])
			if e <= 1 {
				if t += step; last {
					t = end
				}
			}
			factor := 0.2
			if !math.IsNaN(e) {
				factor = math.Min(math.Max(0.9*math.Exp(-math.Log(e)/6), 0.2), 5)
			}
			if e > 1 || !last || factor < 1 {
				h = step * factor
			}
		}
		if out != nil {
			copy(out[i*n:(i+1)*n], c.y)
		}
	}
	for _, x := range in {
		c.of = append(c.of, x...)
	}
	return nil
}

// attempt makes a step and its two halves, and keeps these if their difference from it is small enough. It returns the error relative to
// the tolerances, which is NaN where Newton's method does not converge.
func (c *collocation) attempt(t, h float64, p []float64) float64 {
	n := c.n
	begin, path, states, stages := slices.Clone(c.rate), len(c.path), len(c.states), len(c.stages)
	undo := func(e float64) float64 {
		c.path, c.states, c.stages = c.path[:path], c.states[:states], c.stages[:stages]
		c.start(begin)
		return e
	}
	if !c.collocate(t, h, c.y, p, c.one) {
		return undo(math.NaN())
	}
	c.start(begin)
	if !c.collocate(t, h/2, c.y, p, c.two) {
		return undo(math.NaN())
	}
	c.keep(place{t, h / 2}, c.y)
	middle := slices.Clone(c.two)
	c.start(c.slope[2*n:])
	if !c.collocate(t+h/2, h/2, middle, p, c.two) {
		return undo(math.NaN())
	}
	sum := 0.0
	for i, y := range c.two {
		e := (y - c.one[i]) / 31 / (c.ATol + c.RTol*math.Max(math.Abs(c.y[i]), math.Abs(y)))
		sum += e * e
	}
	e := math.Sqrt(sum / float64(n))
	if !(e <= 1) {
		return undo(e)
	}
	c.keep(place{t + h/2, h / 2}, middle)
	copy(c.y, c.two)
	copy(c.rate, c.slope[2*n:])
	c.start(c.rate)
	return e
}

// start takes a derivative of the state for those at all stages, to begin with.
func (c *collocation) start(rate []float64) {
	rate = slices.Clone(rate)
	for i := range c.slope {
		c.slope[i] = rate[i%c.n]
	}
}

func (c *collocation) keep(at place, y []float64) {
	c.path, c.states, c.stages = append(c.path, at), append(c.states, y...), append(c.stages, c.slope...)
}

// collocate finds the derivatives at the stages by Newton's method, and the state after the step.
func (c *collocation) collocate(t, h float64, y, p, next []float64) (solved bool) {
	n := c.n
	in := c.newton.InputSpan(0, 4+c.k)
	in[0], in[1] = t, h
	copy(in[2:], y)
	copy(in[2+n:], p)
	for range 12 {
		copy(in[2+n+c.k:], c.slope)
		if c.newton.Run() != nil { // a singular matrix, as it may be of a step that is too long
			return false
		}
		most := 0.0
		for i, d := range c.newton.Output(0) {
			c.slope[i] -= d
			most = math.Max(most, math.Abs(h*d)/(c.ATol+c.RTol*math.Abs(y[i%n])))
		}
		if math.IsNaN(most) {
			return false
		}
		if most < 1e-3 {
			for i := range next {
				next[i] = y[i] + h*(radauA[2][0]*c.slope[i]+radauA[2][1]*c.slope[n+i]+radauA[2][2]*c.slope[2*n+i])
			}
			return true
		}
	}
	return false
}

func (a *algebraic) adjoint(dIn [][]float64, g, _ []float64, in ...[]float64) error {
	c := a.pool.Get().(*collocation)
	defer a.pool.Put(c)
	if !slices.Equal(c.of, slices.Concat(in...)) {
		if err := c.integrate(nil, in); err != nil {
			return err
		}
	}
	n := a.n
	clear(c.lambda)
	k := len(c.path) - 1
	to := c.back.InputSpan(0, 5+a.k)
	copy(to[2+n:], in[2])
	for i := len(a.times) - 2; i >= 0; i-- {
		for j := range n {
			c.lambda[j] += g[i*n+j]
		}
		for ; k >= 0 && c.path[k].t >= a.times[i]; k-- {
			to[0], to[1] = c.path[k].t, c.path[k].h
			copy(to[2:], c.states[k*n:(k+1)*n])
			copy(to[2+n+a.k:], c.stages[3*k*n:3*(k+1)*n])
			copy(to[2+4*n+a.k:], c.lambda)
			if err := c.back.Run(); err != nil {
				return err
			}
			copy(c.lambda, c.back.Output(0))
			for j := range a.k {
				dIn[2][j] += c.back.Output(1 + j)[0]
			}
		}
	}
	copy(dIn[0], c.lambda)
	return nil
}
