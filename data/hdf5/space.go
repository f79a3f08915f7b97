// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package hdf5

import "math/bits"

const maxRank = 32

// space is a dataspace: the axes of a dataset or attribute.
type space struct {
	null bool // whether the dataspace is null: without elements and axes
	dims []uint64
	max  []uint64 // limits to growth, undef for none; same length as dims
}

func (f *File) parseSpace(c *cursor, at uint64) (space, error) {
	var s space
	version, rank, flags := c.u8(), c.u8(), c.u8()
	switch version {
	case 1:
		c.skip(5)
	case 2:
		s.null = c.u8() == 2
	default:
		return s, f.bad(at, "the dataspace has version %d, want 1 or 2", version)
	}
	if rank > maxRank {
		return s, f.bad(at, "the dataspace has %d axes, want at most %d", rank, maxRank)
	}
	for range rank {
		s.dims = append(s.dims, c.len())
	}
	s.max = s.dims
	if flags&1 != 0 {
		s.max = nil
		for range rank {
			s.max = append(s.max, c.growth())
		}
	}
	if c.short {
		return s, f.bad(at, "the dataspace message ends too early")
	}
	for i, d := range s.dims {
		if d > 1<<48 || s.max[i] < d {
			return s, f.bad(at, "axis %d has the length %d, but the limit %d", i, d, s.max[i])
		}
	}
	return s, nil
}

// growth reads a limit to growth; all bits set means none.
func (c *cursor) growth() uint64 {
	v := c.len()
	if c.length < 8 && v == 1<<(8*c.length)-1 {
		return undef
	}
	return v
}

// product returns the product of the lengths; ok is false above 2^62.
func product(dims []uint64) (n uint64, ok bool) {
	n = 1
	ok = true
	for _, d := range dims {
		hi, lo := bits.Mul64(n, d)
		if hi != 0 || lo > 1<<62 {
			ok = false // a later zero still makes the product 0
			lo = 1 << 62
		}
		if d == 0 {
			return 0, true
		}
		n = lo
	}
	return n, ok
}
