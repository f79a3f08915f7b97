// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package frames

import (
	"encoding/binary"
	"math"
)

// numberType reads numbers of one type. Where whole is not 0, the type is an unsigned one of which that largest number marks bad
// pixels.
type numberType struct {
	size  int
	read  func(dst []float32, b []byte, o binary.ByteOrder)
	whole uint64
	class int // see marks.go
}

// nan is what bad pixels are.
var nan = float32(math.NaN())

var numberTypes = map[string]numberType{
	"u1": {1, func(dst []float32, b []byte, _ binary.ByteOrder) {
		for i := range dst {
			dst[i] = float32(b[i])
		}
	}, 0, oneByte}, // 255 may be a count: see marks.go
	"b1": {1, func(dst []float32, b []byte, _ binary.ByteOrder) { // truth values
		for i := range dst {
			dst[i] = 0
			if b[i] != 0 {
				dst[i] = 1
			}
		}
	}, 0, unmarked},
	"i1": {1, func(dst []float32, b []byte, _ binary.ByteOrder) {
		for i := range dst {
			dst[i] = float32(int8(b[i]))
		}
	}, 0, signed},
	"u2": {2, func(dst []float32, b []byte, o binary.ByteOrder) {
		for i := range dst {
			dst[i] = marked(uint64(o.Uint16(b[2*i:])), math.MaxUint16)
		}
	}, math.MaxUint16, unmarked},
	"i2": {2, func(dst []float32, b []byte, o binary.ByteOrder) {
		for i := range dst {
			dst[i] = float32(int16(o.Uint16(b[2*i:])))
		}
	}, 0, signed},
	"u4": {4, func(dst []float32, b []byte, o binary.ByteOrder) {
		for i := range dst {
			dst[i] = marked(uint64(o.Uint32(b[4*i:])), math.MaxUint32)
		}
	}, math.MaxUint32, unmarked},
	"i4": {4, func(dst []float32, b []byte, o binary.ByteOrder) {
		for i := range dst {
			dst[i] = float32(int32(o.Uint32(b[4*i:])))
		}
	}, 0, signed},
	"u8": {8, func(dst []float32, b []byte, o binary.ByteOrder) {
		for i := range dst {
			dst[i] = marked(o.Uint64(b[8*i:]), math.MaxUint64)
		}
	}, math.MaxUint64, unmarked},
	"i8": {8, func(dst []float32, b []byte, o binary.ByteOrder) {
		for i := range dst {
			dst[i] = float32(int64(o.Uint64(b[8*i:])))
		}
	}, 0, signed},
	"f4": {4, func(dst []float32, b []byte, o binary.ByteOrder) {
		for i := range dst {
			dst[i] = math.Float32frombits(o.Uint32(b[4*i:]))
		}
	}, 0, unmarked},
	"f8": {8, func(dst []float32, b []byte, o binary.ByteOrder) {
		for i := range dst {
			dst[i] = float32(math.Float64frombits(o.Uint64(b[8*i:])))
		}
	}, 0, unmarked},
}

func marked(v, mark uint64) float32 {
	if v == mark {
		return nan
	}
	return float32(v)
}

// numberNamed returns the type that NumPy calls descr, and its byte order.
func (f *File) numberNamed(descr string) (numberType, binary.ByteOrder, error) {
	order, code := binary.ByteOrder(binary.LittleEndian), descr
	if len(descr) > 1 {
		switch descr[0] {
		case '>':
			order, code = binary.BigEndian, descr[1:]
		case '<', '|', '=':
			code = descr[1:]
		}
	}
	t, ok := numberTypes[code]
	if !ok {
		return t, nil, f.bad("use one of u1, u2, u4, u8, i1, i2, i4, i8, b1, f4, f8, with < or > before it for the byte order", "numbers of type %.20q are not supported", descr)
	}
	return t, order, nil
}
