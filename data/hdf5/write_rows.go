// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package hdf5

import (
	"fmt"
	"slices"
)

// Rows is a dataset that is written a row at a time, for arrays that do not fit into memory.
type Rows struct {
	w    *Writer
	path string
	d    *dataNode
	keys []chunkKey
	done uint64
	pack packer
	buf  []byte
}

// Rows makes a dataset whose rows along the first axis are appended one after another. The argument
// like is a slice of any length that has the type of the elements. Layout.Shape is required, and a
// chunk holds one row. Close fails unless every row has been appended.
func (w *Writer) Rows(key string, like any, l Layout) (*Rows, error) {
	if w.err != nil {
		return nil, w.err
	}
	v, _, err := elementsOf(like, l.FixedString)
	if err == nil && v.deferred() {
		err = fmt.Errorf("elements of variable length cannot be written by rows: set Layout.FixedString, or use Write")
	}
	if err == nil && (len(l.Shape) < 2 || len(l.Shape) > maxRank) {
		err = fmt.Errorf("Layout.Shape is %v: rows need at least two axes", l.Shape)
	}
	if err != nil {
		return nil, w.fail(key, "%v", err)
	}
	v.raw, v.dims = nil, nil
	for _, n := range l.Shape {
		if n < 1 {
			return nil, w.fail(key, "Layout.Shape is %v: want positive lengths", l.Shape)
		}
		v.dims = append(v.dims, uint64(n))
	}
	inner := l.Chunk
	if inner == nil {
		for _, n := range chooseChunk(v.dims[1:], v.size) {
			inner = append(inner, int(n))
		}
		inner = slices.Insert(inner, 0, 1)
	}
	l.Chunk = inner
	d := &dataNode{value: v, layout: l, addr: undef}
	if err := d.settle(); err != nil {
		return nil, w.fail(key, "%v", err)
	}
	if d.chunk[0] != 1 {
		return nil, w.fail(key, "Layout.Chunk is %v: want 1 along the first axis, since a chunk holds one row", l.Chunk)
	}
	if err := w.add(key, &node{kind: datasetNode, data: d}); err != nil {
		return nil, err
	}
	total, _ := product(append(slices.Clone(d.chunk), uint64(d.size)))
	r := &Rows{w: w, path: key, d: d, buf: make([]byte, total)}
	w.rows = append(w.rows, r)
	return r, nil
}

// Append writes the next row, given as a slice of its elements.
func (r *Rows) Append(row any) error {
	w, d := r.w, r.d
	if w.err != nil {
		return w.err
	}
	if r.done == d.dims[0] {
		return w.fail(r.path, "all of its %d rows have been written: make Layout.Shape larger", r.done)
	}
	v, err := encode(row, r.d.layout.Shape[1:], d.layout.FixedString)
	if err != nil {
		return w.fail(r.path, "row %d: %v", r.done, err)
	}
	if string(v.typ) != string(d.typ) {
		return w.fail(r.path, "the elements of row %d differ in type from those of the dataset: want the same type", r.done)
	}
	one := &dataNode{value: v, layout: d.layout, chunk: d.chunk[1:]}
	grid := make([]uint64, len(d.dims)-1)
	for i, n := range one.chunk {
		grid[i] = (v.dims[i] + n - 1) / n
	}
	strideOf := strides(v.dims, uint64(d.size))
	odometer(grid, func(at []uint64, _ uint64) error {
		one.cut(r.buf, at, strideOf)
		b, err := r.pack.run(r.buf, one)
		if err != nil {
			w.err = fmt.Errorf("hdf5: %w", err)
			return err
		}
		k := chunkKey{size: uint32(len(b)), offset: []uint64{r.done}, child: w.append(b)}
		for i, n := range at {
			k.offset = append(k.offset, n*one.chunk[i])
		}
		r.keys = append(r.keys, k)
		return w.err
	})
	if r.done++; r.done == d.dims[0] && w.err == nil {
		d.addr = w.chunkTree(r.keys, d)
		r.keys = nil
	}
	return w.err
}

// complete fails for datasets that lack rows.
func (w *Writer) complete() {
	for _, r := range w.rows {
		if r.done < r.d.dims[0] {
			w.fail(r.path, "only %d of its %d rows have been written: append all of them before Close", r.done, r.d.dims[0])
		}
	}
}
