package infer

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"

	ad "github.com/euryale-dev/euryale/autodiff"
	gt "gorgonia.org/tensor"
)

// Compile checks the model and makes its programs. The error lists every
// mistake. What is declared later is not part of the Posterior.
func (m *Model) Compile() (*Posterior, error) {
	p, err := m.frozen().compile()
	if err != nil {
		return nil, fmt.Errorf("infer: model %s: %w", m.name, err)
	}
	return p, nil
}

// frozen returns a model that further declarations do not change.
func (m *Model) frozen() *Model {
	c := *m
	c.params, c.data, c.observed = slices.Clone(m.params), slices.Clone(m.data), slices.Clone(m.observed)
	c.derived, c.terms, c.errs = slices.Clone(m.derived), slices.Clone(m.terms), slices.Clone(m.errs)
	c.names = maps.Clone(m.names)
	return &c
}

func (m *Model) compile() (*Posterior, error) {
	p := &Posterior{model: m}
	u, y, logJ := m.constrain()
	parts := m.logProbParts(p, logJ)
	inputs, leaves := slices.Clone(u), make([]*ad.Node, len(m.params))
	for i, q := range m.params {
		leaves[i] = q.node
	}
	for _, d := range m.data {
		inputs = append(inputs, d.node)
		p.data = append(p.data, d.values)
	}
	for _, o := range m.observed {
		m.fault(o.check(p))
	}
	if len(parts) == 0 {
		m.fault(errors.New("no log density: declare a Param, an Observe or an AddLogProb"))
	}
	if err := errors.Join(m.errs...); err != nil {
		return nil, err
	}
	for _, x := range u {
		p.dim += x.Size()
	}
	parts = ad.Substitute(parts, leaves, y)
	lp := ad.AddN(parts...)
	var err error
	if p.density, err = m.program(append(append([]*ad.Node{lp}, ad.Grad(lp, u...)...), parts...), inputs); err != nil {
		return nil, err
	}
	p.derive, err = m.program(ad.Substitute(m.quantities(), leaves, y), inputs)
	return p, err
}

// fault notes a mistake, if it is one.
func (m *Model) fault(err error) {
	if err != nil {
		m.errs = append(m.errs, err)
	}
}

// program compiles outputs, which may use the declared inputs only.
func (m *Model) program(outputs, inputs []*ad.Node) (*ad.Program, error) {
	prog, err := ad.Compile(outputs, ad.Settings{Inputs: inputs, Threads: 1})
	if err != nil {
		return nil, err
	}
	if all := prog.Inputs(); len(all) > len(inputs) {
		return nil, fmt.Errorf("it uses %v, which is not declared: use Param, Flat or Data", all[len(inputs)])
	}
	return prog, nil
}

// constrain makes the unconstrained inputs u and the constrained values y, whose
// bounds may depend on parameters declared before.
func (m *Model) constrain() (u, y, logJ []*ad.Node) {
	var leaves []*ad.Node
	for _, p := range m.params {
		shape := p.node.Shape()
		if p.free != p.node.Size() {
			shape = []int{p.free}
		}
		x := ad.Input(p.name+" (unconstrained)", shape...)
		v, j := p.transform.Constrain(x)
		if v.Err() == nil && !v.Shape().Equal(p.node.Shape()) {
			v = ad.Reshape(v, p.node.Shape()...)
		}
		both := ad.Substitute([]*ad.Node{v, j}, leaves, y)
		u, y, logJ = append(u, x), append(y, both[0]), append(logJ, both[1])
		leaves = append(leaves, p.node)
	}
	return u, y, logJ
}

