// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package infer

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/infer/internal/graph"
	"github.com/euryale-dev/euryale/internal/errtext"
)

// Compile checks the model and makes its programs. The error lists every
// mistake. What is declared later is not part of the Posterior.
func (m *Model) Compile() (*Posterior, error) { return m.CompileOn(ad.CPU{Threads: 1}) }

// CompileOn is Compile, but the log density and its gradient run on a backend, such as ad.CUDA{};
// derived quantities and predictions stay on the processor.
func (m *Model) CompileOn(b ad.Backend) (*Posterior, error) {
	frozen := m.frozen()
	frozen.backend = b
	p, err := frozen.compile()
	if err != nil {
		return nil, fmt.Errorf("infer: model %s: %w", m.name, err)
	}
	return p, nil
}

// frozen returns a model that further declarations do not change.
func (m *Model) frozen() *Model {
	c := *m
	c.dims, c.params, c.data, c.observed = slices.Clone(m.dims), slices.Clone(m.params), slices.Clone(m.data), slices.Clone(m.observed)
	c.derived, c.terms, c.errs = slices.Clone(m.derived), slices.Clone(m.terms), slices.Clone(m.errs)
	c.names = maps.Clone(m.names)
	return &c
}

func (m *Model) compile() (*Posterior, error) {
	m.setApart()
	p := &Posterior{model: m}
	f := m.constrain()
	parts := m.logProbParts(p, f)
	inputs := slices.Clone(f.u)
	for _, d := range m.data {
		inputs = append(inputs, d.node)
		p.data = append(p.data, d.values)
	}
	for _, o := range m.observed {
		m.fault(o.check(p))
	}
	if len(parts)+len(p.latentTerms)+len(m.latents) == 0 {
		m.fault(errors.New("the model has no log density: declare a Param, an Observe or an AddLogProb"))
	}
	if err := errors.Join(m.errs...); err != nil {
		return nil, err
	}
	for _, x := range f.u {
		p.dim += x.Size()
	}
	if err := m.sumOut(p, f); err != nil {
		return nil, err
	}
	if p.latent != nil {
		parts = append(parts, p.latent.total)
	}
	parts = ad.Substitute(parts, f.leaves, f.y)
	lp := ad.AddN(parts...)
	p.inputs = inputs
	all, err := p.separateFixed(append(append([]*ad.Node{lp}, ad.Grad(lp, f.u...)...), parts...))
	if err != nil {
		return nil, err
	}
	p.graph, p.whole = all[:1+len(f.u)], all
	if p.density, err = m.program(m.backend, all, append(slices.Clone(inputs), p.places()...)); err != nil {
		return nil, err
	}
	for _, l := range m.latents {
		inputs = append(inputs, l.node)
	}
	stored, rest := m.quantities()
	p.derived = ad.Substitute(stored, f.leaves, f.y)
	if p.derive, err = m.program(ad.CPU{Threads: 1}, p.derived, inputs); err != nil {
		return nil, err
	}
	p.columns = len(p.Names())
	if p.predict, err = m.program(ad.CPU{Threads: 1}, ad.Substitute(rest, f.leaves, f.y), inputs); err == nil && p.latent != nil {
		err = p.verify(m, f)
	}
	return p, err
}

// setApart puts the discrete parameters apart from the others.
func (m *Model) setApart() {
	if m.order == nil {
		m.order = m.params
	}
	discrete := func(q *param) bool { return q.prior.Discrete }
	for _, q := range m.params {
		if discrete(q) {
			m.latents = append(slices.Clip(m.latents), q)
		}
	}
	m.params = slices.DeleteFunc(slices.Clone(m.params), discrete)
}

// sumOut sums the discrete parameters out of the parts of the log density that depend on them.
func (m *Model) sumOut(p *Posterior, f free) (err error) {
	if len(m.latents) == 0 {
		return nil
	}
	if p.latent, err = m.eliminate(p, f, p.latentTerms); err != nil {
		return err
	}
	p.parts = append(p.parts, "sum over "+p.latent.names(others(nil, len(m.latents))))
	return p.latent.compile(p, m, f)
}

// Device returns where the log density runs: "cpu", or a GPU such as "cuda:0"; several GPUs are named as
// "cuda:0,1".
func (p *Posterior) Device() string {
	if p.on != "" {
		return p.on
	}
	if d := p.density.Device(); d == "cpu" {
		return d
	}
	return ad.DeviceName(p.model.backend, p.density.Device())
}

// RunsOn tells Device where the log density of p runs, for a density most of which is an operation that
// computes elsewhere than the program around it.
func (p *Posterior) RunsOn(device string) { p.on = device }

