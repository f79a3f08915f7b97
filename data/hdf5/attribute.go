// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package hdf5

import (
	"sort"

	"github.com/euryale-dev/euryale/internal/spelling"
)

// Attribute is a named value of a group or dataset.
type Attribute struct {
	Array
	Name string
}

// Attrs returns the attributes of the object at a path, sorted by name.
func (f *File) Attrs(key string) ([]*Attribute, error) {
	o, err := f.find(key)
	if err != nil {
		return nil, err
	}
	all, err := o.attributes(o.head, key)
	return all, within(key, err)
}

// Attr returns one attribute of the object at a path.
func (f *File) Attr(key, name string) (*Attribute, error) {
	all, err := f.Attrs(key)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, a := range all {
		if a.Name == name {
			return a, nil
		}
		names = append(names, a.Name)
	}
	sort.SliceStable(names, func(i, j int) bool { return spelling.Distance(names[i], name) < spelling.Distance(names[j], name) })
	return nil, &MissingError{Format: "hdf5", File: f.name, Name: key + "@" + name, Near: names[:min(len(names), nearest)]}
}

func (f *File) attributes(h *header, path string) ([]*Attribute, error) {
	var all []*Attribute
	add := func(b []byte, at uint64) error {
		a, err := f.parseAttribute(b, at, path)
		all = append(all, a)
		return err
	}
	for _, m := range h.messages {
		var err error
		switch {
		case m.kind == msgAttribute && m.flags&flagShared != 0:
			err = f.unsupported(m.addr, "repack the file with h5repack", "the attribute is shared between objects")
		case m.kind == msgAttribute:
			err = add(m.data, m.addr)
		case m.kind == msgAttrInfo:
			err = f.denseAttributes(m, add)
		}
		if err != nil {
			return nil, err
		}
	}
	sort.SliceStable(all, func(i, j int) bool { return all[i].Name < all[j].Name })
	return all, nil
}

func (f *File) denseAttributes(m message, add func([]byte, uint64) error) error {
	c := f.cursor(m.data)
	c.skip(1)
	if c.u8()&1 != 0 {
		c.skip(2) // greatest creation order
	}
	heapAddr, tree := c.addr(), c.addr()
	if c.short {
		return f.bad(m.addr, "the attribute info message has only %d bytes", len(m.data))
	}
	if heapAddr == undef || tree == undef {
		return nil
	}
	heap, err := f.fractalHeap(heapAddr)
	if err != nil {
		return err
	}
	return f.tree2(tree, []int{8}, func(r *cursor) error {
		id := r.take(8)
		if flags := r.u8(); flags&flagShared != 0 {
			return f.unsupported(tree, "repack the file with h5repack", "the attribute is shared between objects")
		}
		if r.short {
			return f.bad(tree, "an attribute record has only %d bytes", len(r.b))
		}
		b, err := heap.object(id)
		if err != nil {
			return err
		}
		return add(b, heapAddr)
	})
}

// parseAttribute reads an attribute message, versions 1 to 3.
func (f *File) parseAttribute(b []byte, at uint64, path string) (*Attribute, error) {
	c := f.cursor(b)
	version, flags := c.u8(), c.u8()
	names, types, spaces := c.u16(), c.u16(), c.u16()
	if version < 1 || version > 3 {
		return nil, f.bad(at, "the attribute has version %d, want 1 to 3", version)
	}
	if version == 3 {
		c.skip(1) // character set of the name
	}
	part := func(n int) []byte {
		b := c.take(n)
		if version == 1 {
			c.align(8)
		}
		return b
	}
	a := &Attribute{Name: trim(part(names))}
	typ, dims := part(types), part(spaces)
	if c.short {
		return nil, f.bad(at, "the attribute message of %d bytes ends too early", len(b))
	}
	if version == 1 {
		flags = 0 // reserved
	}
	var err error
	if a.typ, err = f.typeOf(message{msgType, flags & 1 * flagShared, at, typ}); err != nil {
		return nil, err
	}
	s, err := f.spaceOf(message{msgDataspace, flags >> 1 & 1 * flagShared, at, dims})
	if err != nil {
		return nil, err
	}
	a.file, a.path, a.dims = f, path+"@"+a.Name, s.shape()
	n, ok := product(append(s.shape(), uint64(a.typ.Size)))
	data := c.b[c.i:]
	if !ok || n > uint64(len(data)) {
		return nil, f.bad(at, "the attribute %q has the shape %v and the type %s, which need more than its %d bytes", a.Name, a.dims, a.typ, len(data))
	}
	a.read = a.inMemory(data)
	return a, nil
}

// shape returns the axes; a null dataspace is an empty axis.
func (s space) shape() []uint64 {
	if s.null {
		return []uint64{0}
	}
	return append([]uint64(nil), s.dims...)
}

func (f *File) typeOf(m message) (*Type, error) {
	if m.flags&flagShared == 0 {
		return f.parseType(f.cursor(m.data), m.addr, 0)
	}
	m, err := f.resolve(m)
	if err != nil {
		return nil, err
	}
	f.mu.Lock()
	t := f.types[m.addr]
	f.mu.Unlock()
	if t != nil {
		return t, nil
	}
	if t, err = f.parseType(f.cursor(m.data), m.addr, 0); err != nil {
		return nil, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.types == nil {
		f.types = map[uint64]*Type{}
	}
	f.types[m.addr] = t
	return t, nil
}

func (f *File) spaceOf(m message) (space, error) {
	m, err := f.resolve(m)
	if err != nil {
		return space{}, err
	}
	return f.parseSpace(f.cursor(m.data), m.addr)
}
