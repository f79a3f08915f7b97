// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package infer

import (
	"fmt"
	"slices"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/tensor"
)

// purposes of the random streams of simulations.
const (
	purposePrior uint32 = iota + 111
	purposePredictive
)

// Simulation holds draws of named arrays: parameters, derived quantities, and
// data that the model would give.
type Simulation struct {
	names  []string
	values map[string][][]float64
}

// Names lists the arrays: parameters, derived quantities, observations.
func (s *Simulation) Names() []string { return s.names }

// Len returns the number of draws.
func (s *Simulation) Len() int { return len(s.values[s.names[0]]) }

// Values returns the draws of an array, row-major each, or nil; do not write to
// them.
func (s *Simulation) Values(name string) [][]float64 { return s.values[name] }

// Prior draws n times from the priors, and data from them. Terms of AddLogProb
// are no part of it; a parameter without a prior is an error.
func (p *Posterior) Prior(n int, seed uint64) (*Simulation, error) { return p.prior(0, n, seed) }

// prior draws n times from the priors, from draw first on.
func (p *Posterior) prior(first, n int, seed uint64) (*Simulation, error) {
	if n < 1 {
		return nil, fmt.Errorf("infer: the number of draws from the prior is %d: want at least 1", n)
	}
	g, err := p.generator()
	if err != nil {
		return nil, err
	}
	out := &Simulation{names: p.arrays(), values: map[string][][]float64{}}
	for i := first; i < first+n; i++ {
		src := tensor.NewStream(seed, purposePrior, uint32(i))
		values, err := g.draw(&src)
		if err != nil {
			return nil, fmt.Errorf("infer: draw %d from the prior: %w", i, err)
		}
		for k, name := range out.names {
			out.values[name] = append(out.values[name], values[k])
		}
	}
	return out, nil
}

// arrays lists what Prior draws.
func (p *Posterior) arrays() (names []string) {
	for _, v := range p.stored() {
		names = append(names, v.name)
	}
	return append(names, p.observations()...)
}

// generator draws from the joint distribution, parameter by parameter.
type generator struct {
	model *Model
	// state computes the parameters of the distributions of priors and observations, and the
	// derived quantities, from parameters and data.
	state *ad.State
}

func (p *Posterior) generator() (*generator, error) {
	m := p.model
	var inputs, outputs []*ad.Node
	for _, q := range m.params {
		if q.flat {
			return nil, fmt.Errorf("infer: parameter %s of model %s has no prior to draw from: give it one, or Condition on it", q.name, m.name)
		}
		inputs = append(inputs, q.node)
	}
	for _, d := range m.data {
		inputs = append(inputs, d.node)
	}
	for _, l := range m.latents {
		inputs = append(inputs, l.node)
	}
	for _, q := range m.order {
		if place, _ := m.places(q); place >= 0 {
			outputs = append(outputs, q.prior.Params...)
		}
	}
	for _, o := range m.observed {
		outputs = append(outputs, o.dist.Params...)
	}
	for _, d := range m.derived {
		outputs = append(outputs, d.node)
	}
	if len(outputs) == 0 {
		return &generator{model: m}, nil
	}
	prog, err := m.program(ad.CPU{Threads: 1}, outputs, inputs)
	if err != nil {
		return nil, fmt.Errorf("infer: model %s: %w", m.name, err)
	}
	return &generator{model: m, state: p.state(prog)}, nil
}

// draw returns the values of the arrays in the order of Posterior.arrays.
func (g *generator) draw(src Source) (values [][]float64, err error) {
	at := 0
	values = make([][]float64, len(g.model.params)+len(g.model.latents))
	for _, q := range g.model.order {
		place, input := g.model.places(q)
		if place < 0 {
			continue
		}
		theta, err := g.next(&at, len(q.prior.Params))
		if err != nil {
			return nil, err
		}
		v := make([]float64, q.node.Size())
		if err := q.prior.Fill(src, v, q.node.Shape(), theta); err != nil {
			return nil, fmt.Errorf("parameter %s: %w", q.name, err)
		}
		if g.state != nil { // else no distribution has parameters
			copy(g.state.Input(input), v)
		}
		values[place] = v
	}
	var replicas [][]float64
	for _, o := range g.model.observed {
		theta, err := g.next(&at, len(o.dist.Params))
		if err != nil {
			return nil, err
		}
		v := make([]float64, o.data.node.Size())
		if err := o.dist.Fill(src, v, o.data.node.Shape(), theta); err != nil {
			return nil, fmt.Errorf("observation %s: %w", o.name, err)
		}
		replicas = append(replicas, v)
	}
	derived, err := g.next(&at, len(g.model.derived))
	for _, d := range derived {
		values = append(values, slices.Clone(d))
	}
	return append(values, replicas...), err
}

// places returns the place of a parameter among the drawn arrays, and the number of its input in programs of parameters, data and discrete parameters; -1 where
// it is no part of the model.
func (m *Model) places(q *param) (drawn, input int) {
	if i := slices.Index(m.params, q); i >= 0 {
		return i, i
	}
	if i := slices.Index(m.latents, q); i >= 0 {
		return len(m.params) + i, len(m.params) + len(m.data) + i
	}
	return -1, -1
}

// next evaluates the graph at the parameters so far and returns the next k
// outputs.
func (g *generator) next(at *int, k int) ([][]float64, error) {
	if k == 0 {
		return nil, nil
	}
	if err := g.state.Run(); err != nil {
		return nil, err
	}
	out := make([][]float64, k)
	for i := range out {
		out[i] = g.state.Output(*at + i)
	}
	*at += k
	return out, nil
}

