// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package ode

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/tensor"
)

// Method is the numerical method that makes the steps.
type Method int

const (
	// RK45 is the explicit method of Dormand and Prince, of order 5 with an error estimate of order
	// 4. It is the default.
	//
	// Reference: doi:10.1016/0771-050X(80)90013-3.
	RK45 Method = iota
	// Rodas is a stiffly accurate Rosenbrock method of order 4 with an error estimate of order 3.
	// It is for stiff systems, and solves linear systems with the Jacobian, which it gets from the
	// graph.
	//
	// Reference: Hairer and Wanner, Solving Ordinary Differential Equations II, section IV.10,
	// RODAS.
	Rodas
	// DOP853 is the explicit method of Dormand and Prince of order 8 with error estimates of order 5 and 3. It needs fewer evaluations than
	// RK45 for relative errors below 1e-5 or so.
	//
	// Reference: Hairer, Nørsett and Wanner, Solving Ordinary Differential Equations I, section II.10.
	DOP853
	// Auto is DOP853, and Rodas for values for which that would need more than a thousand steps, as it does where the system is stiff. Which
	// of them computes a solution depends on the values alone.
	Auto
	// Patient is Auto, but returns to DOP853 where Rodas would need more than ten thousand steps: for systems that are not stiff as a rule,
	// and whose solutions may be long.
	Patient
)

// mostExplicit is the number of steps after which Auto and Patient change to Rodas, and mostImplicit that after which Patient changes back.
const (
	mostExplicit = 1000
	mostImplicit = 10_000
)

// mostKept bounds the numbers that a solution keeps of its path for gradients, which are 8 bytes each. At 100 million steps of a small system
// they would be 4 GB for each goroutine.
const mostKept = 100_000_000

// Settings are the method and the accuracy of a solution; the zero value is the default.
type Settings struct {
	Method Method
	RTol   float64 // largest error of a step relative to the state. Default 1e-8
	ATol   float64 // largest absolute error of a step, in the units of the state. Default 1e-8
	// MaxSteps is the largest number of steps that are tried in total, of which a gradient needs all: at most as many as take 800 MB, which
	// are 100 million divided by 2 and the size of the state (times the stages of an explicit method, and one), or 10000 if that is more. Default 10000
	MaxSteps int
	// Told makes of an [Error] or an [OrderError] what the user reads, for languages with words and places of their own; it should wrap
	// the error. Default: the error as it is.
	Told func(error) error
}

// Error reports an integration that could not be continued.
type Error struct {
	Time   float64 // time that was reached
	Steps  int     // number of steps tried
	Step   float64 // length of the last step
	Reason string
}

func (e *Error) Error() string {
	return fmt.Sprintf("%s at t = %g after %d steps, the last of %.3g: try Rodas if the system is stiff, larger tolerances, or more MaxSteps", e.Reason, e.Time, e.Steps, e.Step)
}

// Reached says whether the integration took as many steps as it may.
func (e *Error) Reached() bool { return e.Reason == tooMany }

// tooMany is the reason of an integration that took as many steps as it may.
const tooMany = "MaxSteps was reached"

// AtPoint marks the error as one of these parameter values and not of the program, so that a
// sampler rejects the point.
func (e *Error) AtPoint() bool { return true }

// Solve returns the solution of dy/dt = f(t, y, p) at the given times, with shape (times, n),
// starting from y0 at t0. f takes and returns scalars: the n components of the state, and the
// elements of p. The times ascend from t0 on. Gradient: with respect to y0 and p, first order.
func Solve(f func(t *ad.Node, y, p []*ad.Node) []*ad.Node, y0 *ad.Node, t0 float64, times []float64, p *ad.Node, s Settings) *ad.Node {
	return SolveAt(f, y0, knownTimes(t0, times), p, s)
}

