// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package hdf5

// collection is one block of the global heap, a map from object number to bytes.
type collection map[uint32][]byte

// globalObject returns an object of the global heap.
func (f *File) globalObject(addr uint64, index uint32) ([]byte, error) {
	f.mu.Lock()
	all, ok := f.heaps[addr]
	f.mu.Unlock()
	if !ok {
		var err error
		if all, err = f.parseCollection(addr); err != nil {
			return nil, err
		}
		f.mu.Lock()
		if f.heaps == nil {
			f.heaps = map[uint64]collection{}
		}
		f.heaps[addr] = all
		f.mu.Unlock()
	}
	b, ok := all[index]
	if !ok {
		return nil, f.bad(addr, "the global heap has no object %d", index)
	}
	return b, nil
}

func (f *File) parseCollection(addr uint64) (collection, error) {
	head := uint64(8 + f.lengthSize)
	c, err := f.block(addr, head, "GCOL")
	if err != nil {
		return nil, err
	}
	version := c.u8()
	c.skip(3)
	n := c.len()
	if version != 1 || n < head {
		return nil, f.bad(addr, "the global heap has version %d and %d bytes, want version 1", version, n)
	}
	if err := f.holds(addr, n); err != nil {
		return nil, err
	}
	f.mu.Lock()
	f.heapBytes += n // collections do not overlap; two readers may parse one twice
	over := f.heapBytes > 4*uint64(f.size)
	f.mu.Unlock()
	if over {
		return nil, f.bad(addr, "the global heap takes more than four times the %d bytes of the file", f.size)
	}
	b, err := f.bytes(addr, n)
	if err != nil {
		return nil, err
	}
	c = f.cursor(b)
	c.skip(int(head))
	all := collection{}
	for c.left() >= 8+f.lengthSize {
		index := c.u16()
		c.skip(6)
		size := c.len()
		if index == 0 {
			break // the rest is free
		}
		if size > uint64(c.left()) {
			return nil, f.bad(addr, "object %d of the global heap has %d bytes, but only %d are left", index, size, c.left())
		}
		all[uint32(index)] = c.take(int(size))
		c.skip(min(int(-size&7), c.left()))
	}
	return all, nil
}

// vlen is an element of variable length, whose bytes are in the global heap.
type vlen struct {
	n     uint32
	addr  uint64
	index uint32
}

// vlenBytes returns the bytes of the element of variable length in c, whose items have size bytes
// each.
func (f *File) vlenBytes(c *cursor, size int) ([]byte, error) {
	v := vlen{c.u32(), c.addr(), c.u32()}
	if v.n == 0 || v.addr == 0 || v.addr == undef {
		return nil, nil
	}
	b, err := f.globalObject(v.addr, v.index)
	if err != nil {
		return nil, err
	}
	want := uint64(v.n) * uint64(size)
	if want > uint64(len(b)) {
		return nil, f.bad(v.addr, "a list of %d elements needs %d bytes, but object %d has %d", v.n, want, v.index, len(b))
	}
	return b[:want], nil
}
