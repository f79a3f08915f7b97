// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package expr

import (
	"context"
	"fmt"
	"slices"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/autodiff/formula"
	"github.com/euryale-dev/euryale/optim"
)

// Quantities are the formulas of Derived as functions of the parameters, for optim.Result.Derive and optim.ProfileSettings. A formula may use
// parameters and other derived quantities.
func (p *Problem) Quantities() (map[string]*ad.Node, error) {
	q := quantities{p: p, values: map[string]*ad.Node{}, made: map[string]*ad.Node{}}
	model, err := p.formula()
	if err == nil {
		q.vectors, err = p.vectors(model)
	}
	var names []string
	if err == nil {
		names, err = p.fitted(model)
	}
	if err != nil {
		return nil, fmt.Errorf("expr: %w", err)
	}
	for _, name := range names {
		var all []*ad.Node
		for _, e := range q.vectors[name].elements(name) {
			all = append(all, ad.Input(e))
		}
		q.values[name] = all[0]
		if q.vectors[name].labels != nil {
			q.values[name] = ad.Stack(0, all...)
		}
	}
	out := map[string]*ad.Node{}
	for _, name := range sortedKeys(p.Derived) {
		n, err := q.node(name)
		if err != nil {
			return nil, fmt.Errorf("expr: %w", err)
		}
		if len(n.Shape()) == 0 {
			out[name] = n
			continue
		}
		labels := q.labels(name)
		if n.Size() != len(labels) {
			return nil, fmt.Errorf("expr: derived %s: %q has the shape %v: want one number, or one for each label of its parameters", name, p.Derived[name], n.Shape())
		}
		for k, l := range labels {
			out[name+"["+l+"]"] = ad.Index(n, 0, k)
		}
	}
	return out, nil
}

// quantities makes derived quantities as they are needed. Those of parameters with an index have a value for each label.
type quantities struct {
	p       *Problem
	vectors map[string]vector
	values  map[string]*ad.Node // parameters
	made    map[string]*ad.Node
	open    []string // names whose formulas are being made
}

// labels are those of the parameters with an index on which a quantity depends.
func (q *quantities) labels(name string) []string {
	f, err := formula.Parse(q.p.Derived[name])
	if err != nil {
		return nil
	}
	for _, other := range f.Names() {
		if v, ok := q.vectors[other]; ok {
			return v.labels
		}
		if q.p.Derived[other] != "" {
			if l := q.labels(other); l != nil {
				return l
			}
		}
	}
	return nil
}

func (q *quantities) node(name string) (*ad.Node, error) {
	if n := q.made[name]; n != nil {
		return n, nil
	}
	if slices.Contains(q.open, name) {
		return nil, fmt.Errorf("derived %s depends on itself: change its formula", name)
	}
	if _, column := q.p.Data[name]; column || q.values[name] != nil {
		return nil, fmt.Errorf("derived %s has the name of a column or a parameter: choose another", name)
	}
	q.open = append(q.open, name)
	defer func() { q.open = q.open[:len(q.open)-1] }()
	f, err := formula.Parse(q.p.Derived[name])
	if err != nil {
		return nil, fmt.Errorf("derived %s: %w", name, err)
	}
	if len(f.Indices()) > 0 {
		return nil, fmt.Errorf("derived %s: %q has an index: write names alone, which gives a value for each label", name, f)
	}
	values := map[string]*ad.Node{}
	for _, other := range f.Names() {
		_, column := q.p.Data[other]
		switch {
		case q.values[other] != nil:
			values[other] = q.values[other]
		case q.p.Derived[other] != "":
			if values[other], err = q.node(other); err != nil {
				return nil, err
			}
		case column:
			return nil, fmt.Errorf("derived %s: %q uses the column %s, but a derived quantity of a fit is one number: use parameters", name, f, other)
		default:
			return nil, fmt.Errorf("derived %s: %q uses %s, which is no parameter%s", name, f, other, meant(other, sortedKeys(q.values)))
		}
	}
	n, err := f.Node(values)
	if err != nil {
		return nil, fmt.Errorf("derived %s: %w", name, err)
	}
	q.made[name] = n
	return n, nil
}

// Derive returns the derived quantities of a fit with their errors, in the order of their names.
func (p *Problem) Derive(r *optim.Result) (*optim.Quantities, error) {
	of, err := p.Quantities()
	if err != nil {
		return nil, err
	}
	return r.Derive(of)
}

