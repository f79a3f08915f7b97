// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package hdf5

import (
	"slices"
	"strings"
)

// names returns the names of the members of a group, sorted by their bytes.
func (n *node) names() []string {
	var all []string
	for name := range n.children {
		all = append(all, name)
	}
	slices.Sort(all)
	return all
}

// byMessages reports whether the links of a group must be messages, because symbol tables cannot
// hold external links.
func (n *node) byMessages() bool {
	for _, c := range n.children {
		if c.kind == externalNode {
			return true
		}
	}
	return false
}

// symbolTable writes the names, symbol nodes and tree of a group.
func (w *Writer) symbolTable(n *node) {
	heap := make([]byte, 8) // the empty name at 0
	text := func(s string) uint64 {
		at := uint64(len(heap))
		heap = pad8(append(append(heap, s...), 0))
		return at
	}
	var entries []treeEntry
	key := le(nil, 8, 0)
	names := n.names()
	for len(names) > 0 {
		part := names[:min(len(names), 2*symbolRank)]
		names = names[len(part):]
		b := append([]byte("SNOD\x01\x00"), byte(len(part)), 0)
		last := uint64(0)
		for _, name := range part {
			last = text(name)
			b = append(b, n.children[name].symbol(last, text)...)
		}
		b = append(b, make([]byte, 8+2*symbolRank*40-len(b))...)
		entries = append(entries, treeEntry{key, w.append(b)})
		key = le(nil, 8, last)
	}
	n.tree = w.tree(0, groupRank, entries, key)
	data := w.append(heap)
	b := append([]byte("HEAP"), 0, 0, 0, 0)
	b = le(b, 8, uint64(len(heap)))
	b = le(b, 8, 1) // no free space
	n.heap = w.append(le(b, 8, data))
}

// symbol returns the entry of a member in a symbol node.
func (n *node) symbol(name uint64, text func(string) uint64) []byte {
	b := le(nil, 8, name)
	scratch := make([]byte, 16)
	kind := uint64(0)
	addr := n.addr
	if n.kind == softNode {
		addr, kind = undef, 2
		scratch = le(nil, 4, text(n.target))
		scratch = append(scratch, make([]byte, 12)...)
	}
	b = le(le(b, 8, addr), 4, kind)
	return append(le(b, 4, 0), scratch...)
}

// linkMessages returns the messages of a group without a symbol table.
func (n *node) linkMessages() []rawMessage {
	info := le(le([]byte{0, 0}, 8, undef), 8, undef)
	all := []rawMessage{{msgLinkInfo, info}, {0x0a, []byte{0, 0}}}
	for _, name := range n.names() {
		all = append(all, rawMessage{msgLink, n.children[name].linkMessage(name)})
	}
	return all
}

func (n *node) linkMessage(name string) []byte {
	kind := map[nodeKind]LinkKind{softNode: SoftLink, externalNode: ExternalLink}[n.kind]
	b := []byte{1, 8 | 16 | 1, byte(kind), 1} // kind, UTF-8, two bytes of length
	b = append(le(b, 2, uint64(len(name))), name...)
	switch n.kind {
	case softNode:
		return append(le(b, 2, uint64(len(n.target))), n.target...)
	case externalNode:
		s := "\x00" + n.file + "\x00" + n.target + "\x00"
		return append(le(b, 2, uint64(len(s))), s...)
	}
	return le(b, 8, n.addr)
}

// check reports names and targets that the format cannot store.
func (n *node) check(w *Writer) {
	if len(n.path) > 60000 || len(n.target)+len(n.file) > 60000 || strings.ContainsRune(n.target+n.file, 0) {
		w.fail(n.path[:min(len(n.path), 80)], "a name or link target is too long or contains a zero byte: choose another one")
	}
}
