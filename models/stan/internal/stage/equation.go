// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package stage

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/autodiff/ode"
	"github.com/euryale-dev/euryale/models/stan/internal/syntax"
	"github.com/euryale-dev/euryale/models/stan/internal/typing"
	"github.com/euryale-dev/euryale/models/stan/internal/value"
)

// mostStates is the number of components up to which a system is computed with single numbers, which are faster than arrays of a few.
const mostStates = 32

// solveODE solves y' = f(t, y, args). skip is where the arguments of f start; old is the interface with arrays.
func (m *Machine) solveODE(x *syntax.Call, skip int, stiff, old bool) (value.Value, error) {
	name, args, err := m.arguments(x)
	if err != nil {
		return value.Value{}, err
	}
	y0, t0, ts := args[1], args[2], args[3]
	rest, tolerances := args[skip:], args[4:skip]
	if old {
		rest, tolerances = args[4:7], args[7:]
	}
	set, err := accuracy(stiff, tolerances)
	if err != nil {
		return y0, err
	}
	set.Told = m.solverTold(x, stiff)
	if t0.Known() && ts.Known() {
		if err := after(t0.Number(), ts.F); err != nil {
			return y0, err
		}
	}
	times := ad.Concat(0, ad.Reshape(t0.Node(), 1), ad.Reshape(ts.Node(), ts.Size()))
	if t0.Known() && ts.Known() { // no gradient with respect to them is computed
		times = ad.Const(append([]float64{t0.Number()}, ts.F...), 1+ts.Size())
	}
	n := y0.Size()
	if n > mostStates && set.Method == ode.Patient { // the Jacobian of many states would cost more than it saves
		set.Method = ode.DOP853
	}
	m.explain(x.At(), "%s: %s, with relative and absolute tolerances %.2g and %.2g", x.Name, map[ode.Method]string{ode.DOP853: "steps of order 8", ode.Auto: "steps of order 8, or a method for stiff systems after 1000 of them", ode.Patient: "steps of order 8, or a method for stiff systems after 1000 of them"}[set.Method], set.RTol, set.ATol)
	var failed error
	rates := func(t *ad.Node, state value.Value, p []*ad.Node) *value.Value {
		own, _ := refill(rest, p)
		state.Type = typing.Of(typing.Vector)
		if old {
			state.Type = typing.Of(typing.Real, 1)
		}
		v, err := m.detached(name, append([]value.Value{value.Of(typing.Of(typing.Real), t), state}, own...))
		if err == nil && v.Size() != n {
			err = fmt.Errorf("%s returns %d derivatives, and the state has %d elements: return one derivative for each", name, v.Size(), n)
		}
		if err != nil {
			failed = err
			return nil
		}
		return &v
	}
	var p *ad.Node
	if list := free(rest); len(list) > 0 {
		p = ad.Concat(0, list...)
	} else {
		p = ad.Const(nil, 0)
	}
	var z *ad.Node
	if start := ad.Reshape(y0.Node(), n); n <= mostStates {
		z = ode.SolveAt(func(t *ad.Node, y, p []*ad.Node) []*ad.Node {
			v := rates(t, value.FromScalars(typing.Of(typing.Real, 1), y), p)
			if v == nil {
				return slices.Repeat([]*ad.Node{ad.Fail(failed)}, n)
			}
			return v.Scalars()
		}, start, times, p, set)
	} else {
		z = ode.SolveVector(func(t, y *ad.Node, p []*ad.Node) *ad.Node {
			v := rates(t, value.Of(typing.Of(typing.Real, 1), y, n), p)
			if v == nil {
				return ad.Fail(failed)
			}
			return v.Node()
		}, start, times, p, set)
	}
	if failed != nil {
		return y0, failed
	}
	out := value.Of(x.Type(), z, ts.Size(), n)
	if err := z.Err(); err != nil {
		return out, err
	}
	return m.settled(out, append([]value.Value{y0, t0, ts}, rest...))
}

// solverError is an error of a solution at a point, in words of the language.
type solverError struct {
	text string
	err  error
}

func (e *solverError) Error() string { return e.text }
func (e *solverError) Unwrap() error { return e.err }

// solverTold says where in the program a solution failed, and what to try there.
func (m *Machine) solverTold(x *syntax.Call, stiff bool) func(error) error {
	where := fmt.Sprintf("%s, line %d: %s", m.Prog.Source.Name, m.Prog.Source.Line(x.At()), x.Name)
	remedy := "use ode_bdf if the system is stiff, give ode_rk45_tol larger tolerances or more steps"
	switch {
	case strings.HasPrefix(x.Name, "dae"):
		remedy = "give dae_tol larger tolerances or more steps, and see that the initial state and derivative obey the equations"
	case stiff:
		remedy = "give the solver larger tolerances or more steps"
	}
	return func(err error) error {
		var stopped *ode.Error
		var order *ode.OrderError
		switch {
		case errors.As(err, &stopped) && stopped.Reached():
			return &solverError{fmt.Sprintf("%s came to t = %.6g in %d steps, which is as many as it may take: %s, or narrow the priors so that solutions stay bounded", where, stopped.Time, stopped.Steps, remedy), err}
		case errors.As(err, &stopped):
			return &solverError{fmt.Sprintf("%s could not go on at t = %.6g, where its steps became too small (%.3g): the solution may run to infinity there; narrow the priors, or %s", where, stopped.Time, stopped.Step, remedy), err}
		case errors.As(err, &order):
			return &solverError{fmt.Sprintf("%s: time %d of the solution is %g, and the time before is %g: the times must ascend from the initial time on", where, order.Index, order.Time, order.Before), err}
		}
		return err
	}
}

