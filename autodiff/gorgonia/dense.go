package gorgonia

import (
	"fmt"

	gt "gorgonia.org/tensor"

	ad "github.com/euryale-dev/euryale/autodiff"
)

// FromDense makes a constant of a tensor. A contiguous float64 tensor is shared:
// do not change it afterwards. Slices, transposes and column-major tensors are
// copied in their logical order.
func FromDense(d *gt.Dense) *ad.Node { return ad.FromDense(rowMajor(d)) }

// ToDense returns output i of a State as a tensor that shares its memory: the
// next Run changes it, Clone keeps it. It is nil for an output of indices.
func ToDense(s *ad.State, i int) *gt.Dense {
	shape := s.Program().OutputShape(i)
	var backing any
	if v := s.Output(i); v != nil {
		backing = v
	} else if v := s.Output32(i); v != nil {
		backing = v
	} else {
		return nil
	}
	if len(shape) == 0 {
		shape = []int{1}
	}
	return gt.New(gt.WithShape(shape...), gt.WithBacking(backing))
}

// SetInput copies a tensor of the Program's precision into input i of a State,
// in its logical order. It returns an error for another type or size.
func SetInput(s *ad.State, i int, d *gt.Dense) error {
	f := newFeed(s, i)
	if err := f.dense(d); err != nil {
		return fmt.Errorf("gorgonia: input %v: %w", s.Program().Inputs()[i], err)
	}
	return nil
}

// rowMajor returns d, or a copy whose elements lie in row-major order: the
// tensor package reads some views wrongly.
func rowMajor(d *gt.Dense) *gt.Dense {
	if isRowMajor(d) {
		return d
	}
	return d.Materialize().(*gt.Dense)
}

func isRowMajor(d *gt.Dense) bool {
	if d.RequiresIterator() || d.DataOrder().IsColMajor() {
		return false
	}
	s, strides := d.Shape(), d.Strides()
	if len(s) != len(strides) {
		return len(s) <= 1 || s.IsVector() // vectors have one stride
	}
	n := 1
	for i := len(s) - 1; i >= 0; i-- {
		if s[i] != 1 && strides[i] != n {
			return false
		}
		n *= s[i]
	}
	return true
}
