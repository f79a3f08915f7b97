// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package infer

import (
	"math"
	"slices"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/infer/internal/graph"
	"github.com/euryale-dev/euryale/infer/internal/labels"
	"github.com/euryale-dev/euryale/internal/linalg"
	"github.com/euryale-dev/euryale/tensor"
)

// purposeLabels is the random stream of discrete parameters, given a draw of the others.
const purposeLabels uint32 = 211

// compile makes the program of the tables.
func (e *elimination) compile(p *Posterior, m *Model, f free) (err error) {
	inputs := slices.Clone(f.u)
	for _, d := range m.data {
		inputs = append(inputs, d.node)
	}
	e.prog, err = m.program(ad.CPU{Threads: 1}, ad.Substitute(e.tables, f.leaves, f.y), inputs)
	return err
}

// summand is what the log density of the terms is made of at one point.
type summand struct {
	e *elimination
	labels.Tables
	elements [][][][]float64 // [setting][term][combination][element]
}

// tablesAt computes the tables where the workspace is.
func (e *elimination) tablesAt(s *ad.State) *summand {
	at := 0
	next := func() []float64 {
		at++
		return slices.Clone(s.Output(at - 1))
	}
	out := &summand{e: e}
	for range e.sum.Settings {
		var terms [][][]float64
		for _, t := range e.terms {
			n := 1
			if t.group >= 0 {
				n = e.sum.Groups[t.group].Combinations()
			}
			var list [][]float64
			for range n {
				list = append(list, next())
			}
			terms = append(terms, list)
		}
		var groups []labels.Table
		for k, g := range e.sum.Groups {
			table := labels.Table{}
			for c := range g.Combinations() {
				joint := make([]float64, g.Units)
				copy(joint, e.groups[k].lacking(e, c))
				table.Joint = append(table.Joint, joint)
			}
			if g.Chain {
				table.Initial, table.Steps = next(), next()
			}
			groups = append(groups, table)
		}
		rest := 0.0
		for i, t := range e.terms {
			for c, list := range terms[i] {
				for j, v := range list {
					if t.group >= 0 && t.unit[j] >= 0 {
						groups[t.group].Joint[c][t.unit[j]] += v
					} else if c == 0 {
						rest += v
					}
				}
			}
		}
		out.Rest, out.Groups, out.elements = append(out.Rest, rest), append(out.Groups, groups), append(out.elements, terms)
	}
	return out
}

// sums returns the tables at the unconstrained draw q.
func (p *Posterior) sums(q []float64) (*summand, error) {
	if p.summing == nil {
		p.summing = p.state(p.latent.prog)
	}
	if k := len(p.model.params); k > 0 {
		copy(p.summing.InputSpan(0, k), q)
	}
	if err := p.summing.Run(); err != nil {
		return nil, err
	}
	out := p.latent.tablesAt(p.summing)
	return out, p.summing.Err()
}

// values returns the values of the discrete parameters for a setting and the combinations of the units of each group.
func (e *elimination) values(setting int, combinations [][]int) [][]float64 {
	out := make([][]float64, len(e.latents))
	for i, l := range e.latents {
		out[i] = make([]float64, l.node.Size())
	}
	for i, k := range e.combination(e.outer, setting) {
		fill(out[e.outer[i]], e.latents[e.outer[i]].low+float64(k))
	}
	for k, g := range e.groups {
		for u, c := range combinations[k] {
			for a, digit := range e.combination(g.latents, c) {
				if i := g.latents[a]; g.place[a][u] >= 0 {
					out[i][g.place[a][u]] = e.latents[i].low + float64(digit)
				}
			}
		}
	}
	return out
}

// drawLabels draws the discrete parameters from their distribution given the unconstrained draw q. The random numbers belong to the bits of q, so that they
// have the same values wherever they are asked for.
func (p *Posterior) drawLabels(q []float64) ([][]float64, error) {
	if p.held != nil {
		return p.held, nil
	}
	s, err := p.sums(q)
	if err != nil {
		return nil, err
	}
	src := tensor.NewStream(seedOf(q), purposeLabels, 0)
	return s.e.values(s.e.sum.Draw(&s.Tables, &src)), nil
}

// withoutLabels returns the log density of the data of term i of the log density, element by element, given all other data: the discrete parameters are summed
// out with and without it.
func (s *summand) withoutLabels(i int) []float64 {
	e, t := s.e, &s.e.terms[i]
	total, changed := labels.LogSum(e.sum.Log(&s.Tables)...), e.sum.Changed(&s.Tables)
	out := make([]float64, t.node.Size())
	for j := range out {
		var rest []float64
		if t.unit[j] >= 0 {
			rest = changed(t.group, t.unit[j], func(o, c int) float64 { return s.unitWithout(o, c, i, j) })
		} else {
			rest = e.sum.Log(&s.Tables)
			for o := range rest {
				rest[o] += s.restWithout(o, i, j) - s.Rest[o]
			}
		}
		out[j] = total - labels.LogSum(rest...)
	}
	return out
}

// unitWithout returns the logarithm of the density of a unit without element j of term i.
func (s *summand) unitWithout(setting, combination, i, j int) float64 {
	t := &s.e.terms[i]
	v, all := s.elements[setting][i][combination][j], s.Groups[setting][t.group].Joint[combination][t.unit[j]]
	if linalg.Finite(v) {
		return all - v
	}
	sum := 0.0
	if lost := s.e.groups[t.group].lacking(s.e, combination); lost != nil {
		sum = lost[t.unit[j]]
	}
	for k, other := range s.e.terms {
		if other.group != t.group {
			continue
		}
		for l, u := range other.unit {
			if u == t.unit[j] && (k != i || l != j) {
				sum += s.elements[setting][k][combination][l]
			}
		}
	}
	return sum
}

// restWithout returns what depends on outer parameters only, without element j of term i.
func (s *summand) restWithout(setting, i, j int) float64 {
	if v := s.elements[setting][i][0][j]; linalg.Finite(v) {
		return s.Rest[setting] - v
	}
	sum := 0.0
	for k, other := range s.e.terms {
		for l, v := range s.elements[setting][k][0] {
			if (other.group < 0 || other.unit[l] < 0) && (k != i || l != j) {
				sum += v
			}
		}
	}
	return sum
}

// verify compares the log density at random places and values of the discrete parameters with that of the tables.
func (p *Posterior) verify(m *Model, f free) error {
	e := p.latent
	t, err := e.newTrial(p, m, f)
	if err != nil {
		return err
	}
	const near = 10
	for try := range near + graph.FarPlaces(t.params) {
		t.place(try - near)
		q := make([]float64, p.dim)
		if p.dim > 0 {
			copy(q, t.s.InputSpan(0, t.params))
		}
		s, err := p.sums(q)
		if err != nil {
			continue
		}
		direct, sum, size, err := s.compare(t.s, t.first, &t.random)
		if err == nil && linalg.Finite(direct) && linalg.Finite(sum) && math.Abs(direct-sum) > 1e-9*size {
			return e.separate(direct, sum)
		}
	}
	return nil
}
