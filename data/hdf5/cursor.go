// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package hdf5

import "bytes"

// cursor walks over the bytes of one structure. Reading past the end sets short
// and returns zeros, so a parser checks once.
type cursor struct {
	b      []byte
	i      int
	offset int // size of an address in bytes
	length int // size of a length in bytes
	short  bool
}

func (f *File) cursor(b []byte) *cursor {
	return &cursor{b: b, offset: f.offsetSize, length: f.lengthSize}
}

func (c *cursor) take(n int) []byte {
	if n < 0 || n > len(c.b)-c.i {
		c.short = true
		c.i = len(c.b)
		return nil
	}
	s := c.b[c.i : c.i+n]
	c.i += n
	return s
}

func (c *cursor) skip(n int) { c.take(n) }

func (c *cursor) left() int { return len(c.b) - c.i }

// uint reads n bytes, 0 to 8, little endian.
func (c *cursor) uint(n int) uint64 {
	var v uint64
	for i, b := range c.take(n) {
		v |= uint64(b) << (8 * i)
	}
	return v
}

func (c *cursor) u8() int     { return int(c.uint(1)) }
func (c *cursor) u16() int    { return int(c.uint(2)) }
func (c *cursor) u32() uint32 { return uint32(c.uint(4)) }
func (c *cursor) len() uint64 { return c.uint(c.length) }

// addr reads an address; the undefined address (all bits set) is returned as undef.
func (c *cursor) addr() uint64 {
	v := c.uint(c.offset)
	if c.offset < 8 && v == 1<<(8*c.offset)-1 {
		return undef
	}
	return v
}

const undef = ^uint64(0)

// text reads text up to and including a zero byte.
func (c *cursor) text() string {
	n := bytes.IndexByte(c.b[c.i:], 0)
	if n < 0 {
		c.short = true
		return ""
	}
	s := string(c.take(n))
	c.skip(1)
	return s
}

// align moves to the next multiple of n from the start.
func (c *cursor) align(n int) {
	if r := c.i % n; r != 0 {
		c.skip(n - r)
	}
}

// trim cuts a string at its first zero byte.
func trim(b []byte) string {
	if n := bytes.IndexByte(b, 0); n >= 0 {
		b = b[:n]
	}
	return string(b)
}
