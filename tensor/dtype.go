// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package tensor

import (
	"fmt"
	"math"
)

// DType is the type of an array's elements.
type DType uint8

// The element types. Complex numbers are meant for files and transforms.
const (
	Float64 DType = iota
	Float32
	Int64
	Int32
	Bool
	Complex128
	Complex64
	Float16 // storage type of Half; arithmetic needs a wider type
)

// kinds holds, by DType, all that differs between the element types.
var kinds = [...]kind{
	Float64: kindOf("float64", "f8", 8, func(v float64) number { return number{z: complex(v, 0)} }, number.float),
	Float32: kindOf("float32", "f4", 4, func(v float32) number { return number{z: complex(float64(v), 0)} }, number.float32),
	Int64:   kindOf("int64", "i8", 8, func(v int64) number { return number{n: v, whole: true} }, number.int),
	Int32: kindOf("int32", "i4", 4, func(v int32) number { return number{n: int64(v), whole: true} },
		func(v number) int32 { return int32(min(max(v.int(), math.MinInt32), math.MaxInt32)) }),
	Bool:       kindOf("bool", "b1", 1, wholeOf, func(v number) bool { return v.complex() != 0 }),
	Complex128: kindOf("complex128", "c16", 16, func(v complex128) number { return number{z: v} }, number.complex),
	Complex64: kindOf("complex64", "c8", 8, func(v complex64) number { return number{z: complex128(v)} },
		func(v number) complex64 { return complex64(v.complex()) }),
	Float16: kindOf("float16", "f2", 2, func(v Half) number { return number{z: complex(float64(v.Float32()), 0)} },
		func(v number) Half { return HalfOf(v.float()) }),
}

// kind is what the package knows about one element type. Slices of the type are passed as any.
type kind struct {
	name   string
	descr  string // NumPy's code of the type, without the byte order
	bytes  int
	make   func(n int) any
	cut    func(data any, lo, hi int) any // returns data[lo:hi]
	at     func(data any, i int) any
	gather func(dst, src any, t *Tensor)
	get    func(data any, i int) number
	set    func(data any, i int, v number)
}

func kindOf[T any](name, descr string, bytes int, get func(T) number, set func(number) T) kind {
	return kind{
		name: name, descr: descr, bytes: bytes,
		make:   func(n int) any { return make([]T, n) },
		cut:    func(data any, lo, hi int) any { return data.([]T)[lo:hi:hi] },
		at:     func(data any, i int) any { return data.([]T)[i] },
		gather: func(dst, src any, t *Tensor) { gather(dst.([]T), src.([]T), t) },
		get:    func(data any, i int) number { return get(data.([]T)[i]) },
		set:    func(data any, i int, v number) { data.([]T)[i] = set(v) },
	}
}

// String returns Go's name of the type.
func (d DType) String() string {
	if int(d) < len(kinds) {
		return kinds[d].name
	}
	return fmt.Sprintf("DType(%d)", uint8(d))
}

// Bytes returns the size of one element.
func (d DType) Bytes() int { return kinds[d].bytes }

// dtypeOf returns the type and length of a slice.
func dtypeOf(data any) (d DType, n int, ok bool) {
	switch s := data.(type) {
	case []float64:
		return Float64, len(s), true
	case []float32:
		return Float32, len(s), true
	case []int64:
		return Int64, len(s), true
	case []int32:
		return Int32, len(s), true
	case []bool:
		return Bool, len(s), true
	case []complex128:
		return Complex128, len(s), true
	case []complex64:
		return Complex64, len(s), true
	case []Half:
		return Float16, len(s), true
	}
	return 0, 0, false
}

// number is an element of any type during a conversion: n if it is an integer, else z.
type number struct {
	z     complex128
	n     int64
	whole bool
}

func wholeOf(v bool) number {
	if v {
		return number{n: 1, whole: true}
	}
	return number{whole: true}
}

func (v number) complex() complex128 {
	if v.whole {
		return complex(float64(v.n), 0)
	}
	return v.z
}

func (v number) float() float64 { return real(v.complex()) }

// float32 converts with a single rounding, also from integers.
func (v number) float32() float32 {
	if v.whole {
		return float32(v.n)
	}
	return float32(real(v.z))
}

// int truncates fractions, clips to the range of int64, and converts NaN to 0.
func (v number) int() int64 {
	x := real(v.z)
	switch {
	case v.whole:
		return v.n
	case x >= 1<<63:
		return math.MaxInt64
	case x < -1<<63:
		return math.MinInt64
	case x != x:
		return 0
	}
	return int64(x)
}
