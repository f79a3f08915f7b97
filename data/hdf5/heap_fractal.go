// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package hdf5

import "math/bits"

// fractalHeap holds links or attributes of objects that have many.
type fractalHeap struct {
	*File
	addr        uint64
	idSize      int
	width       uint64 // number of blocks per row
	start       uint64 // size of a block in the first row, in bytes
	maxDirect   uint64
	maxBits     int // number of bits of an offset
	root        uint64
	rows        int // number of rows of the root block; 0 if it is a direct block
	summed      bool
	offsetBytes int
	lengthBytes int
	huge        uint64
	filtered    bool
	blocks      map[uint64][]byte // blocks read so far, by address
	total       uint64            // bytes read so far; blocks do not overlap, so the file's size bounds them
}

func (f *File) fractalHeap(addr uint64) (*fractalHeap, error) {
	o, l := f.offsetSize, f.lengthSize
	c, err := f.block(addr, uint64(22+12*l+3*o), "FRHP")
	if err != nil {
		return nil, err
	}
	version := c.u8()
	h := &fractalHeap{File: f, addr: addr, idSize: c.u16(), blocks: map[uint64][]byte{}}
	h.filtered = c.u16() > 0
	h.summed = c.u8()&2 != 0
	maxManaged := uint64(c.u32())
	c.len() // next huge id
	h.huge = c.addr()
	c.len() // free space
	c.addr()
	c.skip(8 * l)
	h.width, h.start, h.maxDirect = uint64(c.u16()), c.len(), c.len()
	h.maxBits = c.u16()
	c.skip(2)
	h.root, h.rows = c.addr(), c.u16()
	switch {
	case version != 0:
		return nil, f.bad(addr, "the fractal heap has version %d, want 0", version)
	case h.filtered:
		return nil, f.unsupported(addr, "repack the file with h5repack", "the fractal heap is compressed by filters")
	case h.width == 0 || h.start == 0 || h.start&(h.start-1) != 0 || h.width&(h.width-1) != 0 ||
		h.maxDirect < h.start || h.maxBits < 1 || h.maxBits > 64 || h.start > 1<<32 || h.maxDirect > 1<<32 || h.idSize < 2:
		return nil, f.bad(addr, "the fractal heap has the width %d, blocks of %d to %d bytes and offsets of %d bits, which is impossible", h.width, h.start, h.maxDirect, h.maxBits)
	}
	h.offsetBytes = (h.maxBits + 7) / 8
	h.lengthBytes = min(encodedSize(h.maxDirect), encodedSize(maxManaged))
	full, err := f.bytes(addr, uint64(len(c.b)+4))
	if err != nil {
		return nil, err
	}
	return h, f.verify(addr, f.cursor(full))
}

// object returns the bytes an id stands for.
func (h *fractalHeap) object(id []byte) ([]byte, error) {
	c := h.cursor(id)
	head := c.u8()
	switch head >> 4 & 3 {
	case 0:
		at, n := c.uint(h.offsetBytes), c.uint(h.lengthBytes)
		if c.short {
			return nil, h.bad(h.addr, "a heap ID of %d bytes is too short", len(id))
		}
		return h.managed(at, n)
	case 1:
		return h.hugeObject(c)
	case 2:
		n := head&15 + 1
		if h.idSize > 17 {
			n = (head&15)<<8 | c.u8() + 1
		}
		if b := c.take(n); !c.short {
			return b, nil
		}
	}
	return nil, h.bad(h.addr, "the heap ID % x is of an unknown kind", id)
}

// hugeObject reads an object stored outside the heap's blocks.
func (h *fractalHeap) hugeObject(c *cursor) ([]byte, error) {
	if h.idSize-1 >= h.offsetSize+h.lengthSize {
		addr, n := c.addr(), c.len()
		if err := h.spend(addr, n); err != nil {
			return nil, err
		}
		return h.bytes(addr, n)
	}
	want := c.uint(min(h.lengthSize, h.idSize-1))
	var found []byte
	err := h.tree2(h.huge, []int{1}, func(r *cursor) error {
		addr, n, id := r.addr(), r.len(), r.len()
		if id != want || found != nil {
			return nil
		}
		if err := h.spend(addr, n); err != nil {
			return err
		}
		b, err := h.bytes(addr, n)
		found = b
		return err
	})
	if err == nil && found == nil {
		err = h.bad(h.huge, "the huge object %d is not in its tree", want)
	}
	return found, err
}