// program compiles outputs, which may use the declared inputs only.
func (m *Model) program(b ad.Backend, outputs, inputs []*ad.Node) (*ad.Program, error) {
	prog, err := ad.Compile(outputs, ad.Settings{Inputs: inputs, Backend: b})
	if err != nil {
		return nil, err
	}
	if all := prog.Inputs(); len(all) > len(inputs) {
		return nil, fmt.Errorf("it uses %v, which is not declared: declare it with Param, Flat or Data", all[len(inputs)])
	}
	return prog, nil
}

// free is a model in unconstrained form: the sampled u, the constrained y that
// takes the place of the leaves, and for each parameter the log Jacobian, or the
// whole log prior where prior is not nil.
type free struct {
	leaves, u, y, logJ, prior []*ad.Node
}

// constrain makes the unconstrained inputs and the constrained values, whose
// bounds may depend on parameters declared before.
func (m *Model) constrain() (f free) {
	for _, p := range m.params {
		x := ad.Input(p.name+" (unconstrained)", p.free...)
		v, j := p.transform.Apply(x, p.node.Shape()...)
		nodes := []*ad.Node{v, j}
		if p.base != nil {
			nodes[1] = p.freePrior(x)
		}
		nodes = ad.Substitute(nodes, f.leaves, f.y)
		f.u, f.y, f.logJ, f.prior = append(f.u, x), append(f.y, nodes[0]), append(f.logJ, nodes[1]), append(f.prior, nil)
		if p.base != nil {
			f.prior[len(f.prior)-1] = nodes[1]
		}
		f.leaves = append(f.leaves, p.node)
	}
	return f
}

// logProbParts returns the terms of the log density, whose names it leaves in p.
func (m *Model) logProbParts(p *Posterior, f free) (parts []*ad.Node) {
	add := func(name string, n *ad.Node, observation ...int) {
		if err := n.Err(); err != nil {
			m.fault(fmt.Errorf("%s: %w", name, err))
			return
		}
		if slices.ContainsFunc(m.latents, func(l *param) bool { return graph.Reads(n, l.node) }) {
			p.latentTerms = append(p.latentTerms, latentTerm{name: name, node: n, observation: append(observation, -1)[0]})
			return
		}
		parts, p.parts = append(parts, ad.Sum(n)), append(p.parts, name)
	}
	for i, q := range m.params {
		if f.prior[i] != nil {
			add("prior of "+q.name, f.prior[i])
			continue
		}
		if !q.flat {
			add("prior of "+q.name, q.logPrior())
		}
		add("Jacobian of "+q.name, f.logJ[i])
	}
	for _, c := range m.fixed {
		if !c.flat {
			add("prior of "+c.name, c.prior.LogProb(c.node))
		}
	}
	for _, t := range m.terms {
		add("term "+t.name, t.node)
	}
	for _, d := range m.derived {
		if err := d.node.Err(); err != nil {
			m.fault(fmt.Errorf("quantity %s: %w", d.name, err))
		}
	}
	for i, o := range m.observed {
		ll := o.logLik()
		if ll.Err() == nil && !ll.Shape().Equal(o.shape()) {
			m.fault(fmt.Errorf("observation %s has %s, but its distribution has shape %v: make them match", o.name, errtext.Count(o.data.node.Size(), "value"), ll.Shape()))
			continue
		}
		add("likelihood of "+o.name, ll, i)
	}
	return parts
}

// logPrior returns the log density of the constrained parameter.
func (p *param) logPrior() *ad.Node {
	lp, shape := p.prior.LogProbInside(p.node), p.node.Shape()
	return ad.Broadcast(lp, shape[:max(0, len(shape)-p.prior.Event)]...)
}

// quantities lists what is stored with a draw, parameters and derived
// quantities, and what may be asked of it: pointwise log-likelihoods, then the
// distributions' parameters.
func (m *Model) quantities() (stored, rest []*ad.Node) {
	for _, p := range slices.Concat(m.params, m.latents) {
		stored = append(stored, p.node)
	}
	for _, d := range m.derived {
		stored = append(stored, d.node)
	}
	for _, o := range m.observed {
		rest = append(rest, o.logLik())
	}
	for _, o := range m.observed {
		rest = append(rest, o.dist.Params...)
	}
	return stored, rest
}

// atData evaluates nodes that depend on data alone.
func (p *Posterior) atData(nodes []*ad.Node) ([][]float64, error) { return p.atValues(nodes, nil, nil) }

// atValues evaluates nodes at the data and at known parameters.
func (p *Posterior) atValues(nodes, from, to []*ad.Node) ([][]float64, error) {
	from, to = slices.Clone(from), slices.Clone(to)
	for i, d := range p.model.data {
		from, to = append(from, d.node), append(to, graph.Like(d.node, p.data[i]))
	}
	return ad.Numbers(ad.Substitute(nodes, from, to)...)
}
