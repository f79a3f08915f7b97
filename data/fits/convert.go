// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package fits

import (
	"encoding/binary"
	"fmt"
	"math"
)

// Elements are named by the letters of TFORM: B, I, J and K are integers of 1, 2, 4 and 8 bytes (B
// without a sign), E and D floats, C and M complex numbers, L truth values, A characters, X bits.
var letterSize = map[byte]int64{'B': 1, 'I': 2, 'J': 4, 'K': 8, 'E': 4, 'D': 8, 'C': 8, 'M': 16, 'L': 1, 'A': 1}

var bitpixLetter = map[int]byte{8: 'B', 16: 'I', 32: 'J', 64: 'K', -32: 'E', -64: 'D'}

var letterType = map[byte]string{'B': "uint8", 'I': "int16", 'J': "int32", 'K': "int64", 'E': "float32", 'D': "float64",
	'C': "complex64", 'M': "complex128", 'L': "bool", 'A': "string", 'X': "bits"}

// scaling turns stored numbers into physical ones: physical = zero + scale * stored.
type scaling struct {
	scale, zero float64
	null        int64 // stored integer of an undefined element
	hasNull     bool
}

func (s *scaling) trivial() bool { return s.scale == 1 && s.zero == 0 }

// stored returns element i of an integer type.
func stored(raw []byte, letter byte, i int) int64 {
	switch letter {
	case 'I':
		return int64(int16(binary.BigEndian.Uint16(raw[2*i:])))
	case 'J':
		return int64(int32(binary.BigEndian.Uint32(raw[4*i:])))
	case 'K':
		return int64(binary.BigEndian.Uint64(raw[8*i:]))
	}
	return int64(raw[i])
}

// floats converts elements to physical values; undefined integers become NaN.
func (s *scaling) floats(dst []float64, raw []byte, letter byte) {
	switch letter {
	case 'E':
		for i := range dst {
			dst[i] = float64(math.Float32frombits(binary.BigEndian.Uint32(raw[4*i:])))
		}
	case 'D':
		for i := range dst {
			dst[i] = math.Float64frombits(binary.BigEndian.Uint64(raw[8*i:]))
		}
	default:
		for i := range dst {
			v := stored(raw, letter, i)
			if s.hasNull && v == s.null {
				dst[i] = math.NaN()
				continue
			}
			dst[i] = float64(v)
		}
		if s.zero == 1<<63 && s.scale == 1 && letter == 'K' { // exact for small numbers without a sign
			for i := range dst {
				if !math.IsNaN(dst[i]) {
					dst[i] = float64(uint64(stored(raw, letter, i)) ^ 1<<63)
				}
			}
			return
		}
	}
	if s.trivial() {
		return
	}
	for i, v := range dst {
		dst[i] = s.zero + s.scale*v
	}
}

// float32s is floats for float32, without a detour where nothing is to be computed.
func (s *scaling) float32s(dst []float32, raw []byte, letter byte) {
	if letter == 'E' && s.trivial() {
		for i := range dst {
			dst[i] = math.Float32frombits(binary.BigEndian.Uint32(raw[4*i:]))
		}
		return
	}
	var wide [256]float64
	size := int(letterSize[letter])
	for len(dst) > 0 {
		n := min(len(dst), len(wide))
		s.floats(wide[:n], raw, letter)
		for i, v := range wide[:n] {
			dst[i] = float32(v)
		}
		dst, raw = dst[n:], raw[n*size:]
	}
}

// ints converts integer elements; undefined ones keep their stored number.
func (s *scaling) ints(dst []int64, raw []byte, letter byte) error {
	if err := s.whole(letter, "Int64s"); err != nil {
		return err
	}
	if s.zero == 1<<63 {
		for i := range dst {
			v := uint64(stored(raw, letter, i)) ^ 1<<63
			if v > math.MaxInt64 {
				return fmt.Errorf("%w: %d is too large for int64: use Uint64s", ErrType, v)
			}
			dst[i] = int64(v)
		}
		return nil
	}
	zero := int64(s.zero)
	for i := range dst {
		v := stored(raw, letter, i)
		if !(s.hasNull && v == s.null) {
			if v > 0 && zero > math.MaxInt64-v || v < 0 && zero < math.MinInt64-v {
				return fmt.Errorf("%w: %d + %d is too large for int64", ErrType, v, zero)
			}
			v += zero
		}
		dst[i] = v
	}
	return nil
}

// whole reports an error unless the physical values are integers.
func (s *scaling) whole(letter byte, method string) error {
	switch letter {
	case 'B', 'I', 'J', 'K':
	default:
		return fmt.Errorf("%w: the elements are %s, but %s returns integers", ErrType, letterType[letter], method)
	}
	if s.scale != 1 || s.zero != math.Trunc(s.zero) || math.Abs(s.zero) > 1<<63 || s.zero == -(1<<63) {
		return fmt.Errorf("%w: the elements are %g + %g times an integer: use Float64s", ErrType, s.zero, s.scale)
	}
	return nil
}

func (s *scaling) uints(dst []uint64, raw []byte, letter byte) error {
	if err := s.whole(letter, "Uint64s"); err != nil {
		return err
	}
	if s.zero == 1<<63 && letter == 'K' {
		for i := range dst {
			dst[i] = uint64(stored(raw, letter, i)) ^ 1<<63
		}
		return nil
	}
	part := make([]int64, min(len(dst), 4096))
	size := int(letterSize[letter])
	for len(dst) > 0 {
		n := min(len(dst), len(part))
		if err := s.ints(part[:n], raw, letter); err != nil {
			return err
		}
		for i, v := range part[:n] {
			if v < 0 {
				return fmt.Errorf("%w: %d is negative: use Int64s", ErrType, v)
			}
			dst[i] = uint64(v)
		}
		dst, raw = dst[n:], raw[n*size:]
	}
	return nil
}

func complexes(dst []complex128, raw []byte, letter byte) error {
	switch letter {
	case 'C':
		for i := range dst {
			dst[i] = complex(float64(math.Float32frombits(binary.BigEndian.Uint32(raw[8*i:]))), float64(math.Float32frombits(binary.BigEndian.Uint32(raw[8*i+4:]))))
		}
	case 'M':
		for i := range dst {
			dst[i] = complex(math.Float64frombits(binary.BigEndian.Uint64(raw[16*i:])), math.Float64frombits(binary.BigEndian.Uint64(raw[16*i+8:])))
		}
	default:
		return fmt.Errorf("%w: the elements are %s, not complex", ErrType, letterType[letter])
	}
	return nil
}
