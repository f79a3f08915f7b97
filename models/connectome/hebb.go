// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package connectome

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/euryale-dev/euryale/internal/given"
)

// Hebbian returns the circuit that plasticity alone produces, for comparison with training. Each
// example fires for the circuit's steps while its label's assembly is made to fire in the area of
// the readout, and synapses between neurons that fire one after another grow by a factor of 1 +
// beta. Other areas fire by their input; their caps are hard.
func Hebbian(ctx context.Context, c *Circuit, e Examples, r Readout, beta float64) (*Circuit, error) {
	if err := given.Args("connectome.Hebbian", "ctx", ctx, "c", c); err != nil {
		return nil, err
	}
	if err := errors.Join(c.check(), r.check(c), e.check(c, len(r.Assemblies))); err != nil {
		return nil, err
	}
	if !(beta >= 0) || math.IsInf(beta, 1) {
		return nil, fmt.Errorf("connectome: the plasticity of Hebb's rule is %g: want a finite number of at least 0", beta)
	}
	h := *c
	h.Fibres = nil
	for _, f := range c.Fibres {
		g, edges := *f, *f.Edges
		edges.Weight = append([]float64{}, f.Edges.weights()...)
		for i := range edges.Weight {
			edges.Weight[i] *= f.gain()
		}
		g.Edges, g.Gain = &edges, 1
		h.Fibres = append(h.Fibres, &g)
	}
	for i := range e.Stimuli {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		h.teach(e.Stimuli[i], r, e.Labels[i], beta)
	}
	return &h, nil
}

// teach runs one example with plasticity.
func (c *Circuit) teach(x []float64, r Readout, label int, beta float64) {
	before := map[string][]float64{}
	for t := range c.Steps {
		now := map[string][]float64{}
		at := t * c.inputs() % len(x)
		for _, s := range c.Stimuli {
			before[s.Name] = x[at : at+s.N]
			at += s.N
		}
		for _, a := range c.Areas {
			now[a.Name] = c.wins(a, before)
		}
		taught := make([]float64, c.area(r.Area).N)
		for _, j := range r.Assemblies[label] {
			taught[j] = 1
		}
		now[r.Area] = taught
		for _, f := range c.Fibres {
			f.Edges.hebb(before[f.From], now[f.To], beta)
		}
		for name, y := range now {
			before[name] = y
		}
	}
}

// wins returns the activities of an area, given all activities of the step before.
func (c *Circuit) wins(a Area, before map[string][]float64) []float64 {
	h, y := make([]float64, a.N), make([]float64, a.N)
	reached := false
	for _, f := range c.Fibres {
		if pre := before[f.From]; f.To == a.Name && pre != nil {
			reached = true
			f.Edges.addInputs(h, pre)
		}
	}
	if reached {
		hardRow(y, h, float64(min(a.K, a.N)))
	}
	return y
}

// addInputs adds to h the inputs that activities x give.
func (e *Edges) addInputs(h, x []float64) {
	for i, v := range x {
		for q := e.Start[i]; v != 0 && q < e.Start[i+1]; q++ {
			h[e.To[q]] += v * e.Weight[q]
		}
	}
}

// hebb strengthens synapses between the neurons active before and those active now.
func (e *Edges) hebb(before, now []float64, beta float64) {
	for i, v := range before {
		for q := e.Start[i]; v != 0 && q < e.Start[i+1]; q++ {
			e.Weight[q] *= 1 + beta*v*now[e.To[q]]
		}
	}
}
