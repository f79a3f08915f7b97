// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package fits

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"
)

// Image writes an image of the given shape (C order) from a slice of any integer type, float32 or
// float64. Integers that FITS has only with the other signedness are stored with BZERO, and are read
// back unchanged. Without data the HDU is empty. h may be nil.
func (w *Writer) Image(name string, h *Header, shape []int, data any) error {
	if w.err != nil {
		return w.err
	}
	v, err := valuesOf(data)
	if err != nil {
		return w.fail(name, err)
	}
	total := 1
	for _, d := range shape {
		if d < 0 || d > 0 && total > math.MaxInt/d {
			return w.fail(name, fmt.Errorf("the shape %v has a negative or too large length", shape))
		}
		total *= d
	}
	if len(shape) == 0 {
		total = 0
	}
	if total != v.n {
		return w.fail(name, fmt.Errorf("the shape %v needs %d elements, but there are %d", shape, total, v.n))
	}
	if err := w.beginImage(name, h, shape, v); err != nil {
		return err
	}
	if err := w.elements(v); err != nil {
		return err
	}
	return w.finish()
}

func (w *Writer) beginImage(name string, h *Header, shape []int, v values) error {
	if w.hdus == 0 && name != "" {
		w.Primary(nil)
	}
	if v.bitpix == 0 {
		return w.fail(name, fmt.Errorf("images hold numbers, not %s: use a table", letterType[v.letter]))
	}
	layout := []Card{{Key: "BITPIX", Value: int64(v.bitpix), Comment: "bits of an element, negative for floats"},
		{Key: "NAXIS", Value: int64(len(shape)), Comment: "number of axes"}}
	for i := range shape {
		layout = append(layout, Card{Key: fmt.Sprintf("NAXIS%d", i+1), Value: int64(shape[len(shape)-1-i])})
	}
	if w.hdus > 0 {
		layout = append(layout, Card{Key: "PCOUNT", Value: int64(0)}, Card{Key: "GCOUNT", Value: int64(1)})
	}
	var late []Card
	if v.zero != 0 {
		late = []Card{{Key: "BSCALE", Value: int64(1)}, zeroCard("BZERO", v.zero)}
	}
	return w.begin(name, true, layout, late, h)
}

// zeroCard writes a large offset as an integer, as readers expect it of numbers without a sign.
func zeroCard(key string, zero float64) Card {
	if zero == 1<<63 {
		return Card{Key: key, Value: Raw(fmt.Sprintf("%20s", "9223372036854775808"))}
	}
	return Card{Key: key, Value: int64(zero)}
}

// Stream writes an image larger than memory: Write adds its elements piece by piece, in C order. The
// slice of the first piece determines the type.
type Stream struct {
	w     *Writer
	name  string
	h     *Header
	shape []int
	left  int
	v     values
	begun bool
}

// Stream begins an image whose elements are added with Write.
func (w *Writer) Stream(name string, h *Header, shape []int) *Stream {
	s := &Stream{w: w, name: name, h: h.Clone(), shape: slices.Clone(shape), left: 1}
	for _, d := range shape {
		if d < 0 || d > 0 && s.left > math.MaxInt/d {
			w.fail(name, fmt.Errorf("the shape %v has a negative or too large length", shape))
			return s
		}
		s.left *= d
	}
	return s
}

// Write appends elements. Every call takes a slice of the same type.
func (s *Stream) Write(data any) error {
	v, err := valuesOf(data)
	if err != nil {
		return s.w.fail(s.name, err)
	}
	if !s.begun {
		if err := s.w.beginImage(s.name, s.h, s.shape, v); err != nil {
			return err
		}
		s.v, s.begun = v, true
		s.w.cur.end = s.missing
	}
	if v.letter != s.v.letter || v.zero != s.v.zero {
		return s.w.fail(s.name, fmt.Errorf("the pieces of an image must have the same type: the first one is a %T", data))
	}
	if s.left -= v.n; s.left < 0 {
		return s.w.fail(s.name, fmt.Errorf("the image of the shape %v got %d elements too many", s.shape, -s.left))
	}
	if err := s.w.elements(v); err != nil || s.left > 0 {
		return err
	}
	return s.w.finish()
}

