// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package cuda

import (
	"fmt"
	"runtime"
	"sync/atomic"
)

// Buffer is memory of a device. Its contents are not defined when it is new. A buffer of size zero is
// legal and has no address.
//
// It satisfies the Memory interface of gorgonia.org/tensor. The address belongs to the device: Go code
// that dereferences it crashes, so arrays over it must be marked as inaccessible.
type Buffer struct {
	d     *Device
	b     *block // nil if the size is zero
	size  int
	freed atomic.Bool
	net   runtime.Cleanup
}

// Alloc returns a buffer of the given number of bytes, aligned to 512, for use on the default
// stream first. It returns an *OutOfMemoryError if there is no room.
func (d *Device) Alloc(bytes int) (*Buffer, error) { return d.compute.Alloc(bytes) }

// AllocTagged is Alloc with a tag; reports about memory show how much the buffers with one tag use
// together.
func (d *Device) AllocTagged(bytes int, tag string) (*Buffer, error) {
	return d.compute.alloc(bytes, tag)
}

// AllocTagged is Alloc with a tag for reports about memory.
func (s *Stream) AllocTagged(bytes int, tag string) (*Buffer, error) { return s.alloc(bytes, tag) }

// Alloc returns a buffer for use on this stream first. Once the buffer is freed, its memory can be
// reused at once on this stream, whose order keeps old and new work apart. Other streams get it
// only after all streams that used the buffer have finished that work.
func (s *Stream) Alloc(bytes int) (*Buffer, error) { return s.alloc(bytes, "") }

func (s *Stream) alloc(bytes int, tag string) (*Buffer, error) {
	d := s.d
	if bytes < 0 {
		return nil, fmt.Errorf("cuda: a buffer cannot have %d bytes: want 0 or more", bytes)
	}
	if err := d.refuse("Device.Alloc", "a graph keeps the addresses that it was captured with: allocate before the capture"); err != nil {
		return nil, err
	}
	buf := &Buffer{d: d, size: bytes}
	if err := d.do(func() (err error) {
		if err = s.usable(); err != nil || bytes == 0 {
			return err
		}
		buf.b, err = d.pool.alloc(uint64(bytes), s, tag)
		return err
	}); err != nil {
		return nil, err
	}
	if buf.b != nil {
		// The cleanup runs on a goroutine of the collector: it only puts the block on a list.
		buf.net = runtime.AddCleanup(buf, d.pool.forgotten.add, buf.b)
	}
	return buf, nil
}

// Free gives the memory back. It may be called while work that uses the buffer is still running:
// the memory is not reused before that work ends. A second Free does nothing. Buffers that are no
// longer referenced are freed when memory is short.
func (b *Buffer) Free() {
	if b.freed.Swap(true) || b.b == nil {
		return
	}
	b.net.Stop()
	if b.d.enter() != nil { // closed or lost, and its memory with it; else the next allocation frees it
		b.d.pool.forgotten.add(b.b)
		return
	}
	defer b.d.leave()
	b.d.pool.release(b.b)
}

// Size returns the size of the buffer in bytes.
func (b *Buffer) Size() int { return b.size }

// Device returns the device of the buffer.
func (b *Buffer) Device() *Device { return b.d }

// Uintptr returns the address in the device's memory, or 0 for a buffer of size zero.
func (b *Buffer) Uintptr() uintptr {
	if b.b == nil {
		return 0
	}
	return uintptr(b.b.address())
}

// MemSize returns the size of the buffer in bytes, for gorgonia.org/tensor.
func (b *Buffer) MemSize() uintptr { return uintptr(b.size) }

// IsCUDAMemory marks the memory as an address that Go code must not dereference.
func (b *Buffer) IsCUDAMemory() bool { return true }

// Part is a buffer from some offset on. It can be an argument of a kernel, so that many arrays can
// share one buffer.
type Part struct {
	Buffer *Buffer
	Offset int // start of the part within the buffer, in bytes
}

// At returns the part of the buffer that begins at an offset in bytes. For arrays that kernels read
// in groups of 16 bytes, the offset must be a multiple of 16.
func (b *Buffer) At(offset int) Part { return Part{b, offset} }

// RecordStream says that work on a stream uses the buffer, so that its memory is not reused before
// that work is done. Launches and copies of this package do it by themselves; code that passes the
// address to other libraries must.
func (b *Buffer) RecordStream(s *Stream) {
	if b.b != nil {
		b.d.pool.usedBy(b.b, s)
	}
}

// Use is RecordStream for some bytes of a buffer whose address a kernel finds in memory. It returns
// an error if those bytes cannot be used.
func (s *Stream) Use(p Part, bytes int) error {
	if err := p.Buffer.usable(s.d, p.Offset, bytes); err != nil {
		return err
	}
	p.Buffer.RecordStream(s)
	return nil
}

// usable returns an error if the buffer cannot be used for some bytes on a device.
func (b *Buffer) usable(d *Device, offset, n int) error {
	switch {
	case b.freed.Load():
		return fmt.Errorf("%w: the buffer of %d bytes was freed: free it after its last use", ErrClosed, b.size)
	case b.d != d:
		return fmt.Errorf("cuda: the buffer is on device %d, but the work is on device %d: copy it there", b.d.ordinal, d.ordinal)
	case offset < 0 || n < 0 || offset > b.size-n:
		return fmt.Errorf("cuda: bytes %d to %d lie outside the buffer of %d bytes: check the offset and the number of elements", offset, offset+n, b.size)
	}
	return nil
}
