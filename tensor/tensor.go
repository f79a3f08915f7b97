package tensor

import (
	"fmt"
	"slices"
)

// Tensor is an n-dimensional array, or a view of one. Views share memory;
// concurrent writes need care as with slices.
type Tensor struct {
	dtype   DType
	shape   Shape
	strides []int // in elements; may be 0 or negative
	offset  int
	data    any // slice of the element type
}

// New makes an array of zeros.
func New(d DType, shape ...int) *Tensor {
	s := Shape(shape).Clone()
	return &Tensor{dtype: d, shape: s, strides: s.Strides(), data: d.makeSlice(s.Size())}
}

// From makes an array on data, a slice of one of the element types, without
// copying ([]int is copied to int64); no lengths mean a vector. It returns a
// *ShapeError if the lengths do not fit.
func From(data any, shape ...int) (*Tensor, error) {
	if ints, ok := data.([]int); ok {
		wide := make([]int64, len(ints))
		for i, v := range ints {
			wide[i] = int64(v)
		}
		data = wide
	}
	d, n, ok := dtypeOf(data)
	if !ok {
		return nil, fmt.Errorf("tensor: elements of %T: want a slice of float64, float32, int64, int32, int, bool, complex128 or complex64", data)
	}
	s := Shape(shape).Clone()
	if len(s) == 0 {
		s = Shape{n}
		if n == 1 && shape != nil {
			s = Shape{}
		}
	}
	if s.Size() != n || slices.ContainsFunc(s, func(k int) bool { return k < 0 }) {
		return nil, &ShapeError{Op: "from", Got: []Shape{s}, Want: fmt.Sprintf("%d elements", n)}
	}
	return &Tensor{dtype: d, shape: s, strides: s.Strides(), data: data}, nil
}

// DType returns the element type.
func (t *Tensor) DType() DType { return t.dtype }

// Shape returns the lengths of the axes.
func (t *Tensor) Shape() Shape { return t.shape }

// Strides returns the steps of the axes in elements.
func (t *Tensor) Strides() []int { return slices.Clone(t.strides) }

// Size returns the number of elements.
func (t *Tensor) Size() int { return t.shape.Size() }

// Contiguous reports whether the elements lie in order without gaps.
func (t *Tensor) Contiguous() bool {
	n := 1
	for i := len(t.shape) - 1; i >= 0; i-- {
		if t.shape[i] == 0 {
			return true
		}
		if t.shape[i] != 1 && t.strides[i] != n {
			return false
		}
		n *= t.shape[i]
	}
	return true
}

// Data returns the elements in order, as a slice of the element type: shared if
// the array is contiguous, else copied.
func (t *Tensor) Data() any {
	c := t.Compact()
	n := c.Size()
	switch s := c.data.(type) {
	case []float64:
		return s[c.offset : c.offset+n]
	case []float32:
		return s[c.offset : c.offset+n]
	case []int64:
		return s[c.offset : c.offset+n]
	case []int32:
		return s[c.offset : c.offset+n]
	case []bool:
		return s[c.offset : c.offset+n]
	case []complex128:
		return s[c.offset : c.offset+n]
	}
	return c.data.([]complex64)[c.offset : c.offset+n]
}

// Compact returns the array itself if it is contiguous, else a copy in order.
func (t *Tensor) Compact() *Tensor {
	if t.Contiguous() {
		return t
	}
	return t.Copy()
}

// Copy returns an array in order that shares no memory.
func (t *Tensor) Copy() *Tensor {
	c := New(t.dtype, t.shape...)
	switch dst := c.data.(type) {
	case []float64:
		gather(dst, t.data.([]float64), t)
	case []float32:
		gather(dst, t.data.([]float32), t)
	case []int64:
		gather(dst, t.data.([]int64), t)
	case []int32:
		gather(dst, t.data.([]int32), t)
	case []bool:
		gather(dst, t.data.([]bool), t)
	case []complex128:
		gather(dst, t.data.([]complex128), t)
	case []complex64:
		gather(dst, t.data.([]complex64), t)
	}
	return c
}

