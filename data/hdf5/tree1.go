// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package hdf5

// tree1 walks a version 1 B-tree. Entry is called for every child of a leaf
// with the key left of it and the child's address.
func (f *File) tree1(root uint64, kind, keySize int, entry func(key *cursor, child uint64) error) error {
	w := tree1Walk{f, kind, keySize, once{}, entry}
	return w.node(root, -1)
}

type tree1Walk struct {
	*File
	kind, keySize int
	seen          once
	entry         func(key *cursor, child uint64) error
}

// node walks one node; level is the level that its parent requires, -1 at the root.
func (w *tree1Walk) node(addr uint64, level int) error {
	if err := w.seen.visit(w.File, addr); err != nil {
		return err
	}
	head := 8 + 2*w.offsetSize
	c, err := w.block(addr, uint64(head), "TREE")
	if err != nil {
		return err
	}
	kind, at, n := c.u8(), c.u8(), c.u16()
	if kind != w.kind || level >= 0 && at != level {
		return w.bad(addr, "the tree node has kind %d and level %d, want kind %d and level %d", kind, at, w.kind, level)
	}
	each := w.keySize + w.offsetSize
	b, err := w.bytes(addr+uint64(head), uint64(n*each))
	if err != nil {
		return err
	}
	for ; len(b) > 0; b = b[each:] {
		key := w.cursor(b[:each])
		child := w.cursor(b[w.keySize:each]).addr()
		if at > 0 {
			err = w.node(child, at-1)
		} else {
			err = w.entry(key, child)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
