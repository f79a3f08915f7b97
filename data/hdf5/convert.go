// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package hdf5

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"unsafe"
)

// number is the set of Go types that numbers are read into.
type number interface {
	~int64 | ~float64 | ~float32 | ~uint64 | ~int32
}

// convert reads numbers of type t from raw into dst. It may swap bytes of raw on the way. An integer
// that dst cannot hold exactly is an error; floats are rounded.
func convert[T number](dst []T, raw []byte, t *Type) error {
	switch t.Class {
	case Enum, ArrayOf:
		return convert(dst, raw, t.Base)
	case Int, Float, Bits:
	default:
		return typeError("numbers", t)
	}
	if !t.plain() {
		return general(dst, raw, t)
	}
	if t.BigEndian {
		swap(raw, t.Size)
	}
	if t.Class == Float {
		return fromFloats(dst, raw, t.Size)
	}
	return fromInts(dst, raw, t)
}

func typeError(want string, t *Type) error {
	return &FormatError{Format: "hdf5", What: fmt.Sprintf("the elements are %s, not %s", t, want), Try: "use " + hint(t), Err: ErrType}
}

// hint names the method that reads elements of type t.
func hint(t *Type) string {
	switch {
	case t.Class == String || t.Class == Vlen && t.IsString:
		return "Strings"
	case t.Class == Vlen && t.Base.Class == Reference:
		return "ReferenceLists"
	case t.Class == Vlen:
		return "Ragged"
	case t.Class == Reference:
		return "References"
	case t.IsComplex():
		return "Complex128s"
	case t.Class == Compound:
		return "Field"
	case t.Class == Int || t.Class == Float || t.Class == Enum || t.Class == ArrayOf:
		return "Float64s or Int64s"
	}
	return "Bytes"
}

// swap reverses the bytes of each element.
func swap(raw []byte, size int) {
	for ; len(raw) >= size && size > 1; raw = raw[size:] {
		slices.Reverse(raw[:size])
	}
}

func fromFloats[T number](dst []T, raw []byte, size int) error {
	var exact T
	whole := isInteger(exact)
	for i := range dst {
		var v float64
		switch size {
		case 2:
			v = half(binary.LittleEndian.Uint16(raw[2*i:]))
		case 4:
			v = float64(math.Float32frombits(binary.LittleEndian.Uint32(raw[4*i:])))
		default:
			v = math.Float64frombits(binary.LittleEndian.Uint64(raw[8*i:]))
		}
		if whole && !fits(dst[i], v) {
			return notExact(dst, fmt.Sprint(v))
		}
		dst[i] = T(v)
	}
	return nil
}

func fromInts[T number](dst []T, raw []byte, t *Type) error {
	for i := range dst {
		var u uint64
		switch t.Size {
		case 1:
			u = uint64(raw[i])
		case 2:
			u = uint64(binary.LittleEndian.Uint16(raw[2*i:]))
		case 4:
			u = uint64(binary.LittleEndian.Uint32(raw[4*i:]))
		default:
			u = binary.LittleEndian.Uint64(raw[8*i:])
		}
		if err := setInt(dst, i, u, t); err != nil {
			return err
		}
	}
	return nil
}

// setInt stores the low bits of u, as many as the precision of t.
func setInt[T number](dst []T, i int, u uint64, t *Type) error {
	if t.Signed {
		n := 64 - t.precision
		s := int64(u<<n) >> n
		dst[i] = T(s)
		if isInteger(dst[i]) && (int64(dst[i]) != s || unsigned(dst[i]) && s < 0) {
			return notExact(dst, fmt.Sprint(s))
		}
		return nil
	}
	dst[i] = T(u)
	if isInteger(dst[i]) && (uint64(dst[i]) != u || !unsigned(dst[i]) && int64(dst[i]) < 0) {
		return notExact(dst, fmt.Sprint(u))
	}
	return nil
}

func isInteger[T number](T) bool { half := 0.5; return T(half) == 0 }

