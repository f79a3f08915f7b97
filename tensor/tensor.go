// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package tensor

import (
	"fmt"
	"slices"
)

// Tensor is an n-dimensional array, or a view of one. Views share memory, so concurrent writes need
// the same care as with slices.
type Tensor struct {
	dtype   DType
	shape   Shape
	strides []int // strides of the axes in elements; may be 0 or negative
	offset  int
	data    any // a slice of the element type
}

// New returns an array of zeros; without lengths it is a scalar. It panics if the lengths are
// negative or too large for memory.
func New(d DType, shape ...int) *Tensor {
	s := Shape(shape).Clone()
	if !s.Valid() {
		panic(fmt.Sprintf("tensor: an array cannot have shape %v: want lengths of at least 0 that fit in memory", shape))
	}
	return &Tensor{dtype: d, shape: s, strides: s.Strides(), data: kinds[d].make(s.Size())}
}

// From makes an array of data, a slice of one of the element types, without copying ([]int is
// copied to int64). Without lengths the array is a vector. From returns a *ShapeError if the
// lengths do not fit the data.
func From(data any, shape ...int) (*Tensor, error) {
	if ints, ok := data.([]int); ok {
		data = widen(ints)
	}
	d, n, ok := dtypeOf(data)
	if !ok {
		return nil, fmt.Errorf("tensor: cannot make an array of a %T: pass a slice of float64, float32, int64, int32, int, bool, complex128, complex64 or Half", data)
	}
	s := Shape(shape).Clone()
	if len(s) == 0 {
		s = Shape{n}
	}
	if !s.Valid() || s.Size() != n {
		return nil, &ShapeError{Op: "from", Got: []Shape{s}, Want: fmt.Sprintf("%d elements", n)}
	}
	return &Tensor{dtype: d, shape: s, strides: s.Strides(), data: data}, nil
}

func widen(ints []int) []int64 {
	wide := make([]int64, len(ints))
	for i, v := range ints {
		wide[i] = int64(v)
	}
	return wide
}

// Scalar returns an array without axes that holds one number or truth value.
func Scalar(v any) (*Tensor, error) {
	one := &Tensor{shape: Shape{}, strides: []int{}}
	switch v := v.(type) {
	case float64:
		one.dtype, one.data = Float64, []float64{v}
	case float32:
		one.dtype, one.data = Float32, []float32{v}
	case int64:
		one.dtype, one.data = Int64, []int64{v}
	case int:
		one.dtype, one.data = Int64, []int64{int64(v)}
	case int32:
		one.dtype, one.data = Int32, []int32{v}
	case bool:
		one.dtype, one.data = Bool, []bool{v}
	case complex128:
		one.dtype, one.data = Complex128, []complex128{v}
	case complex64:
		one.dtype, one.data = Complex64, []complex64{v}
	default:
		return nil, fmt.Errorf("tensor: cannot make a scalar of a %T: pass a float64, float32, int64, int32, int, bool, complex128 or complex64", v)
	}
	return one, nil
}

// DType returns the element type.
func (t *Tensor) DType() DType { return t.dtype }

// Shape returns the lengths of the axes.
func (t *Tensor) Shape() Shape { return t.shape.Clone() }

// Strides returns, for each axis, the distance between neighbours in elements.
func (t *Tensor) Strides() []int { return slices.Clone(t.strides) }

// Size returns the number of elements.
func (t *Tensor) Size() int { return t.shape.Size() }

// Data returns the elements in row-major order, as a slice of the element type. The slice is shared
// if the array is contiguous, and a copy otherwise.
func (t *Tensor) Data() any {
	c := t.Compact()
	return kinds[c.dtype].cut(c.data, c.offset, c.offset+c.Size())
}

// At returns one element in its own type. It panics if the index lies outside the array.
func (t *Tensor) At(idx ...int) any {
	if len(idx) != len(t.shape) {
		panic(fmt.Sprintf("tensor: there are %d indices for %d axes: give one for each", len(idx), len(t.shape)))
	}
	at := t.offset
	for d, i := range idx {
		if i < 0 || i >= t.shape[d] {
			panic(fmt.Sprintf("tensor: index %d lies outside axis %d, which has %d elements", i, d, t.shape[d]))
		}
		at += i * t.strides[d]
	}
	return kinds[t.dtype].at(t.data, at)
}