// curve is the graph of the formula of rows, given the nodes of its parameters by element.
func (p *Problem) curve(rows map[string]Column, params map[string]*ad.Node) (*ad.Node, error) {
	model, err := p.formula()
	if err != nil {
		return nil, err
	}
	few := *p
	few.Data = rows
	values, n, err := few.columns()
	if err != nil {
		return nil, err
	}
	for name, node := range params {
		values[name] = node
	}
	if err := p.assemble(values, model, rows, func(e string) *ad.Node { return params[e] }); err != nil {
		return nil, err
	}
	m, err := model.Node(values)
	if err == nil {
		err = perRow(model, m, n)
	}
	if err != nil {
		return nil, err
	}
	return ad.Broadcast(m, n), nil
}

// Band returns the values of the formula after a fit, with their errors, for rows of other columns than those of the problem, or of those for nil. The settings
// may widen it to a band of new data.
func (p *Problem) Band(r *optim.Result, rows map[string]Column, s optim.BandSettings) (*optim.Band, error) {
	if rows == nil {
		rows = p.Data
	}
	params, nodes := map[string]*ad.Node{}, []*ad.Node{}
	for _, name := range r.Names {
		params[name] = ad.Input(name)
		nodes = append(nodes, params[name])
	}
	m, err := p.curve(rows, params)
	if err != nil {
		return nil, fmt.Errorf("expr: %w", err)
	}
	return optim.ConfidenceBand(m, nodes, r, s)
}

// Bootstrap fits resampled data; see optim.Bootstrap. Bounds, loss and tolerances are those of the problem.
func (p *Problem) Bootstrap(ctx context.Context, r *optim.Result, s optim.BootstrapSettings) (*optim.Bootstrapped, error) {
	y, err := p.Observed()
	if err != nil {
		return nil, err
	}
	if !p.plainFit() || p.ScaleError != "" || p.OffsetError != "" || len(p.Priors) > 0 {
		return nil, fmt.Errorf("expr: rows with errors in x, correlated or shared errors, or priors cannot be resampled one by one: use profiles")
	}
	d := optim.Observed{Y: y}
	if p.Sigma != "" {
		d.Sigma = p.Data[p.Sigma].Values
	}
	model, err := p.formula()
	if err != nil {
		return nil, fmt.Errorf("expr: %w", err)
	}
	vectors, err := p.vectors(model)
	if err != nil {
		return nil, fmt.Errorf("expr: %w", err)
	}
	params, nodes, err := p.freed(r.Names, vectors)
	if err != nil {
		return nil, err
	}
	m, err := p.curve(p.Data, params)
	if err != nil {
		return nil, fmt.Errorf("expr: %w", err)
	}
	s.Loss, s.LossScale, s.FTol, s.XTol, s.GTol = optim.Loss(p.Loss), p.FScale, p.FTol, p.XTol, p.GTol
	if len(p.Bounds) > 0 {
		for _, n := range nodes {
			b := Bounds{-inf, inf}
			if own, ok := p.Bounds[whole(n.Name(), vectors)]; ok {
				b = own
			}
			s.Lower, s.Upper = append(s.Lower, b[0]), append(s.Upper, b[1])
		}
	}
	return optim.Bootstrap(ctx, m, nodes, d, r, s)
}

// freed returns a node for each parameter: an input where it is fitted, and its value or its formula where it is fixed or tied; and the inputs.
func (p *Problem) freed(names []string, vectors map[string]vector) (all map[string]*ad.Node, inputs []*ad.Node, err error) {
	all = map[string]*ad.Node{}
	for _, name := range names {
		if v, fixed := p.Fixed[whole(name, vectors)]; fixed {
			all[name] = ad.Scalar(v)
		} else if p.Tied[name] == "" {
			all[name] = ad.Input(name)
			inputs = append(inputs, all[name])
		}
	}
	for range p.Tied { // each round makes at least one whose parts are there
		for _, name := range names {
			if all[name] != nil {
				continue
			}
			f, err := formula.Parse(p.Tied[name])
			if err != nil {
				return nil, nil, fmt.Errorf("expr: tied %s: %w", name, err)
			}
			if n, err := f.Node(all); err == nil {
				all[name] = n
			}
		}
	}
	return all, inputs, nil
}
