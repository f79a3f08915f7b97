package infer

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	ad "github.com/euryale-dev/euryale/autodiff"
)

// Posterior is a compiled Model: a Target over the unconstrained parameters, in
// the order of declaration, row-major inside each. It is not safe for
// concurrent use; Clone shares the programs.
type Posterior struct {
	model   *Model
	density *ad.Program // inputs: unconstrained parameters, data; outputs: lp, its gradients, the parts of lp
	derive  *ad.Program // outputs: constrained parameters, derived quantities, pointwise log-likelihoods, laws' parameters
	parts   []string    // names of the parts of lp
	dim     int
	data    [][]float64
	run     *ad.State
	write   *ad.State
}

// Compile checks the model and makes its programs. The error lists every mistake.
func (m *Model) Compile() (*Posterior, error) {
	u, y, logJ := m.constrain()
	parts, names := m.logProbParts(logJ)
	if err := errors.Join(m.errs...); err != nil {
		return nil, fmt.Errorf("infer: model %s: %w", m.name, err)
	}
	p := &Posterior{model: m, parts: names}
	inputs := append([]*ad.Node{}, u...)
	var leaves []*ad.Node
	for i, q := range m.params {
		p.dim += u[i].Size()
		leaves = append(leaves, q.node)
	}
	for _, d := range m.data {
		inputs = append(inputs, d.node)
		p.data = append(p.data, d.values)
	}
	parts = ad.Substitute(parts, leaves, y)
	lp := ad.AddN(parts...)
	outs := append([]*ad.Node{lp}, ad.Grad(lp, u...)...)
	var err error
	if p.density, err = ad.Compile(append(outs, parts...), ad.Settings{Inputs: inputs, Threads: 1}); err != nil {
		return nil, fmt.Errorf("infer: model %s: %w", m.name, err)
	}
	if err := onlyDeclared(m.name, p.density, len(inputs)); err != nil {
		return nil, err
	}
	if p.derive, err = ad.Compile(ad.Substitute(m.quantities(), leaves, y), ad.Settings{Inputs: inputs, Threads: 1}); err != nil {
		return nil, fmt.Errorf("infer: model %s: %w", m.name, err)
	}
	return p, onlyDeclared(m.name, p.derive, len(inputs))
}

