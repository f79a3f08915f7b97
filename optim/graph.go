// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package optim

import (
	"fmt"
	"sync"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/internal/given"
)

// Data is an input of a graph together with its values.
type Data struct {
	Node   *ad.Node
	Values []float64
}

// graph holds the programs of a residual. Those that only some fits need are
// compiled when they are first used; clones share them.
type graph struct {
	// residual is the residual as a vector.
	residual *ad.Node
	// params are the parameters as the caller gave them.
	params   []*ad.Node
	data     []*ad.Node
	m, n     int
	programs [kinds]lazy
	backend  ad.Backend
}

// lazy is a program that is compiled once.
type lazy struct {
	once sync.Once
	prog *ad.Program
	err  error
}

// kind says what a program computes.
type kind int

const (
	values    kind = iota // the residual
	jacobian              // and all columns of its Jacobian
	columns               // several products with unit vectors side by side
	jvp                   // the Jacobian times a vector
	vjp                   // its transpose times a vector
	curvature             // the second derivative along a vector
	triangle              // the triangular factor of the Jacobian beside the residual
	kinds
)

// writtenOut is the most parameters whose columns are written out as a graph
// each; beyond, unit vectors run as lanes of one product.
const writtenOut = 48

// givenNodes names the first Node that is nil.
func givenNodes(function, name string, n *ad.Node, params []*ad.Node) error {
	if err := given.Args(function, name, n); err != nil {
		return err
	}
	for i, x := range params {
		if err := given.Args(function, fmt.Sprintf("params[%d]", i), x); err != nil {
			return err
		}
	}
	return nil
}

// FromGraph makes a problem from a graph: residual is any Node, and params are its inputs, in
// order. Derivatives are exact. The caller sets bounds and Start.
func FromGraph(residual *ad.Node, params []*ad.Node, data ...Data) (*Problem, error) {
	return FromGraphOn(nil, residual, params, data...)
}

// FromGraphOn is FromGraph, but the residual and its derivatives are computed on a backend, such as
// ad.CUDA{}; steps and factorizations stay on the processor. A nil backend means one thread of the
// processor.
func FromGraphOn(b ad.Backend, residual *ad.Node, params []*ad.Node, data ...Data) (*Problem, error) {
	if err := givenNodes("optim.FromGraph", "residual", residual, params); err != nil {
		return nil, err
	}
	if b == nil {
		b = ad.CPU{Threads: 1}
	}
	g := &graph{params: params, m: residual.Size(), residual: ad.Reshape(residual, residual.Size()), backend: b}
	p := &Problem{M: g.m, graph: g}
	var all [][]float64
	for _, d := range data {
		if len(d.Values) != d.Node.Size() {
			return nil, fmt.Errorf("optim: data %v has %d values: want one for each element", d.Node, len(d.Values))
		}
		g.data = append(g.data, d.Node)
		all = append(all, d.Values)
	}
	for _, x := range params {
		g.n += x.Size()
		p.Names = append(p.Names, elementNames(x)...)
	}
	p.N = g.n
	prog, err := g.program(values)
	if err == nil && g.n <= writtenOut {
		_, err = g.program(jacobian)
	}
	if err != nil {
		return nil, err
	}
	if in := prog.Inputs(); len(in) > len(params)+len(data) {
		return nil, fmt.Errorf("optim: the residual uses %v, which is neither a parameter nor data: add it to one of them", in[len(params)+len(data)])
	}
	g.bind(p, all)
	return p, nil
}

// elementNames returns one name for each element of an input.
func elementNames(x *ad.Node) []string {
	if len(x.Shape()) == 0 {
		return []string{x.Name()}
	}
	out := make([]string, x.Size())
	for i := range out {
		out[i] = fmt.Sprintf("%s[%d]", x.Name(), i)
	}
	return out
}

// SetData replaces the values of the data of a graph, in the order in which FromGraph took them.
// Each array must have the same length as before. The problem keeps the memory of its programs.
// Copies of the Problem that Clone did not make share that memory, so they see the new data too.
func (p *Problem) SetData(values ...[]float64) error {
	if p.graph == nil || len(values) != len(p.data.values) {
		return fmt.Errorf("optim: SetData was given %d arrays, but the problem has %d: pass one for each, as to FromGraph", len(values), len(p.data.values))
	}
	for i, v := range values {
		if len(v) != len(p.data.values[i]) {
			return fmt.Errorf("optim: data %d has %d values: want %d, as before", i, len(v), len(p.data.values[i]))
		}
	}
	p.data.values = values
	p.data.number++
	return nil
}

// Device returns where the residual and the Jacobian of a graph are computed: "cpu", or a GPU such
// as "cuda:0" if one of them runs there.
func (p *Problem) Device() string {
	if p.graph == nil {
		return "cpu"
	}
	slopes := jacobian
	if p.graph.n > writtenOut {
		slopes = columns
	}
	for _, k := range []kind{values, slopes} {
		if prog, err := p.graph.program(k); err == nil && prog.Device() != "cpu" {
			return prog.Device()
		}
	}
	return "cpu"
}

