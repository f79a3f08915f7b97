// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package hdf5

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/euryale-dev/euryale/internal/deflate"
)

// Layout says how a dataset is stored. The zero value stores one axis (or a scalar) in one piece,
// uncompressed.
type Layout struct {
	Shape    []int // lengths of the axes in C order; default: the length of the slice
	Chunk    []int // shape of a chunk; default: about 256 KiB if any option below needs chunks
	MaxShape []int // largest shape to which others may extend the dataset, -1 for no limit; default: Shape
	Gzip     int   // compression level, from 1 (fast) to 9 (small); default 0, which means none
	// Shuffle groups the bytes of elements by position before Gzip, which improves the compression of
	// numbers.
	Shuffle bool
	// Fletcher32 stores a checksum for every chunk.
	Fletcher32  bool
	FixedString int // number of bytes of each string, padded with zeros; default 0, which means variable length
}

// dataNode is the data part of a dataset being written.
type dataNode struct {
	value
	layout Layout
	max    []uint64
	chunk  []uint64 // shape of a chunk; nil if contiguous
	addr   uint64   // address of the data or of the chunk index; undef for none
}

// chunkTarget is the size in bytes of the chunks Write chooses.
const chunkTarget = 256 << 10

// Write makes a dataset from a number, bool, string, FixedString, Ref or a slice of these, together
// with the groups above it.
func (w *Writer) Write(key string, data any, l Layout) error {
	if w.err != nil {
		return w.err
	}
	v, err := encode(data, l.Shape, l.FixedString)
	if err != nil {
		return w.fail(key, "%v", err)
	}
	d := &dataNode{value: v, layout: l, addr: undef}
	if err := d.settle(); err != nil {
		return w.fail(key, "%v", err)
	}
	if err := w.add(key, &node{kind: datasetNode, data: d}); err != nil {
		return err
	}
	if !v.deferred() {
		w.store(d)
		d.raw = nil
	}
	return w.err
}

// settle checks the layout and chooses chunks.
func (d *dataNode) settle() error {
	l, rank := d.layout, len(d.dims)
	if l.Gzip < 0 || l.Gzip > 9 {
		return fmt.Errorf("Layout.Gzip is %d, want 0 to 9", l.Gzip)
	}
	d.max = d.dims
	if l.MaxShape != nil {
		if len(l.MaxShape) != rank {
			return fmt.Errorf("Layout.MaxShape %v does not have the %d axes of the shape %v: give one limit for each axis", l.MaxShape, rank, d.dims)
		}
		d.max = nil
		for i, n := range l.MaxShape {
			if n >= 0 && uint64(n) < d.dims[i] {
				return fmt.Errorf("Layout.MaxShape %v is less than the shape %v: raise it", l.MaxShape, d.dims)
			}
			d.max = append(d.max, uint64(int64(n)))
		}
	}
	plain := l.Chunk == nil && l.Gzip == 0 && !l.Shuffle && !l.Fletcher32 && l.MaxShape == nil
	if plain || rank == 0 || d.bytes() == 0 && l.MaxShape == nil {
		return nil
	}
	if l.Chunk == nil {
		d.chunk = chooseChunk(d.dims, d.size)
		return nil
	}
	if len(l.Chunk) != rank {
		return fmt.Errorf("Layout.Chunk %v does not have the %d axes of the shape %v: give one length for each axis", l.Chunk, rank, d.dims)
	}
	bytes := uint64(d.size)
	for i, n := range l.Chunk {
		if n < 1 || n > 1<<31 || bytes*uint64(n) >= 1<<32 {
			return fmt.Errorf("Layout.Chunk is %v: want positive lengths and less than 4 GiB in all", l.Chunk)
		}
		bytes *= uint64(n)
		d.chunk = append(d.chunk, uint64(n))
		if d.max[i] != undef {
			d.chunk[i] = min(d.chunk[i], max(d.max[i], 1))
		}
	}
	return nil
}

// chooseChunk halves the longest axis until a chunk is near the target size.
func chooseChunk(dims []uint64, size int) []uint64 {
	c := slices.Clone(dims)
	for i := range c {
		c[i] = max(c[i], 1)
	}
	for {
		n, ok := product(append(slices.Clone(c), uint64(size)))
		longest := slices.Index(c, slices.Max(c))
		if ok && n <= chunkTarget || c[longest] == 1 {
			return c
		}
		c[longest] = (c[longest] + 1) / 2
	}
}

// store writes the elements of a dataset.
func (w *Writer) store(d *dataNode) {
	if d.chunk == nil {
		if len(d.raw) > 0 {
			d.addr = w.append(d.raw)
		}
		return
	}
	var keys []chunkKey
	grid, strideOf := make([]uint64, len(d.dims)), strides(d.dims, uint64(d.size))
	for i, n := range d.chunk {
		if grid[i] = (d.dims[i] + n - 1) / n; grid[i] == 0 {
			return
		}
	}
	total, _ := product(append(slices.Clone(d.chunk), uint64(d.size)))
	buf := make([]byte, total)
	var pack packer
	odometer(grid, func(at []uint64, _ uint64) error {
		d.cut(buf, at, strideOf)
		b, err := pack.run(buf, d)
		if err != nil {
			w.err = fmt.Errorf("hdf5: %w", err)
			return err
		}
		k := chunkKey{size: uint32(len(b)), child: w.append(b)}
		for i, v := range at {
			k.offset = append(k.offset, v*d.chunk[i])
		}
		keys = append(keys, k)
		return w.err
	})
	d.addr = w.chunkTree(keys, d)
}

// cut copies one chunk out of the elements; parts beyond the dataset are zero.
func (d *dataNode) cut(buf []byte, at, strideOf []uint64) {
	clear(buf)
	last := len(d.dims) - 1
	from, n := make([]uint64, last+1), make([]uint64, last+1)
	for i, v := range at {
		from[i] = v * d.chunk[i]
		n[i] = min(d.chunk[i], d.dims[i]-from[i])
	}
	target := strides(d.chunk, uint64(d.size))
	run := n[last] * uint64(d.size)
	odometer(n[:last], func(k []uint64, _ uint64) error {
		a, z := from[last]*strideOf[last], uint64(0)
		for i, v := range k {
			a += (from[i] + v) * strideOf[i]
			z += v * target[i]
		}
		copy(buf[z:z+run], d.raw[a:a+run])
		return nil
	})
}

// packer applies filters.
type packer struct {
	shuffled []byte
	out      bytes.Buffer
	zlib     deflate.Writer
}

func (p *packer) run(b []byte, d *dataNode) ([]byte, error) {
	if d.layout.Shuffle {
		b = p.shuffle(b, d.size)
	}
	if d.layout.Gzip > 0 {
		p.out.Reset()
		if p.zlib == nil {
			p.zlib, _ = deflate.NewWriter(&p.out, d.layout.Gzip)
		} else {
			p.zlib.Reset(&p.out)
		}
		if _, err := p.zlib.Write(b); err != nil {
			return nil, err
		}
		if err := p.zlib.Close(); err != nil {
			return nil, err
		}
		b = p.out.Bytes()
	}
	if d.layout.Fletcher32 {
		b = le(slices.Clone(b), 4, uint64(fletcher32(b)))
	}
	return b, nil
}

// shuffle groups bytes by their position in the element.
func (p *packer) shuffle(b []byte, size int) []byte {
	p.shuffled = slices.Grow(p.shuffled[:0], len(b))[:len(b)]
	n := len(b) / size
	for k := range size {
		to := p.shuffled[k*n : (k+1)*n]
		for i := range to {
			to[i] = b[i*size+k]
		}
	}
	return p.shuffled
}
