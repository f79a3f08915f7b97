// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package checkpoint

import (
	"encoding/binary"
	"fmt"
	"math"
)

// Encoder appends numbers in little-endian order; a list is encoded as its length and its elements.
// The zero value encodes to memory, see Encoded.
type Encoder struct {
	b     []byte
	flush func([]byte)
}

// Encoded returns what has been encoded to memory.
func (e *Encoder) Encoded() []byte { return e.b }

func (e *Encoder) spill() {
	if e.flush != nil && len(e.b) >= chunk {
		for b := e.b; len(b) > 0; b = b[min(len(b), most):] {
			e.flush(b[:min(len(b), most)])
		}
		e.b = e.b[:0]
	}
}

// Uint64 appends a number as eight bytes.
func (e *Encoder) Uint64(v uint64) {
	e.b = binary.LittleEndian.AppendUint64(e.b, v)
	e.spill()
}

// Int appends an integer.
func (e *Encoder) Int(v int) { e.Uint64(uint64(v)) }

// Float appends a number with all its bits.
func (e *Encoder) Float(v float64) { e.Uint64(math.Float64bits(v)) }

// Bool appends a truth value as one byte.
func (e *Encoder) Bool(v bool) {
	bit := byte(0)
	if v {
		bit = 1
	}
	e.b = append(e.b, bit)
	e.spill()
}

// Bytes appends a list of bytes.
func (e *Encoder) Bytes(v []byte) {
	e.Int(len(v))
	e.b = append(e.b, v...)
	e.spill()
}

// String appends text.
func (e *Encoder) String(v string) {
	e.Int(len(v))
	e.b = append(e.b, v...)
	e.spill()
}

// Bools appends a list of truth values.
func (e *Encoder) Bools(v []bool) {
	e.Int(len(v))
	for _, x := range v {
		e.Bool(x)
	}
}

// Floats appends a list of numbers.
func (e *Encoder) Floats(v []float64) {
	e.Int(len(v))
	for _, x := range v {
		e.Float(x)
	}
}

// Int32s appends a list of numbers as four bytes each.
func (e *Encoder) Int32s(v []int32) {
	e.Int(len(v))
	for _, x := range v {
		e.b = binary.LittleEndian.AppendUint32(e.b, uint32(x))
		e.spill()
	}
}

// Float32s appends a list of numbers as four bytes each, with all their bits.
func (e *Encoder) Float32s(v []float32) {
	e.Int(len(v))
	for _, x := range v {
		e.b = binary.LittleEndian.AppendUint32(e.b, math.Float32bits(x))
		e.spill()
	}
}

// Decoder reads what an Encoder wrote. After the first error it returns zeros and keeps the error.
type Decoder struct {
	b    []byte
	more func() []byte // returns the bytes that follow b, or nil at the end
	err  error
	left int // number of bytes of b that were unread at the first error
}

// Decode returns a decoder of bytes in memory.
func Decode(b []byte) *Decoder { return &Decoder{b: b} }

// Err returns the first error.
func (d *Decoder) Err() error { return d.err }

// Fail records an error, unless there is one already.
func (d *Decoder) Fail(format string, args ...any) {
	if d.err == nil {
		d.err, d.left = fmt.Errorf(format, args...), len(d.b)
		d.b, d.more = nil, nil
	}
}

// End fails unless all bytes have been read.
func (d *Decoder) End() {
	if d.err != nil {
		return
	}
	for d.more != nil && len(d.b) == 0 {
		if d.b = d.more(); d.b == nil {
			return
		}
	}
	if len(d.b) > 0 {
		d.Fail("has %d bytes too many", len(d.b))
	}
}

// Rest reads all remaining bytes.
func (d *Decoder) Rest() []byte {
	d.fill(math.MaxInt)
	b := d.b
	d.b = nil
	return b
}

// At returns how many of n bytes in memory have been read.
func (d *Decoder) At(n int) int { return n - len(d.b) - d.left }

// fill makes sure that at least n bytes are available, if there are that many.
func (d *Decoder) fill(n int) {
	for len(d.b) < n && d.more != nil {
		next := d.more()
		if next == nil {
			d.more = nil
			return
		}
		d.b = append(d.b, next...)
	}
}

