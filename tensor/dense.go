// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

//go:build !page

package tensor

import (
	"fmt"

	gt "gorgonia.org/tensor"
)

// Dense returns a Gorgonia tensor on the same memory if the array is contiguous, else on a copy,
// because Gorgonia reads the wrong elements of sliced matrices. Scalars are copied, because Gorgonia
// stores them differently. It panics on an array without elements, which Gorgonia cannot represent.
func (t *Tensor) Dense() *gt.Dense {
	if t.Size() == 0 {
		panic(fmt.Sprintf("tensor: shape %v has no elements, and Gorgonia cannot represent such an array", t.shape))
	}
	if len(t.shape) == 0 {
		return gt.New(gt.FromScalar(t.At()))
	}
	return gt.New(gt.WithShape(t.shape...), gt.WithBacking(t.Data()))
}

// FromDense returns the array of a Gorgonia tensor: on the same memory if its
// elements lie in row-major order, else on a copy.
func FromDense(d *gt.Dense) (*Tensor, error) {
	switch {
	case d.IsMasked():
		return nil, fmt.Errorf("tensor: the Gorgonia tensor has a mask: fill or remove the masked elements first")
	case !d.IsNativelyAccessible():
		return nil, fmt.Errorf("tensor: the Gorgonia tensor is in the memory of a device: copy it to the host first")
	case d.IsScalar():
		return Scalar(d.ScalarValue())
	case d.RequiresIterator() || d.DataOrder().IsNotContiguous():
		d = d.Materialize().(*gt.Dense)
	}
	if d.DataOrder().IsColMajor() {
		return fromColumns(d)
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
