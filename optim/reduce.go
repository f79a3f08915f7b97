// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package optim

import (
	"fmt"
	"slices"
	"sort"

	"github.com/euryale-dev/euryale/internal/linalg"
)

// reduction maps the parameters that a fit moves to all of a problem: some are
// held at a value, some tied to others.
type reduction struct {
	p    *Problem
	free []int
	// at holds all parameters.
	at []float64
	// ties is nil without ties.
	ties *ties
}

// Reduced returns the problem of the parameters that the settings neither hold at a value nor tie to others, for searches of their own.
func (p *Problem) Reduced(s Settings) (*Problem, error) {
	q, _, err := p.reduce(&s)
	return q, err
}

// reduce returns the problem of the free parameters and a function that completes
// its result. XScale of the settings follows.
func (p *Problem) reduce(s *Settings) (*Problem, func(*Result) error, error) {
	if len(s.Fixed) == 0 && len(s.Tied) == 0 {
		return p, func(r *Result) error { r.Names = p.allNames(); return nil }, nil
	}
	r := &reduction{p: p, at: slices.Clone(p.Start)}
	for _, name := range sortedKeys(s.Fixed) {
		i, err := p.index(name)
		if err != nil {
			return nil, nil, fmt.Errorf("optim: fixed parameters %v: %w", sortedKeys(s.Fixed), err)
		}
		if r.at[i] = s.Fixed[name]; !linalg.Finite(r.at[i]) {
			return nil, nil, fmt.Errorf("optim: %s is fixed at %g: want a finite number", name, r.at[i])
		}
	}
	for i := range p.N {
		_, fixed := s.Fixed[p.name(i)]
		_, tied := s.Tied[p.name(i)]
		if fixed && tied {
			return nil, nil, fmt.Errorf("optim: %s is both fixed and tied: remove it from Fixed or from Tied", p.name(i))
		}
		if !fixed && !tied {
			r.free = append(r.free, i)
		}
	}
	if len(s.Tied) > 0 {
		var err error
		if r.ties, err = newTies(p, s.Tied); err != nil {
			return nil, nil, err
		}
	}
	if s.XScale != nil && len(s.XScale) == p.N {
		s.XScale = pick(s.XScale, r.free)
	}
	return r.problem(), r.complete, nil
}

// pick returns the elements of v at some places; nil of nil, which stands for no bounds.
func pick(v []float64, at []int) []float64 {
	if v == nil {
		return nil
	}
	out := make([]float64, len(at))
	for k, i := range at {
		out[k] = v[i]
	}
	return out
}

// expand returns all parameters for the free ones; it is overwritten by the next
// call.
func (r *reduction) expand(x []float64) ([]float64, error) {
	for k, i := range r.free {
		r.at[i] = x[k]
	}
	if r.ties == nil {
		return r.at, nil
	}
	return r.at, r.ties.apply(r.at)
}

// problem is the problem of the free parameters.
func (r *reduction) problem() *Problem {
	p, n := r.p, len(r.free)
	q := &Problem{M: p.M, N: n, extra: p.extra, Start: pick(p.Start, r.free), Lower: pick(p.Lower, r.free), Upper: pick(p.Upper, r.free)}
	for _, i := range r.free {
		q.Names = append(q.Names, p.name(i))
	}
	q.Residual = func(out, x []float64) error {
		all, err := r.expand(x)
		if err != nil {
			return err
		}
		return p.Residual(out, all)
	}
	if p.Jacobian != nil {
		var wide []float64
		q.Jacobian = func(j, x []float64) error {
			if wide == nil {
				wide = make([]float64, p.M*p.N)
			}
			all, err := r.expand(x)
			if err == nil {
				err = p.Jacobian(wide, all)
			}
			if err != nil {
				return err
			}
			for k, i := range r.free {
				col := j[k*p.M : (k+1)*p.M]
				copy(col, wide[i*p.M:])
				r.ties.each(i, func(tied int, slope float64) { linalg.AddScaled(col, slope, wide[tied*p.M:(tied+1)*p.M]) })
			}
			return nil
		}
	}
	r.products(q)
	return q
}

