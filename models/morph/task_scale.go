// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package morph

import (
	"context"
	"math"
	"slices"

	"github.com/euryale-dev/euryale/optim"
)

// minimize runs L-BFGS on the loss relative to its value at the start, with parameters
// relative to their starts. A background of 1e-9 and a radius of 10 then take comparable
// steps, and the tolerances do not depend on the unit of intensity. Elements of arrays
// are not rescaled.
func (t *Task) minimize(ctx context.Context, s optim.MinimizeSettings) (*optim.Minimum, error) {
	f, err := t.Inversion.Function()
	if err != nil {
		return nil, err
	}
	var size []float64
	for _, p := range t.Inversion.Params {
		for _, x := range p.Start {
			if x = math.Abs(x); x == 0 || len(p.Start) > 1 {
				x = 1
			}
			size = append(size, x)
		}
	}
	first, err := f.Gradient(make([]float64, f.N), f.Start)
	if err != nil {
		return nil, err
	}
	if !(first > 0) || math.IsInf(first, 0) {
		first = 1
	}
	m, err := optim.Minimize(ctx, inUnits(f, size, first), s)
	if m != nil {
		multiply(m.X, size)
		m.Value *= first
	}
	return m, err
}

// inUnits returns f as a function of x relative to size, divided by unit.
func inUnits(f *optim.Function, size []float64, unit float64) *optim.Function {
	x := make([]float64, f.N)
	divided := func(v []float64) []float64 {
		v = slices.Clone(v)
		for i := range v {
			v[i] /= size[i]
		}
		return v
	}
	return &optim.Function{N: f.N, Names: f.Names, Start: divided(f.Start), Lower: divided(f.Lower), Upper: divided(f.Upper),
		Gradient: func(g, y []float64) (float64, error) {
			copy(x, y)
			multiply(x, size)
			value, err := f.Gradient(g, x)
			for i := range g {
				g[i] *= size[i] / unit
			}
			return value / unit, err
		}}
}

func multiply(v, by []float64) {
	for i := range v {
		v[i] *= by[i]
	}
}