// managed returns the n bytes at offset at of the heap's address space, from the direct block that
// holds them.
func (h *fractalHeap) managed(at, n uint64) ([]byte, error) {
	addr, rows, start, size := h.root, h.rows, uint64(0), h.start
	for depth := 0; rows > 0; depth++ {
		if depth > 8 {
			return nil, h.bad(addr, "the fractal heap is more than 8 levels deep")
		}
		row, col, from, block := h.place(at - start)
		if row >= rows {
			return nil, h.bad(addr, "the heap offset %d is in row %d, but there are %d rows", at, row, rows)
		}
		next, err := h.child(addr, rows, row, col)
		if err != nil {
			return nil, err
		}
		addr, start, size = next, start+from, block
		rows = h.subRows(block)
	}
	b, err := h.direct(addr, size)
	if err != nil {
		return nil, err
	}
	off := at - start
	if off > uint64(len(b)) || n > uint64(len(b))-off {
		return nil, h.bad(addr, "an object of %d bytes at byte %d does not fit a heap block of %d bytes", n, off, len(b))
	}
	return b[off : off+n], nil
}

// place returns the row and column of an offset inside an indirect block, the
// offset where that child begins, and the child's size. Rows 0 and 1 have
// blocks of the starting size, each later row of twice the one before.
func (h *fractalHeap) place(at uint64) (row, col int, from, size uint64) {
	first := h.width * h.start
	if at < first {
		col := at / h.start
		return 0, int(col), col * h.start, h.start
	}
	row = bits.Len64(at / first)
	begin, size := first<<(row-1), h.start<<(row-1)
	c := (at - begin) / size
	return row, int(c), begin + c*size, size
}

// subRows returns the number of rows of a child: none for a direct block.
func (h *fractalHeap) subRows(size uint64) int {
	if size <= h.maxDirect {
		return 0
	}
	return bits.Len64(size / (h.start * h.width))
}

// child reads the address at a row and column of an indirect block.
func (h *fractalHeap) child(addr uint64, rows, row, col int) (uint64, error) {
	head := 5 + h.offsetSize + h.offsetBytes
	b, err := h.cached(addr, uint64(head)+uint64(rows)*h.width*uint64(h.offsetSize)+4, func(n uint64) (*cursor, error) {
		return h.checked(addr, n, "FHIB")
	})
	if err != nil {
		return 0, err
	}
	c := h.cursor(b)
	c.skip(head + (row*int(h.width)+col)*h.offsetSize)
	next := c.addr()
	if c.short || next == undef {
		return 0, h.bad(addr, "the fractal heap has no block at row %d, column %d", row, col)
	}
	return next, nil
}

// direct reads a block that holds objects. Offsets count from its header.
func (h *fractalHeap) direct(addr, size uint64) ([]byte, error) {
	return h.cached(addr, size, func(uint64) (*cursor, error) {
		c, err := h.block(addr, size, "FHDB")
		if err == nil && h.summed && !h.anySum {
			err = h.verifyDirect(addr, c.b)
		}
		return c, err
	})
}

// cached reads a block and keeps it. Every address is always read in the same way.
func (h *fractalHeap) cached(addr, n uint64, read func(uint64) (*cursor, error)) ([]byte, error) {
	if b, ok := h.blocks[addr]; ok {
		return b, nil
	}
	if err := h.spend(addr, n); err != nil {
		return nil, err
	}
	c, err := read(n)
	if err != nil {
		return nil, err
	}
	h.blocks[addr] = c.b
	return c.b, nil
}

// spend counts bytes that are about to be read.
func (h *fractalHeap) spend(addr, n uint64) error {
	if h.total += min(n, 1<<62); h.total > uint64(h.size) {
		return h.bad(addr, "the fractal heap has more than %d bytes in a file of %d", h.total-1, h.size)
	}
	return nil
}

// verifyDirect checks a block whose checksum stands in its header and is
// computed with that field zero.
func (h *fractalHeap) verifyDirect(addr uint64, b []byte) error {
	at := 5 + h.offsetSize + h.offsetBytes
	if len(b) < at+4 {
		return h.bad(addr, "a heap block has only %d bytes", len(b))
	}
	want := word(b[at:])
	clear(b[at : at+4])
	got := lookup3(b)
	if want != got {
		return h.bad(addr, "the checksum is %08x, but the data give %08x", want, got)
	}
	return nil
}
