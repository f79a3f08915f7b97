// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"strings"

	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

const noSplit = 4

// kernel describes an elementwise function of one to three operands.
type kernel struct {
	name   string // as callers spell it: "exp", "add_s"
	args   []string
	scalar int  // the index of the operand that points to one element, or -1
	cheap  bool // unroll the main loop by four
	// unroll writes that loop where it is not four times the body; it falls through to the label loop.
	unroll func(k kernel, m machine, x []reg.VecVirtual, ptr []reg.Register, dst, n reg.Register, advance func(int))
	flag   func(m machine, x []reg.VecVirtual) reg.GPVirtual
	body   func(m machine, x []reg.VecVirtual) reg.VecVirtual
}

func (k kernel) stub(m machine) string {
	parts := strings.Split(k.name, "_")
	for i := range parts[1:] {
		parts[i+1] = strings.ToUpper(parts[i+1][:1]) + parts[i+1][1:]
	}
	return strings.Join(parts, "") + m.suffix()
}

// emit writes the loop around the body:
//
//	whole vectors, four at a time when the body is cheap, then one at a time, then the rest under a mask
//
// The body appears once for the last two cases. With flag set, the loop stops before the first vector whose flag is
// not zero and returns how many elements are done.
func (k kernel) emit(m machine) {
	name := k.stub(m)
	result := ""
	if k.flag != nil {
		result = " (done int)"
	}
	TEXT(name, noSplit, fmt.Sprintf("func(dst, %s *%s, n int)%s", strings.Join(k.args, ", "), m.goType(), result))
	Pragma("noescape")
	dst := Load(Param("dst"), GP64())
	ptr := make([]reg.Register, len(k.args))
	for i, a := range k.args {
		ptr[i] = Load(Param(a), GP64())
	}
	n := Load(Param("n"), GP64())
	x := make([]reg.VecVirtual, len(k.args))
	var moving []reg.Register // pointers that advance
	for i := range x {
		if i != k.scalar {
			moving = append(moving, ptr[i])
		}
	}
	moving = append(moving, dst)
	if k.scalar >= 0 {
		TESTQ(n, n)
		JLE(operand.LabelRef("done"))
		x[k.scalar] = m.new()
		m.do("broadcast", operand.Mem{Base: ptr[k.scalar]}, x[k.scalar])
	}
	advance := func(vectors int) {
		for _, p := range moving {
			ADDQ(operand.U32(uint32(vectors*m.bytes())), p)
		}
		SUBQ(operand.U32(uint32(vectors*m.lanes())), n)
	}
	switch {
	case k.unroll != nil:
		k.unroll(k, m, x, ptr, dst, n, advance)
	case k.cheap:
		k.unrolled(m, x, ptr, dst, n, advance)
	}
	for i := range x {
		if i != k.scalar {
			x[i] = m.new()
		}
	}

	Label("loop")
	CMPQ(n, operand.U32(uint32(m.lanes())))
	JLT(operand.LabelRef("partial"))
	for i := range x {
		if i != k.scalar {
			m.do("loadu", operand.Mem{Base: ptr[i]}, x[i])
		}
	}
	Label("body")
	if k.flag != nil {
		f := k.flag(m, x)
		TESTQ(f, f)
		JNZ(operand.LabelRef("done"))
	}
	y := k.body(m, x)
	CMPQ(n, operand.U32(uint32(m.lanes())))
	JLT(operand.LabelRef("partialstore"))
	m.do("loadu", y, operand.Mem{Base: dst})
	advance(1)
	JNZ(operand.LabelRef("loop"))
	JMP(operand.LabelRef("done"))

	// One element goes as a scalar: processors forward a scalar store to the next scalar load, a masked one they do not.
	Label("partial")
	CMPQ(n, operand.U32(1))
	JLT(operand.LabelRef("done"))
	JNE(operand.LabelRef("several"))
	for i := range x {
		if i != k.scalar {
			m.moveOne(operand.Mem{Base: ptr[i]}, x[i].AsX())
		}
	}
	JMP(operand.LabelRef("body"))
	Label("several")
	rest := m.restMask(n)
	for i := range x {
		if i != k.scalar {
			m.maskLoad(operand.Mem{Base: ptr[i]}, rest, x[i])
		}
	}
	JMP(operand.LabelRef("body"))

	Label("partialstore")
	if m.wide {
		CMPQ(n, operand.U32(1))
		JNE(operand.LabelRef("severalstore"))
		m.moveOne(y.AsX(), operand.Mem{Base: dst})
		if k.flag != nil {
			XORQ(n, n)
		}
		JMP(operand.LabelRef("done"))
		Label("severalstore")
	}
	m.storeRest(y, dst, n)
	if k.flag != nil {
		XORQ(n, n)
	}
	Label("done")
	VZEROUPPER()
	if k.flag != nil {
		total := Load(Param("n"), GP64())
		SUBQ(n, total)
		Store(total, Return("done"))
	}
	RET()
}

