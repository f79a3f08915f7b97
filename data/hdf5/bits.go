// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package hdf5

import (
	"encoding/binary"
	"math/bits"
)

// bitReader reads numbers of any number of bits, the most significant bit of
// each byte first. Reading past the end sets short and returns zeros.
type bitReader struct {
	b     []byte
	buf   uint64 // next n bits, at the top; the bits below are zero
	n     int
	short bool
}

// refill fills buf to at least 56 bits unless the input ends.
func (r *bitReader) refill() {
	if r.n == 0 && len(r.b) >= 8 {
		r.buf, r.n, r.b = binary.BigEndian.Uint64(r.b), 64, r.b[8:]
		return
	}
	for r.n <= 56 && len(r.b) > 0 {
		r.buf |= uint64(r.b[0]) << (56 - r.n)
		r.b = r.b[1:]
		r.n += 8
	}
}

// read returns the next k bits, 0 to 64, as a number.
func (r *bitReader) read(k int) uint64 {
	if k > 32 {
		high := r.read(k - 32)
		return high<<32 | r.read(32)
	}
	if r.n < k {
		if r.refill(); r.n < k {
			r.short, r.n, r.buf = true, 0, 0
			return 0
		}
	}
	v := r.buf >> (64 - k) // a shift by 64 is 0 in Go
	r.buf <<= k
	r.n -= k
	return v
}

// unary returns the number of zeros before the next one, and consumes that one.
func (r *bitReader) unary() uint64 {
	total := 0
	for {
		if r.n == 0 {
			if r.refill(); r.n == 0 {
				r.short = true
				return 0
			}
		}
		if zeros := bits.LeadingZeros64(r.buf); zeros < r.n {
			r.buf <<= zeros + 1
			r.n -= zeros + 1
			return uint64(total + zeros)
		}
		total += r.n
		r.buf, r.n = 0, 0
	}
}
