// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package infer

import (
	"slices"

	ad "github.com/euryale-dev/euryale/autodiff"
)

// fixedPart is what the density needs of the data alone: computed when the data
// change, not at every gradient.
type fixedPart struct {
	// prog computes nodes from the data.
	prog *ad.Program
	// nodes are the static nodes.
	nodes []*ad.Node
	// places are the inputs of the density that take the place of nodes.
	places []*ad.Node
}

// separateFixed takes the static subgraph out of the outputs of the density and computes it
// at the data of Compile.
func (p *Posterior) separateFixed(outputs []*ad.Node) ([]*ad.Node, error) {
	var data []*ad.Node
	for _, d := range p.model.data {
		data = append(data, d.node)
	}
	rest, made, places := ad.Hoist(outputs, data...)
	if len(made) == 0 {
		return rest, nil
	}
	prog, err := ad.Compile(made, ad.Settings{Inputs: data, Backend: ad.CPU{Threads: 1}})
	if err != nil {
		return nil, err
	}
	p.fixed = &fixedPart{prog: prog, nodes: made, places: places}
	return rest, p.computeFixed()
}

// computeFixed computes the static subgraph at the data.
func (p *Posterior) computeFixed() error {
	if p.fixed == nil {
		return nil
	}
	s := p.fixed.prog.NewState()
	for i, v := range p.data {
		copy(s.Input(i), v)
	}
	if err := s.Run(); err != nil {
		return err
	}
	values := make([][]float64, len(p.fixed.nodes))
	for i := range values {
		values[i] = slices.Clone(s.Output(i))
	}
	if err := s.Err(); err != nil {
		return err
	}
	p.fixedValues = values
	return nil
}

// places returns the inputs of the static subgraph.
func (p *Posterior) places() []*ad.Node {
	if p.fixed == nil {
		return nil
	}
	return p.fixed.places
}

// givenValues lists what the density is given besides the parameters: data, then the
// static subgraph.
func (p *Posterior) givenValues() [][]float64 { return append(slices.Clip(p.data), p.fixedValues...) }

// dependents returns the places of the static subgraph that depend on some data.
func (p *Posterior) dependents(data *ad.Node) (out []*ad.Node) {
	if p.fixed == nil {
		return nil
	}
	seen := map[*ad.Node]bool{}
	var reads func(n *ad.Node) bool
	reads = func(n *ad.Node) bool {
		if v, known := seen[n]; known {
			return v
		}
		seen[n] = n == data || slices.ContainsFunc(n.In(), reads)
		return seen[n]
	}
	for i, n := range p.fixed.nodes {
		if reads(n) {
			out = append(out, p.fixed.places[i])
		}
	}
	return out
}
