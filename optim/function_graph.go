// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package optim

import (
	"fmt"
	"sync"

	ad "github.com/euryale-dev/euryale/autodiff"
)

// FunctionFromGraph makes a function from a graph of one element whose inputs are params. Gradients
// and Hessian-vector products are exact. The caller sets bounds and Start.
func FunctionFromGraph(value *ad.Node, params []*ad.Node, data ...Data) (*Function, error) {
	return FunctionFromGraphOn(nil, value, params, data...)
}

// FunctionFromGraphOn is FunctionFromGraph, but values and derivatives are computed on a backend,
// such as ad.CUDA{}, where the data stay. An evaluation sends the parameters there and fetches the
// value and the gradient; the memory of L-BFGS and its steps stay on the processor. A nil backend
// means the processor.
func FunctionFromGraphOn(b ad.Backend, value *ad.Node, params []*ad.Node, data ...Data) (*Function, error) {
	if err := value.Err(); err != nil {
		return nil, fmt.Errorf("optim: %w", err)
	}
	if value.Size() != 1 {
		return nil, fmt.Errorf("optim: the function returns %d elements, but a minimum needs a scalar: reduce it with Sum", value.Size())
	}
	f := &Function{}
	inputs := append([]*ad.Node{}, params...)
	for _, d := range data {
		if len(d.Values) != d.Node.Size() {
			return nil, fmt.Errorf("optim: data %v has %d values: want one for each element", d.Node, len(d.Values))
		}
		inputs = append(inputs, d.Node)
	}
	for _, x := range params {
		f.N += x.Size()
		f.Names = append(f.Names, elementNames(x)...)
	}
	prog, err := ad.Compile(append([]*ad.Node{value}, ad.Grad(value, params...)...), ad.Settings{Inputs: inputs, Backend: b})
	if err != nil {
		return nil, fmt.Errorf("optim: %w", err)
	}
	if in := prog.Inputs(); len(in) > len(inputs) {
		return nil, fmt.Errorf("optim: the function uses %v, which is neither a parameter nor data: add it to one of them", in[len(inputs)])
	}
	g := &functionGraph{params: len(params), inputs: len(inputs)}
	if g.value, err = filled(prog, len(params), data); err != nil {
		return nil, err
	}
	g.second = sync.OnceValues(func() (*ad.State, error) {
		v := alike(params)
		p, err := ad.Compile(ad.HVP(value, params, v), ad.Settings{Inputs: append(append([]*ad.Node{}, inputs...), v...), Backend: b})
		if err != nil {
			return nil, fmt.Errorf("optim: second derivatives: %w", err)
		}
		return filled(p, len(params), data)
	})
	f.Gradient, f.HVP = g.gradient, g.hvp
	return f, nil
}

// functionGraph holds the programs of a function; that of second derivatives is
// compiled when it is first used.
type functionGraph struct {
	params, inputs int
	value          *ad.State
	second         func() (*ad.State, error)
}

func (f *functionGraph) gradient(g, x []float64) (float64, error) {
	put(f.value, f.params, x)
	if err := f.value.Run(); err != nil {
		return 0, err
	}
	if f.params > 0 {
		copy(g, f.value.OutputSpan(1, 1+f.params))
	}
	return f.value.Output(0)[0], nil
}

func (f *functionGraph) hvp(out, x, v []float64) error {
	h, err := f.second()
	if err != nil || f.params == 0 {
		return err
	}
	put(h, f.params, x)
	copy(h.InputSpan(f.inputs, f.inputs+f.params), v)
	if err := h.Run(); err != nil {
		return err
	}
	copy(out, h.OutputSpan(0, f.params))
	return nil
}

func filled(p *ad.Program, params int, data []Data) (*ad.State, error) {
	s := p.NewState()
	for i, d := range data {
		if err := s.SetInput(params+i, d.Values); err != nil {
			return nil, err
		}
	}
	return s, nil
}

func put(s *ad.State, params int, x []float64) {
	if params > 0 {
		copy(s.InputSpan(0, params), x)
	}
}
