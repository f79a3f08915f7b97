// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package hdf5

import "fmt"

const superblockSize = 96

// rawMessage is a header message ready to be written.
type rawMessage struct {
	kind int
	data []byte
}

// finish writes everything that is left to Close. Headers contain the addresses of other objects, so
// addresses are assigned first.
func (w *Writer) finish() {
	w.attachScales()
	nodes := w.objects()
	for _, n := range nodes {
		n.size = uint64(len(w.encodeHeader(n)))
		n.addr = w.alloc(n.size)
	}
	w.resolve(nodes)
	for _, n := range nodes {
		if n.kind == groupNode && !n.byMessages() {
			w.symbolTable(n)
		}
	}
	for _, n := range nodes {
		b := w.encodeHeader(n)
		if uint64(len(b)) != n.size {
			w.fail(n.path, "the header has %d bytes, but %d were reserved: please report this bug", len(b), n.size)
		}
		w.put(b, n.addr)
	}
	w.put(w.superblock(), 0)
	if w.err == nil {
		if err := w.out.Truncate(int64(w.end)); err != nil {
			w.err = fmt.Errorf("hdf5: %w", err)
		}
	}
}

// objects lists groups and datasets, parents first.
func (w *Writer) objects() []*node {
	all := []*node{w.root}
	for i := 0; i < len(all); i++ {
		for _, name := range all[i].names() {
			c := all[i].children[name]
			c.check(w)
			if c.kind <= datasetNode {
				all = append(all, c)
			}
		}
	}
	return all
}

// resolve writes strings and references, whose elements contain addresses.
func (w *Writer) resolve(nodes []*node) {
	var heap heapWriter
	var values []*value
	var places [][]place
	each := func(v *value) {
		values, places = append(values, v), append(places, heap.store(w, v))
	}
	for _, n := range nodes {
		if n.data != nil && n.data.deferred() {
			each(&n.data.value)
		}
		for _, a := range n.attrs {
			each(&a.value)
		}
	}
	heap.write(w)
	for i, v := range values {
		v.fill(w, places[i])
	}
	for _, n := range nodes {
		if n.data != nil && n.data.deferred() {
			w.store(n.data)
		}
	}
}

// encodeHeader writes an object header of version 1.
func (w *Writer) encodeHeader(n *node) []byte {
	var all []rawMessage
	switch {
	case n.kind == datasetNode:
		all = n.data.messages()
	case n.byMessages():
		all = n.linkMessages()
	default:
		all = []rawMessage{{msgTable, le(le(nil, 8, n.tree), 8, n.heap)}}
	}
	for _, a := range n.attrs {
		all = append(all, rawMessage{msgAttribute, a.message()})
	}
	var body []byte
	for _, m := range all {
		data := pad8(m.data)
		if len(data) > 65535 {
			w.fail(n.path, "a header message has %d bytes, but at most 65535 fit: make the attribute a dataset", len(data))
		}
		body = le(le(body, 2, uint64(m.kind)), 2, uint64(len(data)))
		body = append(append(body, 0, 0, 0, 0), data...)
	}
	if len(all) > 65535 {
		w.fail(n.path, "there are %d attributes or links, but at most 65535 fit: use several groups", len(all))
	}
	b := le([]byte{1, 0}, 2, uint64(len(all)))
	b = le(le(b, 4, 1), 4, uint64(len(body)))
	return append(append(b, 0, 0, 0, 0), body...)
}

// messages returns the header messages of a dataset.
func (d *dataNode) messages() []rawMessage {
	fill := []byte{2, 2, 0, 1, 0, 0, 0, 0} // allocated late, zero
	var layout []byte
	if d.chunk == nil {
		layout = le(le([]byte{3, 1}, 8, d.addr), 8, uint64(d.bytes()))
	} else {
		fill[1] = 3 // allocated chunk by chunk
		layout = le([]byte{3, 2, byte(len(d.chunk) + 1)}, 8, d.addr)
		for _, n := range d.chunk {
			layout = le(layout, 4, n)
		}
		layout = le(layout, 4, uint64(d.size))
	}
	all := []rawMessage{{msgDataspace, spaceMessage(d.dims, d.max)}, {msgType, d.typ}, {msgFill, fill}, {msgLayout, layout}}
	if d.chunk != nil {
		all = append(all, d.filterMessage()...)
	}
	return all
}

// filterMessage returns version 1 of the filter pipeline message, or none.
func (d *dataNode) filterMessage() []rawMessage {
	var b []byte
	n := byte(0)
	add := func(id int, values ...uint64) {
		n++
		b = le(le(b, 2, uint64(id)), 2, 0)
		b = le(le(b, 2, 0), 2, uint64(len(values)))
		for _, v := range values {
			b = le(le(b, 4, v), 4, 0)
		}
	}
	if d.layout.Shuffle {
		add(filterShuffle, uint64(d.size))
	}
	if d.layout.Gzip > 0 {
		add(filterGzip, uint64(d.layout.Gzip))
	}
	if d.layout.Fletcher32 {
		add(filterFletcher)
	}
	if n == 0 {
		return nil
	}
	return []rawMessage{{msgFilters, append([]byte{1, n, 0, 0, 0, 0, 0, 0}, b...)}}
}

func spaceMessage(dims, limit []uint64) []byte {
	b := []byte{1, byte(len(dims)), 0, 0, 0, 0, 0, 0}
	for _, n := range dims {
		b = le(b, 8, n)
	}
	for i := range limit {
		if limit[i] != dims[i] {
			b[2] = 1
		}
	}
	if b[2] == 1 {
		for _, n := range limit {
			b = le(b, 8, n)
		}
	}
	return b
}

// message returns version 1 of an attribute message.
func (a *attrValue) message() []byte {
	name := a.name + "\x00"
	space := spaceMessage(a.dims, a.dims)
	b := le([]byte{1, 0}, 2, uint64(len(name)))
	b = le(le(b, 2, uint64(len(a.typ))), 2, uint64(len(space)))
	b = pad8(append(b, name...))
	b = pad8(append(b, a.typ...))
	b = pad8(append(b, space...))
	if a.raw == nil {
		return append(b, make([]byte, a.bytes())...)
	}
	return append(b, a.raw...)
}

// superblock returns version 0 of the superblock.
func (w *Writer) superblock() []byte {
	b := append([]byte(signature), 0, 0, 0, 0, 0, 8, 8, 0)
	b = le(le(b, 2, symbolRank), 2, groupRank)
	b = le(b, 4, 0)
	b = le(le(b, 8, 0), 8, undef)
	b = le(le(b, 8, w.end), 8, undef)
	b = le(le(b, 8, 0), 8, w.root.addr)
	if w.root.byMessages() {
		return append(b, make([]byte, superblockSize-len(b))...)
	}
	b = le(le(b, 4, 1), 4, 0)
	return le(le(b, 8, w.root.tree), 8, w.root.heap)
}
