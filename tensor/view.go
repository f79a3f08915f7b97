// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package tensor

import (
	"fmt"
	"slices"
)

// Views share the memory of what they view. Like indexing a slice, they panic
// outside the array.

// Slice returns every step-th element of an axis, from start up to but not including stop. A
// negative step walks down from start; stop = -1 then means "through element 0".
func (t *Tensor) Slice(axis, start, stop, step int) *Tensor {
	axis = t.axis(axis)
	n := 0
	switch {
	case step > 0 && stop > start:
		n = (stop-start-1)/step + 1
	case step < 0 && start > stop:
		n = (start-stop-1)/-step + 1
	case step == 0:
		panic("tensor: the step of a slice is 0: want a step above or below 0")
	}
	if last := start + (n-1)*step; n > 0 && (start < 0 || start >= t.shape[axis] || last < 0 || last >= t.shape[axis]) {
		panic(fmt.Sprintf("tensor: the slice %d:%d:%d does not fit axis %d, which has %d elements", start, stop, step, axis, t.shape[axis]))
	}
	v := t.view()
	v.shape[axis] = n
	v.strides[axis] *= step
	if v.Size() > 0 { // the place of nothing stays inside
		v.offset += start * t.strides[axis]
	}
	return v
}

// Index returns element i along an axis and drops that axis.
func (t *Tensor) Index(axis, i int) *Tensor {
	axis = t.axis(axis)
	v := t.Slice(axis, i, i+1, 1)
	v.shape, v.strides = slices.Delete(v.shape, axis, axis+1), slices.Delete(v.strides, axis, axis+1)
	return v
}

// Permute reorders the axes: axis i of the result is axis perm[i] of the array. Without perm the
// order of the axes is reversed.
func (t *Tensor) Permute(perm ...int) *Tensor {
	k := len(t.shape)
	if len(perm) == 0 {
		for i := range k {
			perm = append(perm, k-1-i)
		}
	}
	v, seen := t.view(), make([]bool, k)
	if len(perm) != k {
		panic(fmt.Sprintf("tensor: %v is no permutation of %d axes: name each axis once", perm, k))
	}
	for i, p := range perm {
		if p < 0 || p >= k || seen[p] {
			panic(fmt.Sprintf("tensor: %v is no permutation of %d axes: name each axis once", perm, k))
		}
		seen[p] = true
		v.shape[i], v.strides[i] = t.shape[p], t.strides[p]
	}
	return v
}

// Broadcast repeats the array to a shape by NumPy's rule. The repeated elements share memory, so do
// not write to the result.
func (t *Tensor) Broadcast(shape ...int) (*Tensor, error) {
	s := Shape(shape).Clone()
	r, ok := Broadcast(t.shape, s)
	if !ok || !r.Equal(s) || !s.Valid() {
		return nil, &ShapeError{Op: "broadcast", Got: []Shape{t.shape, s}, Want: "a first shape that broadcasts to the second"}
	}
	v := &Tensor{dtype: t.dtype, shape: s, strides: make([]int, len(s)), offset: t.offset, data: t.data}
	lead := len(shape) - len(t.shape)
	for i, s := range t.strides {
		if t.shape[i] != 1 {
			v.strides[lead+i] = s
		}
	}
	return v, nil
}

// Reshape returns the elements with another shape of the same size. Memory is shared if the array
// is contiguous, and copied otherwise. One length may be -1; it then follows from the size.
func (t *Tensor) Reshape(shape ...int) (*Tensor, error) {
	s := Shape(shape).Clone()
	if i := slices.Index(s, -1); i >= 0 {
		if s[i] = 1; s.Valid() && s.Size() > 0 {
			s[i] = t.Size() / s.Size()
		} else {
			s[i] = -1
		}
	}
	if !s.Valid() || s.Size() != t.Size() {
		return nil, &ShapeError{Op: "reshape", Got: []Shape{t.shape, shape}, Want: fmt.Sprintf("%d elements", t.Size())}
	}
	v := t.Compact().view()
	v.shape, v.strides = s, s.Strides()
	return v, nil
}

func (t *Tensor) view() *Tensor {
	v := *t
	v.shape, v.strides = t.shape.Clone(), slices.Clone(t.strides)
	return &v
}

func (t *Tensor) axis(a int) int {
	if a < 0 {
		a += len(t.shape)
	}
	if a < 0 || a >= len(t.shape) {
		panic(fmt.Sprintf("tensor: there is no axis %d in an array of %d axes", a, len(t.shape)))
	}
	return a
}
