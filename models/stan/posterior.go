// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package stan

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"sync"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/infer"
	"github.com/euryale-dev/euryale/infer/dist"
	"github.com/euryale-dev/euryale/models/stan/internal/stage"
	"github.com/euryale-dev/euryale/models/stan/internal/syntax"
	"github.com/euryale-dev/euryale/models/stan/internal/typing"
	"github.com/euryale-dev/euryale/models/stan/internal/value"
	"github.com/euryale-dev/euryale/tensor"
)

// Posterior is a program with its data: a target of package infer over unconstrained parameters in Stan's order, with Stan's transforms.
// It is not safe for concurrent use; Clone shares the programs.
type Posterior struct {
	program   *Program
	machine   *stage.Machine // with the values of data, and nodes of the rest
	dim       int
	params    []stage.Param
	inputs    []*ad.Node   // unconstrained numbers of each parameter that has any
	lp        *ad.Node     // log density
	terms     []stage.Term // that statements add to it
	assigned  []stage.Term
	density   *ad.Program
	backend   ad.Backend
	state     *ad.State
	point     []float64 // where state has the unconstrained numbers and the gradient
	slope     []float64
	derive    *derived // nil if all columns are known
	written   *ad.State
	columns   []column
	late      []syntax.Stmt
	latent    []string // variables whose numbers late statements may need, as the last outputs of derive
	seed      uint64
	kept      *stage.Kept            // from draw to draw
	variables map[string]value.Value // of the blocks; never changed once compiled
	failed    *failures
	seen      *infer.Posterior // with the observations, for checks; nil without any
}

// column is a variable of the output.
type column struct {
	name  string
	typ   typing.Type
	shape []int
	kind  Kind
	late  bool
	out   int // output of derive; -1 if known or late
	known []float64
	order []int // of the elements, the first index fastest
}

// Kind is the block that a variable belongs to.
type Kind int

// The blocks of output.
const (
	Parameter Kind = iota
	Transformed
	Generated
)

// Variable is a variable of the output.
type Variable struct {
	Name  string
	Shape []int
	Kind  Kind
	Int   bool
}

// Compile runs what depends on data only, and makes the log density a program.
func (p *Program) Compile(d Data, s CompileSettings) (*Posterior, error) {
	m := stage.New(p.tree)
	m.NoJacobian = s.NoJacobian
	m.Out = s.Print
	if s.MaxStatements > 0 {
		m.MaxSteps = s.MaxStatements
	}
	r := tensor.NewStream(s.Seed, 0, 0)
	m.Random = &r
	post := &Posterior{program: p, machine: m, seed: s.Seed, failed: &failures{}}
	if err := p.load(m, d); err != nil {
		return nil, err
	}
	if b := p.tree.Blocks[syntax.TransformedData]; b != nil {
		if err := m.Run(b.List); err != nil {
			return nil, err
		}
		if err := validate(m, b); err != nil {
			return nil, err
		}
	}
	return post, post.build(s)
}

// mostParameters bounds the unconstrained numbers of a program: a sampler keeps dozens of copies of them.
const mostParameters = 10_000_000

func validate(m *stage.Machine, b *syntax.Block) error {
	for _, x := range b.List {
		if d, ok := x.(*syntax.Declare); ok {
			if err := m.Validate(d); err != nil {
				return err
			}
		}
	}
	return nil
}

// dataError is a mistake of the data, and not of the program.
type dataError struct{ err error }

func (e *dataError) Error() string { return e.err.Error() }
func (e *dataError) Unwrap() error { return e.err }

// OfData says whether an error of Compile is one of the data.
func OfData(err error) bool {
	var e *dataError
	return errors.As(err, &e)
}

// load reads the variables of the data block.
func (p *Program) load(m *stage.Machine, d Data) error {
	b := p.tree.Blocks[syntax.Data]
	if b == nil {
		return nil
	}
	for _, x := range b.List {
		decl := x.(*syntax.Declare)
		layout, err := m.Layout(decl)
		if err != nil {
			return err
		}
		v, err := d.param(decl.Name, decl.Unsized, layout)
		if err != nil {
			return &dataError{err}
		}
		m.Set(decl.Name, decl.Unsized, v)
		if err := m.Validate(decl); err != nil {
			return err
		}
	}
	return nil
}

