// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package native

import (
	"math"
	"runtime"
	"unsafe"

	"github.com/euryale-dev/euryale/autodiff/internal/compiler"
)

// Code is a List as machine code. It is safe for concurrent use; each goroutine has its own scratch.
type Code struct {
	start  uintptr // address of the code
	pieces []piece
	pool   []uint64 // constants
	slots  int      // elements of the scratch
}

// piece is machine code, and the functions of Go that are called after it.
type piece struct {
	entry int // offset of its first instruction; -1 if there is none
	calls []function
}

// function is a call of Go.
type function struct {
	f        *compiler.Op
	operands int8
	in       [3]home
	out      home
}

// home is where a number is kept outside of registers.
type home struct {
	base base
	at   int32 // element
}

// base is a memory that machine code addresses.
type base uint8

const (
	nowhere base = iota
	inFirst
	inSecond
	inScratch
	inPool
)

// Compile makes machine code of a list; nil where the processor or the system has none.
func Compile(l *List) *Code {
	if !usable() {
		return nil
	}
	a := newAssembler(l.gathered())
	a.assemble()
	code := a.finished()
	b, err := newBlock(code)
	if err != nil {
		return nil
	}
	c := &Code{start: b.start(), pieces: a.pieces, pool: a.pool, slots: a.slots}
	runtime.AddCleanup(c, (*block).free, b)
	return c
}

// Scratch returns an array that a run needs.
func (c *Code) Scratch() []float64 { return make([]float64, c.slots+1) }

// Run runs the list on two memories, which must hold all elements that it names.
func (c *Code) Run(scratch, first, second []float64) {
	x, y, z := unsafe.Pointer(unsafe.SliceData(first)), unsafe.Pointer(unsafe.SliceData(second)), unsafe.Pointer(unsafe.SliceData(scratch))
	for i := range c.pieces {
		p := &c.pieces[i]
		if p.entry >= 0 {
			enter(c.start+uintptr(p.entry), x, y, z)
		}
		if p.calls != nil {
			callAll(p.calls, [...]unsafe.Pointer{inFirst: x, inSecond: y, inScratch: z, inPool: unsafe.Pointer(unsafe.SliceData(c.pool))})
		}
	}
	runtime.KeepAlive(c)
}

func callAll(calls []function, bases [5]unsafe.Pointer) {
	for k := range calls {
		f := &calls[k]
		x := *element(&bases, f.in[0])
		switch out := element(&bases, f.out); f.operands {
		case 1:
			*out = f.f.F1(x)
		case 2:
			*out = f.f.F2(x, *element(&bases, f.in[1]))
		default:
			*out = f.f.F3(x, *element(&bases, f.in[1]), *element(&bases, f.in[2]))
		}
	}
}

func element(bases *[5]unsafe.Pointer, h home) *float64 {
	return (*float64)(unsafe.Add(bases[h.base], uintptr(h.at)*unsafe.Sizeof(float64(0))))
}

// constants of the pool that operations need.
var (
	signBit  = uint64(1) << 63
	withSign = math.MaxUint64 &^ signBit
)
