package optim

import (
	"fmt"
	"sync"

	ad "github.com/euryale-dev/euryale/autodiff"
)

// FunctionFromGraph makes a function of a scalar graph of inputs params, with
// exact gradients and products with the second derivatives. Bounds and Start are
// left to fill in.
func FunctionFromGraph(value *ad.Node, params []*ad.Node, data ...Data) (*Function, error) {
	if err := value.Err(); err != nil {
		return nil, fmt.Errorf("optim: %w", err)
	}
	if value.Size() != 1 {
		return nil, fmt.Errorf("optim: a function of %d elements: want one; use Sum", value.Size())
	}
	f := &Function{}
	inputs := append([]*ad.Node{}, params...)
	for _, d := range data {
		if len(d.Values) != d.Node.Size() {
			return nil, fmt.Errorf("optim: data %v has %d values", d.Node, len(d.Values))
		}
		inputs = append(inputs, d.Node)
	}
	for _, x := range params {
		f.N += x.Size()
		f.Names = append(f.Names, elementNames(x)...)
	}
	prog, err := ad.Compile(append([]*ad.Node{value}, ad.Grad(value, params...)...), ad.Settings{Inputs: inputs})
	if err != nil {
		return nil, fmt.Errorf("optim: %w", err)
	}
	if in := prog.Inputs(); len(in) > len(inputs) {
		return nil, fmt.Errorf("optim: the function uses %v, which is neither parameter nor data", in[len(inputs)])
	}
	second := sync.OnceValues(func() (*ad.State, error) {
		v := alike(params)
		p, err := ad.Compile(ad.HVP(value, params, v), ad.Settings{Inputs: append(append([]*ad.Node{}, inputs...), v...)})
		if err != nil {
			return nil, fmt.Errorf("optim: second derivatives: %w", err)
		}
		return filled(p, len(params), data), nil
	})
	s := filled(prog, len(params), data)
	f.Gradient = func(g, x []float64) (float64, error) {
		put(s, len(params), x)
		if err := s.Run(); err != nil {
			return 0, err
		}
		if len(params) > 0 {
			copy(g, s.OutputSpan(1, prog.Outputs()))
		}
		return s.Output(0)[0], nil
	}
	f.HVP = func(out, x, v []float64) error {
		h, err := second()
		if err != nil {
			return err
		}
		put(h, len(params), x)
		copy(h.InputSpan(len(inputs), len(inputs)+len(params)), v)
		if err := h.Run(); err != nil {
			return err
		}
		copy(out, h.OutputSpan(0, len(params)))
		return nil
	}
	return f, nil
}

func filled(p *ad.Program, params int, data []Data) *ad.State {
	s := p.NewState()
	for i, d := range data {
		copy(s.Input(params+i), d.Values)
	}
	return s
}

func put(s *ad.State, params int, x []float64) {
	if params > 0 {
		copy(s.InputSpan(0, params), x)
	}
}
