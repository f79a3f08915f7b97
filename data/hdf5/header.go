// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package hdf5

// Message types of an object header.
const (
	msgDataspace = 0x01
	msgLinkInfo  = 0x02
	msgType      = 0x03
	msgOldFill   = 0x04
	msgFill      = 0x05
	msgLink      = 0x06
	msgFiles     = 0x07
	msgLayout    = 0x08
	msgFilters   = 0x0b
	msgAttribute = 0x0c
	msgContinue  = 0x10
	msgTable     = 0x11
	msgAttrInfo  = 0x15
)

// flagShared marks a message whose body is elsewhere.
const flagShared = 2

// header is the list of messages that describe an object.
type header struct {
	addr     uint64
	size     uint64 // number of bytes read
	messages []message
}

type message struct {
	kind  int
	flags int
	addr  uint64
	data  []byte
}

// first returns the first message of a kind.
func (h *header) first(kind int) (message, bool) {
	for _, m := range h.messages {
		if m.kind == kind {
			return m, true
		}
	}
	return message{}, false
}

// header reads the object header at an address, through its continuations.
func (f *File) header(addr uint64) (*header, error) {
	f.mu.Lock()
	h := f.headers[addr]
	f.mu.Unlock()
	if h != nil {
		return h, nil
	}
	h, err := f.parseHeader(addr)
	if err != nil {
		return nil, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.headerBytes += h.size; f.headers == nil || f.headerBytes > 2*uint64(f.size) {
		f.headers, f.headerBytes = map[uint64]*header{}, h.size
	}
	f.headers[addr] = h
	return h, nil
}

func (f *File) parseHeader(addr uint64) (*header, error) {
	start, err := f.bytes(addr, 4)
	if err != nil {
		return nil, err
	}
	switch {
	case string(start) == "OHDR":
		return f.header2(addr)
	case start[0] == 1:
		return f.header1(addr)
	}
	return nil, f.bad(addr, "the object header begins with % x, want 01 or \"OHDR\"", start)
}

// header1 reads version 1: 16 bytes, then blocks of 8-aligned messages.
func (f *File) header1(addr uint64) (*header, error) {
	b, err := f.bytes(addr, 16)
	if err != nil {
		return nil, err
	}
	c := f.cursor(b)
	c.skip(2)
	count := c.u16()
	c.skip(4)
	w := headerWalk{File: f, h: &header{addr: addr}, blocks: []span{{addr + 16, uint64(c.u32())}}, limit: count}
	return w.run(func(s span) error {
		b, err := f.bytes(s.addr, s.n)
		if err != nil {
			return err
		}
		c := f.cursor(b)
		for c.left() >= 8 && len(w.h.messages) < w.limit {
			kind, n, flags := c.u16(), c.u16(), c.u8()
			c.skip(3)
			if err := w.add(message{kind, flags, s.addr + uint64(c.i), c.take(n)}, c); err != nil {
				return err
			}
		}
		return nil
	})
}

// header2 reads version 2: packed messages, every block with a checksum.
func (f *File) header2(addr uint64) (*header, error) {
	b, err := f.bytes(addr, min(34, uint64(f.size)-addr))
	if err != nil {
		return nil, err
	}
	c := f.cursor(b)
	c.skip(4)
	version, flags := c.u8(), c.u8()
	if version != 2 {
		return nil, f.bad(addr, "the object header has version %d, want 2", version)
	}
	if flags&0x20 != 0 {
		c.skip(16) // times
	}
	if flags&0x10 != 0 {
		c.skip(4) // when attributes become dense
	}
	n := c.uint(1 << (flags & 3))
	if c.short {
		return nil, f.bad(addr, "the object header ends too early")
	}
	head := uint64(c.i)
	if n > uint64(f.size) {
		return nil, f.bad(addr, "the object header is said to have %d bytes in a file of %d", n, f.size)
	}
	w := headerWalk{File: f, h: &header{addr: addr}, blocks: []span{{addr, head + n + 4}}, limit: 1 << 30}
	return w.run(func(s span) error {
		skip, sig := 4, "OCHK"
		if s.addr == addr {
			skip, sig = int(head), "OHDR"
		}
		c, err := f.checked(s.addr, s.n, sig)
		if err != nil {
			return err
		}
		c.i = min(skip, len(c.b))
		prefix := 4
		if flags&4 != 0 {
			prefix = 6
		}
		for c.left() >= prefix { // less is a gap
			kind, n, mflags := c.u8(), c.u16(), c.u8()
			if flags&4 != 0 {
				c.skip(2) // creation order
			}
			if err := w.add(message{kind, mflags, s.addr + uint64(c.i), c.take(n)}, c); err != nil {
				return err
			}
		}
		return nil
	})
}

type span struct{ addr, n uint64 }

// headerWalk collects messages block by block.
type headerWalk struct {
	*File
	h      *header
	blocks []span
	limit  int
}

func (w *headerWalk) run(read func(span) error) (*header, error) {
	seen := once{}
	for len(w.blocks) > 0 {
		s := w.blocks[0]
		w.blocks = w.blocks[1:]
		if err := seen.visit(w.File, s.addr); err != nil {
			return nil, err
		}
		// blocks do not overlap, so the file's size bounds them
		if w.h.size += min(s.n, 1<<62); w.h.size > uint64(w.size) {
			return nil, w.bad(s.addr, "the object header has more than %d bytes in a file of %d", w.h.size-1, w.size)
		}
		if err := read(s); err != nil {
			return nil, err
		}
	}
	return w.h, nil
}

func (w *headerWalk) add(m message, c *cursor) error {
	if c.short {
		return w.bad(m.addr, "a message of type %#x extends beyond its block", m.kind)
	}
	if m.kind == msgContinue {
		c := w.cursor(m.data)
		next := span{c.addr(), c.len()}
		if c.short {
			return w.bad(m.addr, "a continuation message has only %d bytes", len(m.data))
		}
		w.blocks = append(w.blocks, next)
		w.h.messages = append(w.h.messages, message{kind: 0})
		return nil
	}
	w.h.messages = append(w.h.messages, m)
	return nil
}

// resolve returns the body of a message, which may be stored in another object: the type of a
// dataset made with a named type is.
func (f *File) resolve(m message) (message, error) {
	if m.flags&flagShared == 0 {
		return m, nil
	}
	return f.shared(m.kind, m.data, m.addr)
}

// shared follows a reference to a message of the given kind that is stored elsewhere.
func (f *File) shared(kind int, data []byte, at uint64) (message, error) {
	c := f.cursor(data)
	version, where := c.u8(), c.u8()
	switch {
	case version == 1:
		c.skip(6)
	case version == 3 && where == 1:
		return message{}, f.unsupported(at, "repack the file with h5repack", "a message is in a shared message heap")
	case version != 2 && version != 3:
		return message{}, f.bad(at, "a shared message has version %d, want 1 to 3", version)
	}
	addr := c.addr()
	if c.short {
		return message{}, f.bad(at, "a shared message has only %d bytes", len(data))
	}
	h, err := f.header(addr)
	if err != nil {
		return message{}, err
	}
	m, ok := h.first(kind)
	if !ok || m.flags&flagShared != 0 {
		return message{}, f.bad(addr, "the shared message of type %#x is missing", kind)
	}
	return m, nil
}