// program compiles what k stands for, once. Inputs are the parameters, the data
// and then, where k has a vector, its parts.
func (g *graph) program(k kind) (*ad.Program, error) {
	l := &g.programs[k]
	l.once.Do(func() {
		s := ad.Settings{Inputs: append(append([]*ad.Node{}, g.params...), g.data...), Backend: g.backend}
		var out []*ad.Node
		switch k {
		case values:
			out = []*ad.Node{g.residual}
		case jacobian:
			out = append([]*ad.Node{g.residual}, g.writeOut()...)
		case triangle:
			out = []*ad.Node{triangular(g.residual, g.writeOut())}
		case vjp:
			u := ad.Input("u", g.m)
			s.Inputs = append(s.Inputs, u)
			out = ad.VJP(g.residual, u, g.params...)
		default:
			v := alike(g.params)
			s.Inputs = append(s.Inputs, v...)
			out = []*ad.Node{ad.JVP(g.residual, g.params, v)}
			if k == curvature {
				out[0] = ad.JVP(out[0], g.params, v)
			}
			if k == columns {
				s.Batch, s.Batched = g.lanes(), v
			}
		}
		if l.prog, l.err = ad.Compile(out, s); l.err != nil {
			l.err = fmt.Errorf("optim: %w", l.err)
		}
	})
	return l.prog, l.err
}

// lanes is how many columns one run of kind columns computes.
func (g *graph) lanes() int { return min(g.n, 64) }

// alike returns an input of the shape of each of xs.
func alike(xs []*ad.Node) []*ad.Node {
	out := make([]*ad.Node, len(xs))
	for i, x := range xs {
		out[i] = ad.Input(x.Name()+".v", x.Shape()...)
	}
	return out
}

// writeOut returns the derivative of the residual along each parameter.
func (g *graph) writeOut() []*ad.Node {
	var out []*ad.Node
	for _, x := range g.params {
		j := ad.Reshape(ad.Jacobian(g.residual, x), g.m, x.Size())
		for i := range x.Size() {
			out = append(out, ad.Index(j, 1, i))
		}
	}
	return out
}

// dataset holds the data that the runs of a problem take, and memory for its fits.
type dataset struct {
	values [][]float64
	number int // number of the values, from 1; SetData counts

	scratch []float64 // memory for the next fit, see lend
}

// run is a program with memory of its own.
type run struct {
	g      *graph
	k      kind
	data   *dataset
	number int // number of the data in the memory; 0: none are
	state  *ad.State
}

// start makes the memory at first use, puts in the data where they are new, and the parameters.
func (r *run) start(p []float64) error {
	if r.state == nil {
		prog, err := r.g.program(r.k)
		if err != nil {
			return err
		}
		r.state = prog.NewState()
	}
	if r.number != r.data.number {
		for i, d := range r.data.values {
			if err := r.state.SetInput(len(r.g.params)+i, d); err != nil { // a device keeps them
				return err
			}
		}
		r.number = r.data.number
	}
	if len(r.g.params) > 0 {
		copy(r.state.InputSpan(0, len(r.g.params)), p)
	}
	return nil
}

// vector returns the last inputs, which hold the vector of a product.
func (r *run) vector() []float64 {
	n := len(r.g.params) + len(r.data.values)
	return r.state.InputSpan(n, len(r.state.Program().Inputs()))
}

// bind gives p functions with workspaces of their own.
func (g *graph) bind(p *Problem, data [][]float64) {
	p.data = &dataset{values: data, number: 1}
	use := func(k kind) *run { return &run{g: g, k: k, data: p.data} }
	value, jac, wide := use(values), use(jacobian), use(columns)
	p.Residual = func(out, x []float64) error { return value.whole(out, x, 0) }
	p.Jacobian = mended(g.m, p.Residual, func(out, x []float64) error { return jac.whole(out, x, 1) })
	if g.n > writtenOut {
		p.Jacobian = mended(g.m, p.Residual, func(out, x []float64) error { return wide.columns(out, x) })
	}
	product := func(k kind) func(out, x, v []float64) error {
		r := use(k)
		return func(out, x, v []float64) error { return r.product(out, x, v) }
	}
	p.JVP, p.VJP, p.Second = product(jvp), product(vjp), product(curvature)
	if len(g.params) == 0 {
		p.JVP, p.VJP, p.Second = nil, nil, nil
	}
}

// whole copies all outputs from number skip on.
func (r *run) whole(out, x []float64, skip int) error {
	if err := r.start(x); err != nil {
		return err
	}
	if err := r.state.Run(); err != nil {
		return err
	}
	copy(out, r.state.OutputSpan(skip, r.state.Program().Outputs()))
	return nil
}

func (r *run) product(out, x, v []float64) error {
	if err := r.start(x); err != nil {
		return err
	}
	copy(r.vector(), v)
	if err := r.state.Run(); err != nil {
		return err
	}
	copy(out, r.state.OutputSpan(0, r.state.Program().Outputs()))
	return nil
}

// columns computes the Jacobian lane by lane of unit vectors.
func (r *run) columns(out, x []float64) error {
	if err := r.start(x); err != nil {
		return err
	}
	m, lanes, v := r.g.m, r.g.lanes(), r.vector()
	for k := 0; k < r.g.n; k += lanes {
		now := min(lanes, r.g.n-k)
		for l := range now {
			v[(k+l)*lanes+l] = 1
		}
		if err := r.state.Run(); err != nil {
			return err
		}
		for l := range now {
			v[(k+l)*lanes+l] = 0
		}
		got := r.state.Output(0)
		for l := range now {
			col := out[(k+l)*m : (k+l+1)*m]
			for i := range col {
				col[i] = got[i*lanes+l]
			}
		}
	}
	return nil
}
