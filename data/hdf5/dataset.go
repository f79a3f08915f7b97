// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package hdf5

import "fmt"

// Dataset is an Array stored in a file under a path.
type Dataset struct {
	Array
	head    *header
	store   storage
	max     []uint64
	filters []filter
	fill    []byte // fill value as stored; nil for zero
	null    bool
}

// Dataset opens the dataset at a path. Elements are read later, by the methods
// of its Array.
func (f *File) Dataset(key string) (*Dataset, error) {
	o, err := f.find(key)
	if err != nil {
		return nil, err
	}
	d, err := o.dataset(o.head, key)
	return d, within(key, err)
}

// dataset makes a Dataset from a header.
func (f *File) dataset(h *header, key string) (*Dataset, error) {
	return f.datasetWithin(h, key, &trail{left: f.MaxBytes})
}

func (f *File) datasetWithin(h *header, key string, t *trail) (*Dataset, error) {
	typ, ok1 := h.first(msgType)
	dims, ok2 := h.first(msgDataspace)
	lay, ok3 := h.first(msgLayout)
	if !ok1 || !ok2 || !ok3 {
		kind, try := "it is not a dataset", "name a dataset"
		if h.isGroup() {
			kind, try = "it is a group, not a dataset", "name a dataset in it"
		}
		return nil, &FormatError{Format: "hdf5", File: f.name, Place: key, What: kind, Try: try, Err: ErrType}
	}
	d := &Dataset{head: h}
	d.file, d.path = f, key
	var err error
	if d.typ, err = f.typeOf(typ); err != nil {
		return nil, err
	}
	s, err := f.spaceOf(dims)
	if err != nil {
		return nil, err
	}
	d.dims, d.max, d.null = s.shape(), s.max, s.null
	if d.filters, err = f.filtersOf(h); err != nil {
		return nil, err
	}
	fill, err := f.fillOf(h, d.typ.Size)
	if err != nil {
		return nil, err
	}
	if d.store, err = f.layout(lay, d, t); err != nil {
		return nil, err
	}
	d.fill = fill
	if v, ok := d.store.(*virtual); ok {
		d.more = v.more
	}
	d.read = func(dst []byte, offset, count []uint64) error {
		return d.readWithin(d.trail(), dst, offset, count)
	}
	return d, nil
}

// trail begins a call. A virtual dataset reads copies from its sources, which may be virtual in
// turn.
func (d *Dataset) trail() *trail {
	t := &trail{left: d.file.MaxBytes}
	if more := d.more; more != nil {
		t.left, t.more = 4*min(t.left, 1<<60), func() int64 { return 4 * more() }
	}
	return t
}

// readWithin reads a block that is not empty into dst, which is zeroed.
func (d *Dataset) readWithin(t *trail, dst []byte, offset, count []uint64) error {
	if d.fill != nil && !d.store.complete() {
		repeat(dst, d.fill)
	}
	return d.store.read(t, dst, offset, count)
}

// repeat fills dst with copies of one element.
func repeat(dst, one []byte) {
	for n := copy(dst, one); n < len(dst); n *= 2 {
		copy(dst[n:], dst[:n])
	}
}

// Null reports whether the dataspace is null, which h5py calls Empty.
func (d *Dataset) Null() bool { return d.null }

// Attrs returns the attributes, sorted by name.
func (d *Dataset) Attrs() ([]*Attribute, error) {
	all, err := d.file.attributes(d.head, d.path)
	return all, within(d.path, err)
}

// Chunks returns the shape of a chunk, or nil if the dataset is not chunked.
func (d *Dataset) Chunks() []int {
	c, ok := d.store.(*chunked)
	if !ok {
		return nil
	}
	out := make([]int, len(c.chunk))
	for i, n := range c.chunk {
		out[i] = int(n)
	}
	return out
}

// Filters returns the names of the filters applied to a chunk, in the order in which they were
// applied: gzip, shuffle, fletcher32, szip, nbit, scaleoffset, lzf, bitshuffle, lz4, blosc, blosc2, zstd, bzip2.
func (d *Dataset) Filters() []string {
	var names []string
	for _, f := range d.filters {
		names = append(names, f.name())
	}
	return names
}

// MaxShape returns the lengths to which the axes may grow, -1 for no limit.
func (d *Dataset) MaxShape() []int {
	out := make([]int, len(d.max))
	for i, n := range d.max {
		out[i] = int(n)
	}
	return out
}

// String returns path, type and shape.
func (d *Dataset) String() string { return fmt.Sprintf("%s %s %v", d.path, d.typ, d.Shape()) }

// fillOf returns the fill value, or nil for zero.
func (f *File) fillOf(h *header, size int) ([]byte, error) {
	m, ok := h.first(msgFill)
	old := !ok
	if old {
		if m, ok = h.first(msgOldFill); !ok {
			return nil, nil
		}
	}
	m, err := f.resolve(m)
	if err != nil {
		return nil, err
	}
	c := f.cursor(m.data)
	if !old {
		switch version := c.u8(); version {
		case 1, 2:
			c.skip(2)
			if defined := c.u8(); version == 2 && defined == 0 {
				return nil, nil
			}
		case 3:
			if flags := c.u8(); flags&0x20 == 0 {
				return nil, nil
			}
		default:
			return nil, f.bad(m.addr, "the fill value has version %d, want 1 to 3", version)
		}
	}
	n := int(c.u32())
	b := c.take(n)
	switch {
	case n == 0 || int32(n) < 0:
		return nil, nil
	case c.short || n != size:
		return nil, f.bad(m.addr, "the fill value has %d bytes, but the elements have %d", n, size)
	}
	for _, v := range b {
		if v != 0 {
			return b, nil
		}
	}
	return nil, nil
}
