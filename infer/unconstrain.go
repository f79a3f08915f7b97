// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package infer

import (
	"fmt"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/infer/internal/graph"
	"github.com/euryale-dev/euryale/internal/errtext"
)

// Unconstrain maps constrained values by name, row-major, to an unconstrained
// draw. A value outside its constraint, or on a bound, is an error that names it;
// nudge (0 for none) moves values on or beyond the bounds of an interval inside
// by that part of its width, of a half-line by that much.
func (p *Posterior) Unconstrain(values map[string][]float64, nudge float64) ([]float64, error) {
	for name := range values {
		if p.model.names[name] != "a parameter" {
			return nil, &ParamError{Param: name, Reason: fmt.Sprintf("the model has no such parameter: its parameters are %v", p.model.paramNames())}
		}
	}
	q := make([]float64, 0, p.dim)
	var from, to []*ad.Node
	for _, m := range p.model.params {
		v, ok := values[m.name]
		if !ok {
			return nil, &ParamError{Param: m.name, Reason: "it has no value: give one"}
		}
		if len(v) != m.node.Size() {
			return nil, &ParamError{Param: m.name, Reason: fmt.Sprintf("it was given %s: want %d", errtext.Count(len(v), "value"), m.node.Size())}
		}
		bounds, err := p.atValues(m.transform.Bounds, from, to)
		if err != nil {
			return nil, &ParamError{Param: m.name, Reason: fmt.Sprintf("its bounds: %v", err)}
		}
		x, err := m.transform.Unconstrain(v, m.node.Shape(), nudge, bounds...)
		if err != nil {
			return nil, &ParamError{Param: m.name, Reason: err.Error()}
		}
		if nudge > 0 && len(x) > 0 { // what later bounds see
			y, _ := m.transform.Apply(ad.Const(x, m.free...), m.node.Shape()...)
			inside, err := p.atValues([]*ad.Node{y}, from, to)
			if err != nil {
				return nil, &ParamError{Param: m.name, Reason: err.Error()}
			}
			v = inside[0]
		}
		q = append(q, x...)
		from, to = append(from, m.node), append(to, graph.Like(m.node, v))
	}
	return q, nil
}

func (m *Model) paramNames() (names []string) {
	for _, p := range m.params {
		names = append(names, p.name)
	}
	return names
}

// ParamError reports a value that a parameter cannot take.
type ParamError struct{ Param, Reason string }

func (e *ParamError) Error() string { return fmt.Sprintf("infer: parameter %s: %s", e.Param, e.Reason) }