func (p *Posterior) build(s CompileSettings) error {
	m, tree := p.machine, p.program.tree
	m.Graph(true)
	defer m.Graph(false)
	var decls []*syntax.Declare
	if b := tree.Blocks[syntax.Parameters]; b != nil {
		for _, x := range b.List {
			d := x.(*syntax.Declare)
			q, err := m.Layout(d)
			if err != nil {
				return err
			}
			decls = append(decls, d)
			p.params = append(p.params, q)
			if p.dim += q.Free; p.dim > mostParameters {
				return &stage.Error{Source: tree.Source, Span: d.At(), Err: fmt.Errorf("the parameters up to this one have %d unconstrained numbers, and at most %d are allowed: check the sizes in the data", p.dim, mostParameters)}
			}
		}
	}
	for i, q := range p.params {
		var own *ad.Node
		if q.Free > 0 {
			own = ad.Input(decls[i].Name, q.Free)
			p.inputs = append(p.inputs, own)
		}
		v, j, err := m.Constrain(q, own)
		if err != nil {
			return fmt.Errorf("stan: parameter %s: %w", decls[i].Name, err)
		}
		m.Set(decls[i].Name, decls[i].Unsized, v)
		if j != nil && !s.NoJacobian {
			m.Add(decls[i], j)
		}
	}
	for _, b := range []int{syntax.TransformedParameters, syntax.Model} {
		block := tree.Blocks[b]
		if block == nil {
			continue
		}
		if b == syntax.Model {
			if err := m.Density(block.List); err != nil {
				return err
			}
			continue
		}
		if err := m.Run(block.List); err != nil {
			return err
		}
		if err := validate(m, block); err != nil {
			return err
		}
	}
	p.terms, p.assigned = m.Terms(), m.Assigned()
	if err := p.compileDensity(m.Target(), s); err != nil {
		return err
	}
	if err := p.observations(); err != nil {
		return err
	}
	if b := tree.Blocks[syntax.GeneratedQuantities]; b != nil {
		var err error
		if p.late, err = m.Quantities(b.List); err != nil {
			return err
		}
	}
	p.variables = p.machine.Variables()
	return p.outputs()
}

// observations makes the model that checks compare with the data.
func (p *Posterior) observations() error {
	list := p.machine.Observations()
	if len(list) == 0 || p.dim == 0 {
		return nil
	}
	m := infer.NewModel(p.program.tree.Source.Name)
	free := m.Flat("u", dist.IdentityTransform(), infer.Shape(p.dim))
	parts, at := make([]*ad.Node, len(p.inputs)), 0
	for i, u := range p.inputs {
		parts[i] = ad.Slice(free, 0, at, at+u.Size())
		at += u.Size()
	}
	names := map[string]int{}
	for _, o := range list {
		for i, y := range o.Y {
			if math.IsNaN(y) {
				return &dataError{fmt.Errorf("observation %d of %s is NaN, so that the log density is never a number: leave it out of the data, or declare what is missing as parameters", i+1, o.Name)}
			}
		}
		params := ad.Substitute(o.Params, p.inputs, parts)
		own, ok := o.With(params)
		if !ok {
			p.machine.Unjudged = true
			continue
		}
		name := o.Name
		if names[o.Name]++; names[o.Name] > 1 {
			name = fmt.Sprintf("%s (%d)", o.Name, names[o.Name])
		}
		m.Observe(name, own, o.Y)
	}
	if p.machine.Unjudged {
		m.ObservedPartly()
	}
	var err error
	p.seen, err = m.Compile()
	return err
}

// Observations returns the posterior that checks of the model use; nil if no distribution statement has data on its left side.
func (p *Posterior) Observations() *infer.Posterior { return p.seen }

// Staging says how the program was staged, by line: which loops run at once, which one after another, and what runs for each draw.
func (p *Posterior) Staging() []string {
	m := p.machine.Draw(stage.NewKept())
	m.Explained(p.machine)
	m.ExplainLate(p.late)
	return m.Explain()
}

// Device returns where the log density runs.
func (p *Posterior) Device() string { return p.density.Device() }

func (p *Posterior) compileDensity(lp *ad.Node, s CompileSettings) error {
	if err := lp.Err(); err != nil {
		return err
	}
	backend := s.Backend
	if backend == nil {
		backend = ad.CPU{Threads: 1}
	}
	lp = ad.Condense(lp)
	p.lp, p.backend = lp, backend
	var err error
	p.density, err = ad.Compile(append([]*ad.Node{lp}, ad.Grad(lp, p.inputs...)...), ad.Settings{Inputs: p.inputs, Backend: backend})
	return err
}

