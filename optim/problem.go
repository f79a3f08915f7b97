package optim

import (
	"errors"
	"fmt"
	"math"

	ad "github.com/euryale-dev/euryale/autodiff"
)

// Problem is a nonlinear least-squares problem of M residuals and N parameters.
// It is not safe for concurrent use; Clone gives each goroutine its own.
type Problem struct {
	M, N  int
	Names []string // of the parameters; used in messages
	Start []float64
	// Lower and Upper are the bounds; nil or infinite where there are none.
	Lower, Upper []float64
	// Residual fills r (M elements) at p.
	Residual func(r, p []float64) error
	// Jacobian fills j at p, column by column: j[k*M+i] is dr_i/dp_k. Nil means
	// central differences.
	Jacobian func(j, p []float64) error
	graph    *graph
	data     [][]float64
}

// FromGraph makes a problem of a graph: residual is any Node, params are its
// inputs, in order. The Jacobian is exact. Bounds and Start are left to fill in.
func FromGraph(residual *ad.Node, params []*ad.Node, data ...Data) (*Problem, error) {
	g := &graph{}
	p := &Problem{M: residual.Size(), graph: g}
	inputs := append([]*ad.Node{}, params...)
	for _, d := range data {
		if len(d.Values) != d.Node.Size() {
			return nil, fmt.Errorf("optim: data %v has %d values", d.Node, len(d.Values))
		}
		inputs = append(inputs, d.Node)
		p.data = append(p.data, d.Values)
	}
	for _, x := range params {
		p.N += x.Size()
		for i := range x.Size() {
			name := x.Name()
			if len(x.Shape()) > 0 {
				name = fmt.Sprintf("%s[%d]", name, i)
			}
			p.Names = append(p.Names, name)
		}
	}
	flat := ad.Reshape(residual, p.M)
	columns := []*ad.Node{flat}
	for _, x := range params {
		columns = append(columns, jacobianColumns(flat, x)...)
	}
	g.params = len(params)
	var err error
	if g.res, err = ad.Compile([]*ad.Node{flat}, ad.Settings{Inputs: inputs, Threads: 1}); err == nil {
		g.jac, err = ad.Compile(columns, ad.Settings{Inputs: inputs, Threads: 1})
	}
	if err != nil {
		return nil, fmt.Errorf("optim: %w", err)
	}
	if in := g.jac.Inputs(); len(in) > len(inputs) {
		return nil, fmt.Errorf("optim: the residual uses %v, which is neither parameter nor data", in[len(inputs)])
	}
	p.Residual, p.Jacobian = g.functions(p.data)
	return p, nil
}

// SetData replaces the values of the data of a graph, in the order in which
// FromGraph took them, each of its old length.
func (p *Problem) SetData(values ...[]float64) error {
	if p.graph == nil || len(values) != len(p.data) {
		return fmt.Errorf("optim: %d data for a problem of %d", len(values), len(p.data))
	}
	for i, v := range values {
		if len(v) != len(p.data[i]) {
			return fmt.Errorf("optim: data %d has %d values, want %d", i, len(v), len(p.data[i]))
		}
	}
	p.data = values
	p.Residual, p.Jacobian = p.graph.functions(values)
	return nil
}

// Data is an input of a graph with its values.
type Data struct {
	Node   *ad.Node
	Values []float64
}

// jacobianColumns returns the derivative of r along each element of x.
func jacobianColumns(r, x *ad.Node) []*ad.Node {
	j := ad.Reshape(ad.Jacobian(r, x), r.Size(), x.Size())
	out := make([]*ad.Node, x.Size())
	for i := range out {
		out[i] = ad.Index(j, 1, i)
	}
	return out
}

type graph struct {
	res, jac *ad.Program
	params   int
}

// functions makes a residual and a Jacobian with workspaces of their own.
func (g *graph) functions(data [][]float64) (residual, jacobian func(out, p []float64) error) {
	bind := func(prog *ad.Program, skip int) func(out, p []float64) error {
		var s *ad.State
		return func(out, p []float64) error {
			if s == nil {
				s = prog.NewState()
				for i, d := range data {
					copy(s.Input(g.params+i), d)
				}
			}
			if g.params > 0 {
				copy(s.InputSpan(0, g.params), p)
			}
			if err := s.Run(); err != nil {
				return err
			}
			copy(out, s.OutputSpan(skip, prog.Outputs()))
			return nil
		}
	}
	return bind(g.res, 0), bind(g.jac, 1)
}

// Clone returns a problem that may be used by another goroutine. Problems of Go
// functions share them.
func (p *Problem) Clone() *Problem {
	c := *p
	if p.graph != nil {
		c.Residual, c.Jacobian = p.graph.functions(p.data)
	}
	return &c
}

// name returns the name of parameter i.
func (p *Problem) name(i int) string {
	if i < len(p.Names) {
		return p.Names[i]
	}
	return fmt.Sprintf("p%d", i)
}

// check completes bounds and lists everything that is wrong.
func (p *Problem) check() error {
	var errs []error
	bad := func(format string, a ...any) { errs = append(errs, fmt.Errorf("optim: "+format, a...)) }
	if p.Residual == nil || p.N < 1 || p.M < 1 {
		bad("%d residuals of %d parameters: want a Residual function and at least one of each", p.M, p.N)
		return errors.Join(errs...)
	}
	if len(p.Start) != p.N {
		bad("start has %d values, want %d", len(p.Start), p.N)
		return errors.Join(errs...)
	}
	fill := func(b *[]float64, v float64, what string) {
		if *b == nil {
			*b = make([]float64, p.N)
			for i := range *b {
				(*b)[i] = v
			}
		}
		if len(*b) != p.N {
			bad("%s bounds have %d values, want %d", what, len(*b), p.N)
			*b = make([]float64, p.N)
		}
	}
	fill(&p.Lower, math.Inf(-1), "lower")
	fill(&p.Upper, math.Inf(1), "upper")
	for i, x := range p.Start {
		switch lo, hi := p.Lower[i], p.Upper[i]; {
		case !(lo < hi):
			bad("bounds of %s are %g..%g: want lower < upper; hold a parameter fixed by Settings.Fixed", p.name(i), lo, hi)
		case math.IsNaN(x) || math.IsInf(x, 0):
			bad("start of %s is %g: want a finite number", p.name(i), x)
		case x < lo || x > hi:
			bad("start of %s is %g, outside its bounds %g..%g", p.name(i), x, lo, hi)
		}
	}
	return errors.Join(errs...)
}

// bounded reports whether any bound is finite.
func (p *Problem) bounded() bool {
	for i := range p.Lower {
		if !math.IsInf(p.Lower[i], -1) || !math.IsInf(p.Upper[i], 1) {
			return true
		}
	}
	return false
}
