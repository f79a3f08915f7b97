// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package optim

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/euryale-dev/euryale/internal/errtext"
	"github.com/euryale-dev/euryale/internal/linalg"
)

// Problem is a nonlinear least-squares problem of M residuals and N parameters.
// It is not safe for concurrent use; Clone gives each goroutine its own.
type Problem struct {
	M, N int
	// Names are the names of the parameters, used in messages.
	Names []string
	Start []float64
	// Guess returns a start if Start is nil; a start estimated from the data is often better than a
	// fixed one. It must lie within the bounds.
	Guess func() ([]float64, error)
	// Lower and Upper are the bounds. They are nil, or infinite for single parameters, where there
	// are none.
	Lower, Upper []float64
	// Residual fills r (M elements) with the residuals at p.
	Residual func(r, p []float64) error
	// Jacobian fills j at p, column by column: j[k*M+i] is dr_i/dp_k. Nil means central
	// differences.
	Jacobian func(j, p []float64) error
	// JVP fills out (M elements) with the product of the Jacobian at p and v, and VJP fills out (N
	// elements) with the product of its transpose and u. Together they serve problems whose
	// Jacobian is too large to store; see Settings.Solver.
	JVP, VJP func(out, p, v []float64) error
	// Sparsity says where the Jacobian may differ from 0, and SparseJacobian fills those elements
	// at p, in the same order. Without SparseJacobian, columns that share no row are differentiated
	// together.
	Sparsity       *Sparsity
	SparseJacobian func(values, p []float64) error
	// Second fills out (M elements) with the second derivative of the residual at p along v, for
	// Settings.Geodesic. Nil means finite differences.
	Second func(out, p, v []float64) error

	// extra is the number of last rows that the loss leaves alone: those of priors.
	extra int
	graph *graph
	data  *dataset
}

// Clone returns a problem that another goroutine may use. The functions of a problem made of Go
// functions are shared.
func (p *Problem) Clone() *Problem {
	c := *p
	if p.graph != nil {
		p.graph.bind(&c, p.data.values)
	}
	return &c
}

// name returns the name of parameter i.
func (p *Problem) name(i int) string {
	if i < len(p.Names) {
		return p.Names[i]
	}
	return fmt.Sprintf("p%d", i)
}

func (p *Problem) allNames() []string {
	out := make([]string, p.N)
	for i := range out {
		out[i] = p.name(i)
	}
	return out
}

// index returns the number of the parameter of that name, or an error that
// suggests one.
func (p *Problem) index(name string) (int, error) {
	found := -1
	for i := range p.N {
		if p.name(i) != name {
			continue
		}
		if found >= 0 {
			return 0, fmt.Errorf("optim: parameters %d and %d are both called %s: give each a name of its own", found, i, name)
		}
		found = i
	}
	if found < 0 {
		return 0, unknown("parameter", name, p.allNames())
	}
	return found, nil
}

// check completes start and bounds and lists everything that is wrong.
func (p *Problem) check() error {
	var errs []error
	bad := func(format string, a ...any) { errs = append(errs, fmt.Errorf("optim: "+format, a...)) }
	if p.Residual == nil || p.N < 0 || p.M < 1 {
		return fmt.Errorf("optim: the problem has %d residuals and %d parameters: set Residual and give at least one residual", p.M, p.N)
	}
	if err := p.guess(); err != nil {
		return err
	}
	if len(p.Start) != p.N {
		return fmt.Errorf("optim: the start has %s: want %d, one for each parameter", errtext.Count(len(p.Start), "value"), p.N)
	}
	fill := func(b []float64, v float64, what string) []float64 {
		if b == nil {
			return slices.Repeat([]float64{v}, p.N)
		}
		if len(b) != p.N {
			bad("there are %[2]d %[1]s bounds: want %[3]d, one for each parameter", what, len(b), p.N)
			return slices.Repeat([]float64{v}, p.N)
		}
		return b
	}
	p.Lower = fill(p.Lower, math.Inf(-1), "lower")
	p.Upper = fill(p.Upper, math.Inf(1), "upper")
	for i, x := range p.Start {
		switch lo, hi := p.Lower[i], p.Upper[i]; {
		case !(lo < hi):
			bad("the bounds of %s are %g..%g: want lower < upper; to hold a parameter fixed, fix it instead", p.name(i), lo, hi)
		case !linalg.Finite(x):
			bad("the start of %s is %g: want a finite number", p.name(i), x)
		case x < lo || x > hi:
			bad("the start of %s is %g, outside its bounds %g..%g: move it inside", p.name(i), x, lo, hi)
		}
	}
	if p.Sparsity != nil {
		if err := p.Sparsity.check(p.M, p.N); err != nil {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

func (p *Problem) guess() error {
	if p.Start != nil || p.Guess == nil {
		return nil
	}
	x, err := p.Guess()
	if err != nil {
		return fmt.Errorf("optim: no start: %w", err)
	}
	p.Start = x
	return nil
}

// bounded reports whether any bound is finite.
func (p *Problem) bounded() bool {
	for i := range p.Lower {
		if !math.IsInf(p.Lower[i], -1) || !math.IsInf(p.Upper[i], 1) {
			return true
		}
	}
	return false
}

// denseMost is the largest Jacobian that is stored in full: 128 MiB.
const denseMost = 1 << 24

// large reports whether the Jacobian is better not stored in full.
func (p *Problem) large() bool {
	if p.Sparsity != nil || p.JVP != nil && p.VJP != nil {
		return p.Jacobian == nil || p.M > denseMost/max(1, p.N)
	}
	return false
}
