// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package infer

import (
	"fmt"
	"slices"
)

// Condition returns the posterior of the other parameters given these, by name,
// row-major. They stay in the model as data of the same name, which SetData may
// change.
func (p *Posterior) Condition(values map[string][]float64) (*Posterior, error) {
	for name := range values {
		if p.model.names[name] != "a parameter" {
			return nil, &ParamError{Param: name, Reason: fmt.Sprintf("the model has no such parameter: its parameters are %v", p.model.paramNames())}
		}
	}
	m := p.model.frozen()
	m.params, m.latents = nil, nil
	for _, q := range slices.Concat(p.model.params, p.model.latents) {
		v, given := values[q.name]
		if !given {
			m.params = append(m.params, q)
			continue
		}
		if len(v) != q.node.Size() {
			return nil, &ParamError{Param: q.name, Reason: fmt.Sprintf("it was given %d values: want %d", len(v), q.node.Size())}
		}
		m.fixed = append(m.fixed, q)
		m.data = append(m.data, &datum{name: q.name, node: q.node, dims: q.dims, values: slices.Clone(v)})
		m.names[q.name] = "data"
	}
	out, err := m.Compile()
	if err == nil {
		copy(out.data, p.data) // what SetData replaced
		err = out.computeFixed()
	}
	return out, err
}
