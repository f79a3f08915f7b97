// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package tensor

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"
)

// pieceLen is how many elements are read or written at once.
const pieceLen = 1 << 12

// npyTypes reads elements by NumPy's code of their type. Narrow and unsigned
// integers and half-precision numbers go to the next type that holds them.
var npyTypes = map[string]func(r io.Reader, n int, o binary.ByteOrder) (any, error){
	"f8": elements(8, func(b []byte, o binary.ByteOrder) float64 { return math.Float64frombits(o.Uint64(b)) }),
	"f4": elements(4, float32At),
	"f2": elements(2, func(b []byte, o binary.ByteOrder) float32 { return Half(o.Uint16(b)).Float32() }),
	"i8": int64s,
	"i4": elements(4, func(b []byte, o binary.ByteOrder) int32 { return int32(o.Uint32(b)) }),
	"i2": elements(2, func(b []byte, o binary.ByteOrder) int32 { return int32(int16(o.Uint16(b))) }),
	"i1": elements(1, func(b []byte, _ binary.ByteOrder) int32 { return int32(int8(b[0])) }),
	"u8": unsigned,
	"u4": elements(4, func(b []byte, o binary.ByteOrder) int64 { return int64(o.Uint32(b)) }),
	"u2": elements(2, func(b []byte, o binary.ByteOrder) int32 { return int32(o.Uint16(b)) }),
	"u1": elements(1, func(b []byte, _ binary.ByteOrder) int32 { return int32(b[0]) }),
	"b1": elements(1, func(b []byte, _ binary.ByteOrder) bool { return b[0] != 0 }),
	"c16": elements(16, func(b []byte, o binary.ByteOrder) complex128 {
		return complex(math.Float64frombits(o.Uint64(b)), math.Float64frombits(o.Uint64(b[8:])))
	}),
	"c8": elements(8, func(b []byte, o binary.ByteOrder) complex64 { return complex(float32At(b, o), float32At(b[4:], o)) }),
}

var int64s = elements(8, func(b []byte, o binary.ByteOrder) int64 { return int64(o.Uint64(b)) })

func float32At(b []byte, o binary.ByteOrder) float32 { return math.Float32frombits(o.Uint32(b)) }

// npyData reads n elements of the type that descr names.
func npyData(r io.Reader, descr string, n int) (any, error) {
	order := binary.ByteOrder(binary.LittleEndian)
	code := ""
	if len(descr) > 1 {
		code = descr[1:]
		switch descr[0] {
		case '<', '|', '=':
		case '>':
			order = binary.BigEndian
		default:
			code = ""
		}
	}
	read, ok := npyTypes[code]
	if !ok {
		return nil, fmt.Errorf("the element type is %.20q: want floats, integers, bool or complex numbers", descr)
	}
	return read(r, n, order)
}

// elements returns the reader of elements of the given size. It grows as it
// reads, so that a false header allocates no more than a few times what the file
// holds; where the size of the file is known, it takes the memory at once.
func elements[T any](size int, decode func(b []byte, o binary.ByteOrder) T) func(r io.Reader, n int, o binary.ByteOrder) (any, error) {
	return func(r io.Reader, n int, o binary.ByteOrder) (any, error) {
		out := make([]T, 0, room(r, n, size))
		buf := make([]byte, min(n, pieceLen)*size)
		for len(out) < n {
			k := min(n-len(out), pieceLen)
			if there, err := io.ReadFull(r, buf[:k*size]); err != nil {
				return nil, fmt.Errorf("the data have %d bytes, and the header announces %d, in %d elements: the file is cut short, so copy it again: %w", len(out)*size+there, n*size, n, err)
			}
			if cap(out)-len(out) < k { // by doubling, since append would grow by a quarter
				out = append(make([]T, 0, min(n, 2*cap(out)+k)), out...)
			}
			for i := range k {
				out = append(out, decode(buf[i*size:(i+1)*size], o))
			}
		}
		return out, nil
	}
}

// room returns for how many of n elements memory is taken at first: all of them if r is a section of a file that holds them.
func room(r io.Reader, n, size int) int {
	if s, ok := r.(*io.SectionReader); ok {
		if at, err := s.Seek(0, io.SeekCurrent); err == nil && int64(n) <= (s.Size()-at)/int64(size) {
			return n
		}
	}
	return min(n, pieceLen)
}

// unsigned reads 64-bit unsigned integers, which must fit int64.
func unsigned(r io.Reader, n int, o binary.ByteOrder) (any, error) {
	data, err := int64s(r, n, o)
	if err != nil {
		return nil, err
	}
	for i, v := range data.([]int64) {
		if v < 0 {
			return nil, fmt.Errorf("element %d is %d, but int64 holds at most %d: store the array as another type", i, uint64(v), int64(math.MaxInt64))
		}
	}
	return data, nil
}
