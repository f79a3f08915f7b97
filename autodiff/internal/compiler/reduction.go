// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package compiler

import (
	"slices"

	"github.com/euryale-dev/euryale/tensor"
)

// reduction moves broadcasts and signs out of sums, and drops axes of length 1.
// Factors stay inside: a sum of x may overflow where one of s*x does not.
func (r *Graph) reduction(op *Op, axes []int, x *Value) *Value {
	shape := WithoutAxes(x.Shape, axes)
	real := slices.DeleteFunc(slices.Clone(axes), func(a int) bool { return x.Shape[a] == 1 })
	if len(real) == 0 {
		return r.reshape(x, shape)
	}
	if x.is(Broadcast) && x.Size() > 0 {
		return r.reduceBroadcast(op, real, x, shape)
	}
	if x.constant() && x.Size() <= foldLimit {
		return r.foldReduction(op, axes, x, shape)
	}
	if op.Code == Sum && x.is(Neg) {
		return r.apply(Neg, r.reduction(op, axes, x.In[0]))
	}
	v := r.unique(&Value{Op: op, Shape: WithoutAxes(x.Shape, real), Attr: real, In: []*Value{x}})
	return r.reshape(v, shape)
}

// reduceBroadcast reduces before repeating; a sum over a repeated axis is a
// product with its length.
func (r *Graph) reduceBroadcast(op *Op, axes []int, x *Value, shape tensor.Shape) *Value {
	src := x.In[0]
	aligned := make(tensor.Shape, len(x.Shape))
	for i := range aligned {
		aligned[i] = 1
	}
	copy(aligned[len(aligned)-len(src.Shape):], src.Shape)
	times := 1.0
	for _, a := range axes {
		if aligned[a] == 1 {
			times *= float64(x.Shape[a])
		}
	}
	v := r.reduction(op, axes, r.reshape(src, aligned))
	if op.Code == Sum && times != 1 {
		v = r.apply(Mul, r.num(times), v)
	}
	return r.reshape(r.broadcast(v, WithoutAxes(x.Shape, axes)), shape)
}
