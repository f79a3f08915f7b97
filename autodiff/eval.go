package autodiff

import (
	"fmt"

	gt "gorgonia.org/tensor"
)

// Eval computes Nodes that depend on constants alone, as Gorgonia tensors of
// float64. It compiles at each call: for repeated work use Compile.
func Eval(nodes ...*Node) ([]*gt.Dense, error) {
	p, err := Compile(nodes, Settings{Threads: 1})
	if err != nil {
		return nil, err
	}
	if in := p.Inputs(); len(in) > 0 {
		return nil, fmt.Errorf("autodiff: eval: %v has no value: use Compile and State.Input", in[0])
	}
	s := p.NewState()
	if err := s.Run(); err != nil {
		return nil, err
	}
	out := make([]*gt.Dense, len(nodes))
	for i, n := range nodes {
		v := s.OutputFloat64(i)
		if len(n.shape) == 0 {
			out[i] = gt.New(gt.FromScalar(v[0]))
		} else {
			out[i] = gt.New(gt.WithShape(n.shape...), gt.WithBacking(v))
		}
	}
	return out, nil
}

// FromDense makes a constant of a Gorgonia tensor of float32, float64 or whole
// numbers. A contiguous float64 tensor is shared, others are copied.
func FromDense(d *gt.Dense) *Node {
	shape := []int(d.Shape())
	if d.RequiresIterator() || !d.DataOrder().IsContiguous() || d.DataOrder().IsColMajor() {
		d = d.Materialize().(*gt.Dense)
	}
	var data []float64
	switch v := d.Data().(type) {
	case []float64:
		data = v
	case float64:
		data = []float64{v}
	case []float32:
		data = make([]float64, len(v))
		for i, x := range v {
			data[i] = float64(x)
		}
	case float32:
		data = []float64{float64(v)}
	case []int:
		return Ints(v, shape...)
	case []int64:
		n := Ints(make([]int, len(v)), shape...)
		copy(n.ints, v)
		return n
	default:
		return mistake("tensor", "elements of %v: want float64, float32 or int", d.Dtype())
	}
	if len(shape) == 0 {
		return Scalar(data[0])
	}
	return Const(data, shape...)
}
