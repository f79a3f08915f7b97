// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package gorgonia

import (
	"fmt"

	gt "gorgonia.org/tensor"

	ad "github.com/euryale-dev/euryale/autodiff"
)

// FromDense makes a constant of a tensor. A contiguous float64 tensor is shared:
// do not change it afterwards. Slices, transposes and column-major tensors are
// copied in their logical order.
func FromDense(d *gt.Dense) *ad.Node { return ad.FromDense(d) }

// ToDense returns output i of a State as a tensor that shares its memory. The next Run changes it;
// a Clone keeps it. It is nil for an output of indices.
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

// isRowMajor reports whether the elements of d lie in order, without gaps, in memory of the host: those
// on a device may not be touched.
func isRowMajor(d *gt.Dense) bool {
	if !d.IsNativelyAccessible() {
		return false
	}
	s, strides := d.Shape(), d.Strides()
	n := 1
	for i := len(s) - 1; i >= 0; i-- {
		if s[i] != 1 && (i >= len(strides) || strides[i] != n) {
			return false
		}
		n *= s[i]
	}
	return true
}

// rowMajor returns d, or a copy whose elements lie in order: the tensor package
// reads some views wrongly.
func rowMajor(d *gt.Dense) *gt.Dense {
	if isRowMajor(d) {
		return d
	}
	if len(d.Shape()) != len(d.Strides()) {
		return d.Materialize().(*gt.Dense)
	}
	c := gt.New(gt.Of(d.Dtype()), gt.WithShape(d.Shape().Clone()...))
	switch d.Dtype() {
	case gt.Float64:
		gather(c.Float64s(), d.Float64s(), d.Shape(), d.Strides())
	case gt.Float32:
		gather(c.Float32s(), d.Float32s(), d.Shape(), d.Strides())
	case gt.Int:
		gather(c.Ints(), d.Ints(), d.Shape(), d.Strides())
	default:
		return d.Materialize().(*gt.Dense)
	}
	return c
}

// gather copies the elements of a strided array to dst and returns what of dst
// is left.
func gather[T any](dst, src []T, shape, strides []int) []T {
	switch {
	case len(shape) == 0:
		dst[0] = src[0]
		return dst[1:]
	case len(shape) == 1 && strides[0] == 1:
		return dst[copy(dst, src[:shape[0]]):]
	}
	for i := range shape[0] {
		dst = gather(dst, src[i*strides[0]:], shape[1:], strides[1:])
	}
	return dst
}
