// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package hdf5

import (
	"fmt"
	"slices"
	"unsafe"
)

// FixedString is a string stored in place with a terminating zero, which netCDF requires for CLASS.
// Plain strings are stored with variable length, as in h5py.
type FixedString string

// value is data ready to be written.
type value struct {
	typ  []byte   // datatype message
	size int      // size of an element in bytes
	dims []uint64 // lengths of the axes; none for a scalar
	raw  []byte   // elements; nil if they contain addresses that are known only at Close
	text []string // strings of variable length
	refs []Ref
	list [][]Ref
}

// bytes returns the size of all elements.
func (v *value) bytes() int {
	n, _ := product(v.dims)
	return int(n) * v.size
}

// deferred reports whether elements contain addresses.
func (v *value) deferred() bool { return v.text != nil || v.refs != nil || v.list != nil }

// encode converts a Go value to elements. A nil shape means a scalar or one axis; fixed is the
// length of strings, 0 for variable length.
func encode(v any, shape []int, fixed int) (value, error) {
	out, n, err := elementsOf(v, fixed)
	if err != nil {
		return out, err
	}
	if shape == nil {
		if n >= 0 {
			out.dims = []uint64{uint64(n)}
		}
		return out, nil
	}
	total := 1
	for _, d := range shape {
		if d < 0 || total > 0 && d > 1<<48/max(total, 1) {
			return out, fmt.Errorf("the shape %v has a negative or too large length: want lengths of at least 0", shape)
		}
		out.dims = append(out.dims, uint64(d))
		total *= d
	}
	if len(shape) > maxRank {
		return out, fmt.Errorf("the shape %v has %d axes, want at most %d", shape, len(shape), maxRank)
	}
	if total != max(n, -n) {
		return out, fmt.Errorf("the shape %v needs %d elements, but there are %d", shape, total, max(n, -n))
	}
	return out, nil
}

// elementsOf returns the elements and their number, -1 for a scalar.
func elementsOf(v any, fixed int) (value, int, error) {
	switch v := v.(type) {
	case []float64:
		return numeric(v, floatType(8))
	case []float32:
		return numeric(v, floatType(4))
	case []int8:
		return numeric(v, intType(1, true))
	case []int16:
		return numeric(v, intType(2, true))
	case []int32:
		return numeric(v, intType(4, true))
	case []int64:
		return numeric(v, intType(8, true))
	case []int:
		wide := make([]int64, len(v))
		for i, x := range v {
			wide[i] = int64(x)
		}
		return numeric(wide, intType(8, true))
	case []uint8:
		return numeric(v, intType(1, false))
	case []uint16:
		return numeric(v, intType(2, false))
	case []uint32:
		return numeric(v, intType(4, false))
	case []uint64:
		return numeric(v, intType(8, false))
	case []complex64:
		return numeric(v, complexType(4))
	case []complex128:
		return numeric(v, complexType(8))
	case []bool:
		return numeric(slices.Clone(v), boolType())
	case []string:
		return textOf(v, fixed)
	case []Ref:
		return value{typ: refType(), size: 8, refs: append([]Ref{}, v...)}, len(v), nil
	case [][]Ref:
		return value{typ: vlenType(refType()), size: 16, list: append([][]Ref{}, v...)}, len(v), nil
	}
	return scalarOf(v, fixed)
}

func scalarOf(v any, fixed int) (value, int, error) {
	var list any
	switch v := v.(type) {
	case float64:
		list = []float64{v}
	case float32:
		list = []float32{v}
	case int8:
		list = []int8{v}
	case int16:
		list = []int16{v}
	case int32:
		list = []int32{v}
	case int64:
		list = []int64{v}
	case int:
		list = []int{v}
	case uint8:
		list = []uint8{v}
	case uint16:
		list = []uint16{v}
	case uint32:
		list = []uint32{v}
	case uint64:
		list = []uint64{v}
	case complex64:
		list = []complex64{v}
	case complex128:
		list = []complex128{v}
	case bool:
		list = []bool{v}
	case string:
		list = []string{v}
	case FixedString:
		list, fixed = []string{string(v)}, len(v)+1
	case Ref:
		list = []Ref{v}
	default:
		return value{}, 0, fmt.Errorf("%T cannot be written: want a number, bool, string, FixedString, Ref or a slice of them", v)
	}
	out, _, err := elementsOf(list, fixed)
	return out, -1, err
}

// numeric reinterprets the memory of v as little-endian bytes.
func numeric[T any](v []T, typ []byte) (value, int, error) {
	size := int(unsafe.Sizeof(*new(T)))
	out := value{typ: typ, size: size, raw: []byte{}}
	if len(v) > 0 {
		out.raw = unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(v))), len(v)*size)
	}
	if !littleEndian && size > 1 {
		out.raw = slices.Clone(out.raw)
		word := size
		if typ[0]&15 == byte(Compound) {
			word /= 2
		}
		swap(out.raw, word)
	}
	return out, len(v), nil
}

// textOf stores strings with variable length, or padded with zeros to fixed
// bytes.
func textOf(v []string, fixed int) (value, int, error) {
	if fixed == 0 {
		return value{typ: textType(), size: 16, text: append([]string{}, v...)}, len(v), nil
	}
	out := value{typ: fixedType(fixed), size: fixed, raw: make([]byte, fixed*len(v))}
	for i, s := range v {
		if len(s) > fixed {
			return out, 0, fmt.Errorf("the string %q of %d bytes does not fit %d: raise Layout.FixedString", s, len(s), fixed)
		}
		copy(out.raw[i*fixed:], s)
	}
	return out, len(v), nil
}