// outputs finds the columns and compiles what they need.
func (p *Posterior) outputs() error {
	var nodes []*ad.Node
	node := func(v value.Value) int {
		nodes = append(nodes, v.Node())
		return len(nodes) - 1
	}
	for i, b := range []int{syntax.Parameters, syntax.TransformedParameters, syntax.GeneratedQuantities} {
		block := p.program.tree.Blocks[b]
		if block == nil {
			continue
		}
		for _, x := range block.List {
			d, ok := x.(*syntax.Declare)
			if !ok {
				continue
			}
			v, late := p.machine.Declared(d.Name)
			p.addColumns(d.Name, v, Kind(i), late, node)
		}
	}
	if len(p.late) > 0 {
		for name, v := range p.machine.Variables() {
			if v.Known() || v.Elems != nil {
				continue
			}
			p.latent = append(p.latent, name)
			node(v)
		}
	}
	if len(nodes) == 0 {
		return nil
	}
	for _, n := range nodes {
		if err := n.Err(); err != nil {
			return err
		}
	}
	p.derive = &derived{nodes: nodes, inputs: p.inputs}
	return nil
}

// derived computes the columns of the output. It is compiled when the first draw is written, and shared by clones.
type derived struct {
	nodes, inputs []*ad.Node
	once          sync.Once
	program       *ad.Program
	err           error
}

func (d *derived) state() (*ad.State, error) {
	d.once.Do(func() {
		d.program, d.err = ad.Compile(d.nodes, ad.Settings{Inputs: d.inputs, Backend: ad.CPU{Threads: 1}})
	})
	if d.err != nil {
		return nil, d.err
	}
	return d.program.NewState(), nil
}

func (p *Posterior) addColumns(name string, v value.Value, k Kind, late bool, node func(value.Value) int) {
	switch {
	case v.Type.Kind.IsComplex():
		p.addColumns(name+".real", v.Elems[0], k, late, node)
		p.addColumns(name+".imag", v.Elems[1], k, late, node)
		return
	case v.Type.Kind == typing.Tuple:
		for i, e := range v.Elems {
			sep := ":"
			if v.Type.Dims > 0 {
				sep = "."
			}
			p.addColumns(fmt.Sprintf("%s%s%d", name, sep, i+1), e, k, late, node)
		}
		return
	}
	c := column{name: name, typ: v.Type, shape: v.Shape, kind: k, late: late, out: -1, order: columnMajor(v.Shape)}
	switch {
	case late:
	case v.Known():
		c.known = v.F
	default:
		c.out = node(v)
	}
	p.columns = append(p.columns, c)
}

// columnMajor lists the elements with the first index running fastest.
func columnMajor(shape []int) []int {
	n := value.Size(shape)
	out := make([]int, n)
	index := make([]int, len(shape))
	for i := range out {
		at := 0
		for k, s := range shape {
			at = at*s + index[k]
		}
		out[i] = at
		for k := range index {
			if index[k]++; index[k] < shape[k] {
				break
			}
			index[k] = 0
		}
	}
	return out
}

// Dim returns the number of unconstrained parameters.
func (p *Posterior) Dim() int { return p.dim }

// LogProbGrad writes the gradient at q into g and returns the log density. Terms that depend on constants only are left out as in Stan's
// lp__: those of statements with ~ and of functions ending in _lupdf.
func (p *Posterior) LogProbGrad(q, g []float64) (float64, error) {
	if p.state == nil {
		p.state = p.density.NewState()
		p.point, p.slope = p.state.InputSpan(0, len(p.inputs)), p.state.OutputSpan(1, 1+len(p.inputs))
	}
	copy(p.point, q)
	if err := p.state.Run(); err != nil {
		var fault interface{ AtPoint() bool }
		if errors.As(err, &fault) && fault.AtPoint() { // not of the program
			err = infer.Reject(err)
		}
		return 0, err
	}
	copy(g, p.slope)
	lp := p.state.Output(0)[0]
	if math.IsNaN(lp) || math.IsInf(lp, -1) {
		return math.Inf(-1), nil
	}
	return lp, nil
}

// Clone returns a copy with a workspace of its own.
func (p *Posterior) Clone() infer.Target {
	c := *p
	c.state, c.written, c.point, c.slope, c.kept = nil, nil, nil, nil, nil
	return &c
}

// Variables lists the variables of the output in order.
func (p *Posterior) Variables() (list []Variable) {
	for _, c := range p.columns {
		list = append(list, Variable{Name: c.name, Shape: c.shape, Kind: c.kind, Int: c.typ.Kind == typing.Int})
	}
	return list
}

// Names returns the names of the columns, such as theta[1,2], the first index running fastest.
func (p *Posterior) Names() (names []string) {
	for _, c := range p.columns {
		for _, at := range c.order {
			names = append(names, c.name+elementName(c.shape, at))
		}
	}
	return names
}