// SolveAt is Solve with times that may depend on what a gradient is taken with respect to: the elements of times are t0, at which the state
// is y0, and the times of the solution after it. A point at which they do not ascend fails with an error that a sampler takes for a
// rejection. Gradient: with respect to y0, times and p, first order.
func SolveAt(f func(t *ad.Node, y, p []*ad.Node) []*ad.Node, y0, times, p *ad.Node, s Settings) *ad.Node {
	if y0.Err() != nil {
		return y0
	}
	state := make([]*ad.Node, y0.Size())
	for i := range state {
		state[i] = ad.Input(fmt.Sprintf("y%d", i))
	}
	return solve(f, state, y0, times, p, s)
}

// SolveVector is SolveAt for an f of the whole state, which is one vector Node. It is meant for large
// systems.
func SolveVector(f func(t, y *ad.Node, p []*ad.Node) *ad.Node, y0, times, p *ad.Node, s Settings) *ad.Node {
	if y0.Err() != nil {
		return y0
	}
	whole := func(t *ad.Node, y, p []*ad.Node) []*ad.Node { return []*ad.Node{f(t, y[0], p)} }
	return solve(whole, []*ad.Node{ad.Input("y", y0.Size())}, y0, times, p, s)
}

func knownTimes(t0 float64, times []float64) *ad.Node {
	return ad.Const(append([]float64{t0}, times...), 1+len(times))
}

func solve(f func(t *ad.Node, y, p []*ad.Node) []*ad.Node, state []*ad.Node, y0, times, p *ad.Node, s Settings) *ad.Node {
	list, err := problems(f, state, y0, times, p, s)
	if err != nil {
		failed := &ad.Custom{Name: "ode", Shape: func(...tensor.Shape) (tensor.Shape, error) { return nil, err }}
		return ad.Call(failed, y0, p)
	}
	op := &ad.Custom{Name: "ode", Forward: list[0].forward, Adjoint: list[0].adjoint,
		Shape: func(...tensor.Shape) (tensor.Shape, error) { return tensor.Shape{times.Size() - 1, list[0].n}, nil }}
	if len(list) > 1 {
		op.Forward = func(out []float64, in ...[]float64) error {
			return list.first(func(pr *problem) error { return pr.forward(out, in...) })
		}
		op.Adjoint = func(dIn [][]float64, g, out []float64, in ...[]float64) error {
			return list.first(func(pr *problem) error { return pr.adjoint(dIn, g, out, in...) })
		}
	}
	return ad.Call(s.tells(op), y0, p, times)
}

// tells lets errors of an operation pass through Told.
func (s Settings) tells(op *ad.Custom) *ad.Custom {
	if s.Told == nil || op.Forward == nil {
		return op
	}
	forward, adjoint := op.Forward, op.Adjoint
	told := func(err error) error {
		if err != nil {
			err = s.Told(err)
		}
		return err
	}
	op.Forward = func(out []float64, in ...[]float64) error { return told(forward(out, in...)) }
	op.Adjoint = func(dIn [][]float64, g, out []float64, in ...[]float64) error {
		return told(adjoint(dIn, g, out, in...))
	}
	return op
}

// attempts are the same system with methods to be tried in order.
type attempts []*problem

func problems(f func(t *ad.Node, y, p []*ad.Node) []*ad.Node, state []*ad.Node, y0, times, p *ad.Node, s Settings) (list attempts, err error) {
	each := []Settings{s}
	if s.Method == Auto || s.Method == Patient {
		explicit, implicit, long := s, s, s
		explicit.Method, implicit.Method, long.Method = DOP853, Rodas, DOP853
		explicit.MaxSteps = mostExplicit
		each = []Settings{explicit, implicit}
		if s.Method == Patient {
			each[1].MaxSteps = mostImplicit
			each = append(each, long)
		}
	}
	for _, s := range each {
		pr, err := newProblem(f, state, p, s)
		if err == nil {
			err = pr.schedule(y0, times)
		}
		if err != nil {
			return nil, err
		}
		list = append(list, pr)
	}
	return list, nil
}

// first runs a method, and the next one where it cannot go on.
func (list attempts) first(run func(pr *problem) error) error {
	var stopped *Error
	for i, pr := range list {
		err := run(pr)
		if err == nil || i == len(list)-1 || !errors.As(err, &stopped) {
			return err
		}
	}
	return nil
}

