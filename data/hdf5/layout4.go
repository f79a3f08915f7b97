// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package hdf5

// chunked4 reads a chunked layout of version 4 or 5, which names its index.
func (p layoutParser) chunked4() (storage, error) {
	c := p.c
	flags, rank, width := c.u8(), c.u8(), c.u8()
	if width < 1 || width > 8 {
		return nil, p.bad(p.at, "the lengths of chunk axes have %d bytes, want 1 to 8", width)
	}
	dims, err := p.chunkDims(rank, width)
	if err != nil {
		return nil, err
	}
	kind := c.u8()
	var index chunkIndex
	switch kind {
	case 1:
		s := singleIndex{}
		if flags&2 != 0 {
			s.filtered, s.size, s.mask = true, c.len(), c.u32()
		}
		s.addr = c.addr()
		index = s
	case 2:
		index = implicitIndex{c.addr()}
	case 3:
		c.skip(1)
		index = fixedIndex{c.addr()}
	case 4:
		c.skip(5)
		index = extensibleIndex{c.addr()}
	case 5:
		c.skip(6)
		index = tree2Index{c.addr()}
	default:
		return nil, p.bad(p.at, "the chunk index has kind %d, want 1 to 5", kind)
	}
	s, err := p.chunked(dims, index)
	if err == nil && flags&1 != 0 {
		s.(*chunked).wholeEdges = true
	}
	return s, err
}
