// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package hdf5

// storage is the way in which the elements of a dataset are stored in the file.
type storage interface {
	// read reads a block that is not empty into dst, which holds fill values.
	read(t *trail, dst []byte, offset, count []uint64) error
	// complete reports that every element is stored, so no fill value shows.
	complete() bool
}

// layout reads a data layout message, versions 1 to 5.
func (f *File) layout(m message, d *Dataset, t *trail) (storage, error) {
	m, err := f.resolve(m)
	if err != nil {
		return nil, err
	}
	c := f.cursor(m.data)
	p := layoutParser{f, c, m.addr, d, t}
	version := c.u8()
	var s storage
	switch version {
	case 1, 2:
		s, err = p.old()
	case 3, 4, 5:
		s, err = p.current(version)
	default:
		return nil, f.unsupported(m.addr, "write it with an older library version", "the data layout has version %d, want 1 to 5", version)
	}
	if err == nil && c.short {
		err = f.bad(m.addr, "the data layout message ends too early")
	}
	return s, err
}

type layoutParser struct {
	*File
	c     *cursor
	at    uint64
	d     *Dataset
	trail *trail
}

// old reads versions 1 and 2 of the message.
func (p layoutParser) old() (storage, error) {
	c := p.c
	rank, class := c.u8(), c.u8()
	c.skip(5)
	addr := uint64(undef)
	if class != 0 {
		addr = c.addr()
	}
	dims := make([]uint64, rank)
	for i := range dims {
		dims[i] = uint64(c.u32())
	}
	switch class {
	case 0:
		return p.compact(int(c.u32()))
	case 1:
		return p.contiguous(addr, undef)
	case 2:
		if elem := int(c.u32()); !c.short && elem != p.d.typ.Size {
			return nil, p.bad(p.at, "the chunks have elements of %d bytes, but the type has %d", elem, p.d.typ.Size)
		}
		return p.chunked(dims, tree1Index{addr})
	}
	return nil, p.bad(p.at, "the data layout has class %d, want 0 to 2", class)
}

func (p layoutParser) current(version int) (storage, error) {
	c := p.c
	class := c.u8()
	switch {
	case class == 0:
		return p.compact(c.u16())
	case class == 1:
		addr := c.addr()
		return p.contiguous(addr, c.len())
	case class == 2 && version == 3:
		rank := c.u8()
		addr := c.addr()
		dims, err := p.chunkDims(rank, 4)
		if err != nil {
			return nil, err
		}
		return p.chunked(dims, tree1Index{addr})
	case class == 2:
		return p.chunked4()
	case class == 3:
		return p.virtual()
	}
	return nil, p.bad(p.at, "the data layout has class %d, want 0 to 3", class)
}

// chunkDims reads the axes of a chunk; the last one is the element's size.
func (p layoutParser) chunkDims(rank, width int) ([]uint64, error) {
	dims := make([]uint64, rank)
	for i := range dims {
		dims[i] = p.c.uint(width)
	}
	if p.c.short || rank < 2 || dims[rank-1] != uint64(p.d.typ.Size) {
		return nil, p.bad(p.at, "chunks of the shape %v with elements of %d bytes are not possible", dims, p.d.typ.Size)
	}
	return dims[:rank-1], nil
}

func (p layoutParser) compact(n int) (storage, error) {
	b := p.c.take(n)
	want, ok := product(append(p.d.dims[:len(p.d.dims):len(p.d.dims)], uint64(p.d.typ.Size)))
	if !p.c.short && (!ok || want > uint64(len(b))) {
		return nil, p.bad(p.at, "the compact data have %d bytes, but the shape %v of type %s needs more", n, p.d.dims, p.d.typ)
	}
	return compact{p.d.inMemory(b)}, nil
}

// compact is storage inside the header.
type compact struct {
	from func([]byte, []uint64, []uint64) error
}

func (s compact) complete() bool { return true }

func (s compact) read(_ *trail, dst []byte, offset, count []uint64) error {
	return s.from(dst, offset, count)
}

// contiguous checks that the file holds every byte before any is read.
func (p layoutParser) contiguous(addr, n uint64) (storage, error) {
	want, ok := product(append(p.d.dims[:len(p.d.dims):len(p.d.dims)], uint64(p.d.typ.Size)))
	s := &contiguous{p.File, p.d, addr}
	if _, elsewhere := p.d.head.first(msgFiles); elsewhere {
		return nil, p.unsupported(p.at, "copy it with h5repack", "the data are in external raw files")
	}
	if p.c.short || addr == undef || want == 0 {
		return s, nil
	}
	if !ok || n != undef && want > n {
		return nil, p.bad(p.at, "the contiguous data have %d bytes, but the shape %v of type %s needs %d", n, p.d.dims, p.d.typ, want)
	}
	return s, p.holds(addr, want)
}

// contiguous is storage in one range of the file; a dataset without data has none.
type contiguous struct {
	*File
	d    *Dataset
	addr uint64
}

func (s *contiguous) complete() bool { return s.addr != undef }

// smallRun is the length in bytes below which neighbouring runs are read together.
const smallRun = 4096

func (s *contiguous) read(_ *trail, dst []byte, offset, count []uint64) error {
	if s.addr == undef {
		return nil
	}
	size := uint64(s.d.typ.Size)
	first, last, run := undef, uint64(0), uint64(0)
	if err := runs(s.d.dims, offset, count, size, func(from, _, n uint64) error {
		first, last, run = min(first, from), max(last, from+n), n
		return nil
	}); err != nil {
		return err
	}
	if whole := last - first; run < smallRun && whole > run && whole <= max(16*uint64(len(dst)), 1<<20) {
		b, err := s.bytes(s.addr+first, whole)
		if err != nil {
			return err
		}
		return runs(s.d.dims, offset, count, size, func(from, to, n uint64) error {
			copy(dst[to:to+n], b[from-first:])
			return nil
		})
	}
	return runs(s.d.dims, offset, count, size, func(from, to, n uint64) error {
		return s.fill(dst[to:to+n], s.addr+from)
	})
}
