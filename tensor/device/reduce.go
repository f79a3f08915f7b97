// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package device

import (
	"context"
	"fmt"
	"slices"

	gt "gorgonia.org/tensor"

	"github.com/euryale-dev/euryale/kernels/cuda"
)

var (
	_ gt.Sumer    = (*Engine)(nil)
	_ gt.Proder   = (*Engine)(nil)
	_ gt.Maxer    = (*Engine)(nil)
	_ gt.Miner    = (*Engine)(nil)
	_ gt.Argmaxer = (*Engine)(nil)
	_ gt.Argminer = (*Engine)(nil)
	_ gt.Tracer   = (*Engine)(nil)
)

// Sum adds the elements along the given axes, which the result no longer has. Over all axes, or if
// none are named, the result is one number in the processor's memory. Sums along an axis are
// accumulated in float64.
func (e *Engine) Sum(a gt.Tensor, along ...int) (gt.Tensor, error) { return e.reduce("sum", a, along) }

// Prod multiplies the elements along the given axes; axes and result are as in Sum.
func (e *Engine) Prod(a gt.Tensor, along ...int) (gt.Tensor, error) {
	return e.reduce("prod", a, along)
}

// Max returns the largest elements along the given axes, or NaN where an element is NaN; axes and
// result are as in Sum.
func (e *Engine) Max(a gt.Tensor, along ...int) (gt.Tensor, error) { return e.reduce("max", a, along) }

// Min returns the smallest elements along the given axes, or NaN where an element is NaN; axes and
// result are as in Sum.
func (e *Engine) Min(a gt.Tensor, along ...int) (gt.Tensor, error) { return e.reduce("min", a, along) }

// Argmax returns the indices of the largest elements along an axis as int: the first of equal
// elements, or the first NaN if there is one. With tensor.AllAxes it returns the index among all
// elements in row-major order, in the processor's memory.
func (e *Engine) Argmax(a gt.Tensor, axis int) (gt.Tensor, error) { return e.place("argmax", a, axis) }

// Argmin returns the indices of the smallest elements along an axis, by the rules of Argmax.
func (e *Engine) Argmin(a gt.Tensor, axis int) (gt.Tensor, error) { return e.place("argmin", a, axis) }

// reduce reduces from the last axis to the first.
func (e *Engine) reduce(op string, a gt.Tensor, along []int) (gt.Tensor, error) {
	o, err := e.operand(a)
	if err != nil {
		return nil, err
	}
	defer o.done()
	kind, err := o.real()
	if err != nil {
		return nil, err
	}
	if err := o.flatten(); err != nil {
		return nil, err
	}
	shape := slices.Clone(o.layout.Shape)
	axes := slices.Clone(along)
	for i, x := range axes {
		if axes[i] = fromFront(x, len(shape)); axes[i] < 0 {
			return nil, fmt.Errorf("device: %s: an array of shape %[3]v has no axis %[2]d: use an axis of the array, counted from 0", op, x, a.Shape())
		}
	}
	slices.Sort(axes)
	axes = slices.Compact(axes)
	if len(axes) == 0 || len(axes) == len(shape) {
		return e.whole(op, kind, o)
	}
	from := o.part
	var out *gt.Dense
	for i, axis := range slices.Backward(axes) {
		outer, length, inner := split(shape, axis)
		shape = slices.Delete(shape, axis, axis+1)
		next, b, err := e.make(a.Dtype(), shape)
		if err != nil {
			return nil, err
		}
		if err := e.k.Reduce(e.d.Default(), op, kind, b.buf.At(0), from, outer, length, inner); err != nil {
			return nil, err
		}
		if out != nil {
			if err := e.Release(out); err != nil {
				return nil, err
			}
		}
		out, from, _ = next, b.buf.At(0), i
	}
	return out, nil
}

// fromFront returns the number of an axis that may be counted from the end, -1 if there is no such.
func fromFront(axis, dims int) int {
	if axis < 0 {
		axis += dims
	}
	if axis < 0 || axis >= dims {
		return -1
	}
	return axis
}