// PosteriorPredictive draws new data for observation name at every kept draw:
// [chain][draw][place]. The draws do not change from call to call.
func (f *Fit) PosteriorPredictive(name string) ([][][]float64, error) {
	p, err := f.posterior()
	if err != nil {
		return nil, err
	}
	which := slices.Index(p.observations(), name)
	out := make([][][]float64, f.Chains())
	for c := range out {
		src := tensor.NewStream(f.cfg.Seed, purposePredictive+uint32(max(which, 0)), uint32(f.chains[c].id))
		for i := range f.Len(c) {
			y, err := p.Predict(name, f.Unconstrained(c, i), &src)
			if err != nil {
				return nil, err
			}
			out[c] = append(out[c], y)
		}
	}
	return out, nil
}

// LogLik returns the log-likelihood of observation name at every kept draw:
// [chain][draw][place], without masked and imputed places. An empty name stands for all
// observations, one after another. It is what leave-one-out cross-validation takes.
func (f *Fit) LogLik(name string) ([][][]float64, error) {
	p, err := f.posterior()
	if err != nil {
		return nil, err
	}
	from, n := p.logLikSpan(name)
	if name == "" {
		for _, o := range p.model.observed {
			n += len(o.counts())
		}
	}
	if n == 0 {
		return nil, fmt.Errorf("infer: there is no observation %q: the observations are %v", name, p.observations())
	}
	out := make([][][]float64, f.Chains())
	for c := range out {
		for i := range f.Len(c) {
			ll, err := p.LogLik(f.Unconstrained(c, i))
			if err != nil {
				return nil, err
			}
			out[c] = append(out[c], ll[from:from+n])
		}
	}
	return out, nil
}

// LogLikTogether is LogLik of one observation with the sums over the values that [Together] says: [chain][draw][block]. Without it each value
// is a block of its own.
func (f *Fit) LogLikTogether(name string) ([][][]float64, error) {
	p, err := f.posterior()
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(p.model.observed, func(o *observation) bool { return o.name == name })
	if i < 0 || p.model.observed[i].together == nil {
		return f.LogLik(name)
	}
	o := p.model.observed[i]
	from, n := p.logLikSpan(name)
	if len(o.together) != n {
		return nil, fmt.Errorf("infer: observation %s: Together has %d numbers for %d values: give one for each", name, len(o.together), n)
	}
	out := make([][][]float64, f.Chains())
	for c := range out {
		for k := range f.Len(c) {
			ll, err := p.LogLik(f.Unconstrained(c, k))
			if err != nil {
				return nil, err
			}
			sums := make([]float64, o.blocks())
			for j, v := range ll[from : from+n] {
				sums[o.together[j]] += v
			}
			out[c] = append(out[c], sums)
		}
	}
	return out, nil
}

// valueOf returns a function for the log likelihood of value or block i of LogLikTogether(name).
func (p *Posterior) valueOf(name string) (func(q []float64, i int) (float64, error), error) {
	from, n := p.logLikSpan(name)
	var together []int
	for _, o := range p.model.observed {
		if o.name == name {
			together = o.together
		}
		if name == "" {
			n += len(o.counts())
		}
	}
	if n == 0 {
		return nil, fmt.Errorf("infer: there is no observation %q: the observations are %v", name, p.observations())
	}
	return func(q []float64, i int) (sum float64, err error) {
		ll, err := p.LogLik(q)
		if err != nil {
			return 0, err
		}
		if together == nil {
			return ll[from+i], nil
		}
		for j, v := range ll[from : from+n] {
			if together[j] == i {
				sum += v
			}
		}
		return sum, nil
	}, nil
}

// blocks returns the number of blocks of values that are left out together.
func (o *observation) blocks() int { return slices.Max(o.together) + 1 }

// Observed returns the values of each observation, by its name.
func (f *Fit) Observed() (map[string][]float64, error) {
	p, err := f.posterior()
	if err != nil {
		return nil, err
	}
	out := map[string][]float64{}
	for _, o := range p.model.observed {
		out[o.name] = slices.Clone(o.data.values)
	}
	return out, nil
}

// logLikSpan says where the terms of observation name stand in LogLik.
func (p *Posterior) logLikSpan(name string) (from, n int) {
	for _, o := range p.model.observed {
		if n = len(o.counts()); o.name == name {
			return from, n
		}
		from += n
	}
	return 0, 0
}

// posterior returns the compiled model that was sampled.
func (f *Fit) posterior() (*Posterior, error) {
	if len(f.chains) > 0 {
		switch t := declaredOf(f.chains[0].target).(type) {
		case *Posterior:
			return t.Clone().(*Posterior), nil
		case Observer:
			if p := t.Observations(); p != nil {
				return p.Clone().(*Posterior), nil
			}
		}
	}
	return nil, fmt.Errorf("infer: these are draws from a density, which has no observations: sample a Posterior compiled from a Model")
}

// PriorStarts draws one start per chain from the priors, for Settings.Init.
func (p *Posterior) PriorStarts(chains int, seed uint64) ([][]float64, error) {
	sim, err := p.Prior(chains, seed)
	if err != nil {
		return nil, err
	}
	out := make([][]float64, chains)
	for i := range out {
		values := map[string][]float64{}
		for _, q := range p.model.params {
			values[q.name] = sim.Values(q.name)[i]
		}
		if out[i], err = p.Unconstrain(values, 1e-8); err != nil {
			return nil, err
		}
	}
	return out, nil
}
