package infer

import (
	"fmt"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/infer/dist"
)

// Model is a joint law of named parameters and data, written as a graph over
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
	params   []*param
	data     []*datum
	derived  []namedNode
	terms    []namedNode
	observed []*observation
	names    map[string]string // what each name stands for
	errs     []error
}

// param is one declared parameter.
type param struct {
	name      string
	node      *ad.Node // the constrained leaf that the user's graph holds
	prior     dist.Dist
	transform dist.Transform
	flat      bool
	free      int // length of the unconstrained form
}

type datum struct {
	name   string
	node   *ad.Node
	values []float64
}

type namedNode struct {
	name string
	node *ad.Node
}

type observation struct {
	name string
	law  dist.Dist
	data *datum
}

// NewModel starts an empty model.
func NewModel(name string) *Model { return &Model{name: name, names: map[string]string{}} }

// Option changes one parameter.
type Option struct {
	shape     []int
	transform *dist.Transform
}

// Shape makes the parameter an array.
func Shape(lengths ...int) Option { return Option{shape: lengths} }

// By maps the parameter through t in place of the transform of its support.
func By(t dist.Transform) Option { return Option{transform: &t} }

// Param declares a parameter with a prior; its constraint comes from the
// prior's support. The Node is the constrained value.
func (m *Model) Param(name string, prior dist.Dist, options ...Option) *ad.Node {
	if err := prior.Err(); err != nil {
		m.errs = append(m.errs, fmt.Errorf("prior of %s: %w", name, err))
		return ad.Input(name)
	}
	p := &param{name: name, prior: prior, transform: prior.Support.Transform()}
	return m.declare(p, options)
}

// Flat declares a parameter without a prior, constrained by t.
func (m *Model) Flat(name string, t dist.Transform, options ...Option) *ad.Node {
	return m.declare(&param{name: name, transform: t, flat: true}, options)
}

func (m *Model) declare(p *param, options []Option) *ad.Node {
	m.claim(p.name, "a parameter")
	shape := []int{}
	for _, o := range options {
		if o.shape != nil {
			shape = o.shape
		}
		if o.transform != nil {
			p.transform = *o.transform
		}
	}
	p.node = ad.Input(p.name, shape...)
	if err := p.node.Err(); err != nil {
		m.errs = append(m.errs, fmt.Errorf("parameter %s: %w", p.name, err))
		return p.node
	}
	p.free = p.transform.Free(p.node.Size())
	m.params = append(m.params, p)
	return p.node
}

// Data declares a vector that SetData may replace, by one of the same length,
// without compiling again.
func (m *Model) Data(name string, values []float64, shape ...int) *ad.Node {
	if len(shape) == 0 {
		shape = []int{len(values)}
	}
	return m.datum("data", name, values, shape).node
}

var article = map[string]string{"observation": "an "}

func (m *Model) datum(kind, name string, values []float64, shape []int) *datum {
	m.claim(name, article[kind]+kind)
	d := &datum{name: name, node: ad.Input(name, shape...), values: append([]float64{}, values...)}
	if err := d.node.Err(); err != nil {
		m.errs = append(m.errs, fmt.Errorf("%s %s: %w", kind, name, err))
	} else if d.node.Size() != len(values) {
		m.errs = append(m.errs, fmt.Errorf("%s %s: %d values for shape %v", kind, name, len(values), shape))
	}
	m.data = append(m.data, d)
	return d
}

// Deterministic stores a quantity with every draw.
func (m *Model) Deterministic(name string, n *ad.Node) *ad.Node {
	m.claim(name, "a quantity")
	m.derived = append(m.derived, namedNode{name, n})
	return n
}

// AddLogProb adds the sum of n to the log density.
func (m *Model) AddLogProb(name string, n *ad.Node) {
	m.claim(name, "a term")
	m.terms = append(m.terms, namedNode{name, n})
}

// Observe declares that values were drawn from law, element by element.
func (m *Model) Observe(name string, law dist.Dist, values []float64) {
	if err := law.Err(); err != nil {
		m.errs = append(m.errs, fmt.Errorf("law of %s: %w", name, err))
		return
	}
	m.observed = append(m.observed, &observation{name: name, law: law, data: m.datum("observation", name, values, []int{len(values)})})
}

// claim takes a name for what it stands for, such as "a parameter".
func (m *Model) claim(name, what string) {
	if name == "" {
		m.errs = append(m.errs, fmt.Errorf("%s without a name", what))
	}
	if old, taken := m.names[name]; taken {
		m.errs = append(m.errs, fmt.Errorf("name %q stands for %s already and cannot stand for %s: names must differ", name, old, what))
	}
	m.names[name] = what
}
