// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package hdf5

// heapWriter packs objects into global heap collections.
type heapWriter struct {
	full    []*heapBlock
	current *heapBlock
}

type heapBlock struct {
	body  []byte
	count int
	addr  uint64
}

// place is where an object will be stored.
type place struct {
	block *heapBlock
	index int
}

const heapTarget = 64 << 10

// add keeps an object for writing. Its bytes may still change until write.
func (h *heapWriter) add(b []byte) place {
	if h.current == nil || len(h.current.body)+len(b) > heapTarget || h.current.count == 65535 {
		h.current = &heapBlock{}
		h.full = append(h.full, h.current)
	}
	c := h.current
	c.count++
	c.body = le(c.body, 2, uint64(c.count))
	c.body = le(c.body, 6, 0)
	c.body = le(c.body, 8, uint64(len(b)))
	c.body = pad8(append(c.body, b...))
	return place{c, c.count}
}

// write allocates and writes every collection: at least 4096 bytes, as the library requires, with
// the rest marked free.
func (h *heapWriter) write(w *Writer) {
	for _, c := range h.full {
		used := 16 + len(c.body)
		size := max(4096, used)
		b := append([]byte("GCOL"), 1, 0, 0, 0)
		b = append(le(b, 8, uint64(size)), c.body...)
		if free := size - used; free >= 16 {
			b = append(le(le(b, 8, 0), 8, uint64(free)), make([]byte, free-16)...)
		} else {
			b = append(b, make([]byte, free)...)
		}
		c.addr = w.append(b)
	}
}

// store stores the strings and lists of a value and returns their places.
func (h *heapWriter) store(w *Writer, v *value) []place {
	var at []place
	for _, s := range v.text {
		at = append(at, h.addUnlessEmpty([]byte(s)))
	}
	for _, list := range v.list {
		var b []byte
		for _, r := range list {
			b = le(b, 8, w.address(r))
		}
		at = append(at, h.addUnlessEmpty(b))
	}
	return at
}

func (h *heapWriter) addUnlessEmpty(b []byte) place {
	if len(b) == 0 {
		return place{}
	}
	return h.add(b)
}

// address returns the address of the header of a referenced object.
func (w *Writer) address(r Ref) uint64 {
	if r.Path == "" {
		return 0
	}
	n, err := w.at(r.Path)
	if err != nil {
		return 0
	}
	return n.addr
}

// fill computes the elements of a deferred value.
func (v *value) fill(w *Writer, at []place) {
	if !v.deferred() {
		return
	}
	v.raw = []byte{}
	for _, r := range v.refs {
		v.raw = le(v.raw, 8, w.address(r))
	}
	for i, p := range at {
		n := 0
		if v.text != nil {
			n = len(v.text[i])
		} else {
			n = len(v.list[i])
		}
		addr := uint64(0)
		if p.block != nil {
			addr = p.block.addr
		}
		v.raw = le(le(le(v.raw, 4, uint64(n)), 8, addr), 4, uint64(p.index))
	}
}