func onlyDeclared(model string, p *ad.Program, n int) error {
	if in := p.Inputs(); len(in) > n {
		return fmt.Errorf("infer: model %s uses %v, which it did not declare: use Param, Flat or Data", model, in[n])
	}
	return nil
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

// logProbParts returns the terms of the log density and their names.
func (m *Model) logProbParts(logJ []*ad.Node) (parts []*ad.Node, names []string) {
	add := func(name string, n *ad.Node) {
		if err := n.Err(); err != nil {
			m.errs = append(m.errs, fmt.Errorf("infer: %s: %w", name, err))
			return
		}
		parts, names = append(parts, ad.Sum(n)), append(names, name)
	}
	for i, p := range m.params {
		if !p.flat {
			prior := p.prior.LogProbInside(p.node)
			add("prior of "+p.name, ad.Broadcast(prior, p.node.Shape()...))
		}
		add("Jacobian of "+p.name, logJ[i])
	}
	for _, t := range m.terms {
		add("term "+t.name, t.node)
	}
	for _, o := range m.observed {
		ll := o.law.LogProb(o.data.node)
		if ll.Err() == nil && ll.Size() != o.data.node.Size() {
			m.errs = append(m.errs, fmt.Errorf("infer: observation %s has %d values, its law has shape %v: want them to match", o.name, o.data.node.Size(), ll.Shape()))
			continue
		}
		add("likelihood of "+o.name, ll)
	}
	return parts, names
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

// Dim returns the number of unconstrained parameters.
func (p *Posterior) Dim() int { return p.dim }

// Clone returns a Posterior with a workspace of its own.
func (p *Posterior) Clone() Target {
	c := *p
	c.run, c.write = nil, nil
	return &c
}

// LogProbGrad writes the gradient at q into g and returns the log density with
// all constants and the Jacobians of the transforms.
func (p *Posterior) LogProbGrad(q, g []float64) (float64, error) {
	if p.run == nil {
		p.run = p.state(p.density)
	}
	k := len(p.model.params)
	if k > 0 {
		copy(p.run.InputSpan(0, k), q)
	}
	if err := p.run.Run(); err != nil {
		return math.NaN(), err
	}
	if k > 0 {
		copy(g, p.run.OutputSpan(1, 1+k))
	}
	return p.run.Output(0)[0], nil
}

// state makes a workspace with the data in place.
func (p *Posterior) state(prog *ad.Program) *ad.State {
	s := prog.NewState()
	for i, d := range p.data {
		copy(s.Input(len(p.model.params)+i), d)
	}
	return s
}

// Names returns the columns of a draw: parameters, then derived quantities;
// elements of arrays are name[0], name[1], ... row-major.
func (p *Posterior) Names() []string {
	var out []string
	for _, q := range p.model.params {
		out = appendNames(out, q.name, q.node)
	}
	for _, d := range p.model.derived {
		out = appendNames(out, d.name, d.node)
	}
	return out
}

func appendNames(out []string, name string, n *ad.Node) []string {
	if len(n.Shape()) == 0 {
		return append(out, name)
	}
	for i := range n.Size() {
		out = append(out, fmt.Sprintf("%s[%d]", name, i))
	}
	return out
}

// Len returns the number of columns of a draw.
func (p *Posterior) Len() int { return len(p.Names()) }

// Write fills out with the columns at the unconstrained draw q.
func (p *Posterior) Write(q, out []float64) error {
	if err := p.at(q); err != nil {
		return err
	}
	n := len(p.model.params) + len(p.model.derived)
	if n > 0 {
		copy(out, p.write.OutputSpan(0, n))
	}
	return nil
}

func (p *Posterior) at(q []float64) error {
	if p.write == nil {
		p.write = p.state(p.derive)
	}
	if k := len(p.model.params); k > 0 {
		copy(p.write.InputSpan(0, k), q)
	}
	return p.write.Run()
}

// LogLik returns the log-likelihood of every observation at the unconstrained
// draw q, in the order of Observe.
func (p *Posterior) LogLik(q []float64) ([]float64, error) {
	if err := p.at(q); err != nil {
		return nil, err
	}
	first := len(p.model.params) + len(p.model.derived)
	if len(p.model.observed) == 0 {
		return nil, nil
	}
	return append([]float64{}, p.write.OutputSpan(first, first+len(p.model.observed))...), nil
}

// Predict draws new data for observation name at the unconstrained draw q.
func (p *Posterior) Predict(name string, q []float64, src Source) ([]float64, error) {
	at := len(p.model.params) + len(p.model.derived) + len(p.model.observed)
	for _, o := range p.model.observed {
		k := len(o.law.Params)
		if o.name != name {
			at += k
			continue
		}
		if err := p.at(q); err != nil {
			return nil, err
		}
		out, theta := make([]float64, o.data.node.Size()), make([]float64, k)
		for i := range out {
			for j := range theta {
				theta[j] = p.write.Output(at + j)[i]
			}
			out[i] = o.law.Rand(src, theta)
		}
		return out, nil
	}
	return nil, fmt.Errorf("infer: no observation %q to predict", name)
}

// Source is a stream of random numbers: tensor.Stream is one.
type Source interface {
	Float64() float64
	Normal() float64
}

// SetData replaces data or an observation by values of the same length, for
// this Posterior and later Clones.
func (p *Posterior) SetData(name string, values []float64) error {
	for i, d := range p.model.data {
		if d.name != name {
			continue
		}
		if len(values) != len(d.values) {
			return fmt.Errorf("infer: data %s: %d values, want %d as at Compile", name, len(values), len(d.values))
		}
		data := append([][]float64{}, p.data...)
		data[i] = append([]float64{}, values...)
		p.data, p.run, p.write = data, nil, nil
		return nil
	}
	return fmt.Errorf("infer: no data %q in model %s", name, p.model.name)
}

// Unconstrain maps constrained values by name, row-major, to an unconstrained
// draw. A value outside its constraint, or on a bound, is an error that names it;
// nudge (0 for none) moves values on or beyond the bounds of an interval inside
// by that part of its width.
func (p *Posterior) Unconstrain(values map[string][]float64, nudge float64) ([]float64, error) {
	q := make([]float64, 0, p.dim)
	known := map[*ad.Node][]float64{}
	for _, m := range p.model.params {
		v, ok := values[m.name]
		if !ok || len(v) != m.node.Size() {
			return nil, &ParamError{Param: m.name, Reason: fmt.Sprintf("%d values, want %d", len(v), m.node.Size())}
		}
		bounds, err := p.boundsOf(m, known)
		if err != nil {
			return nil, err
		}
		x, err := m.transform.Inverse(nudged(v, m.transform.Name, bounds, nudge), bounds...)
		if err != nil {
			return nil, &ParamError{Param: m.name, Reason: err.Error()}
		}
		q = append(q, x...)
		known[m.node] = v
	}
	for name := range values {
		if p.model.names[name] != "parameter" {
			return nil, &ParamError{Param: name, Reason: "the model has no such parameter"}
		}
	}
	return q, nil
}

// ParamError reports a value that a parameter cannot take.
type ParamError struct{ Param, Reason string }

func (e *ParamError) Error() string { return fmt.Sprintf("infer: parameter %s: %s", e.Param, e.Reason) }

// boundsOf evaluates the bounds of a parameter at the values known so far.
func (p *Posterior) boundsOf(m *param, known map[*ad.Node][]float64) ([]float64, error) {
	out := make([]float64, len(m.transform.Bounds))
	for i, b := range m.transform.Bounds {
		var from, to []*ad.Node
		for n, v := range known {
			from, to = append(from, n), append(to, constLike(n, v))
		}
		d, err := ad.Eval(ad.Substitute([]*ad.Node{b}, from, to)[0])
		if err != nil {
			return nil, fmt.Errorf("infer: bound of %s: %w", m.name, err)
		}
		switch v := d[0].Data().(type) {
		case float64:
			out[i] = v
		case []float64:
			out[i] = v[0]
		}
	}
	return out, nil
}

func constLike(n *ad.Node, v []float64) *ad.Node {
	if len(n.Shape()) == 0 {
		return ad.Scalar(v[0])
	}
	return ad.Const(v, n.Shape()...)
}

func nudged(v []float64, transform string, b []float64, part float64) []float64 {
	lo, hi := math.Inf(-1), math.Inf(1)
	width := 1.0
	switch transform {
	case "lower", "softplus":
		if lo = 0; len(b) > 0 {
			lo = b[0]
		}
	case "upper":
		hi = b[0]
	case "interval":
		lo, hi, width = b[0], b[1], b[1]-b[0]
	default:
		part = 0
	}
	if part == 0 {
		return v
	}
	out := make([]float64, len(v))
	for i, x := range v {
		out[i] = min(max(x, lo+part*width), hi-part*width)
	}
	return out
}

// Explain names the parts of the log density that are not finite at q.
func (p *Posterior) Explain(q []float64) string {
	g := make([]float64, p.dim)
	if _, err := p.LogProbGrad(q, g); err != nil {
		return err.Error()
	}
	text := ""
	for i, name := range p.parts {
		if v := p.run.Output(1 + len(p.model.params) + i)[0]; math.IsNaN(v) || math.IsInf(v, 0) {
			text += fmt.Sprintf("%s is %g; ", name, v)
		}
	}
	if text == "" {
		for i, v := range g {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				text += fmt.Sprintf("gradient element %d is %g; ", i, v)
			}
		}
	}
	return text
}

// Fingerprint tells models and data apart.
func (p *Posterior) Fingerprint() string {
	h := sha256.New()
	fmt.Fprintln(h, p.model.name, p.density, p.parts)
	for i, d := range p.data {
		fmt.Fprintln(h, p.model.data[i].name, len(d))
		_ = binary.Write(h, binary.LittleEndian, d) // a hash takes every write
	}
	return fmt.Sprintf("%x", h.Sum(nil)[:16])
}

var (
	_ Target        = (*Posterior)(nil)
	_ Outputs       = (*Posterior)(nil)
	_ Explainer     = (*Posterior)(nil)
	_ Fingerprinter = (*Posterior)(nil)
)
