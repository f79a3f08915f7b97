// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package ode

import (
	"github.com/euryale-dev/euryale/autodiff/internal/compiler"
	"github.com/euryale-dev/euryale/autodiff/internal/native"
)

// fused is a step of an explicit method as one piece of machine code: the stages, with the rates in them, and their weighted sums. It makes
// the operations of explicit and explicitBackward in their order, so that the results have the same bits.
//
// Memory of forward: t, h, state and tangent, parameters, the same after the step, the estimates; second, it writes the states of the stages.
// Memory of backward: t, h, lambda, dp, parameters; second, it reads these states.
type fused struct{ forward, backward *native.Code }

// mostFused is the number of operations of a step up to which it becomes one piece, which takes a few bytes for each.
const mostFused = 20_000

// newFused returns the code of a step; nil if the rates are not made of single numbers alone, if the step is long, or where there is no
// machine code.
func (pr *problem) newFused() *fused {
	step, back := compiler.Of(pr.step), compiler.Of(pr.back)
	if pr.table == nil || pr.parts != pr.n {
		return nil
	}
	n, ok := native.Operations(step)
	m, also := native.Operations(back)
	if !ok || !also || len(pr.table.c)*(n+m) > mostFused {
		return nil
	}
	f, b := &stages{problem: pr}, &stages{problem: pr}
	if !f.forward(step) || !b.backward(back) {
		return nil
	}
	code := &fused{native.Compile(&f.List), native.Compile(&b.List)}
	if code.forward == nil || code.backward == nil {
		return nil
	}
	return code
}

// stages builds the code of a step.
type stages struct {
	native.List
	*problem
	h native.Value // length of the step
}

func (s *stages) loads(at, n int) []native.Value {
	list := make([]native.Value, n)
	for i := range list {
		list[i] = s.Load(native.First, at+i)
	}
	return list
}

func (s *stages) stores(at int, list []native.Value) {
	for i, v := range list {
		s.Store(native.First, at+i, v)
	}
}

// time returns t + c h.
func (s *stages) time(t native.Value, c float64) native.Value {
	return s.Do(native.Add, t, s.Do(native.Mul, s.Constant(c), s.h))
}

// sum is h times the weighted sum of component j of the slopes, whose vectors have m components: the sum that slopes.plus makes.
func (s *stages) sum(k [][]native.Value, list []weight, j, m int) native.Value {
	parts := [][]weight{list}
	if left := m % 4; j >= m-left && !(left%2 == 1 && j == m-1) { // one of a pair
		parts = make([][]weight, 2)
		for i, w := range list {
			parts[i%2] = append(parts[i%2], w)
		}
	}
	total := native.Value(-1)
	for _, p := range parts {
		part := native.Value(-1)
		for _, w := range p {
			x := s.Do(native.Mul, s.Constant(w.by), k[w.stage][j])
			if part >= 0 {
				x = s.Do(native.Add, part, x)
			}
			part = x
		}
		if total >= 0 && part >= 0 {
			part = s.Do(native.Add, total, part)
		}
		if part >= 0 {
			total = part
		}
	}
	return s.Do(native.Mul, s.h, total)
}

// plus returns y plus h times the weighted sums of the slopes.
func (s *stages) plus(y []native.Value, k [][]native.Value, list []weight) []native.Value {
	if len(list) == 0 {
		return y
	}
	out := make([]native.Value, len(y))
	for j := range y {
		out[j] = s.Do(native.Add, y[j], s.sum(k, list, j, len(y)))
	}
	return out
}

// forward appends a step with the program of the rates of state and tangent.
func (s *stages) forward(rates *compiler.Program) bool {
	n, m := s.n, 2*s.n
	t := s.Load(native.First, 0)
	s.h = s.Load(native.First, 1)
	y, p := s.loads(2, m), s.loads(2+m, s.k)
	var k [][]native.Value
	for i, c := range s.table.c {
		at := s.plus(y, k, s.table.a[i])
		for j, v := range at[:n] {
			s.Store(native.Second, i*n+j, v)
		}
		in := append(append([]native.Value{s.time(t, c), s.h}, at...), p...)
		out, ok := s.Function(rates, in)
		if !ok {
			return false
		}
		k = append(k, out)
	}
	s.stores(2+m+s.k, s.plus(y, k, s.table.b))
	for e, list := range s.table.e {
		for j := range m {
			s.Store(native.First, 2+2*m+s.k+e*m+j, s.sum(k, list, j, m))
		}
	}
	return true
}

// backward appends the adjoint of a step with the program of that of the rates.
func (s *stages) backward(adjoint *compiler.Program) bool {
	n := s.n
	t := s.Load(native.First, 0)
	s.h = s.Load(native.First, 1)
	lambda, dp, p := s.loads(2, n), s.loads(2+n, s.k), s.loads(2+n+s.k, s.k)
	pull := make([][]native.Value, len(s.table.c))
	for i := len(pull) - 1; i >= 0; i-- {
		in := []native.Value{s.time(t, s.table.c[i]), s.h}
		for j := range n {
			in = append(in, s.Load(native.Second, i*n+j))
		}
		b, slope := s.Do(native.Mul, s.h, s.Constant(s.table.share[i])), make([]native.Value, n)
		for j, l := range lambda {
			slope[j] = s.Do(native.Mul, b, l)
		}
		grads, ok := s.Function(adjoint, append(append(in, p...), s.plus(slope, pull, s.table.after[i])...))
		if !ok {
			return false
		}
		pull[i] = grads[:n]
		for j, g := range grads[n:] {
			dp[j] = s.Do(native.Add, dp[j], g)
		}
	}
	for _, g := range pull {
		for j := range lambda {
			lambda[j] = s.Do(native.Add, lambda[j], g[j])
		}
	}
	s.stores(2, lambda)
	s.stores(2+n, dp)
	return true
}

// fusedSolver is the memory of a fused step.
type fusedSolver struct {
	*fused
	ahead, behind               []float64 // memory of forward and backward
	aheadScratch, behindScratch []float64
}

// fuse puts the arrays of the solver where the code of a step has them.
func (s *solver) fuse() {
	code := s.whole()
	if code == nil {
		return
	}
	n, m, k := s.n, 2*s.n, s.k
	f := &fusedSolver{fused: code, aheadScratch: code.forward.Scratch(), behindScratch: code.backward.Scratch(),
		ahead: make([]float64, 2+2*m+k+m*len(s.table.e)), behind: make([]float64, 2+n+2*k)}
	s.y, s.next, s.estimate = f.ahead[2:2+m], f.ahead[2+m+k:][:m], f.ahead[2+2*m+k:]
	s.lambda, s.dp = f.behind[2:2+n:2+n], f.behind[2+n:2+n+k]
	s.fused = f
}

// parameters sets those of the code.
func (f *fusedSolver) parameters(n int, p []float64) {
	copy(f.ahead[2+2*n:], p)
	copy(f.behind[2+n+len(p):], p)
}

// step makes a step from the state in memory, and writes the states of the stages.
func (f *fusedSolver) step(t, h float64, states []float64) {
	f.ahead[0], f.ahead[1] = t, h
	f.forward.Run(f.aheadScratch, f.ahead, states)
}

// pull propagates the gradient back over a step.
func (f *fusedSolver) pull(at place, states []float64) {
	f.behind[0], f.behind[1] = at.t, at.h
	f.backward.Run(f.behindScratch, f.behind, states)
}
