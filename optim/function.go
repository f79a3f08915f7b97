// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package optim

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/euryale-dev/euryale/internal/linalg"
)

// Function is a function of N parameters to be minimised. It is not safe for concurrent use.
type Function struct {
	N int
	// Names are the names of the parameters, used in messages.
	Names []string
	Start []float64
	// Lower and Upper are the bounds. They are nil, or infinite for single parameters, where there
	// are none.
	Lower, Upper []float64
	// Value returns the function at x. It may be nil if Gradient is set.
	Value func(x []float64) (float64, error)
	// Gradient fills g with the gradient at x and returns the value. Nil means central differences.
	Gradient func(g, x []float64) (float64, error)
	// HVP fills out with the matrix of second derivatives at x times v. Nil means
	// differences of gradients.
	HVP func(out, x, v []float64) error
}

// Function returns the cost of a least-squares problem as a function to minimise, with the loss,
// the priors, and the fixed and tied parameters of the settings. Its HVP is that of the
// Gauss-Newton matrix.
func (p *Problem) Function(s Settings) (*Function, error) {
	if err := p.check(); err != nil {
		return nil, err
	}
	with, err := p.withPriors(s.Priors)
	if err != nil {
		return nil, err
	}
	q, _, err := with.reduce(&s)
	if err != nil {
		return nil, err
	}
	if s.Method = TRF; s.Solver == AutoSolver && q.JVP != nil && q.VJP != nil && q.N > writtenOut {
		s.Solver = LSMR
	}
	if s, err = s.withDefaults(q); err != nil {
		return nil, err
	}
	c := &costFunction{newIterate(q, s), make([]float64, q.M)}
	return &Function{N: q.N, Names: q.allNames(), Start: slices.Clone(q.Start), Lower: q.Lower, Upper: q.Upper,
		Value: c.value, Gradient: c.gradient, HVP: c.hvp}, nil
}

// costFunction is the cost of a least-squares problem.
type costFunction struct {
	*iterate
	jv []float64
}

func (c *costFunction) value(x []float64) (float64, error) {
	if err := c.p.Residual(c.fNew, x); err != nil {
		return nan, err
	}
	return c.costOf(c.fNew), nil
}

// at evaluates residuals and Jacobian.
func (c *costFunction) at(x []float64) error {
	copy(c.x, x)
	if err := c.p.Residual(c.f, c.x); err != nil {
		return err
	}
	c.weigh()
	return c.model.update()
}

func (c *costFunction) gradient(g, x []float64) (float64, error) {
	if err := c.at(x); err != nil {
		return nan, err
	}
	copy(g, c.grad)
	return c.costOf(c.f), nil
}

// hvp multiplies by the Gauss-Newton matrix.
func (c *costFunction) hvp(out, x, v []float64) error {
	if !slices.Equal(x, c.x) {
		if err := c.at(x); err != nil {
			return err
		}
	}
	switch j := c.model.(type) {
	case *dense:
		clear(c.jv)
		for k, a := range v {
			linalg.AddScaled(c.jv, a, j.j[k*c.m:(k+1)*c.m])
		}
		for k := range out {
			out[k] = linalg.Dot(c.jv, j.j[k*c.m:(k+1)*c.m])
		}
	case *operator:
		j.apply(c.jv, v)
		j.transposed(out, c.jv)
		err := j.err
		j.err = nil
		return err
	}
	return nil
}

// check completes the function and lists everything that is wrong.
func (f *Function) check() error {
	p := Problem{N: f.N, M: 1, Names: f.Names, Start: f.Start, Lower: f.Lower, Upper: f.Upper, Residual: func(_, _ []float64) error { return nil }}
	if f.Value == nil && f.Gradient == nil {
		return fmt.Errorf("optim: the function has neither Value nor Gradient: set one of them")
	}
	if len(f.Start) == f.N && len(f.Lower) == f.N && len(f.Upper) == f.N { // Minimize goes to the nearest point
		p.Start = slices.Clone(f.Start)
		for i, x := range p.Start {
			if linalg.Finite(x) && f.Lower[i] < f.Upper[i] {
				p.Start[i] = min(max(x, f.Lower[i]), f.Upper[i])
			}
		}
	}
	err := p.check()
	f.Lower, f.Upper = p.Lower, p.Upper
	return err
}

func (f *Function) bounded() bool {
	p := Problem{Lower: f.Lower, Upper: f.Upper}
	return p.bounded()
}

// value evaluates the function alone.
func (f *Function) value(x []float64) (float64, error) {
	if f.Value != nil {
		return f.Value(x)
	}
	return f.Gradient(make([]float64, f.N), x)
}

// gradient evaluates value and gradient, by central differences if it must.
func (f *Function) gradient(g, x []float64) (float64, error) {
	if f.Gradient != nil {
		return f.Gradient(g, x)
	}
	value, err := f.Value(x)
	at := slices.Clone(x)
	for k, v := range x {
		h := 6e-6 * max(math.Abs(v), 1e-3*unitOf(f.Start, k))
		hi, lo := min(v+h, f.Upper[k]), max(v-h, f.Lower[k])
		at[k] = hi
		a, e1 := f.Value(at)
		at[k] = lo
		b, e2 := f.Value(at)
		at[k] = v
		g[k] = (a - b) / (hi - lo)
		err = errors.Join(err, e1, e2)
	}
	return value, err
}

// hvp evaluates the product with the second derivatives, by differences of
// gradients if it must.
func (f *Function) hvp(out, x, v []float64) error {
	if f.HVP != nil {
		return f.HVP(out, x, v)
	}
	size := linalg.Norm(v)
	if size == 0 {
		clear(out)
		return nil
	}
	h := 1e-5 * max(1, linalg.Norm(x)) / size
	at, back := make([]float64, len(x)), make([]float64, len(x))
	for i := range at {
		at[i] = x[i] + h*v[i]
	}
	_, err := f.gradient(out, at)
	for i := range at {
		at[i] = x[i] - h*v[i]
	}
	_, e2 := f.gradient(back, at)
	for i := range out {
		out[i] = (out[i] - back[i]) / (2 * h)
	}
	return errors.Join(err, e2)
}

var nan = math.NaN()

func fillNaN(x []float64) {
	for i := range x {
		x[i] = nan
	}
}
