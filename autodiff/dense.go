// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

//go:build !page

package autodiff

import (
	gt "gorgonia.org/tensor"

	"github.com/euryale-dev/euryale/autodiff/internal/compiler"
	"github.com/euryale-dev/euryale/tensor"
)

// Eval is Numbers as Gorgonia tensors.
func Eval(nodes ...*Node) ([]*gt.Dense, error) {
	values, err := Numbers(nodes...)
	if err != nil {
		return nil, err
	}
	out := make([]*gt.Dense, len(nodes))
	for i, n := range nodes {
		if len(n.shape) == 0 {
			out[i] = gt.New(gt.FromScalar(values[i][0]))
		} else {
			out[i] = gt.New(gt.WithShape(n.shape...), gt.WithBacking(values[i]))
		}
	}
	return out, nil
}

// FromDense makes a constant from a Gorgonia tensor of float32, float64 or integers. A row-major
// float64 tensor is shared; others (slices, transposes, column-major tensors) are copied in their
// logical order.
func FromDense(d *gt.Dense) *Node {
	if d == nil {
		return mistake("tensor", "the tensor is nil: pass a *tensor.Dense")
	}
	if !d.IsNativelyAccessible() {
		return mistake("tensor", "the elements are in the memory of a device: copy them to the host first")
	}
	shape, strides := []int(d.Shape()), d.Strides()
	if len(shape) != len(strides) {
		d = d.Materialize().(*gt.Dense)
		strides = tensor.Shape(shape).Strides()
	}
	var data []float64
	switch v := d.Data().(type) {
	case []float64:
		data = inOrder(v, shape, strides)
	case float64:
		data = []float64{v}
	case []float32:
		v = inOrder(v, shape, strides)
		data = make([]float64, len(v))
		for i, x := range v {
			data[i] = float64(x)
		}
	case float32:
		data = []float64{float64(v)}
	case []int:
		return Ints(inOrder(v, shape, strides), shape...)
	case []int64:
		n := Ints(make([]int, tensor.Shape(shape).Size()), shape...)
		copy(n.ints, inOrder(v, shape, strides))
		return n
	default:
		return mistake("tensor", "the tensor holds %v: want float64, float32 or int", d.Dtype())
	}
	if len(shape) == 0 {
		return Scalar(data[0])
	}
	return Const(data, shape...)
}

// inOrder returns the elements in row-major order: src itself if they already are.
func inOrder[T any](src []T, shape, strides []int) []T {
	if compiler.Packed(shape, strides) {
		return src[:tensor.Shape(shape).Size()]
	}
	out := make([]T, 0, tensor.Shape(shape).Size())
	compiler.Walk(shape, func(idx []int, _ int) {
		at := 0
		for i, k := range idx {
			at += k * strides[i]
		}
		out = append(out, src[at])
	})
	return out
}