// gather copies the elements of t, in order, to dst.
func gather[T any](dst, src []T, t *Tensor) {
	i := 0
	t.each(func(at int) { dst[i] = src[at]; i++ })
}

// each calls f with the place of every element, in order.
func (t *Tensor) each(f func(at int)) {
	n := t.Size()
	if n == 0 {
		return
	}
	idx, at := make([]int, len(t.shape)), t.offset
	for range n {
		f(at)
		for d := len(t.shape) - 1; d >= 0; d-- {
			idx[d]++
			at += t.strides[d]
			if idx[d] < t.shape[d] {
				break
			}
			at -= idx[d] * t.strides[d]
			idx[d] = 0
		}
	}
}

// place returns the position of an element; it panics outside the array.
func (t *Tensor) place(idx []int) int {
	if len(idx) != len(t.shape) {
		panic(fmt.Sprintf("tensor: %d indices for %d axes", len(idx), len(t.shape)))
	}
	at := t.offset
	for d, i := range idx {
		if i < 0 || i >= t.shape[d] {
			panic(fmt.Sprintf("tensor: index %d of axis %d, which has %d", i, d, t.shape[d]))
		}
		at += i * t.strides[d]
	}
	return at
}

// At returns an element as its own type.
func (t *Tensor) At(idx ...int) any {
	at := t.place(idx)
	switch s := t.data.(type) {
	case []float64:
		return s[at]
	case []float32:
		return s[at]
	case []int64:
		return s[at]
	case []int32:
		return s[at]
	case []bool:
		return s[at]
	case []complex128:
		return s[at]
	}
	return t.data.([]complex64)[at]
}

// Float64s returns the elements in order as float64, shared where they are:
// truth values become 1 and 0, complex numbers lose their imaginary part.
func (t *Tensor) Float64s() []float64 {
	if s, ok := t.data.([]float64); ok && t.Contiguous() {
		return s[t.offset : t.offset+t.Size()]
	}
	out := make([]float64, 0, t.Size())
	t.each(func(at int) {
		var v float64
		switch s := t.data.(type) {
		case []float64:
			v = s[at]
		case []float32:
			v = float64(s[at])
		case []int64:
			v = float64(s[at])
		case []int32:
			v = float64(s[at])
		case []bool:
			if s[at] {
				v = 1
			}
		case []complex128:
			v = real(s[at])
		case []complex64:
			v = float64(real(s[at]))
		}
		out = append(out, v)
	})
	return out
}

// Convert returns the array with elements of type d: itself if they are already.
// Numbers become truth by not being 0; fractions are cut.
func (t *Tensor) Convert(d DType) *Tensor {
	if t.dtype == d {
		return t
	}
	c := New(d, t.shape...)
	i := 0
	t.each(func(at int) {
		z := t.complexAt(at)
		switch s := c.data.(type) {
		case []float64:
			s[i] = real(z)
		case []float32:
			s[i] = float32(real(z))
		case []int64:
			if s[i] = int64(real(z)); t.dtype == Int32 {
				s[i] = int64(t.data.([]int32)[at])
			}
		case []int32:
			if s[i] = int32(real(z)); t.dtype == Int64 {
				s[i] = int32(t.data.([]int64)[at])
			}
		case []bool:
			s[i] = z != 0
		case []complex128:
			s[i] = z
		case []complex64:
			s[i] = complex64(z)
		}
		i++
	})
	return c
}

func (t *Tensor) complexAt(at int) complex128 {
	switch s := t.data.(type) {
	case []float64:
		return complex(s[at], 0)
	case []float32:
		return complex(float64(s[at]), 0)
	case []int64:
		return complex(float64(s[at]), 0)
	case []int32:
		return complex(float64(s[at]), 0)
	case []bool:
		if s[at] {
			return 1
		}
		return 0
	case []complex128:
		return s[at]
	}
	return complex128(t.data.([]complex64)[at])
}
