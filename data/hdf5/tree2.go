// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package hdf5

import "math/bits"

// tree2 walks a version 2 B-tree in order. Record is called with the bytes of
// every record of the wanted kinds.
func (f *File) tree2(addr uint64, kinds []int, record func(*cursor) error) error {
	c, err := f.checked(addr, uint64(4+2+4+2+2+2+f.offsetSize+2+f.lengthSize+4), "BTHD")
	if err != nil {
		return err
	}
	version, kind := c.u8(), c.u8()
	w := tree2Walk{File: f, kind: kind, nodeSize: int(c.u32()), recordSize: c.u16(), seen: once{}, record: record}
	depth := c.u16()
	c.skip(2)
	root, n := c.addr(), c.u16()
	ok := false
	for _, k := range kinds {
		ok = ok || k == kind
	}
	switch {
	case version != 0 || !ok:
		return f.bad(addr, "the tree has version %d and kind %d, want version 0 and kind %v", version, kind, kinds)
	case n == 0 || root == undef:
		return nil
	case w.recordSize == 0 || w.nodeSize < 10+w.recordSize || int64(w.nodeSize) > f.size || depth > 32:
		return f.bad(addr, "the tree has the depth %d, nodes of %d bytes and records of %d bytes, which is impossible", depth, w.nodeSize, w.recordSize)
	}
	w.levels(depth)
	return w.node(root, n, depth)
}

type tree2Walk struct {
	*File
	kind, nodeSize, recordSize int
	countSize                  int   // size of a child's record count in bytes
	totalSize                  []int // by level, size in bytes of the count of all records below a child
	seen                       once
	record                     func(*cursor) error
}

// levels computes the sizes of the counters, which follow from the largest number of records that a
// node of each level could hold.
func (w *tree2Walk) levels(depth int) {
	most := uint64(w.nodeSize-10) / uint64(w.recordSize)
	w.countSize = encodedSize(most)
	all := most
	w.totalSize = []int{0}
	for range depth {
		pointer := w.offsetSize + w.countSize + w.totalSize[len(w.totalSize)-1]
		most = uint64(max(w.nodeSize-10-pointer, 0)) / uint64(w.recordSize+pointer)
		hi, lo := bits.Mul64(most+1, all)
		if all = lo + most; hi != 0 || all < most {
			all = 1<<64 - 1
		}
		w.totalSize = append(w.totalSize, encodedSize(all))
	}
}

// encodedSize returns the number of bytes that hold numbers up to n.
func encodedSize(n uint64) int { return (bits.Len64(n|1)-1)/8 + 1 }

// node walks a node of n records; depth 0 is a leaf.
func (w *tree2Walk) node(addr uint64, n, depth int) error {
	if err := w.seen.visit(w.File, addr); err != nil {
		return err
	}
	size, sig := 6+n*w.recordSize+4, "BTLF"
	if depth > 0 {
		size, sig = size+(n+1)*(w.offsetSize+w.countSize+w.totalSize[depth-1]), "BTIN"
	}
	if size > w.nodeSize {
		return w.bad(addr, "a tree node of %d records needs %d bytes, but nodes have %d", n, size, w.nodeSize)
	}
	c, err := w.checked(addr, uint64(size), sig)
	if err != nil {
		return err
	}
	if v, k := c.u8(), c.u8(); v != 0 || k != w.kind {
		return w.bad(addr, "the tree node has version %d and kind %d, want version 0 and kind %d", v, k, w.kind)
	}
	records := c.take(n * w.recordSize)
	for i := range n + 1 {
		if depth > 0 {
			child, count := c.addr(), c.uint(w.countSize)
			c.skip(w.totalSize[depth-1])
			if err := w.node(child, int(count), depth-1); err != nil {
				return err
			}
		}
		if i < n {
			if err := w.record(w.cursor(records[i*w.recordSize:][:w.recordSize])); err != nil {
				return err
			}
		}
	}
	return nil
}