// problem is a system with its compiled steps.
type problem struct {
	Settings
	n, k  int // lengths of state and parameters
	parts int // number of nodes that the state consists of
	rhs   *ad.Program
	table *tableau // of an explicit method; nil for Rodas
	// Program from t, h, y, s, p to the rates of y and s, where s is the tangent; for Rodas to the next y and s and the error estimate.
	step *ad.Program
	// Program from t, h, y, p and a gradient to those of y and p: the gradient of the rates, or for Rodas of the next y.
	back  *ad.Program
	order float64       // exponent of the step-size controller
	known bool          // the times are, so that they have no gradient
	whole func() *fused // step as machine code; nil where there is none
	pool  sync.Pool     // idle workspaces, each a *solver
}

func newProblem(f func(t *ad.Node, y, p []*ad.Node) []*ad.Node, state []*ad.Node, p *ad.Node, s Settings) (*problem, error) {
	if p.Err() != nil {
		return nil, p.Err()
	}
	for _, v := range []struct {
		v *float64
		d float64
	}{{&s.RTol, 1e-8}, {&s.ATol, 1e-8}} {
		if *v.v == 0 {
			*v.v = v.d
		}
		if !(*v.v > 0) {
			return nil, fmt.Errorf("a tolerance is %g: want a number above 0", *v.v)
		}
	}
	if s.MaxSteps == 0 {
		s.MaxSteps = 10000
	}
	pr := &problem{Settings: s, k: p.Size(), parts: len(state), table: tableaus[s.Method], order: 4}
	for _, y := range state {
		pr.n += y.Size()
	}
	kept := 2 + pr.n // numbers that a step of a path keeps
	if pr.table != nil {
		pr.order = pr.table.order
		kept += pr.n * len(pr.table.c)
	}
	pr.MaxSteps = min(pr.MaxSteps, max(10_000, mostKept/kept))
	g := &graph{rate: f, t: ad.Input("t"), h: ad.Input("h"), y: state}
	for i := range pr.k {
		g.p = append(g.p, ad.Input(fmt.Sprintf("p%d", i)))
	}
	return pr, pr.compile(g)
}

// compile makes the programs of a step.
func (pr *problem) compile(g *graph) (err error) {
	rhs := g.rate(g.t, g.y, g.p)
	if len(rhs) != len(g.y) {
		return fmt.Errorf("f returned %d rates, but the state has %d components: return one rate for each", len(rhs), len(g.y))
	}
	for i, r := range rhs {
		if r.Err() != nil {
			return fmt.Errorf("rate %d: %w", i, r.Err())
		}
		if !r.Shape().Equal(g.y[i].Shape()) {
			return fmt.Errorf("rate %d has shape %v: want %v", i, r.Shape(), g.y[i].Shape())
		}
	}
	both := g.withTangent()
	out, wide := rhs, both.rate(both.t, both.y, both.p)
	if pr.table == nil {
		var estimate []*ad.Node
		out, _ = g.rodas()
		wide, estimate = both.rodas()
		wide = append(wide, estimate...)
	}
	inputs := append(append([]*ad.Node{g.t, g.h}, g.y...), g.p...)
	if pr.rhs, err = ad.Compile(rhs, ad.Settings{Inputs: inputs, Backend: ad.CPU{Threads: 1}}); err != nil {
		return err
	}
	if extra := pr.rhs.Inputs()[len(inputs):]; len(extra) > 0 {
		return fmt.Errorf("f uses %v, which is neither t, y nor p: pass it in p", extra)
	}
	more := append(append([]*ad.Node{g.t, g.h}, both.y...), g.p...)
	if pr.step, err = ad.Compile(wide, ad.Settings{Inputs: more, Backend: ad.CPU{Threads: 1}}); err != nil {
		return err
	}
	var weighted []*ad.Node
	var seeds []*ad.Node
	for i, y := range out {
		w := ad.Input(fmt.Sprintf("w%d", i), y.Shape()...)
		seeds, weighted = append(seeds, w), append(weighted, ad.Sum(ad.Mul(w, y)))
	}
	grads := ad.Grad(ad.AddN(weighted...), append(append([]*ad.Node{}, g.y...), g.p...)...)
	pr.back, err = ad.Compile(grads, ad.Settings{Inputs: append(inputs, seeds...), Backend: ad.CPU{Threads: 1}})
	return err
}