// products gives q the products with the Jacobian of p.
func (r *reduction) products(q *Problem) {
	p := r.p
	forward, backward := p.JVP, p.VJP
	switch {
	case p.Sparsity != nil && r.ties == nil:
		r.sparse(q)
		forward, backward = nil, nil
	case p.Sparsity != nil:
		forward, backward = p.sparseProducts()
	}
	along, back := make([]float64, p.N), make([]float64, p.N)
	push := func(v []float64) {
		clear(along)
		for k, i := range r.free {
			along[i] += v[k]
			r.ties.each(i, func(tied int, slope float64) { along[tied] += slope * v[k] })
		}
	}
	if forward != nil && backward != nil {
		q.JVP = func(out, x, v []float64) error {
			all, err := r.expand(x)
			if err != nil {
				return err
			}
			push(v)
			return forward(out, all, along)
		}
		q.VJP = func(out, x, u []float64) error {
			all, err := r.expand(x)
			if err == nil {
				err = backward(back, all, u)
			}
			for k, i := range r.free {
				out[k] = back[i]
				r.ties.each(i, func(tied int, slope float64) { out[k] += slope * back[tied] })
			}
			return err
		}
	}
	if p.Second != nil && r.ties == nil {
		q.Second = func(out, x, v []float64) error {
			all, err := r.expand(x)
			if err != nil {
				return err
			}
			push(v)
			return p.Second(out, all, along)
		}
	}
}

// sparse gives q the columns of a sparse Jacobian that are free.
func (r *reduction) sparse(q *Problem) {
	p := r.p
	to := slices.Repeat([]int{-1}, p.N)
	for k, i := range r.free {
		to[i] = k
	}
	s := &Sparsity{Row: []int{0}}
	var kept []int
	for i := range p.M {
		for e := p.Sparsity.Row[i]; e < p.Sparsity.Row[i+1]; e++ {
			if k := to[p.Sparsity.Column[e]]; k >= 0 {
				s.Column, kept = append(s.Column, k), append(kept, e)
			}
		}
		s.Row = append(s.Row, len(s.Column))
	}
	q.Sparsity = s
	if p.SparseJacobian == nil {
		return
	}
	all := make([]float64, len(p.Sparsity.Column))
	q.SparseJacobian = func(values, x []float64) error {
		full, err := r.expand(x)
		if err == nil {
			err = p.SparseJacobian(all, full)
		}
		for i, e := range kept {
			values[i] = all[e]
		}
		return err
	}
}

// complete extends the result of the free parameters to all parameters.
func (r *reduction) complete(res *Result) error {
	p, n, k := r.p, r.p.N, len(r.free)
	all, err := r.expand(res.X)
	if err != nil {
		return err
	}
	res.X = slices.Clone(all)
	res.Names = p.allNames()
	grad, active := make([]float64, n), make([]int, n)
	for i, fi := range r.free {
		grad[fi], active[fi] = res.Grad[i], res.Active[i]
	}
	res.Grad, res.Active = grad, active
	if res.Cov == nil {
		res.tieGradient = func(g []float64, i int) {
			for c, f := range r.free {
				if f == i {
					g[c] = 1
				}
				r.ties.each(f, func(tied int, slope float64) {
					if tied == i {
						g[c] = slope
					}
				})
			}
		}
		return nil
	}
	g := make([]float64, n*k) // row i: how parameter i moves with the free ones
	for c, i := range r.free {
		g[i*k+c] = 1
		r.ties.each(i, func(tied int, slope float64) { g[tied*k+c] = slope })
	}
	res.free, res.tieJacobian = r.free, g
	res.Cov, res.FreeCov = sandwich(g, res.Cov, n, k), sandwich(g, res.FreeCov, n, k)
	if res.Jacobian != nil {
		wide := make([]float64, res.M*n)
		for i, fi := range r.free {
			copy(wide[fi*res.M:(fi+1)*res.M], res.Jacobian[i*res.M:(i+1)*res.M])
		}
		res.Jacobian = wide
	}
	return nil
}

// sandwich is G C G^T for an n x k G; an infinite variance stays with what
// depends on it.
func sandwich(g, c []float64, n, k int) []float64 {
	used := make([][]int, n) // columns of G that row i uses
	for i := range n {
		for a := range k {
			if g[i*k+a] != 0 {
				used[i] = append(used[i], a)
			}
		}
	}
	out := make([]float64, n*n)
	for i := range n {
		for j := range n {
			s := 0.0
			for _, a := range used[i] {
				for _, b := range used[j] {
					if v := c[a*k+b]; i == j || linalg.Finite(v) {
						s += g[i*k+a] * g[j*k+b] * v
					}
				}
			}
			out[i*n+j] = s
		}
	}
	return out
}

func sortedKeys(m map[string]float64) []string {
	var out []string
	for k := range m {
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}

// sortedOrder returns the order that sorts v.
func sortedOrder(v []int) []int {
	out := make([]int, len(v))
	for i := range out {
		out[i] = i
	}
	sort.SliceStable(out, func(a, b int) bool { return v[out[a]] < v[out[b]] })
	return out
}
