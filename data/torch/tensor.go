// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package torch

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"
)

// sizes are the bytes of the element types; storages are their names in pickles.
var (
	sizes    = map[DType]int{"float16": 2, "bfloat16": 2, "float32": 4, "float64": 8, "int8": 1, "int16": 2, "int32": 4, "int64": 8, "uint8": 1, "bool": 1}
	storages = map[string]DType{"HalfStorage": "float16", "BFloat16Storage": "bfloat16", "FloatStorage": "float32", "DoubleStorage": "float64",
		"CharStorage": "int8", "ShortStorage": "int16", "IntStorage": "int32", "LongStorage": "int64", "ByteStorage": "uint8", "BoolStorage": "bool"}
)

// storage is memory that tensors share.
type storage struct {
	dtype DType
	n     int
	data  []byte
	big   bool // byte order
	limit int64
}

// Tensor is an array of numbers. Elements are returned in C order, with the last axis fastest.
type Tensor struct {
	store   *storage
	offset  int
	shape   []int
	strides []int // in elements
	grad    bool
}

// NewTensor makes a tensor from a slice: []float32, []float64, []int64, []int32, []int16, []int8,
// []uint8 or []bool, with as many elements as the shape has. The slice is copied.
func NewTensor(shape []int, data any) (*Tensor, error) {
	s := &storage{limit: math.MaxInt64}
	le := binary.LittleEndian
	switch v := data.(type) {
	case []float32:
		s.dtype, s.n = "float32", len(v)
		for _, x := range v {
			s.data = le.AppendUint32(s.data, math.Float32bits(x))
		}
	case []float64:
		s.dtype, s.n = "float64", len(v)
		for _, x := range v {
			s.data = le.AppendUint64(s.data, math.Float64bits(x))
		}
	case []int64:
		s.dtype, s.n = "int64", len(v)
		for _, x := range v {
			s.data = le.AppendUint64(s.data, uint64(x))
		}
	case []int32:
		s.dtype, s.n = "int32", len(v)
		for _, x := range v {
			s.data = le.AppendUint32(s.data, uint32(x))
		}
	case []int16:
		s.dtype, s.n = "int16", len(v)
		for _, x := range v {
			s.data = le.AppendUint16(s.data, uint16(x))
		}
	case []int8:
		s.dtype, s.n = "int8", len(v)
		for _, x := range v {
			s.data = append(s.data, byte(x))
		}
	case []uint8:
		s.dtype, s.n, s.data = "uint8", len(v), slices.Clone(v)
	case []bool:
		s.dtype, s.n = "bool", len(v)
		for _, x := range v {
			s.data = append(s.data, map[bool]byte{true: 1}[x])
		}
	default:
		return nil, &FormatError{Format: "torch", What: fmt.Sprintf("%T cannot become a tensor: want a slice of float32, float64, integers or bool", data), Err: ErrType}
	}
	t := &Tensor{store: s, shape: slices.Clone(shape), strides: make([]int, len(shape))}
	n := 1
	for i := len(shape) - 1; i >= 0; i-- {
		t.strides[i] = max(n, 1)
		if shape[i] < 0 || shape[i] > 0 && n > math.MaxInt/shape[i] {
			return nil, &FormatError{Format: "torch", What: fmt.Sprintf("the shape %v has a negative or too large length", shape)}
		}
		n *= shape[i]
	}
	if n != s.n {
		return nil, &FormatError{Format: "torch", What: fmt.Sprintf("the shape %v needs %d elements, but there are %d: give equal numbers", shape, n, s.n)}
	}
	return t, nil
}

// Type returns the element type.
func (t *Tensor) Type() DType { return t.store.dtype }

// Shape returns the lengths of the axes; a scalar has none.
func (t *Tensor) Shape() []int { return slices.Clone(t.shape) }

// Len returns the number of elements.
func (t *Tensor) Len() int {
	n := 1
	for _, d := range t.shape {
		n *= d
	}
	return n
}

// check reports what is wrong with shape, strides and offset: every element must be in the storage.
func (t *Tensor) check() error {
	if t.offset < 0 {
		return fmt.Errorf("a tensor begins at element %d of its memory, which is impossible", t.offset)
	}
	n, last := 1, t.offset
	empty := false
	for i, d := range t.shape {
		s := t.strides[i]
		if d < 0 || s < 0 {
			return fmt.Errorf("a tensor has the shape %v and the strides %v: want no negative numbers", t.shape, t.strides)
		}
		if d == 0 {
			empty = true
			continue
		}
		if n > math.MaxInt/d || s > 0 && d-1 > (math.MaxInt-last)/s {
			return fmt.Errorf("a tensor with the shape %v and the strides %v is too large", t.shape, t.strides)
		}
		n *= d
		last += (d - 1) * s
	}
	if !empty && last >= t.store.n {
		return fmt.Errorf("a tensor with the shape %v, the strides %v and the offset %d reaches element %d of its memory, which has %d elements", t.shape, t.strides, t.offset, last, t.store.n)
	}
	return nil
}

