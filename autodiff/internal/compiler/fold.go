// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package compiler

import "github.com/euryale-dev/euryale/tensor"

// foldLimit is the largest constant array worth computing at compile time.
const foldLimit = 1 << 16

func (r *Graph) fold(op *Op, shape tensor.Shape, in []*Value) *Value {
	numbers := true
	var c [3]float64
	for i, x := range in {
		if v, ok := x.number(); ok {
			c[i] = v
		} else if numbers = false; !x.constant() {
			return nil
		}
	}
	if numbers {
		return r.broadcast(r.num(op.Eval(c[:op.Arity]...)), shape)
	}
	if shape.Size() > foldLimit {
		return nil
	}
	strides := make([][]int, len(in))
	for i, x := range in {
		strides[i] = AlignedStrides(x.Shape, x.Shape.Strides(), shape)
	}
	data := make([]float64, shape.Size())
	Walk(shape, func(idx []int, flat int) {
		var a [3]float64
		for i, x := range in {
			if a[i] = c[i]; x.constant() {
				at := 0
				for d, k := range idx {
					at += k * strides[i][d]
				}
				a[i] = x.Data[at]
			}
		}
		data[flat] = op.Eval(a[:op.Arity]...)
	})
	return r.add(&Value{Shape: shape, Data: data})
}

func (r *Graph) foldReduction(op *Op, axes []int, x *Value, shape tensor.Shape) *Value {
	data, seen := make([]float64, shape.Size()), make([]bool, shape.Size())
	strides := KeptStrides(x.Shape, axes)
	Walk(x.Shape, func(idx []int, flat int) {
		at := 0
		for d, k := range idx {
			at += k * strides[d]
		}
		if v := x.Data[flat]; seen[at] {
			data[at] = op.F2(data[at], v)
		} else {
			data[at], seen[at] = v, true
		}
	})
	if len(data) == 1 {
		return r.reshape(r.num(data[0]), shape)
	}
	return r.add(&Value{Shape: shape, Data: data})
}