// take returns the next n bytes, or nil if there are fewer.
func (d *Decoder) take(n int) []byte {
	if n < 0 || n > len(d.b) {
		d.fill(n)
	}
	if n < 0 || n > len(d.b) {
		d.Fail("ends early: %d bytes left where %d are due", len(d.b), n)
		return nil
	}
	v := d.b[:n]
	d.b = d.b[n:]
	return v
}

// Uint64 reads a number of eight bytes.
func (d *Decoder) Uint64() uint64 {
	if v := d.take(8); v != nil {
		return binary.LittleEndian.Uint64(v)
	}
	return 0
}

// Float reads a number.
func (d *Decoder) Float() float64 { return math.Float64frombits(d.Uint64()) }

// Int reads an integer.
func (d *Decoder) Int() int {
	v := int64(d.Uint64())
	if int64(int(v)) != v {
		d.Fail("number %d is too large for this machine", v)
		return 0
	}
	return int(v)
}

// Bool reads a truth value.
func (d *Decoder) Bool() bool {
	v := d.take(1)
	if v != nil && v[0] > 1 {
		d.Fail("has a flag of value %d", v[0])
		return false
	}
	return v != nil && v[0] == 1
}

// Count reads the length of a list whose items take at least size bytes each, with size above 0. For
// bytes in memory it fails if there are too few for the list. In a stream this is noticed only at
// its end, so callers must append items instead of allocating the whole list at once.
func (d *Decoder) Count(size int) int {
	n := d.Int()
	if n < 0 || d.more == nil && n > len(d.b)/size {
		d.Fail("claims %d items in %d bytes", n, len(d.b))
		return 0
	}
	return n
}

// Items calls read for each item of a list until one fails. Items take at least size
// bytes each.
func (d *Decoder) Items(size int, read func(i int)) {
	n := d.Count(size)
	for i := 0; i < n && d.err == nil; i++ {
		read(i)
	}
}

// atOnce is the number of items that are allocated before their bytes have been read.
const atOnce = 1 << 12

// list reads items of size bytes each, in batches.
func list[T any](d *Decoder, size int, convert func([]byte) T) []T {
	n := d.Count(size)
	out := make([]T, 0, min(n, atOnce))
	for len(out) < n && d.err == nil {
		run := d.take(size * min(n-len(out), atOnce))
		for ; len(run) > 0; run = run[size:] {
			out = append(out, convert(run))
		}
	}
	if d.err != nil {
		return nil
	}
	return out
}

// Bytes reads a list of bytes.
func (d *Decoder) Bytes() (out []byte) {
	for n := d.Count(1); len(out) < n && d.err == nil; {
		out = append(out, d.take(min(n-len(out), chunk))...)
	}
	return out
}

// String reads text.
func (d *Decoder) String() string { return string(d.Bytes()) }

// Bools reads a list of truth values.
func (d *Decoder) Bools() []bool {
	return list(d, 1, func(b []byte) bool {
		if b[0] > 1 {
			d.Fail("has a flag of value %d", b[0])
		}
		return b[0] == 1
	})
}

func float(b []byte) float64 { return math.Float64frombits(binary.LittleEndian.Uint64(b)) }

// Floats reads a list of numbers.
func (d *Decoder) Floats() []float64 { return list(d, 8, float) }

// Int32s reads a list of numbers of four bytes each.
func (d *Decoder) Int32s() []int32 {
	return list(d, 4, func(b []byte) int32 { return int32(binary.LittleEndian.Uint32(b)) })
}

// Float32s reads a list of numbers of four bytes each.
func (d *Decoder) Float32s() []float32 {
	return list(d, 4, func(b []byte) float32 { return math.Float32frombits(binary.LittleEndian.Uint32(b)) })
}

// FloatsInto reads a list into dst; their lengths must agree.
func (d *Decoder) FloatsInto(dst []float64) {
	if n := d.Count(8); n != len(dst) {
		d.Fail("holds %d numbers where %d are due", n, len(dst))
		return
	}
	for i := range dst {
		dst[i] = d.Float()
	}
}