// logProbParts returns the terms of the log density, whose names it leaves in p.
func (m *Model) logProbParts(p *Posterior, logJ []*ad.Node) (parts []*ad.Node) {
	add := func(name string, n *ad.Node) {
		if err := n.Err(); err != nil {
			m.fault(fmt.Errorf("%s: %w", name, err))
			return
		}
		parts, p.parts = append(parts, ad.Sum(n)), append(p.parts, name)
	}
	for i, q := range m.params {
		if !q.flat {
			add("prior of "+q.name, ad.Broadcast(q.prior.LogProbInside(q.node), q.node.Shape()...))
		}
		add("Jacobian of "+q.name, logJ[i])
	}
	for _, t := range m.terms {
		add("term "+t.name, t.node)
	}
	for _, d := range m.derived {
		if err := d.node.Err(); err != nil {
			m.fault(fmt.Errorf("quantity %s: %w", d.name, err))
		}
	}
	for _, o := range m.observed {
		ll := o.law.LogProb(o.data.node)
		if ll.Err() == nil && !ll.Shape().Equal(o.data.node.Shape()) {
			m.fault(fmt.Errorf("observation %s has %d values, its law has shape %v: want them to match", o.name, o.data.node.Size(), ll.Shape()))
			continue
		}
		add("likelihood of "+o.name, ll)
	}
	return parts
}

// quantities lists what is stored with a draw: parameters and derived
// quantities; then pointwise log-likelihoods; then the laws' parameters.
func (m *Model) quantities() []*ad.Node {
	var out []*ad.Node
	for _, p := range m.params {
		out = append(out, p.node)
	}
	for _, d := range m.derived {
		out = append(out, d.node)
	}
	for _, o := range m.observed {
		out = append(out, o.law.LogProb(o.data.node))
	}
	for _, o := range m.observed {
		for _, p := range o.law.Params {
			out = append(out, ad.Broadcast(p, o.data.node.Shape()...))
		}
	}
	return out
}

// check reports the first value that the law cannot give: NaN, infinite or
// outside the support, as far as its ends are known before sampling.
func (o *observation) check(p *Posterior) error {
	values := p.data[slices.Index(p.model.data, o.data)]
	for i, v := range values {
		if !finite(v) {
			return fmt.Errorf("observation %s[%d] is %g: drop it or declare it a parameter", o.name, i, v)
		}
	}
	s := o.law.Support
	x := o.data.node
	inside := s.Inside(x)
	if inside == nil || inside.Err() != nil || !inside.Shape().Equal(x.Shape()) {
		return nil
	}
	ends := []*ad.Node{inside, ad.Full(math.Inf(-1), x.Shape()...), ad.Full(math.Inf(1), x.Shape()...)}
	if s.Lower != nil {
		ends[1] = ad.Broadcast(s.Lower, x.Shape()...)
	}
	if s.Upper != nil {
		ends[2] = ad.Broadcast(s.Upper, x.Shape()...)
	}
	at, err := p.atData(ends)
	if err != nil { // an end depends on a parameter
		return nil
	}
	for i, ok := range at[0] {
		if ok == 0 {
			return fmt.Errorf("observation %s[%d] is %g: outside the support of %s, %g to %g", o.name, i, values[i], o.law.Name, at[1][i], at[2][i])
		}
	}
	return nil
}

// atData evaluates nodes that depend on data alone.
func (p *Posterior) atData(nodes []*ad.Node) ([][]float64, error) { return p.atValues(nodes, nil, nil) }

// atValues evaluates nodes at the data and at known parameters.
func (p *Posterior) atValues(nodes, from, to []*ad.Node) ([][]float64, error) {
	from, to = slices.Clone(from), slices.Clone(to)
	for i, d := range p.model.data {
		from, to = append(from, d.node), append(to, constLike(d.node, p.data[i]))
	}
	dense, err := ad.Eval(ad.Substitute(nodes, from, to)...)
	if err != nil {
		return nil, err
	}
	out := make([][]float64, len(nodes))
	for i, d := range dense {
		out[i] = floats(d)
	}
	return out, nil
}

func floats(d *gt.Dense) []float64 {
	if v, ok := d.Data().(float64); ok {
		return []float64{v}
	}
	return d.Data().([]float64)
}

func constLike(n *ad.Node, v []float64) *ad.Node {
	if len(n.Shape()) == 0 {
		return ad.Scalar(v[0])
	}
	return ad.Const(v, n.Shape()...)
}
