// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package hdf5

import "math/bits"

// extensibleIndex is an array of chunk addresses that grows with one axis: a
// few elements in the index block, then data blocks, then super blocks that
// point at data blocks. Super block u has 2^(u/2) data blocks of
// 2^((u+1)/2) times the smallest number of elements; the first super blocks
// are part of the index block.
type extensibleIndex struct{ addr uint64 }

type extensible struct {
	elements
	seen     once
	maxBits  int
	inIndex  uint64 // number of elements in the index block
	minimum  uint64 // number of elements of the smallest data block
	pointers uint64 // number of data blocks of the smallest super block
	page     uint64 // number of elements of a page
	offset   int    // size of an offset in bytes
	next     uint64 // number of the next element
}

func (x extensibleIndex) list(s *chunked) ([]chunk, error) {
	if x.addr == undef {
		return nil, nil
	}
	c, err := s.checked(x.addr, uint64(16+6*s.lengthSize+s.offsetSize), "EAHD")
	if err != nil {
		return nil, err
	}
	version, client := c.u8(), c.u8()
	e := &extensible{seen: once{}}
	size := c.u8()
	e.elements = elements{chunked: s, order: s.order(s.growing()), size: size}
	e.maxBits, e.inIndex, e.minimum, e.pointers = c.u8(), uint64(c.u8()), uint64(c.u8()), uint64(c.u8())
	pageBits := c.u8()
	c.skip(6 * s.lengthSize)
	block := c.addr()
	if version != 0 || e.maxBits > 64 || pageBits > 40 || !power2(e.minimum) || !power2(e.pointers) || e.pointers < 2 ||
		bits.Len64(e.minimum)-1 > e.maxBits {
		return nil, s.bad(x.addr, "the extensible array has version %d, 2^%d elements, blocks of %d, %d pointers and pages of 2^%d, which is impossible",
			version, e.maxBits, e.minimum, e.pointers, pageBits)
	}
	if err := s.entrySize(x.addr, client, size); err != nil || block == undef {
		return nil, err
	}
	e.page, e.offset = 1<<pageBits, (e.maxBits+7)/8
	err = e.indexBlock(block)
	return e.all, err
}

func power2(n uint64) bool { return n != 0 && n&(n-1) == 0 }

// growing returns the axis that can grow without limit.
func (s *chunked) growing() int {
	for i, n := range s.d.max {
		if n == undef {
			return i
		}
	}
	return -1
}

// indexBlock reads the elements in the index block, then follows its pointers.
func (e *extensible) indexBlock(addr uint64) error {
	direct := 2 * (e.pointers - 1)                               // data blocks
	first := 2 * (bits.Len64(e.pointers) - 1)                    // super blocks they make up
	super := max(0, 1+e.maxBits-(bits.Len64(e.minimum)-1)-first) // super blocks
	head := uint64(6 + e.offsetSize)
	n := head + e.inIndex*uint64(e.size) + (direct+uint64(super))*uint64(e.offsetSize) + 4
	c, err := e.checked(addr, n, "EAIB")
	if err != nil {
		return err
	}
	c.i = int(head)
	if err := e.read(c, 0, e.inIndex); err != nil {
		return err
	}
	e.next = e.inIndex
	for u := range first {
		for range 1 << (u / 2) {
			if err := e.dataBlock(c.addr(), e.blockLen(u), pageMap{}); err != nil {
				return err
			}
		}
	}
	for u := first; u < first+super; u++ {
		if err := e.superBlock(c.addr(), u); err != nil {
			return err
		}
	}
	return nil
}

// blockLen is the number of elements in each data block of super block u.
func (e *extensible) blockLen(u int) uint64 { return e.minimum << ((u + 1) / 2) }

func (e *extensible) superBlock(addr uint64, u int) error {
	blocks, n := uint64(1)<<(u/2), e.blockLen(u)
	if addr == undef {
		e.next += blocks * n
		return nil
	}
	if err := e.seen.visit(e.File, addr); err != nil {
		return err
	}
	maps := uint64(0) // bytes of the bitmap of written pages, per data block
	if n > e.page {
		maps = (n/e.page + 7) / 8
	}
	head := uint64(6 + e.offsetSize + e.offset)
	if blocks > uint64(e.File.size) || maps > uint64(e.File.size) {
		return e.bad(addr, "a super block lists %d data blocks, too many for a file of %d bytes", blocks, e.File.size)
	}
	c, err := e.checked(addr, head+blocks*(maps+uint64(e.offsetSize))+4, "EASB")
	if err != nil {
		return err
	}
	c.i = int(head)
	used := c.take(int(blocks * maps))
	for i := range blocks {
		if err := e.dataBlock(c.addr(), n, pageMap{used, i * (n / e.page)}); err != nil {
			return err
		}
	}
	return nil
}

// pageMap tells which pages of a data block were written: one bit each, high bits first, the blocks
// of a super block one after another.
type pageMap struct {
	bits  []byte
	first uint64
}

func (m pageMap) has(page uint64) bool {
	page += m.first
	return m.bits[page/8]&(0x80>>(page%8)) != 0
}

// dataBlock reads n elements, in pages if there is a map of them.
func (e *extensible) dataBlock(addr, n uint64, used pageMap) error {
	first := e.next
	e.next += n
	if addr == undef {
		return nil
	}
	if err := e.seen.visit(e.File, addr); err != nil {
		return err
	}
	head := uint64(6 + e.offsetSize + e.offset)
	if n > uint64(e.File.size) {
		return e.bad(addr, "a data block lists %d elements, too many for a file of %d bytes", n, e.File.size)
	}
	if len(used.bits) == 0 {
		c, err := e.checked(addr, head+n*uint64(e.size)+4, "EADB")
		if err != nil {
			return err
		}
		c.i = int(head)
		return e.read(c, first, n)
	}
	if _, err := e.checked(addr, head+4, "EADB"); err != nil {
		return err
	}
	at := addr + head + 4
	for p := range n / e.page {
		if used.has(p) {
			if err := e.elements.page(at, first+p*e.page, e.page); err != nil {
				return err
			}
		}
		at += e.page*uint64(e.size) + 4
	}
	return nil
}
