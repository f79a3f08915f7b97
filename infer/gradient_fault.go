// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package infer

import (
	"context"
	"math"
	"slices"

	"github.com/euryale-dev/euryale/internal/linalg"
	"github.com/euryale-dev/euryale/tensor"
)

const (
	maxFaults         = 5
	checkedAlone      = 50   // up to that many parameters are checked one by one
	checkedDirections = 4    // of more parameters, at each point
	checkedPoints     = 3    // random points of Sample
	checkedTol        = 1e-4 // of a derivative, relative to its size
)

// gradientCheck compares the gradient of a target at one point with differences.
type gradientCheck struct {
	ctx    context.Context
	target Target
	names  []string
	// q is the point.
	q []float64
	// given is the gradient of the target at q.
	given []float64
	moved []float64
	// g is a gradient that nobody reads.
	g      []float64
	random tensor.Stream
	faults []GradientFault
}

func newGradientCheck(ctx context.Context, t Target) *gradientCheck {
	n := t.Dim()
	return &gradientCheck{ctx: ctx, target: t.Clone(), names: coordinates(t), q: make([]float64, n), given: make([]float64, n),
		moved: make([]float64, n), g: make([]float64, n), random: tensor.NewStream(0, purposeGradientCheck, 1)}
}

// unset marks elements of a gradient that the target has not written.
var unset = math.Float64frombits(0x7ff8_dead_beef_0001)

func isUnset(g float64) bool { return math.Float64bits(g) == math.Float64bits(unset) }

// at checks the gradient at q and returns a *GradientError or nil.
func (c *gradientCheck) at(q []float64) error {
	copy(c.q, q)
	for i := range c.given {
		c.given[i] = unset
	}
	if _, err := c.target.LogProbGrad(c.q, c.given); err != nil {
		return nil // of this point
	}
	c.faults = nil
	if len(q) <= checkedAlone {
		for i := range q {
			c.check(direction{[]int{i}, []float64{1}})
		}
	} else {
		c.directions()
	}
	if len(c.faults) == 0 {
		return nil
	}
	return &GradientError{At: slices.Clone(q), Faults: c.faults}
}

// direction moves some parameters, each by its sign.
type direction struct {
	at   []int
	sign []float64
}

func (d direction) part(from, to int) direction { return direction{d.at[from:to], d.sign[from:to]} }

// directions checks along random signs and searches for the parameter at fault.
func (c *gradientCheck) directions() {
	n := len(c.q)
	d := direction{make([]int, n), make([]float64, n)}
	for range checkedDirections {
		for i := range n {
			d.at[i], d.sign[i] = i, math.Copysign(1, c.random.Float64()-0.5)
		}
		if c.compare(d) != nil {
			c.check(c.narrowed(d))
			return
		}
	}
}

// narrowed halves a direction that is at fault as long as a half is.
func (c *gradientCheck) narrowed(d direction) direction {
	for n := len(d.at); n > 1; n = len(d.at) {
		switch first, second := d.part(0, n/2), d.part(n/2, n); {
		case c.compare(first) != nil:
			d = first
		case c.compare(second) != nil:
			d = second
		default:
			return d
		}
	}
	return direction{d.at, []float64{1}}
}

// check records the fault along d, if there is one.
func (c *gradientCheck) check(d direction) {
	if len(c.faults) == maxFaults || c.ctx.Err() != nil {
		return
	}
	if f := c.compare(d); f != nil {
		if len(d.at) == 1 {
			f.Parameter = c.names[d.at[0]]
		}
		c.faults = append(c.faults, *f)
	}
}

// compare returns how the derivative along d differs from differences of the log
// density: nil where it does not, or where they do not tell.
func (c *gradientCheck) compare(d direction) *GradientFault {
	scale, given := c.along(d)
	tol := func(expected float64) float64 {
		return checkedTol * max(math.Abs(given), math.Abs(expected), 1e-2*c.largest())
	}
	f := func(h float64) float64 { return c.density(d, h*scale) }
	quick := stencilOf(f, 1e-3)
	if v := quick.derivative() / scale; math.Abs(given-v) <= tol(v)+25*quick.rounding()/scale {
		return nil
	}
	s, ok := differentiate(f)
	if s = (slope{s.value / scale, s.err / scale}); !ok || c.ctx.Err() != nil {
		return nil
	}
	if isUnset(given) || math.Abs(given-s.value) > tol(s.value)+10*s.err {
		return &GradientFault{Given: given, Expected: s.value, Uncertainty: s.err}
	}
	return nil
}

// along returns the length that counts as 1 along d and the derivative that the
// target gives.
func (c *gradientCheck) along(d direction) (scale, given float64) {
	for k, i := range d.at {
		if isUnset(c.given[i]) {
			return 1, unset
		}
		given += d.sign[k] * c.given[i]
	}
	if len(d.at) == 1 {
		return max(1, math.Abs(c.q[d.at[0]])), given
	}
	return 1, given
}

// density returns the log density where the parameters have moved by h along d, NaN
// where the target turns that down.
func (c *gradientCheck) density(d direction, h float64) float64 {
	copy(c.moved, c.q)
	for k, i := range d.at {
		c.moved[i] += h * d.sign[k]
	}
	lp, err := c.target.LogProbGrad(c.moved, c.g)
	if err != nil {
		return math.NaN()
	}
	return lp
}

// largest is the size of the largest derivative that the target gives.
func (c *gradientCheck) largest() float64 {
	v := 0.0
	for _, g := range c.given {
		if linalg.Finite(g) {
			v = max(v, math.Abs(g))
		}
	}
	return v
}
