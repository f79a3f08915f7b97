// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package stage

import (
	"slices"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/infer/dist"
	"github.com/euryale-dev/euryale/models/stan/internal/library"
	"github.com/euryale-dev/euryale/models/stan/internal/syntax"
	"github.com/euryale-dev/euryale/models/stan/internal/value"
)

// observation is what one run of a distribution statement says of data.
type observation struct {
	at     *syntax.Tilde
	y      []float64
	params []*ad.Node // one element for each of y
}

// observe notes a distribution statement whose left side are data.
func (m *Machine) observe(s *syntax.Tilde, args []value.Value) {
	if !m.graph || s.Truncated || !args[0].Known() || m.inFunction() || args[0].Size() == 0 {
		return
	}
	unknown := false
	for _, a := range args[1:] {
		unknown = unknown || !a.Known()
	}
	if !unknown {
		return
	}
	lanes := 0
	shape := []int{}
	for _, a := range args {
		lanes = max(lanes, a.Lanes)
		if len(a.Shape) > 0 {
			shape = []int{a.Size()}
		}
	}
	full := shape
	if lanes > 0 {
		full = append([]int{lanes}, shape...)
	}
	n := value.Size(full)
	spread := func(v value.Value) *ad.Node {
		x := v.Node()
		own := len(v.Shape)
		if own > 1 || own == 1 && v.Lanes > 0 {
			x = ad.Reshape(x, append(full[:len(full)-len(shape)], v.Size())...)
		} else if v.Lanes > 0 && own == 0 && len(shape) > 0 {
			x = ad.Reshape(x, v.Lanes, 1)
		}
		return ad.Reshape(ad.Broadcast(x, full...), n)
	}
	o := &observation{at: s}
	y, err := ad.Eval(spread(args[0]))
	if err != nil {
		return
	}
	o.y = slices.Clone(y[0].Float64s())
	for _, a := range args[1:] {
		p := spread(a)
		if p.Err() != nil {
			return
		}
		o.params = append(o.params, p)
	}
	m.observed = append(m.observed, o)
}

// Observation is a variable of the data with its distribution.
type Observation struct {
	Name   string
	Y      []float64
	Params []*ad.Node
	family string
}

// With returns the distribution with other nodes as its parameters.
func (o Observation) With(p []*ad.Node) (dist.Dist, bool) { return library.Observed(o.family, p) }

// Observations lists what the program says of data: each distribution statement once.
func (m *Machine) Observations() (list []Observation) {
	var order []*syntax.Tilde
	by := map[*syntax.Tilde][]*observation{}
	for _, o := range m.observed {
		if by[o.at] == nil {
			order = append(order, o.at)
		}
		by[o.at] = append(by[o.at], o)
	}
	for _, s := range order {
		all := by[s]
		var y []float64
		params := make([]*ad.Node, len(all[0].params))
		for k := range params {
			var parts []*ad.Node
			for _, o := range all {
				parts = append(parts, o.params[k])
			}
			params[k] = parts[0]
			if len(parts) > 1 {
				params[k] = ad.Concat(0, parts...)
			}
		}
		for _, o := range all {
			y = append(y, o.y...)
		}
		if _, ok := library.Observed(s.Name, params); ok {
			list = append(list, Observation{Name: rootName(s.X), Y: y, Params: params, family: s.Name})
		}
	}
	return list
}

// rootName is the variable of an expression.
func rootName(x syntax.Expr) string {
	name := "observation"
	syntax.Walk(&syntax.Increase{X: x}, func(x syntax.Expr) {
		if n, ok := x.(*syntax.Name); ok && name == "observation" {
			name = n.Name
		}
	})
	return name
}
