// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

//go:build amd64 && !purego && (linux || darwin || freebsd)

package native

import (
	"sync/atomic"
	"syscall"
	"unsafe"

	"github.com/euryale-dev/euryale/kernels"
)

// block is memory with machine code.
type block struct{ pages []byte }

func usable() bool { return kernels.Best() >= kernels.AVX2 }

// live counts the blocks of the process. Each is a mapping of memory, of which systems allow a process some 65,000.
var live atomic.Int64

const mostLive = 10_000

// newBlock puts code into pages of its own, which can no longer be written.
func newBlock(code []byte) (*block, error) {
	if live.Load() >= mostLive {
		return nil, syscall.ENOMEM
	}
	pages, err := syscall.Mmap(-1, 0, len(code), syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		return nil, err
	}
	copy(pages, code)
	if err := syscall.Mprotect(pages, syscall.PROT_READ|syscall.PROT_EXEC); err != nil {
		_ = syscall.Munmap(pages)
		return nil, err
	}
	live.Add(1)
	return &block{pages}, nil
}

func (b *block) free() {
	live.Add(-1)
	_ = syscall.Munmap(b.pages)
}

func (b *block) start() uintptr { return uintptr(unsafe.Pointer(unsafe.SliceData(b.pages))) }

// enter calls machine code with the addresses of the memories in AX, CX and DX.
//
//go:noescape
func enter(code uintptr, first, second, scratch unsafe.Pointer)
