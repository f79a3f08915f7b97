// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package hdf5

import (
	"encoding/binary"
	"fmt"
	"math"
)

// scaleHead is the length of the header before the packed numbers of a chunk: their number of bits
// (4 bytes), the size of the minimum (1), the minimum (8) and 8 unused bytes.
const scaleHead = 21

// Ways of scaling that the scale-offset filter knows.
const (
	scaleDecimal = 0 // method for floats: rounded to a number of decimal places
	scaleInteger = 2
)

// scaled holds the parameters of the scale-offset filter: numbers are stored as differences from the
// smallest, in as few bits as the largest difference needs. A code of all ones is the fill value, if
// there is one.
type scaled struct {
	method   int
	factor   int // decimal places for floats; number of bits requested by the writer for integers
	n        int // number of numbers in a chunk
	float    bool
	size     int // size of a number in bytes
	big      bool
	hasFill  bool
	fill     uint64 // bits of the fill value
	bits     int    // number of bits of a code, read from the chunk
	smallest uint64 // bits of the smallest number, read from the chunk
}

func scaledOf(values []uint32) (scaled, error) {
	if len(values) < 8 {
		return scaled{}, fmt.Errorf("the filter has %d parameters, want at least 8", len(values))
	}
	s := scaled{method: int(values[0]), factor: int(int32(values[1])), n: int(values[2]), float: values[3] == 1,
		size: int(values[4]), big: values[6] == 1, hasFill: values[7] == 1}
	for i, v := range values[8:min(len(values), 10)] {
		s.fill |= uint64(v) << (32 * i)
	}
	switch {
	case s.float && s.method == 1:
		return s, fmt.Errorf("the exponents are scaled: %w", ErrUnsupported)
	case values[3] > 1 || !validInt(s.size) || s.float && s.size < 4 || s.float != (s.method == scaleDecimal):
		return s, fmt.Errorf("numbers of class %d and %d bytes cannot be scaled by method %d", values[3], s.size, s.method)
	}
	if s.size < 8 {
		s.fill &= 1<<(8*s.size) - 1
	}
	return s, nil
}

// unscale undoes the scale-offset filter.
func (u *unpacker) unscale(b []byte, values []uint32, size uint64) ([]byte, error) {
	s, err := scaledOf(values)
	if err != nil {
		return nil, err
	}
	if !s.float && s.factor == 8*s.size { // nothing to gain, so nothing was done
		return b, nil
	}
	if uint64(s.n)*uint64(s.size) > roomy(size) {
		return nil, fmt.Errorf("%d numbers of %d bytes do not make a chunk of %d bytes", s.n, s.size, size)
	}
	if len(b) < scaleHead {
		return nil, fmt.Errorf("the data have %d bytes, want at least %d", len(b), scaleHead)
	}
	c := cursor{b: b}
	s.bits = int(c.u32())
	s.smallest = c.uint(min(c.u8(), 8))
	if s.bits > 8*s.size || s.n*s.bits > 8*(len(b)-scaleHead) {
		return nil, fmt.Errorf("%d numbers of %d bits do not fit %d bytes", s.n, s.bits, len(b)-scaleHead)
	}
	out := u.spare(s.n * s.size)
	s.unpack(out, b[scaleHead:])
	return u.swapBuffers(b, out), nil
}

// unpack writes every number in the byte order of the dataset.
func (s *scaled) unpack(dst, b []byte) {
	if s.bits == 8*s.size { // the numbers themselves, little endian
		copy(dst, b)
		if s.big {
			swap(dst, s.size)
		}
		return
	}
	r := bitReader{b: b}
	none := uint64(1)<<s.bits - 1
	number := s.restore()
	for i := range s.n {
		code := r.read(s.bits)
		v := s.fill
		if !s.hasFill || code != none {
			v = number(code)
		}
		s.put(dst[i*s.size:(i+1)*s.size], v)
	}
}

// restore returns the function from a code to the bits of a number. Floats are
// computed in their own precision, as the writer's library does.
func (s *scaled) restore() func(uint64) uint64 {
	switch {
	case !s.float:
		return func(code uint64) uint64 { return s.smallest + code }
	case s.size == 4:
		unit, first := float32(math.Pow10(s.factor)), math.Float32frombits(uint32(s.smallest))
		return func(code uint64) uint64 {
			step := float32(int32(code)) / unit
			return uint64(math.Float32bits(step + first))
		}
	}
	unit, first := math.Pow10(s.factor), math.Float64frombits(s.smallest)
	return func(code uint64) uint64 {
		step := float64(int64(code)) / unit
		return math.Float64bits(step + first)
	}
}

func (s *scaled) put(dst []byte, v uint64) {
	var all [8]byte
	if s.big {
		binary.BigEndian.PutUint64(all[:], v)
		copy(dst, all[8-s.size:])
		return
	}
	binary.LittleEndian.PutUint64(all[:], v)
	copy(dst, all[:])
}
