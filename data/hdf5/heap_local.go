package hdf5

// localHeap reads the names of a symbol-table group.
func (f *File) localHeap(addr uint64) ([]byte, error) {
	c, err := f.block(addr, uint64(8+2*f.lengthSize+f.offsetSize), "HEAP")
	if err != nil {
		return nil, err
	}
	c.skip(4)
	n := c.len()
	c.len() // free list
	return f.bytes(c.addr(), n)
}

// heapText returns the zero-terminated text at a place of a local heap.
func (f *File) heapText(heap []byte, at uint64, where uint64) (string, error) {
	if at >= uint64(len(heap)) {
		return "", f.bad(where, "name at %d of a heap of %d bytes", at, len(heap))
	}
	return trim(heap[at:]), nil
}
