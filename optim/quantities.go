// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package optim

import (
	"fmt"
	"math"
	"slices"

	ad "github.com/euryale-dev/euryale/autodiff"
)

// Quantities are functions of the fitted parameters, such as a ratio or an area, with the errors that they inherit.
type Quantities struct {
	Names []string
	X     []float64
	// Cov is their covariance, row-major: G Cov G^T with the exact derivatives G. It is nil if the fit has no covariance.
	Cov []float64
}

// SD returns the standard deviations of the quantities, NaN without a covariance.
func (q *Quantities) SD() []float64 { return roots(q.Cov, len(q.X)) }

// Derive returns functions of the fitted parameters, in the order of their names. Each is a graph of scalar inputs that have the names of
// parameters, as in Settings.Tied. Errors are those of linear propagation; ProfileSettings.Quantities gives intervals that hold beyond it.
func (r *Result) Derive(of map[string]*ad.Node) (*Quantities, error) {
	f, err := newFunctions(r.Names, of)
	if err != nil {
		return nil, err
	}
	q := &Quantities{Names: f.names, X: make([]float64, len(f.names))}
	n := len(r.Names)
	g := make([]float64, len(f.names)*n)
	if err := f.at(q.X, g, r.X); err != nil {
		return nil, err
	}
	if r.Cov != nil {
		q.Cov = sandwich(g, r.Cov, len(f.names), n)
	}
	return q, nil
}

// functions are compiled functions of the parameters of a problem.
type functions struct {
	names []string
	from  []int // numbers of the parameters that they use
	n     int
	state *ad.State
}

// newFunctions compiles functions of parameters that have these names.
func newFunctions(parameters []string, of map[string]*ad.Node) (*functions, error) {
	f := &functions{n: len(parameters)}
	var out []*ad.Node
	for name, e := range of {
		switch {
		case slices.Contains(parameters, name):
			return nil, fmt.Errorf("optim: the quantity %s has the name of a parameter: choose another", name)
		case e == nil || e.Err() != nil || e.Size() != 1:
			return nil, fmt.Errorf("optim: the quantity %s is %v: want an expression with one element", name, e)
		}
		f.names = append(f.names, name)
	}
	slices.Sort(f.names)
	for _, name := range f.names {
		out = append(out, ad.Reshape(of[name]))
	}
	if len(out) == 0 {
		return f, nil
	}
	leaves, err := inputsOf(out)
	if err != nil {
		return nil, err
	}
	for _, x := range leaves {
		i := slices.Index(parameters, x.Name())
		if i < 0 {
			return nil, unknown("parameter", x.Name(), parameters)
		}
		f.from = append(f.from, i)
	}
	for _, e := range out[:len(f.names)] {
		out = append(out, ad.Grad(e, leaves...)...)
	}
	prog, err := ad.Compile(out, ad.Settings{Inputs: leaves, Backend: ad.CPU{Threads: 1}})
	if err != nil {
		return nil, fmt.Errorf("optim: quantities %v: %w", f.names, err)
	}
	f.state = prog.NewState()
	return f, nil
}

// at sets v to the values at parameters x, and g to the derivatives, a row of all parameters for each.
func (f *functions) at(v, g, x []float64) error {
	if f.state == nil {
		return nil
	}
	for k, i := range f.from {
		f.state.Input(k)[0] = x[i]
	}
	if err := f.state.Run(); err != nil {
		return err
	}
	clear(g)
	for k := range f.names {
		v[k] = f.state.Output(k)[0]
		for a, i := range f.from {
			g[k*f.n+i] = f.state.Output(len(f.names) + k*len(f.from) + a)[0]
		}
	}
	return nil
}

// stiffness is the width, in standard deviations of a quantity, of the residual that holds it near a value.
const stiffness = 1e-4

// holding is a problem with a residual more, which holds a quantity near a value: (q - value)/width. Where it ends, the cost of the data is the least for
// the quantity's value there, whatever the width.
type holding struct {
	*Problem
	of           *functions
	value, width float64
	v, g, data   []float64
}

// hold returns the problem with a quantity to be held.
func (p *Problem) hold(of *functions, width float64) *holding {
	h := &holding{of: of, width: width, v: make([]float64, 1), g: make([]float64, p.N)}
	h.Problem = &Problem{M: p.M + 1, N: p.N, Names: p.Names, Start: p.Start, Lower: p.Lower, Upper: p.Upper, extra: p.extra + 1,
		Residual: func(r, x []float64) error {
			if err := of.at(h.v, h.g, x); err != nil {
				return err
			}
			r[p.M] = (h.v[0] - h.value) / h.width
			return p.Residual(r[:p.M], x)
		}}
	if p.Jacobian == nil {
		return h
	}
	h.data = make([]float64, p.M*p.N)
	h.Problem.Jacobian = func(j, x []float64) error {
		if err := p.Jacobian(h.data, x); err != nil {
			return err
		}
		if err := of.at(h.v, h.g, x); err != nil {
			return err
		}
		for k := range p.N {
			copy(j[k*(p.M+1):], h.data[k*p.M:(k+1)*p.M])
			j[k*(p.M+1)+p.M] = h.g[k] / h.width
		}
		return nil
	}
	return h
}

// reached returns the value of the quantity at x, and NaN where it could not come near the value at which it was to be held.
func (h *holding) reached(x []float64, from float64) float64 {
	if h.of.at(h.v, h.g, x) != nil || !(math.Abs(h.v[0]-h.value) <= 0.3*math.Abs(h.value-from)) {
		return math.NaN()
	}
	return h.v[0]
}