// loosest bounds tolerances: programs that ask for less leave gradients with errors that a sampler notices.
const loosest = 1e-6

// solveDAE solves f(t, y, y', args) = 0. skip is where the arguments of f start.
func (m *Machine) solveDAE(x *syntax.Call, skip int) (value.Value, error) {
	name, args, err := m.arguments(x)
	if err != nil {
		return value.Value{}, err
	}
	y0, rate0, t0, ts, rest := args[1], args[2], args[3], args[4], args[skip:]
	if !t0.Known() || !ts.Known() {
		return y0, errors.New("the times of a differential-algebraic equation must not depend on parameters")
	}
	set, err := accuracy(true, args[5:skip])
	if err != nil {
		return y0, err
	}
	set.Told = m.solverTold(x, true)
	set.RTol, set.ATol = max(set.RTol, 1e-10), max(set.ATol, 1e-10)
	if err := after(t0.Number(), ts.F); err != nil {
		return y0, err
	}
	n := y0.Size()
	if rate0.Size() != n {
		return y0, fmt.Errorf("the state has %d elements and its derivative %d: give both the same size", n, rate0.Size())
	}
	p := ad.Const(nil, 0)
	if list := free(rest); len(list) > 0 {
		p = ad.Concat(0, list...)
	}
	var failed error
	z := ode.SolveAlgebraic(func(t, y, rate *ad.Node, p []*ad.Node) *ad.Node {
		own, _ := refill(rest, p)
		vector := typing.Of(typing.Vector)
		v, err := m.detached(name, append([]value.Value{value.Of(typing.Of(typing.Real), t), value.Of(vector, y, n), value.Of(vector, rate, n)}, own...))
		if err == nil && v.Size() != n {
			err = fmt.Errorf("%s returns %d residuals, and the state has %d elements: return one for each", name, v.Size(), n)
		}
		if err != nil {
			failed = err
			return ad.Fail(err)
		}
		return v.Node()
	}, ad.Reshape(y0.Node(), n), ad.Reshape(rate0.Node(), n), t0.Number(), slices.Clone(ts.F), p, set)
	if failed != nil {
		return y0, failed
	}
	if err := z.Err(); err != nil {
		return y0, err
	}
	return m.settled(value.Of(x.Type(), z, ts.Size(), n), append([]value.Value{y0, rate0}, rest...))
}

// accuracy returns the method for stiff systems or others, and how exactly it works: at least as exactly as the tolerances ask for. A
// solution that is tighter than that is cheap, and its gradient is closer to that of the true one.
func accuracy(stiff bool, tolerances []value.Value) (ode.Settings, error) {
	set := ode.Settings{Method: ode.Patient, RTol: 1e-6, ATol: 1e-6, MaxSteps: 1_000_000}
	if stiff {
		set = ode.Settings{Method: ode.Auto, RTol: 1e-10, ATol: 1e-10, MaxSteps: 100_000_000}
	}
	if len(tolerances) > 3 { // of ode_adjoint_tol_ctl
		if !tolerances[1].Known() || tolerances[1].Size() == 0 {
			return set, errors.New("the absolute tolerances must be known, one for each element of the state")
		}
		tolerances = []value.Value{tolerances[0], value.Real(slices.Min(tolerances[1].F)), tolerances[6]}
	}
	if len(tolerances) == 3 {
		if !tolerances[0].Known() || !tolerances[1].Known() || !tolerances[2].Known() {
			return set, errors.New("tolerances must not depend on parameters")
		}
		set.RTol, set.ATol, set.MaxSteps = tolerances[0].Number(), tolerances[1].Number(), tolerances[2].Integer()
	}
	set.RTol, set.ATol = min(max(set.RTol/10, 1e-11), loosest), min(max(set.ATol/10, 1e-11), loosest)
	set.MaxSteps = max(set.MaxSteps, 10_000)
	return set, nil
}

// after checks that the times of a solution are after its beginning, and ascend.
func after(last float64, times []float64) error {
	for i, t := range times {
		if !(t > last) && i == 0 || t < last {
			return fmt.Errorf("time %d is %g, and must be after %g", i+1, t, last)
		}
		last = t
	}
	return nil
}
