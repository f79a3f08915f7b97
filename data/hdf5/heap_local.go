// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package hdf5

import "bytes"

// nameHeap holds the names of a symbol-table group. Names do not overlap, so the heap's size bounds
// the bytes read from it.
type nameHeap struct {
	*File
	addr uint64
	b    []byte
	left int
}

func (f *File) localHeap(addr uint64) (*nameHeap, error) {
	c, err := f.block(addr, uint64(8+2*f.lengthSize+f.offsetSize), "HEAP")
	if err != nil {
		return nil, err
	}
	c.skip(4)
	n := c.len()
	c.len() // free list
	b, err := f.bytes(c.addr(), n)
	return &nameHeap{f, addr, b, len(b)}, err
}

// text returns the zero-terminated text at an offset in the heap.
func (h *nameHeap) text(at uint64) (string, error) {
	if at >= uint64(len(h.b)) {
		return "", h.bad(h.addr, "a name begins at byte %d of a heap of %d bytes", at, len(h.b))
	}
	n := bytes.IndexByte(h.b[at:], 0)
	if n < 0 {
		n = len(h.b) - int(at)
	}
	if h.left -= n; h.left < 0 {
		return "", h.bad(h.addr, "the names take more than the %d bytes of their heap", len(h.b))
	}
	return string(h.b[at : int(at)+n]), nil
}
