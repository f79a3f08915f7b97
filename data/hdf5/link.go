// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package hdf5

import (
	"sort"
)

// LinkKind says how a name leads to an object.
type LinkKind int

// The kinds of links, numbered as in the file.
const (
	HardLink     LinkKind = 0
	SoftLink     LinkKind = 1
	ExternalLink LinkKind = 64
)

// Link is one name in a group.
type Link struct {
	Name string
	Kind LinkKind
	Path string // path that a SoftLink or ExternalLink points to
	File string // file that an ExternalLink points to
	addr uint64 // address of the object of a HardLink
}

// isGroup reports whether a header describes a group.
func (h *header) isGroup() bool {
	for _, m := range h.messages {
		if m.kind == msgTable || m.kind == msgLinkInfo || m.kind == msgLink {
			return true
		}
	}
	return false
}

// links returns the links of a group, sorted by name.
func (f *File) links(h *header) ([]Link, error) {
	f.mu.Lock()
	all, ok := f.groups[h.addr]
	f.mu.Unlock()
	if ok {
		return all, nil
	}
	all, err := f.parseLinks(h)
	if err != nil {
		return nil, err
	}
	sort.SliceStable(all, func(i, j int) bool { return all[i].Name < all[j].Name })
	f.mu.Lock()
	defer f.mu.Unlock()
	n := uint64(len(all) + 1)
	if f.groupLinks += n; f.groups == nil || f.groupLinks > uint64(f.size) {
		f.groups, f.groupLinks = map[uint64][]Link{}, n
	}
	f.groups[h.addr] = all
	return all, nil
}

func (f *File) parseLinks(h *header) ([]Link, error) {
	var all []Link
	for _, m := range h.messages {
		var more []Link
		var err error
		switch m.kind {
		case msgTable:
			more, err = f.tableLinks(m)
		case msgLinkInfo:
			more, err = f.denseLinks(m)
		case msgLink:
			var l Link
			l, err = f.parseLink(f.cursor(m.data), m.addr)
			more = []Link{l}
		}
		if err != nil {
			return nil, err
		}
		all = append(all, more...)
	}
	return all, nil
}

// tableLinks reads a group of the old kind: a B-tree of symbol nodes, names in
// a local heap.
func (f *File) tableLinks(m message) ([]Link, error) {
	c := f.cursor(m.data)
	tree, heapAddr := c.addr(), c.addr()
	if c.short {
		return nil, f.bad(m.addr, "the symbol table message has only %d bytes", len(m.data))
	}
	heap, err := f.localHeap(heapAddr)
	if err != nil {
		return nil, err
	}
	var all []Link
	seen := once{}
	err = f.tree1(tree, 0, f.lengthSize, func(_ *cursor, child uint64) error {
		if err := seen.visit(f, child); err != nil {
			return err
		}
		more, err := f.symbolNode(child, heap)
		all = append(all, more...)
		return err
	})
	return all, err
}

func (f *File) symbolNode(addr uint64, heap *nameHeap) ([]Link, error) {
	c, err := f.block(addr, 8, "SNOD")
	if err != nil {
		return nil, err
	}
	version := c.u8()
	c.skip(1)
	n := c.u16()
	if version != 1 {
		return nil, f.bad(addr, "the symbol node has version %d, want 1", version)
	}
	b, err := f.bytes(addr+8, uint64(n*(2*f.offsetSize+24)))
	if err != nil {
		return nil, err
	}
	c = f.cursor(b)
	all := make([]Link, 0, n)
	for range n {
		l, err := f.symbol(c, heap)
		if err != nil {
			return nil, err
		}
		all = append(all, l)
	}
	return all, nil
}

func (f *File) symbol(c *cursor, heap *nameHeap) (Link, error) {
	name, object, cache := c.uint(c.offset), c.addr(), c.u32()
	c.skip(4)
	scratch := f.cursor(c.take(16))
	text, err := heap.text(name)
	l := Link{Name: text, addr: object}
	if err == nil && cache == 2 {
		l.Kind = SoftLink
		l.Path, err = heap.text(uint64(scratch.u32()))
	}
	return l, err
}

// denseLinks reads the links of a group that has many: a B-tree of names that
// point into a fractal heap.
func (f *File) denseLinks(m message) ([]Link, error) {
	c := f.cursor(m.data)
	c.skip(1)
	if c.u8()&1 != 0 {
		c.skip(8) // greatest creation order
	}
	heapAddr, tree := c.addr(), c.addr()
	if c.short {
		return nil, f.bad(m.addr, "the link info message has only %d bytes", len(m.data))
	}
	if heapAddr == undef || tree == undef {
		return nil, nil
	}
	heap, err := f.fractalHeap(heapAddr)
	if err != nil {
		return nil, err
	}
	var all []Link
	err = f.tree2(tree, []int{5}, func(r *cursor) error {
		r.skip(4) // hash of the name
		b, err := heap.object(r.take(r.left()))
		if err != nil {
			return err
		}
		l, err := f.parseLink(f.cursor(b), heapAddr)
		all = append(all, l)
		return err
	})
	return all, err
}

func (f *File) parseLink(c *cursor, at uint64) (Link, error) {
	var l Link
	version, flags := c.u8(), c.u8()
	if version != 1 {
		return l, f.bad(at, "the link has version %d, want 1", version)
	}
	if flags&8 != 0 {
		l.Kind = LinkKind(c.u8())
	}
	if flags&4 != 0 {
		c.skip(8) // creation order
	}
	if flags&16 != 0 {
		c.skip(1) // character set
	}
	n := c.uint(1 << (flags & 3))
	l.Name = string(c.take(int(min(n, 1<<31))))
	switch l.Kind {
	case HardLink:
		l.addr = c.addr()
	case SoftLink:
		l.Path = string(c.take(c.u16()))
	case ExternalLink:
		e := f.cursor(c.take(c.u16()))
		e.skip(1)
		l.File, l.Path = e.text(), e.text()
		c.short = c.short || e.short
	default:
		c.skip(c.u16()) // user-defined: keep the name
	}
	if c.short {
		return l, f.bad(at, "the link message ends too early")
	}
	return l, nil
}
