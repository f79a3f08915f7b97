// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package hdf5

// tree1Index is the B-tree of layouts before version 4.
type tree1Index struct{ addr uint64 }

func (x tree1Index) list(s *chunked) ([]chunk, error) {
	if x.addr == undef {
		return nil, nil
	}
	rank := len(s.chunk)
	var all []chunk
	err := s.tree1(x.addr, 1, 8+8*(rank+1), func(key *cursor, child uint64) error {
		c := chunk{addr: child, size: uint64(key.u32()), mask: key.u32()}
		at := make([]uint64, rank)
		for i := range at {
			v := key.uint(8)
			if v%s.chunk[i] != 0 {
				return s.bad(x.addr, "a chunk begins at %d along axis %d, which is not a multiple of the length of chunks, %d", v, i, s.chunk[i])
			}
			at[i] = v / s.chunk[i]
		}
		return s.keep(&all, c, at)
	})
	return all, err
}

// keep adds a chunk that lies in the dataset; after a dataset has shrunk, some chunks may lie
// outside.
func (s *chunked) keep(all *[]chunk, c chunk, at []uint64) error {
	if c.addr == undef {
		return nil
	}
	var ok bool
	if c.at, ok = s.number(at); ok {
		*all = append(*all, c)
	}
	return nil
}

// tree2Index is a version 2 B-tree: more than one axis can grow.
type tree2Index struct{ addr uint64 }

func (x tree2Index) list(s *chunked) ([]chunk, error) {
	if x.addr == undef {
		return nil, nil
	}
	rank := len(s.chunk)
	var all []chunk
	err := s.tree2(x.addr, []int{10, 11}, func(r *cursor) error {
		c := chunk{addr: r.addr(), size: s.bytes}
		if extra := len(r.b) - s.offsetSize - 8*rank; extra > 0 {
			if extra < 5 || extra > 12 {
				return s.bad(x.addr, "a chunk record has the impossible size of %d bytes", len(r.b))
			}
			c.size, c.mask = r.uint(extra-4), r.u32()
		}
		at := make([]uint64, rank)
		for i := range at {
			at[i] = r.uint(8)
		}
		if r.short {
			return s.bad(x.addr, "a chunk record has the impossible size of %d bytes", len(r.b))
		}
		return s.keep(&all, c, at)
	})
	return all, err
}

// singleIndex is the index of a dataset with a single chunk.
type singleIndex struct {
	addr, size uint64
	mask       uint32
	filtered   bool
}

func (x singleIndex) list(s *chunked) ([]chunk, error) {
	c := chunk{addr: x.addr, size: s.bytes, mask: x.mask}
	if x.filtered {
		c.size = x.size
	}
	var all []chunk
	return all, s.keep(&all, c, make([]uint64, len(s.chunk)))
}

// implicitIndex is the index of a dataset with all chunks one after another.
type implicitIndex struct{ addr uint64 }

func (x implicitIndex) list(s *chunked) ([]chunk, error) {
	if x.addr == undef {
		return nil, nil
	}
	order := s.order(-1)
	n, _ := product(order.dims)
	if n > uint64(s.size)/s.bytes {
		return nil, s.bad(x.addr, "the index lists %d chunks of %d bytes, too many for a file of %d bytes", n, s.bytes, s.size)
	}
	var all []chunk
	for i := range n {
		s.keep(&all, chunk{addr: x.addr + i*s.bytes, size: s.bytes}, order.place(i))
	}
	return all, nil
}

// chunkOrder numbers chunks in the order of an array index: over the grid of the maximal shape, with
// the axis that can grow without limit first.
type chunkOrder struct {
	dims []uint64
	axis int // axis moved to the front, -1 for none
}

func (s *chunked) order(axis int) chunkOrder {
	o := chunkOrder{axis: axis}
	for i, n := range s.d.max {
		if n == undef {
			n = s.d.dims[i]
		}
		n = n/s.chunk[i] + min(n%s.chunk[i], 1)
		if i == axis {
			o.dims = append([]uint64{n}, o.dims...)
		} else {
			o.dims = append(o.dims, n)
		}
	}
	return o
}

// place returns the position of chunk i in the grid. The first axis takes the rest.
func (o chunkOrder) place(i uint64) []uint64 {
	at := make([]uint64, len(o.dims))
	for k := len(o.dims) - 1; k >= 0; k-- {
		if k == 0 || o.dims[k] == 0 {
			at[k] = i
			break
		}
		at[k] = i % o.dims[k]
		i /= o.dims[k]
	}
	if o.axis > 0 {
		first := at[0]
		copy(at, at[1:o.axis+1])
		at[o.axis] = first
	}
	return at
}

// elements reads chunk addresses from an array index, numbered from first.
// Elements of filtered chunks carry size and mask too.
type elements struct {
	*chunked
	order chunkOrder
	size  int // size of an element in bytes
	all   []chunk
}

func (e *elements) read(c *cursor, first uint64, n uint64) error {
	for i := range n {
		k := chunk{addr: c.addr(), size: e.chunked.bytes}
		if extra := e.size - e.offsetSize; extra > 0 {
			k.size, k.mask = c.uint(extra-4), c.u32()
		}
		if err := e.keep(&e.all, k, e.order.place(first+i)); err != nil {
			return err
		}
	}
	return nil
}

// entrySize checks the size of an element: an address and, with filters, a size of up to eight bytes
// and a mask of four.
func (s *chunked) entrySize(addr uint64, client, size int) error {
	extra := size - s.offsetSize
	if client == 0 && extra == 0 || client == 1 && extra >= 5 && extra <= 12 {
		return nil
	}
	return s.bad(addr, "the chunk index has elements of %d bytes for client %d, which is impossible", size, client)
}