func unsigned[T number](T) bool { var z T; return isInteger(z) && z-1 > 0 }

// fits reports whether a float is a value of the integer type T.
func fits[T number](_ T, v float64) bool {
	low, high := -0x1p63, 0x1p63
	var z T
	switch {
	case unsigned(z):
		low, high = 0, 0x1p64
	case unsafe.Sizeof(z) == 4:
		low, high = -0x1p31, 0x1p31
	}
	return v >= low && v < high && v == math.Trunc(v)
}

func notExact[T number](dst []T, v string) error {
	return &FormatError{Format: "hdf5", What: fmt.Sprintf("the value %s does not fit %T", v, dst[0]), Try: "use Float64s", Err: ErrType}
}

// half converts an IEEE half-precision number.
func half(h uint16) float64 {
	sign, e, m := h>>15, int(h>>10&31), float64(h&1023)
	v := 0.0
	switch e {
	case 0:
		v = math.Ldexp(m, -24)
	case 31:
		v = math.Inf(1)
		if m != 0 {
			v = math.NaN()
		}
	default:
		v = math.Ldexp(m+1024, e-25)
	}
	if sign == 1 {
		v = -v
	}
	return v
}

// general reads numbers with unused bits, or floats that are not IEEE's, of up to eight bytes each.
func general[T number](dst []T, raw []byte, t *Type) error {
	if t.Size > 8 {
		return &FormatError{Format: "hdf5", What: fmt.Sprintf("the numbers have %d bytes, more than this package reads", t.Size), Try: "store them as 64-bit numbers", Err: ErrUnsupported}
	}
	if t.BigEndian {
		swap(raw, t.Size)
	}
	for i := range dst {
		var u uint64
		for k, b := range raw[i*t.Size : (i+1)*t.Size] {
			u |= uint64(b) << (8 * k)
		}
		if t.Class != Float {
			if err := setInt(dst, i, field(u, t.bitOffset, t.precision), t); err != nil {
				return err
			}
			continue
		}
		v := t.float.value(u)
		if isInteger(dst[i]) && !fits(dst[i], v) {
			return notExact(dst, fmt.Sprint(v))
		}
		dst[i] = T(v)
	}
	return nil
}

func field(u uint64, at, n int) uint64 {
	if n >= 64 {
		return u >> at
	}
	return u >> at & (1<<n - 1)
}

// value decodes a float of any layout within 64 bits.
func (b floatBits) value(u uint64) float64 {
	e, m := field(u, b.expAt, b.expBits), field(u, b.mantAt, b.mantBits)
	scale := int(int64(e) - b.bias)
	v := 0.0
	switch {
	case e == 1<<b.expBits-1 && m != 0:
		v = math.NaN()
	case e == 1<<b.expBits-1:
		v = math.Inf(1)
	case b.norm == 2 && e == 0:
		v = math.Ldexp(float64(m), scale+1-b.mantBits)
	case b.norm == 2:
		v = math.Ldexp(1+math.Ldexp(float64(m), -b.mantBits), scale)
	default:
		v = math.Ldexp(float64(m), scale-b.mantBits)
	}
	if field(u, b.sign, 1) == 1 {
		v = -v
	}
	return v
}

// littleEndian reports whether this machine is little-endian.
var littleEndian = binary.NativeEndian.Uint16([]byte{1, 0}) == 1

// memory returns the bytes of dst if numbers of type t can be read straight
// into them.
func memory[T number](dst []T, t *Type) []byte {
	for t.Class == ArrayOf {
		t = t.Base
	}
	var z T
	same := t.Class == Float && !isInteger(z) || t.Class == Int && isInteger(z) && t.Signed != unsigned(z)
	if !littleEndian || !same || !t.plain() || t.BigEndian || t.Size != int(unsafe.Sizeof(z)) || len(dst) == 0 {
		return nil
	}
	return unsafe.Slice((*byte)(unsafe.Pointer(&dst[0])), len(dst)*t.Size)
}