func (k kernel) unrolled(m machine, x []reg.VecVirtual, ptr []reg.Register, dst, n reg.Register, advance func(int)) {
	CMPQ(n, operand.U32(uint32(4*m.lanes())))
	JLT(operand.LabelRef("loop"))
	Label("four")
	for v := 0; v < 4; v++ {
		y := append([]reg.VecVirtual(nil), x...)
		for i := range y {
			if i != k.scalar {
				y[i] = m.new()
				m.do("loadu", operand.Mem{Base: ptr[i], Disp: v * m.bytes()}, y[i])
			}
		}
		m.do("loadu", k.body(m, y), operand.Mem{Base: dst, Disp: v * m.bytes()})
	}
	advance(4)
	CMPQ(n, operand.U32(uint32(4*m.lanes())))
	JGE(operand.LabelRef("four"))
	TESTQ(n, n)
	JZ(operand.LabelRef("done"))
}

// restMask selects the first n lanes, 0 < n < lanes.
func (m machine) restMask(n reg.Register) mask {
	if m.wide {
		t, k := GP64(), K()
		MOVQ(operand.I32(-1), t)
		BZHIQ(n, t, t)
		KMOVW(t.As32(), k)
		return k
	}
	t, r := GP64(), m.new()
	LEAQ(m.window(), t)
	off := GP64()
	MOVQ(n, off)
	NEGQ(off)
	m.do("loadu", operand.Mem{Base: t, Index: off, Scale: uint8(m.size()), Disp: 32}, r)
	return r
}

func (m machine) moveOne(from, to operand.Op) {
	if m.double {
		VMOVSD(from, to)
	} else {
		VMOVSS(from, to)
	}
}

// window is 32 bytes of ones followed by 32 of zeros: read at 32-n*size it masks the first n lanes.
func (m machine) window() operand.Mem {
	if at, ok := constants["window"]; ok {
		return at
	}
	at := GLOBL("window", 8|16)
	for off := 0; off < 64; off += 8 {
		v := uint64(0)
		if off < 32 {
			v = 1<<64 - 1
		}
		DATA(off, operand.U64(v))
	}
	constants["window"] = at
	return at
}

// maskLoad reads the lanes of the mask and sets the others to zero.
func (m machine) maskLoad(at operand.Mem, k mask, r reg.VecVirtual) {
	if m.wide {
		m.do("loadz", at, k, r)
	} else {
		m.do("maskload", at, k, r)
	}
}

// storeRest writes the first n lanes. AVX2 stores in pieces: a masked store takes some forty steps on AMD, and a load
// of the same place right after it waits for memory.
func (m machine) storeRest(y reg.VecVirtual, dst, n reg.Register) {
	if m.wide {
		m.do("loadu", y, m.restMask(n), operand.Mem{Base: dst})
		return
	}
	m.storePieces(y, dst, n, "")
}

// storePieces is storeRest of AVX2; id tells its labels from those of another in the same function.
func (m machine) storePieces(y reg.VecVirtual, dst, n reg.Register, id string) {
	lo := y.AsX()
	piece := func(bit, bytes int, store func(), next func()) {
		skip := fmt.Sprintf("below%d%s", bit, id)
		TESTQ(operand.U32(uint32(bit)), n)
		JZ(operand.LabelRef(skip))
		store()
		if next != nil {
			next()
			ADDQ(operand.U32(uint32(bytes)), dst)
		}
		Label(skip)
	}
	at := operand.Mem{Base: dst}
	half := m.lanes() / 2
	piece(half, 16, func() { VMOVUPS(lo, at) }, func() { VEXTRACTF128(operand.U8(1), y, lo) })
	if m.double {
		piece(1, 8, func() { VMOVSD(lo, at) }, nil)
		return
	}
	piece(2, 8, func() { VMOVSD(lo, at) }, func() { VPSRLDQ(operand.U8(8), lo, lo) })
	piece(1, 4, func() { VMOVSS(lo, at) }, nil)
}
