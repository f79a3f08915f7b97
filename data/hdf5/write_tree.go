// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package hdf5

// Ranks of the trees in files with default settings: a node has up to twice as many entries, and so
// has a symbol node.
const (
	groupRank  = 16
	symbolRank = 4
	chunkRank  = 32
)

// treeEntry is a child of a version 1 B-tree node, with the key to its left.
type treeEntry struct {
	key   []byte
	child uint64
}

// tree writes a version 1 B-tree bottom up and returns its root. There is a key between any two
// children; the one after the last is end.
func (w *Writer) tree(kind byte, rank int, entries []treeEntry, end []byte) uint64 {
	nodeSize := uint64(24 + 2*rank*(len(end)+8) + len(end))
	for level := byte(0); ; level++ {
		var parents []treeEntry
		count := max(1, (len(entries)+2*rank-1)/(2*rank))
		first := w.alloc(nodeSize * uint64(count)) // nodes of a level stand side by side
		for i := range count {
			mine := entries[i*len(entries)/count : (i+1)*len(entries)/count]
			last := end
			if next := (i + 1) * len(entries) / count; next < len(entries) {
				last = entries[next].key
			}
			n := treeNode{kind: kind, level: level, left: undef, right: undef}
			at := first + uint64(i)*nodeSize
			if i > 0 {
				n.left = at - nodeSize
			}
			if i < count-1 {
				n.right = at + nodeSize
			}
			w.put(n.encode(mine, last, nodeSize), at)
			if len(mine) > 0 {
				parents = append(parents, treeEntry{mine[0].key, at})
			}
		}
		if count == 1 {
			return first
		}
		entries = parents
	}
}

type treeNode struct {
	kind, level byte
	left, right uint64
}

func (n treeNode) encode(entries []treeEntry, last []byte, size uint64) []byte {
	b := append([]byte("TREE"), n.kind, n.level)
	b = le(b, 2, uint64(len(entries)))
	b = le(le(b, 8, n.left), 8, n.right)
	for _, e := range entries {
		b = append(b, e.key...)
		b = le(b, 8, e.child)
	}
	b = append(b, last...)
	return append(b, make([]byte, size-uint64(len(b)))...)
}

// chunkKey is a chunk's entry in the index of a dataset.
type chunkKey struct {
	size   uint32
	offset []uint64
	child  uint64
}

func (k chunkKey) encode(rest uint64) []byte {
	b := le(nil, 4, uint64(k.size))
	b = le(b, 4, 0) // every filter applied
	for _, v := range k.offset {
		b = le(b, 8, v)
	}
	return le(b, 8, rest)
}

// chunkTree writes the index of a dataset's chunks.
func (w *Writer) chunkTree(keys []chunkKey, d *dataNode) uint64 {
	entries := make([]treeEntry, len(keys))
	for i, k := range keys {
		entries[i] = treeEntry{k.encode(0), k.child}
	}
	after := chunkKey{}
	for i, v := range keys[len(keys)-1].offset {
		after.offset = append(after.offset, v+d.chunk[i])
	}
	return w.tree(1, chunkRank, entries, after.encode(uint64(d.size)))
}
