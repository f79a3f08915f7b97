// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package infer

import (
	"fmt"
	"slices"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/internal/linalg"
	"github.com/euryale-dev/euryale/tensor"
)

// priorPoints draws n times from the priors, in unconstrained coordinates. A parameter without a prior has its value at posterior(i); if
// there is no such function, or if none has a prior, that is an error. Draws on the edge of what a transform reaches are left out, and so are those of which a prior cannot
// be drawn from.
func (p *Posterior) priorPoints(n int, seed uint64, posterior func(i int) []float64) (points [][]float64, err error) {
	alone := *p.model
	alone.observed, alone.derived, alone.params, alone.data = nil, nil, nil, slices.Clip(alone.data)
	q := *p
	q.model, q.data = &alone, slices.Clip(q.data)
	for _, m := range p.model.params { // those without a prior are data
		if !m.flat || posterior == nil {
			alone.params = append(alone.params, m)
			continue
		}
		alone.data = append(alone.data, &datum{name: m.name, node: m.node, dims: m.dims})
		q.data = append(q.data, make([]float64, m.node.Size()))
	}
	if len(alone.params) == 0 {
		return nil, fmt.Errorf("infer: no parameter of model %s has a prior to draw from", alone.name)
	}
	g, err := q.generator()
	if err != nil {
		return nil, err
	}
	bounds, err := p.boundsProgram()
	if err != nil {
		return nil, err
	}
	row := make([]float64, p.Len())
	for i := range n {
		if len(alone.params) < len(p.model.params) {
			if err := p.Write(posterior(i), row); err != nil {
				continue
			}
		}
		src := tensor.NewStream(seed, purposeModes, uint32(i))
		values, err := p.drawAround(g, &src, row)
		if err != nil {
			continue
		}
		if at, err := p.unconstrainDrawn(bounds, values); err == nil && linalg.AllFinite(at) {
			points = append(points, at)
		}
	}
	return points, nil
}

// drawAround draws the parameters that have a prior. The others have their values in row, and are the last data of the generator.
func (p *Posterior) drawAround(g *generator, src Source, row []float64) ([][]float64, error) {
	values := make([][]float64, len(p.model.params))
	input, at := len(g.model.params)+len(p.data), 0
	for i, m := range p.model.params {
		if m.flat {
			values[i] = row[at : at+m.node.Size()]
			if g.state != nil {
				copy(g.state.Input(input), values[i])
			}
			input++
		}
		at += m.node.Size()
	}
	drawn, err := g.draw(src)
	if err != nil {
		return nil, err
	}
	k := 0
	for i, m := range p.model.params {
		if !m.flat {
			values[i], k = drawn[k], k+1
		}
	}
	return values, nil
}

// boundsProgram computes the bounds of all transforms from parameters and data. It is nil if there are none.
func (p *Posterior) boundsProgram() (*ad.State, error) {
	var inputs, outputs []*ad.Node
	for _, m := range p.model.params {
		inputs, outputs = append(inputs, m.node), append(outputs, m.transform.Bounds...)
	}
	for _, d := range p.model.data {
		inputs = append(inputs, d.node)
	}
	if len(outputs) == 0 {
		return nil, nil
	}
	prog, err := p.model.program(ad.CPU{Threads: 1}, outputs, inputs)
	if err != nil {
		return nil, err
	}
	return p.state(prog), nil
}

// unconstrainDrawn maps values of all parameters to unconstrained coordinates.
func (p *Posterior) unconstrainDrawn(bounds *ad.State, values [][]float64) (at []float64, err error) {
	if bounds != nil {
		for i, v := range values {
			copy(bounds.Input(i), v)
		}
		if err := bounds.Run(); err != nil {
			return nil, err
		}
	}
	k := 0
	for i, m := range p.model.params {
		var of [][]float64
		for range m.transform.Bounds {
			of, k = append(of, bounds.Output(k)), k+1
		}
		x, err := m.transform.Unconstrain(values[i], m.node.Shape(), 0, of...)
		if err != nil {
			return nil, err
		}
		at = append(at, x...)
	}
	return at, nil
}