// split returns the numbers of elements before, along and after an axis.
func split(shape []int, axis int) (outer, length, inner int) {
	outer, inner = 1, 1
	for _, n := range shape[:axis] {
		outer *= n
	}
	for _, n := range shape[axis+1:] {
		inner *= n
	}
	return outer, shape[axis], inner
}

// whole reduces everything to a number in the processor's memory.
func (e *Engine) whole(op string, kind cuda.Type, o *operand) (gt.Tensor, error) {
	b, err := e.alloc(8)
	if err != nil {
		return nil, err
	}
	defer e.free(b)
	if err := e.k.Reduce(e.d.Default(), op, kind, b.buf.At(0), o.part, 1, o.elements(), 1); err != nil {
		return nil, err
	}
	v, err := e.fetch(kind, b.buf.At(0))
	if err != nil {
		return nil, err
	}
	return gt.New(gt.FromScalar(typed(v, kind))), nil
}

// typed returns a number in its own type.
func typed(v float64, kind cuda.Type) any {
	if kind == cuda.Float32 {
		return float32(v)
	}
	return v
}

// place finds extrema.
func (e *Engine) place(op string, a gt.Tensor, axis int) (gt.Tensor, error) {
	o, err := e.operand(a)
	if err != nil {
		return nil, err
	}
	defer o.done()
	kind, err := o.real()
	if err != nil {
		return nil, err
	}
	if err := o.flatten(); err != nil {
		return nil, err
	}
	s := e.d.Default()
	if axis == gt.AllAxes {
		b, err := e.alloc(8)
		if err != nil {
			return nil, err
		}
		defer e.free(b)
		if err := e.k.Reduce(s, op, kind, b.buf.At(0), o.part, 1, o.elements(), 1); err != nil {
			return nil, err
		}
		v := make([]int64, 1)
		if err := e.d.CopyOut(context.Background(), v, b.buf, 0); err != nil {
			return nil, err
		}
		return gt.New(gt.FromScalar(int(v[0]))), nil
	}
	shape := o.layout.Shape
	if axis = fromFront(axis, len(shape)); axis < 0 {
		return nil, fmt.Errorf("device: %s: an array of shape %v does not have that axis: use an axis of the array, counted from 0", op, a.Shape())
	}
	outer, length, inner := split(shape, axis)
	out, b, err := e.make(gt.Int, slices.Delete(slices.Clone(shape), axis, axis+1))
	if err != nil {
		return nil, err
	}
	return out, e.k.Reduce(s, op, kind, b.buf.At(0), o.part, outer, length, inner)
}

// Trace returns the sum of the diagonal of a matrix, as float32 or float64.
func (e *Engine) Trace(a gt.Tensor) (interface{}, error) {
	o, err := e.operand(a)
	if err != nil {
		return nil, err
	}
	defer o.done()
	kind, err := o.real()
	if err != nil {
		return nil, err
	}
	if len(o.layout.Shape) != 2 {
		return nil, fmt.Errorf("device: an array of shape %v has no trace: want a matrix", a.Shape())
	}
	n := min(o.layout.Shape[0], o.layout.Shape[1])
	b, err := e.alloc((n + 1) * 8)
	if err != nil {
		return nil, err
	}
	defer e.free(b)
	s, size := e.d.Default(), o.size()
	o.layout.Shape, o.layout.Strides = []int{n}, []int{o.layout.Strides[0] + o.layout.Strides[1]}
	if err := e.k.Gather(s, size, b.buf.At(8), o.part, o.layout); err != nil {
		return nil, err
	}
	if err := e.k.Reduce(s, "sum", kind, b.buf.At(0), b.buf.At(8), 1, n, 1); err != nil {
		return nil, err
	}
	v, err := e.fetch(kind, b.buf.At(0))
	return typed(v, kind), err
}
