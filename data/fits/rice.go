// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package fits

import (
	"errors"
	"math/bits"
)

var errRice = errors.New("the Rice-compressed data end too early or contain an impossible number: fetch the file again")

// unrice decodes n integers of size bytes (1, 2 or 4), compressed in blocks of the given number of
// pixels, into big-endian bytes. Differences between neighbours are coded: each block begins with
// the number of low bits that are stored as they are; the rest is in unary.
//
// Reference: FITS Standard 4.0, section 10.4.1.
func unrice(src []byte, n, size, blocksize int) ([]byte, error) {
	fsbits, fsmax := 4, 14
	switch size {
	case 1:
		fsbits, fsmax = 3, 6
	case 4:
		fsbits, fsmax = 5, 25
	}
	width := 8 * size
	if len(src) < size {
		return nil, errRice
	}
	var last uint32
	for _, b := range src[:size] {
		last = last<<8 | uint32(b)
	}
	r := bitReader{src: src[size:]}
	// Each pixel takes at least one bit but for those of a block of equal pixels.
	if blocksize < 1 || (n+blocksize-1)/blocksize*fsbits > 8*len(r.src)+fsbits {
		return nil, errRice
	}
	out := make([]byte, 0, n*size)
	for i := 0; i < n; {
		end := min(i+blocksize, n)
		fs, ok := r.bits(fsbits)
		if !ok {
			return nil, errRice
		}
		for split := int(fs) - 1; i < end; i++ {
			var diff uint32
			switch {
			case split < 0: // all differences are 0
			case split == fsmax:
				diff, ok = r.bits(width)
			default:
				zeros, ok2 := r.zeros()
				low, ok1 := r.bits(split)
				diff, ok = uint32(zeros)<<split|low, ok1 && ok2
			}
			if !ok {
				return nil, errRice
			}
			if diff&1 == 0 {
				last += diff >> 1
			} else {
				last += ^(diff >> 1)
			}
			for b := size - 1; b >= 0; b-- {
				out = append(out, byte(last>>(8*b)))
			}
		}
	}
	return out, nil
}

// bitReader returns bits, the most significant of a byte first.
type bitReader struct {
	src  []byte
	hold uint64
	n    int
}

func (r *bitReader) fill() {
	for r.n <= 56 && len(r.src) > 0 {
		r.hold |= uint64(r.src[0]) << (56 - r.n)
		r.src, r.n = r.src[1:], r.n+8
	}
}

func (r *bitReader) bits(n int) (uint32, bool) {
	if n == 0 {
		return 0, true
	}
	if r.n < n {
		if r.fill(); r.n < n {
			return 0, false
		}
	}
	v := uint32(r.hold >> (64 - n))
	r.hold, r.n = r.hold<<n, r.n-n
	return v, true
}

// zeros counts the zeros before the next one, and takes that too.
func (r *bitReader) zeros() (int, bool) {
	total := 0
	for {
		if r.n == 0 {
			if r.fill(); r.n == 0 {
				return 0, false
			}
		}
		z := bits.LeadingZeros64(r.hold)
		if z < r.n {
			r.hold <<= z + 1
			r.n -= z + 1
			return total + z, true
		}
		total += r.n
		r.hold, r.n = 0, 0
	}
}
