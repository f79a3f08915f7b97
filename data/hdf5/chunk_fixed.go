// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package hdf5

// fixedIndex is an array of chunk addresses: no axis grows without limit.
type fixedIndex struct{ addr uint64 }

func (x fixedIndex) list(s *chunked) ([]chunk, error) {
	if x.addr == undef {
		return nil, nil
	}
	c, err := s.checked(x.addr, uint64(12+s.lengthSize+s.offsetSize), "FAHD")
	if err != nil {
		return nil, err
	}
	version, client, size, pageBits := c.u8(), c.u8(), c.u8(), c.u8()
	n, block := c.len(), c.addr()
	if version != 0 || pageBits > 40 {
		return nil, s.bad(x.addr, "the fixed array has version %d and pages of 2^%d elements, want version 0", version, pageBits)
	}
	if err := s.entrySize(x.addr, client, size); err != nil || block == undef {
		return nil, err
	}
	if n > uint64(s.size)*8 {
		return nil, s.bad(x.addr, "the fixed array lists %d elements, too many for a file of %d bytes", n, s.size)
	}
	e := &elements{chunked: s, order: s.order(-1), size: size}
	page := uint64(1) << pageBits
	if n <= page {
		return e.plain(block, n)
	}
	return e.paged(block, n, page)
}

func (e *elements) plain(block, n uint64) ([]chunk, error) {
	head := uint64(6 + e.offsetSize)
	c, err := e.checked(block, head+n*uint64(e.size)+4, "FADB")
	if err != nil {
		return nil, err
	}
	c.i = int(head)
	err = e.read(c, 0, n)
	return e.all, err
}

// paged reads a block whose pages have checksums of their own; a bitmap, high bits first, tells
// which pages were ever written.
func (e *elements) paged(block, n, page uint64) ([]chunk, error) {
	pages := (n + page - 1) / page
	head := uint64(6+e.offsetSize) + (pages+7)/8 + 4
	c, err := e.checked(block, head, "FADB")
	if err != nil {
		return nil, err
	}
	c.i = 6 + e.offsetSize
	used := pageMap{bits: c.take(int((pages + 7) / 8))}
	at := block + head
	for p := range pages {
		k := min(page, n-p*page)
		bytes := k*uint64(e.size) + 4
		if used.has(p) {
			if err := e.page(at, p*page, k); err != nil {
				return nil, err
			}
		}
		at += bytes
	}
	return e.all, nil
}

// page reads k elements and their checksum.
func (e *elements) page(addr, first, k uint64) error {
	b, err := e.File.bytes(addr, k*uint64(e.size)+4)
	if err != nil {
		return err
	}
	c := e.cursor(b)
	if err := e.verify(addr, c); err != nil {
		return err
	}
	return e.read(c, first, k)
}
