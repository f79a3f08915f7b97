// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package hdf5

import (
	"slices"
	"sort"
	"sync"
)

// chunk is a piece of a dataset and its place in the file.
type chunk struct {
	at   uint64 // index in the grid of chunks, last axis fastest
	addr uint64
	size uint64 // number of bytes stored
	mask uint32 // filters that were skipped, bit i for the i-th
}

// chunkIndex lists the stored chunks.
type chunkIndex interface {
	list(c *chunked) ([]chunk, error)
}

// chunked is storage in pieces of equal shape.
type chunked struct {
	*File
	d     *Dataset
	chunk []uint64 // shape of a chunk
	grid  []uint64 // number of chunks along each axis
	bytes uint64   // size of an unfiltered chunk in bytes
	index chunkIndex
	// wholeEdges says that chunks which extend beyond the dataset are not filtered.
	wholeEdges bool

	once sync.Once
	list []chunk // stored chunks in order of at
	err  error
}

func (p layoutParser) chunked(dims []uint64, index chunkIndex) (storage, error) {
	if p.c.short || len(dims) != len(p.d.dims) || len(dims) == 0 {
		return nil, p.bad(p.at, "the chunks have the shape %v, but the dataset has the shape %v", dims, p.d.dims)
	}
	s := &chunked{File: p.File, d: p.d, chunk: dims, index: index}
	for i, n := range dims {
		if n == 0 || n > 1<<40 {
			return nil, p.bad(p.at, "the chunks have the impossible shape %v", dims)
		}
		s.grid = append(s.grid, (p.d.dims[i]+n-1)/n)
	}
	n, ok := product(append(slices.Clone(dims), uint64(p.d.typ.Size)))
	if !ok || n > 1<<40 {
		return nil, p.bad(p.at, "chunks of the shape %v with elements of %d bytes are too large", dims, p.d.typ.Size)
	}
	s.bytes = n
	if _, ok := product(s.grid); !ok {
		return nil, p.bad(p.at, "a dataset of the shape %v has too many chunks of the shape %v", p.d.dims, dims)
	}
	return s, nil
}

// load reads the index, once.
func (s *chunked) load() ([]chunk, error) {
	s.once.Do(func() {
		s.list, s.err = s.index.list(s)
		sort.SliceStable(s.list, func(i, j int) bool { return s.list[i].at < s.list[j].at })
	})
	return s.list, s.err
}

func (s *chunked) complete() bool {
	list, err := s.load()
	n, ok := product(s.grid)
	return err == nil && ok && uint64(len(list)) >= n
}

// find returns the stored chunk with the given index in the grid.
func find(list []chunk, at uint64) (chunk, bool) {
	i := sort.Search(len(list), func(i int) bool { return list[i].at >= at })
	if i < len(list) && list[i].at == at {
		return list[i], true
	}
	return chunk{}, false
}

// number returns the index of a chunk in the grid; ok is false outside the grid.
func (s *chunked) number(at []uint64) (n uint64, ok bool) {
	for i, v := range at {
		if v >= s.grid[i] {
			return 0, false
		}
		n = n*s.grid[i] + v
	}
	return n, true
}

// read reads the chunks that overlap a block.
func (s *chunked) read(t *trail, dst []byte, offset, count []uint64) error {
	list, err := s.load()
	if err != nil || len(list) == 0 {
		return err
	}
	rank := len(s.chunk)
	first, n := make([]uint64, rank), make([]uint64, rank)
	for i := range first {
		first[i] = offset[i] / s.chunk[i]
		n[i] = (offset[i]+count[i]-1)/s.chunk[i] - first[i] + 1
	}
	at := make([]uint64, rank)
	var buf unpacker
	return odometer(n, func(rel []uint64, _ uint64) error {
		for i := range at {
			at[i] = first[i] + rel[i]
		}
		number, _ := s.number(at)
		c, ok := find(list, number)
		if !ok {
			return nil
		}
		if !t.spend(s.bytes) {
			return s.bad(c.addr, "the chunks hold more than the limit of %d bytes, which guards against files that declare more than they hold", s.MaxBytes)
		}
		b, err := s.unpack(&buf, c, at)
		if err != nil {
			return err
		}
		s.copyOut(dst, b, at, offset, count)
		return nil
	})
}

// unpack reads a chunk and undoes its filters. The result is valid until the
// next call.
func (s *chunked) unpack(buf *unpacker, c chunk, at []uint64) ([]byte, error) {
	filters := s.d.filters
	if s.wholeEdges && s.onEdge(at) {
		filters = nil
	}
	if len(filters) == 0 && c.size != s.bytes {
		return nil, s.bad(c.addr, "a chunk has %d bytes in the file, want %d", c.size, s.bytes)
	}
	if err := s.holds(c.addr, c.size); err != nil {
		return nil, err
	}
	buf.raw = slices.Grow(buf.raw[:0], int(c.size))[:c.size]
	if err := s.fill(buf.raw, c.addr); err != nil {
		return nil, err
	}
	b, err := buf.run(buf.raw, filters, c.mask, s.bytes)
	if err != nil {
		e := s.bad(c.addr, "the chunk %v of %d bytes cannot be decompressed", at, c.size)
		e.Err = err
		if unsupportedFilter(err) {
			e.Try = "rewrite it with h5repack -f NONE or GZIP"
		}
		return nil, e
	}
	return b, nil
}

// onEdge reports whether a chunk extends beyond the dataset.
func (s *chunked) onEdge(at []uint64) bool {
	for i, v := range at {
		if (v+1)*s.chunk[i] > s.d.dims[i] {
			return true
		}
	}
	return false
}

// copyOut copies the elements that chunk and block have in common.
func (s *chunked) copyOut(dst, b []byte, at, offset, count []uint64) {
	rank := len(s.chunk)
	size := uint64(s.d.typ.Size)
	shared, from, to := make([]uint64, rank), make([]uint64, rank), make([]uint64, rank)
	for i := range shared {
		begin := at[i] * s.chunk[i]
		lo, hi := max(begin, offset[i]), min(begin+s.chunk[i], offset[i]+count[i])
		shared[i], from[i], to[i] = hi-lo, lo-begin, lo-offset[i]
	}
	run := shared[rank-1] * size
	source, target := strides(s.chunk, size), strides(count, size)
	odometer(shared[:rank-1], func(k []uint64, _ uint64) error {
		a, z := from[rank-1]*size, to[rank-1]*size
		for i, v := range k {
			a += (from[i] + v) * source[i]
			z += (to[i] + v) * target[i]
		}
		copy(dst[z:z+run], b[a:a+run])
		return nil
	})
}

// strides returns the number of bytes from one index to the next along each axis.
func strides(dims []uint64, size uint64) []uint64 {
	s := make([]uint64, len(dims))
	for i := len(dims) - 1; i >= 0; i-- {
		s[i] = size
		size *= dims[i]
	}
	return s
}