// schedule checks the initial state, and the times as far as they are known.
func (pr *problem) schedule(y0, times *ad.Node) error {
	if times.Err() != nil {
		return times.Err()
	}
	if times.Size() < 2 {
		return fmt.Errorf("there are no times to solve for: give at least one")
	}
	if len(y0.Shape()) > 1 || len(times.Shape()) != 1 {
		return fmt.Errorf("the initial state has shape %v, and the times have shape %v: want vectors", y0.Shape(), times.Shape())
	}
	pr.known = times.Numbers() != nil
	pr.pool.New = func() any { return newSolver(pr) }
	pr.whole = sync.OnceValue(pr.newFused)
	return ascending(times.Numbers())
}

// ascending checks that times are finite and not before those in front of them.
func ascending(times []float64) error {
	for i, t := range times {
		if before := times[max(0, i-1)]; !(t >= before) || math.IsInf(t, 0) {
			return &OrderError{i, t, before}
		}
	}
	return nil
}

// OrderError reports a time that is before the one in front of it. Index counts from the initial time, which has index 0.
type OrderError struct {
	Index        int
	Time, Before float64
}

func (e *OrderError) Error() string {
	return fmt.Sprintf("time %d is %g, but the one before is %g: want finite times in ascending order, from t0 on", e.Index-1, e.Time, e.Before)
}

// AtPoint marks the error as one of these parameter values, as that of [Error] does.
func (e *OrderError) AtPoint() bool { return true }

// graph builds the formulas of one step.
type graph struct {
	rate func(t *ad.Node, y, p []*ad.Node) []*ad.Node
	t, h *ad.Node
	y, p []*ad.Node
	// tangents says that the second half of y is the tangent of the first.
	tangents bool
}

// withTangent adds to the state its change s along one direction of parameters
// and initial state:
//
//	ds/dt = f_y s + f_p w,  w = p, -p, p, ...
//
// Steps that follow it too are short enough for gradients: a state at rest would
// let them grow without end.
func (g *graph) withTangent() *graph {
	n := len(g.y)
	t, w := ad.Input("t"), make([]*ad.Node, len(g.p))
	var y, tangent []*ad.Node
	for i, p := range g.p {
		w[i] = ad.Scale(float64(1-2*(i%2)), p)
	}
	both := *g
	both.tangents = true
	both.y = slices.Clone(g.y)
	for _, v := range g.y {
		y = append(y, ad.Input(v.String(), v.Shape()...))
		tangent = append(tangent, ad.Input("tangent of "+v.String(), v.Shape()...))
		both.y = append(both.y, ad.Input("tangent of "+v.String(), v.Shape()...))
	}
	rates := g.rate(t, y, g.p)
	for _, f := range rates[:n:n] {
		rates = append(rates, ad.JVP(f, append(slices.Clone(y), g.p...), append(slices.Clone(tangent), w...)))
	}
	from := append(append([]*ad.Node{t}, y...), tangent...)
	both.rate = func(t *ad.Node, y, _ []*ad.Node) []*ad.Node {
		return ad.Substitute(rates, from, append([]*ad.Node{t}, y...))
	}
	return &both
}

// plus returns y + sum c_i k_i, times h where scaled.
func (g *graph) plus(y []*ad.Node, scaled bool, c []float64, k [][]*ad.Node) []*ad.Node {
	out := make([]*ad.Node, len(y))
	for i := range y {
		var terms []*ad.Node
		for j, v := range c {
			if v != 0 {
				terms = append(terms, ad.Scale(v, k[j][i]))
			}
		}
		sum := ad.AddN(terms...)
		if scaled {
			sum = ad.Mul(g.h, sum)
		}
		out[i] = ad.Add(y[i], sum)
	}
	return out
}