func elementName(shape []int, at int) string {
	if len(shape) == 0 {
		return ""
	}
	var s []string
	for k := len(shape) - 1; k >= 0; k-- {
		s = append([]string{fmt.Sprint(at%shape[k] + 1)}, s...)
		at /= shape[k]
	}
	return "[" + strings.Join(s, ",") + "]"
}

// Len returns the number of columns.
func (p *Posterior) Len() int {
	n := 0
	for _, c := range p.columns {
		n += len(c.order)
	}
	return n
}

// Write fills the columns from an unconstrained draw. Random numbers of generated quantities are those of the draw's own stream, which
// the numbers of q choose: the same draw always has the same.
func (p *Posterior) Write(q, out []float64) error {
	if p.derive != nil {
		if p.written == nil {
			var err error
			if p.written, err = p.derive.state(); err != nil {
				return err
			}
		}
		copy(p.written.InputSpan(0, len(p.inputs)), q)
		if err := p.written.Run(); err != nil {
			return err
		}
	}
	var late map[string]value.Value
	var failed error
	if len(p.late) > 0 {
		late, failed = p.runLate(q)
	}
	at := 0
	for _, c := range p.columns {
		f := c.known
		switch {
		case c.late:
			f = lateNumbers(late, c)
		case c.out >= 0:
			f = p.written.Output(c.out)
		}
		for _, k := range c.order {
			out[at] = math.NaN()
			if f != nil {
				out[at] = f[k]
			}
			at++
		}
	}
	var e *stage.Error
	if errors.As(failed, &e) && e.Fatal {
		return failed
	}
	if failed != nil {
		p.failed.add(failed)
	}
	return nil
}

// failures counts the draws whose generated quantities could not be computed, in all clones of a Posterior.
type failures struct {
	mu    sync.Mutex
	n     int
	first error
}

func (f *failures) add(err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.n == 0 {
		f.first = err
	}
	f.n++
}

// Failures returns at how many of the written draws the generated quantities could not be computed, so that they are NaN there as far as
// they come after the mistake, and the first mistake.
func (p *Posterior) Failures() (n int, first error) {
	p.failed.mu.Lock()
	defer p.failed.mu.Unlock()
	return p.failed.n, p.failed.first
}

// lateNumbers returns the numbers of a column among the variables of a draw.
func lateNumbers(vars map[string]value.Value, c column) []float64 {
	name, rest, _ := strings.Cut(c.name, ".")
	if i := strings.IndexByte(name, ':'); i >= 0 {
		name, rest = c.name[:i], c.name[i:]
	}
	v, ok := vars[name]
	if !ok {
		return nil
	}
	for rest != "" && v.Elems != nil {
		var part string
		rest = strings.TrimLeft(rest, ".:")
		if i := strings.IndexAny(rest, ".:"); i >= 0 {
			part, rest = rest[:i], rest[i:]
		} else {
			part, rest = rest, ""
		}
		switch part {
		case "real":
			v = v.Elems[0]
		case "imag":
			v = v.Elems[1]
		default:
			n := 0
			if _, err := fmt.Sscan(part, &n); err != nil || n < 1 || n > len(v.Elems) {
				return nil
			}
			v = v.Elems[n-1]
		}
	}
	return v.F
}

// runLate runs the statements that need the numbers of a draw.
func (p *Posterior) runLate(q []float64) (map[string]value.Value, error) {
	if p.kept == nil {
		p.kept = stage.NewKept()
	}
	d := p.machine.Draw(p.kept)
	h := p.seed ^ 0x9e3779b97f4a7c15
	for _, x := range q {
		h = (h ^ math.Float64bits(x)) * 0x100000001b3
	}
	r := tensor.NewStream(h, 1, 0)
	d.Random = &r
	first := len(p.derive.nodes) - len(p.latent)
	for i, name := range p.latent {
		v := p.variables[name]
		f := append([]float64(nil), p.written.Output(first+i)...)
		d.Set(name, v.Type, value.Known(v.Type, f, v.Shape...))
	}
	err := d.RunLate(p.late)
	return d.Variables(), err
}

// ParameterNames lists the columns of parameters.
func (p *Posterior) ParameterNames() (names []string) {
	for _, c := range p.columns {
		if c.kind != Parameter {
			continue
		}
		for _, at := range c.order {
			names = append(names, c.name+elementName(c.shape, at))
		}
	}
	return names
}

// Arrays lists the variables of the output as arrays, for files of draws. Empty ones have no column.
func (p *Posterior) Arrays() (list []infer.Array) {
	for _, c := range p.columns {
		if len(c.order) > 0 {
			list = append(list, infer.Array{Name: c.name, Shape: c.shape, FirstFastest: true})
		}
	}
	return list
}