// each calls f with the position in the storage of each element.
func (t *Tensor) each(f func(i, at int)) error {
	n := t.Len()
	if int64(n) > t.store.limit/8 {
		return &FormatError{Format: "torch", What: fmt.Sprintf("a tensor with the shape %v repeats its %d stored elements so often that it is too large for this file", t.shape, t.store.n), Try: tryAgain}
	}
	pos := make([]int, len(t.shape))
	at := t.offset
	for i := range n {
		f(i, at)
		for k := len(pos) - 1; k >= 0; k-- {
			pos[k]++
			at += t.strides[k]
			if pos[k] < t.shape[k] {
				break
			}
			at -= pos[k] * t.strides[k]
			pos[k] = 0
		}
	}
	return nil
}

func (s *storage) order() binary.ByteOrder {
	if s.big {
		return binary.BigEndian
	}
	return binary.LittleEndian
}

// float returns how to read one element as a float.
func (s *storage) float() func(at int) float64 {
	o, b := s.order(), s.data
	switch s.dtype {
	case "float32":
		return func(at int) float64 { return float64(math.Float32frombits(o.Uint32(b[4*at:]))) }
	case "float64":
		return func(at int) float64 { return math.Float64frombits(o.Uint64(b[8*at:])) }
	case "float16":
		return func(at int) float64 { return half(o.Uint16(b[2*at:])) }
	case "bfloat16":
		return func(at int) float64 {
			return float64(math.Float32frombits(uint32(o.Uint16(b[2*at:])) << 16))
		}
	}
	whole := s.int()
	return func(at int) float64 { return float64(whole(at)) }
}

// int returns how to read one element as an integer; nil for floats.
func (s *storage) int() func(at int) int64 {
	o, b := s.order(), s.data
	switch s.dtype {
	case "int64":
		return func(at int) int64 { return int64(o.Uint64(b[8*at:])) }
	case "int32":
		return func(at int) int64 { return int64(int32(o.Uint32(b[4*at:]))) }
	case "int16":
		return func(at int) int64 { return int64(int16(o.Uint16(b[2*at:]))) }
	case "int8":
		return func(at int) int64 { return int64(int8(b[at])) }
	case "uint8", "bool":
		return func(at int) int64 { return int64(b[at]) }
	}
	return nil
}

// half converts a number of 16 bits.
func half(h uint16) float64 {
	sign, exp, frac := 1.0, int(h>>10&31), float64(h&1023)
	if h>>15 == 1 {
		sign = -1
	}
	switch exp {
	case 0:
		return sign * math.Ldexp(frac, -24)
	case 31:
		if frac != 0 {
			return math.NaN()
		}
		return math.Inf(int(sign))
	}
	return sign * math.Ldexp(1024+frac, exp-25)
}

// Float64s returns the elements as float64.
func (t *Tensor) Float64s() ([]float64, error) {
	var out []float64
	f := t.store.float()
	if int64(t.Len()) <= t.store.limit/8 {
		out = make([]float64, t.Len())
	}
	return out, t.each(func(i, at int) { out[i] = f(at) })
}

// Float32s returns the elements as float32, rounded to nearest.
func (t *Tensor) Float32s() ([]float32, error) {
	var out []float32
	f := t.store.float()
	if int64(t.Len()) <= t.store.limit/8 {
		out = make([]float32, t.Len())
	}
	return out, t.each(func(i, at int) { out[i] = float32(f(at)) })
}

// Int64s returns the elements of integers and truth values (1 and 0).
func (t *Tensor) Int64s() ([]int64, error) {
	f := t.store.int()
	if f == nil {
		return nil, &FormatError{Format: "torch", What: fmt.Sprintf("the elements are %s, not integers", t.Type()), Try: "use Float64s", Err: ErrType}
	}
	var out []int64
	if int64(t.Len()) <= t.store.limit/8 {
		out = make([]int64, t.Len())
	}
	return out, t.each(func(i, at int) { out[i] = f(at) })
}
