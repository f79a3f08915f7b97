// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package infer

import (
	"fmt"
	"strings"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/infer/dist"
	"github.com/euryale-dev/euryale/internal/errtext"
)

// Model is a joint distribution of named parameters and data, written as a graph over
// constrained parameters. Build it once, in any order of names; Compile reports
// every mistake.
//
//	m := infer.NewModel("line")
//	x := m.Data("x", xs)
//	slope := m.Param("slope", dist.Normal(0, 10))
//	sigma := m.Param("sigma", dist.HalfNormal(1))
//	m.Observe("y", dist.Normal(autodiff.Mul(slope, x), sigma), ys)
//	post, err := m.Compile()
type Model struct {
	name     string
	dims     []Dim
	params   []*param
	data     []*datum
	derived  []*quantity
	terms    []*quantity
	partly   bool // whether data enter the log density beside what is observed
	observed []*observation
	// latents are the discrete parameters, which a compiled model sums out, and params are then the others. order is that in which all were declared.
	latents, order []*param
	// fixed are the parameters that Condition made data.
	fixed []*param
	// names says what each name stands for.
	names   map[string]string
	errs    []error
	backend ad.Backend // runs the log density
}

// param is one declared parameter.
type param struct {
	name string
	// node is the constrained leaf that the user's graph holds.
	node  *ad.Node
	dims  []Dim
	prior dist.Dist
	// flat is true for a parameter without a prior of its own.
	flat bool
	// weak is true where nobody chose the prior.
	weak      bool
	transform dist.Transform
	// base is the distribution of the sampled form, where the transform alone maps it to the
	// prior.
	base *dist.Dist
	// free is the shape of the unconstrained form.
	free []int
}

type datum struct {
	name   string
	node   *ad.Node
	dims   []Dim
	values []float64
}

// quantity is a named Node.
type quantity struct {
	name string
	node *ad.Node
	dims []Dim
}

// NewModel starts an empty model.
func NewModel(name string) *Model { return &Model{name: name, names: map[string]string{}} }

// Param declares a parameter with a prior; its constraint comes from the
// prior's support. The Node is the constrained value. A distribution of vectors or
// matrices gives the last axes of the shape.
//
// A parameter with a discrete prior of finitely many values, such as Bernoulli, Categorical,
// Binomial or MarkovChain, is summed out of the log density exactly, so that samplers see the
// continuous parameters only, and drawn for every draw that is kept; see [Fit.Labels]. Its
// elements must enter the log density one by one, as labels of observations do; single numbers
// may enter all of it. Compile says where that is not so. As an index it is
// autodiff.FloorIndex(z).
func (m *Model) Param(name string, prior dist.Dist, list ...Option) *ad.Node {
	if err := prior.Err(); err != nil {
		m.fault(fmt.Errorf("prior of %s: %w", name, err))
		return ad.Input(name, options(list).shape...) // of the shape that what follows expects
	}
	p := &param{name: name, prior: prior, transform: prior.Transform()}
	o := options(list)
	if o.nonCentred {
		standard, t, err := standardised(prior)
		if err != nil {
			m.fault(fmt.Errorf("parameter %s: %w", name, err))
			return ad.Input(name)
		}
		p.base, p.transform = &standard, t
	}
	if o.base != nil {
		p.base, p.transform = o.base, linked(*o.base, o.link)
	}
	return m.declare(p, o)
}

// Flat declares a parameter without a prior, constrained by t.
func (m *Model) Flat(name string, t dist.Transform, list ...Option) *ad.Node {
	return m.declare(&param{name: name, transform: t, flat: true}, options(list))
}

func (m *Model) declare(p *param, o Option) *ad.Node {
	m.claim(p.name, "a parameter")
	if o.transform != nil {
		p.transform = *o.transform
	}
	p.dims, p.weak = o.dims, o.weak
	shape := o.shape
	if shape == nil {
		shape = p.prior.EventShape()
	}
	p.node = ad.Input(p.name, shape...)
	if err := p.node.Err(); err != nil {
		m.fault(fmt.Errorf("parameter %s: %w", p.name, err))
		return p.node
	}
	if p.prior.Discrete {
		m.params = append(m.params, p)
		return p.node
	}
	free, err := p.transform.FreeShape(p.node.Shape()...)
	if err != nil {
		m.fault(fmt.Errorf("parameter %s: %w", p.name, err))
		return p.node
	}
	p.free = free
	m.params = append(m.params, p)
	return p.node
}

// Data declares an array, a vector unless its Shape or axes are given, that
// SetData may replace by one of the same length without compiling again.
func (m *Model) Data(name string, values []float64, list ...Option) *ad.Node {
	return m.datum("data", name, values, options(list)).node
}

var article = map[string]string{"observation": "an "}

func (m *Model) datum(kind, name string, values []float64, o Option) *datum {
	m.claim(name, article[kind]+kind)
	shape := o.shape
	if shape == nil {
		shape = []int{len(values)}
	}
	d := &datum{name: name, node: ad.Input(name, shape...), dims: o.dims, values: append([]float64{}, values...)}
	if err := d.node.Err(); err != nil {
		m.fault(fmt.Errorf("%s %s: %w", kind, name, err))
	} else if d.node.Size() != len(values) {
		m.fault(fmt.Errorf("%s %s has %s, but its shape is %v: make them match", kind, name, errtext.Count(len(values), "value"), shape))
	}
	m.data = append(m.data, d)
	return d
}

// Deterministic stores a quantity with every draw.
func (m *Model) Deterministic(name string, n *ad.Node, list ...Option) *ad.Node {
	m.claim(name, "a quantity")
	o := options(list)
	if o.shape != nil && n.Err() == nil && !n.Shape().Equal(o.shape) {
		m.fault(fmt.Errorf("quantity %s has shape %v, but its axes have lengths %v: make them match", name, n.Shape(), o.shape))
	}
	m.derived = append(m.derived, &quantity{name, n, o.dims})
	return n
}

// ObservedPartly says that data enter the log density of what this model describes in other ways than by Observe, such as by times of which only a bound is
// known. Verdicts then judge what was observed alone, and do not blame priors for what the other data say.
func (m *Model) ObservedPartly() { m.partly = true }

// AddLogProb adds the sum of n to the log density. Data that enter it so are not judged.
func (m *Model) AddLogProb(name string, n *ad.Node) {
	m.claim(name, "a term")
	m.terms = append(m.terms, &quantity{name: name, node: n})
}

// fault notes a mistake, if it is one.
func (m *Model) fault(err error) {
	if err != nil {
		m.errs = append(m.errs, err)
	}
}

// claim takes a name for what it stands for, such as "a parameter".
func (m *Model) claim(name, what string) {
	if name == "" {
		m.errs = append(m.errs, fmt.Errorf("%s has no name: give it one", what))
	}
	if drawn := what == "a parameter" || what == "a quantity"; drawn && strings.HasSuffix(name, "__") {
		m.errs = append(m.errs, fmt.Errorf("%s has the name %q, but names that end in __ belong to the sampler, such as lp__: leave out the underscores", what, name))
	}
	if old, taken := m.names[name]; taken {
		m.errs = append(m.errs, fmt.Errorf("the name %q already belongs to %s and cannot be used for %s: give each a name of its own", name, old, what))
	}
	m.names[name] = what
}
