// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package hdf5

import "math/bits"

// lookup3 is Bob Jenkins' hash of the same name (public domain, 2006), which
// HDF5 uses as the checksum of its newer structures and of link names.
func lookup3(k []byte) uint32 {
	a := 0xdeadbeef + uint32(len(k))
	b, c := a, a
	for len(k) > 12 {
		a, b, c = a+word(k), b+word(k[4:]), c+word(k[8:])
		a, c = (a-c)^bits.RotateLeft32(c, 4), c+b
		b, a = (b-a)^bits.RotateLeft32(a, 6), a+c
		c, b = (c-b)^bits.RotateLeft32(b, 8), b+a
		a, c = (a-c)^bits.RotateLeft32(c, 16), c+b
		b, a = (b-a)^bits.RotateLeft32(a, 19), a+c
		c, b = (c-b)^bits.RotateLeft32(b, 4), b+a
		k = k[12:]
	}
	if len(k) == 0 {
		return c
	}
	var last [12]byte
	copy(last[:], k)
	a, b, c = a+word(last[:]), b+word(last[4:]), c+word(last[8:])
	c = (c ^ b) - bits.RotateLeft32(b, 14)
	a = (a ^ c) - bits.RotateLeft32(c, 11)
	b = (b ^ a) - bits.RotateLeft32(a, 25)
	c = (c ^ b) - bits.RotateLeft32(b, 16)
	a = (a ^ c) - bits.RotateLeft32(c, 4)
	b = (b ^ a) - bits.RotateLeft32(a, 14)
	return (c ^ b) - bits.RotateLeft32(b, 24)
}

func word(k []byte) uint32 {
	return uint32(k[0]) | uint32(k[1])<<8 | uint32(k[2])<<16 | uint32(k[3])<<24
}

// fletcher32 is the checksum of the filter of that name: sums over big-endian
// 16-bit words, an odd last byte counting as the high one.
func fletcher32(b []byte) uint32 {
	var s1, s2 uint32
	add := func(w uint32) {
		s1 += w
		s2 += s1
	}
	fold := func() {
		s1 = s1&0xffff + s1>>16
		s2 = s2&0xffff + s2>>16
	}
	for len(b) > 1 {
		n := min(len(b)/2, 360)
		for range n {
			add(uint32(b[0])<<8 | uint32(b[1]))
			b = b[2:]
		}
		fold()
	}
	if len(b) == 1 {
		add(uint32(b[0]) << 8)
		fold()
	}
	fold()
	return s2<<16 | s1
}