// Close reports an error if elements are missing.
func (s *Stream) Close() error {
	if s.w.err != nil {
		return s.w.err
	}
	return s.w.fail(s.name, s.missing())
}

func (s *Stream) missing() error {
	if s.left > 0 {
		return fmt.Errorf("the image of the shape %v lacks %d elements: write all before Close", s.shape, s.left)
	}
	return nil
}

// values is a slice ready to be written.
type values struct {
	n      int
	letter byte
	bitpix int
	zero   float64
	size   int
	encode func(dst []byte, from, n int)
}

// elements writes values in pieces.
func (w *Writer) elements(v values) error {
	if w.err != nil {
		return w.err
	}
	if v.n == 0 {
		return nil
	}
	k := min(v.n, 1<<18)
	buf := make([]byte, k*v.size)
	for at := 0; at < v.n; at += k {
		n := min(k, v.n-at)
		v.encode(buf, at, n)
		if err := w.data(buf[:n*v.size]); err != nil {
			return err
		}
	}
	return nil
}

// valuesOf describes a slice of numbers.
func valuesOf(data any) (values, error) {
	be := binary.BigEndian
	switch x := data.(type) {
	case nil:
		return values{letter: 'B', bitpix: 8, size: 1}, nil
	case []uint8:
		return values{n: len(x), letter: 'B', bitpix: 8, size: 1, encode: func(dst []byte, from, n int) { copy(dst, x[from:from+n]) }}, nil
	case []int8:
		return values{n: len(x), letter: 'B', bitpix: 8, size: 1, zero: -128, encode: func(dst []byte, from, n int) {
			for i, v := range x[from : from+n] {
				dst[i] = uint8(v) ^ 0x80
			}
		}}, nil
	case []int16:
		return values{n: len(x), letter: 'I', bitpix: 16, size: 2, encode: func(dst []byte, from, n int) {
			for i, v := range x[from : from+n] {
				be.PutUint16(dst[2*i:], uint16(v))
			}
		}}, nil
	case []uint16:
		return values{n: len(x), letter: 'I', bitpix: 16, size: 2, zero: 1 << 15, encode: func(dst []byte, from, n int) {
			for i, v := range x[from : from+n] {
				be.PutUint16(dst[2*i:], v^1<<15)
			}
		}}, nil
	case []int32:
		return values{n: len(x), letter: 'J', bitpix: 32, size: 4, encode: func(dst []byte, from, n int) {
			for i, v := range x[from : from+n] {
				be.PutUint32(dst[4*i:], uint32(v))
			}
		}}, nil
	case []uint32:
		return values{n: len(x), letter: 'J', bitpix: 32, size: 4, zero: 1 << 31, encode: func(dst []byte, from, n int) {
			for i, v := range x[from : from+n] {
				be.PutUint32(dst[4*i:], v^1<<31)
			}
		}}, nil
	case []int64:
		return values{n: len(x), letter: 'K', bitpix: 64, size: 8, encode: func(dst []byte, from, n int) {
			for i, v := range x[from : from+n] {
				be.PutUint64(dst[8*i:], uint64(v))
			}
		}}, nil
	case []int:
		return values{n: len(x), letter: 'K', bitpix: 64, size: 8, encode: func(dst []byte, from, n int) {
			for i, v := range x[from : from+n] {
				be.PutUint64(dst[8*i:], uint64(v))
			}
		}}, nil
	case []uint64:
		return values{n: len(x), letter: 'K', bitpix: 64, size: 8, zero: 1 << 63, encode: func(dst []byte, from, n int) {
			for i, v := range x[from : from+n] {
				be.PutUint64(dst[8*i:], v^1<<63)
			}
		}}, nil
	case []float32:
		return values{n: len(x), letter: 'E', bitpix: -32, size: 4, encode: func(dst []byte, from, n int) {
			for i, v := range x[from : from+n] {
				be.PutUint32(dst[4*i:], math.Float32bits(v))
			}
		}}, nil
	case []float64:
		return values{n: len(x), letter: 'D', bitpix: -64, size: 8, encode: func(dst []byte, from, n int) {
			for i, v := range x[from : from+n] {
				be.PutUint64(dst[8*i:], math.Float64bits(v))
			}
		}}, nil
	}
	return values{}, fmt.Errorf("%T cannot be written: want a slice of integers, float32 or float64", data)
}
