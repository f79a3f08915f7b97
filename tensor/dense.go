package tensor

import (
	"fmt"

	gt "gorgonia.org/tensor"
)

// Dense returns a Gorgonia tensor on the same memory if the array is contiguous,
// else on a copy: Gorgonia reads the wrong elements of sliced matrices.
func (t *Tensor) Dense() *gt.Dense {
	if len(t.shape) == 0 {
		return gt.New(gt.FromScalar(t.At()))
	}
	return gt.New(gt.WithShape(t.shape...), gt.WithBacking(t.Data()))
}

// FromDense returns the array of a Gorgonia tensor: on the same memory if its
// elements lie in row-major order, else on a copy.
func FromDense(d *gt.Dense) (*Tensor, error) {
	if d.IsScalar() {
		one, err := scalarSlice(d.ScalarValue())
		if err != nil {
			return nil, err
		}
		t, err := From(one, 1)
		if err != nil {
			return nil, err
		}
		return t.Reshape()
	}
	if d.RequiresIterator() || d.DataOrder().IsColMajor() || d.DataOrder().IsNotContiguous() {
		d = d.Materialize().(*gt.Dense)
		if d.DataOrder().IsColMajor() {
			return fromColumns(d)
		}
	}
	return From(d.Data(), d.Shape()...)
}

// fromColumns copies a column-major tensor.
func fromColumns(d *gt.Dense) (*Tensor, error) {
	shape := d.Shape()
	back := make([]int, len(shape))
	for i := range back {
		back[i] = shape[len(shape)-1-i]
	}
	t, err := From(d.Data(), back...)
	if err != nil {
		return nil, err
	}
	return t.Permute().Copy(), nil
}

func scalarSlice(v any) (any, error) {
	switch v := v.(type) {
	case float64:
		return []float64{v}, nil
	case float32:
		return []float32{v}, nil
	case int64:
		return []int64{v}, nil
	case int:
		return []int64{int64(v)}, nil
	case int32:
		return []int32{v}, nil
	case bool:
		return []bool{v}, nil
	case complex128:
		return []complex128{v}, nil
	case complex64:
		return []complex64{v}, nil
	}
	return nil, fmt.Errorf("tensor: a Gorgonia scalar of %T: want a number or bool", v)
}
