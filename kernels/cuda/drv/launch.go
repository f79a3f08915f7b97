// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package drv

import (
	"runtime"
	"unsafe"
)

// A kernel takes at most 4 KiB of parameters on all devices. This package passes at most 64 of
// them.
const (
	MaxParameters     = 64
	maxParameterWords = 512
)

// Parameters is the block of arguments of a launch: their bytes, and the table of their addresses
// that the driver reads. Both lie in one pinned allocation, so that the driver sees stable addresses
// although Go knows of no pointers. It is reused, and not safe for concurrent use.
type Parameters struct {
	values   [maxParameterWords]uint64
	table    [MaxParameters]unsafe.Pointer
	words, n int
	pin      runtime.Pinner
}

// NewParameters returns an empty block. Release must be called once the block is no longer needed.
func NewParameters() *Parameters {
	p := &Parameters{}
	p.pin.Pin(p)
	return p
}

// Release unpins the block.
func (p *Parameters) Release() { p.pin.Unpin() }

// Reset empties the block so that it can be used again.
func (p *Parameters) Reset() { p.words, p.n = 0, 0 }

// Len returns the number of parameters.
func (p *Parameters) Len() int { return p.n }

// Room reports whether one more parameter of the given number of bytes fits.
func (p *Parameters) Room(bytes int) bool {
	return p.n < MaxParameters && p.words+(bytes+7)/8 <= maxParameterWords
}

// Word adds a parameter of at most eight bytes, given by its bits.
func (p *Parameters) Word(bits uint64) {
	p.values[p.words] = bits
	p.table[p.n] = unsafe.Pointer(&p.values[p.words])
	p.words++
	p.n++
}

// Struct adds a parameter that a kernel takes by value, as bytes in the layout of C.
func (p *Parameters) Struct(b []byte) {
	to := unsafe.Slice((*byte)(unsafe.Pointer(&p.values[p.words])), 8*((len(b)+7)/8))
	copy(to, b)
	p.table[p.n] = unsafe.Pointer(&p.values[p.words])
	p.words += (len(b) + 7) / 8
	p.n++
}

// Launch starts a kernel. When it returns, the driver has read the parameters.
func (d *Driver) Launch(f Function, grid, block [3]int, shared int, s Stream, p *Parameters) error {
	a := freeSlots.Get().(*slots)
	*a = slots{uintptr(f), uintptr(grid[0]), uintptr(grid[1]), uintptr(grid[2]), uintptr(block[0]), uintptr(block[1]), uintptr(block[2]),
		uintptr(shared), uintptr(s), uintptr(unsafe.Pointer(&p.table)), 0}
	r := d.hot(cuLaunchKernel, a, len(a))
	runtime.KeepAlive(p)
	return d.errorOf(cuLaunchKernel, r)
}
