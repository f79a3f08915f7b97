// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"math"
	"strings"

	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// reduction folds a slice into one float64. Element i goes to lane i mod 32 of 32 float64 accumulators, which are
// folded in halves at the end: 0 with 16, 1 with 17, and so on, then 0 with 8. The order depends on n alone, so every
// level gives the same bits.
type reduction struct {
	name    string
	args    []string
	init    float64
	element func(m machine, x []vec) vec
	combine func(m machine, a, b vec) vec
}

func reductions() []reduction {
	first := func(m machine, x []vec) vec { return x[0] }
	add := func(m machine, a, b vec) vec { return m.add(a, b) }
	one, two := []string{"a"}, []string{"a", "b"}
	return []reduction{
		{"dot", two, 0, func(m machine, x []vec) vec { return m.mul(x[0], x[1]) }, add},
		{"max", one, math.Inf(-1), first, func(m machine, a, b vec) vec { return m.extreme(a, b, true) }},
		{"min", one, math.Inf(1), first, func(m machine, a, b vec) vec { return m.extreme(a, b, false) }},
		{"sum", one, 0, first, add},
		{"sumsq", one, 0, func(m machine, x []vec) vec { return m.mul(x[0], x[0]) }, add},
	}
}

const accumulators = 32

// emit writes the kernel; from has the element type of the slice, the work is done in float64.
func (r reduction) emit(from machine) {
	m := machine{wide: from.wide, double: true, neon: from.neon}
	TEXT(r.name+from.suffix(), noSplit, fmt.Sprintf("func(%s *%s, n int) float64", strings.Join(r.args, ", "), from.goType()))
	Pragma("noescape")
	ptr := make([]reg.Register, len(r.args))
	for i, a := range r.args {
		ptr[i] = Load(Param(a), GP64())
	}
	n := Load(Param("n"), GP64())
	acc := make([]vec, accumulators/m.lanes())
	for i := range acc {
		acc[i] = m.load(m.num(r.init))
	}
	stride := m.lanes() * from.size()
	advance := func(vectors int) {
		for _, p := range ptr {
			ADDQ(operand.U32(uint32(vectors*stride)), p)
		}
		SUBQ(operand.U32(uint32(vectors*m.lanes())), n)
	}
	step := func(i, vector int, k mask) {
		x := make([]vec, len(ptr))
		for j := range x {
			x[j] = m.loadFrom(from, operand.Mem{Base: ptr[j], Disp: vector * stride}, k, n)
			if k != nil && r.init != 0 {
				x[j] = m.blend(k, x[j], m.num(r.init))
			}
		}
		m.do("move", r.combine(m, acc[i], r.element(m, x)), acc[i])
	}
	Label("loop")
	CMPQ(n, operand.U32(accumulators))
	JLT(operand.LabelRef("rest"))
	for i := range acc {
		step(i, i, nil)
	}
	advance(len(acc))
	JMP(operand.LabelRef("loop"))
	Label("rest")
	for i := range acc {
		part, next := fmt.Sprintf("part%d", i), fmt.Sprintf("next%d", i)
		CMPQ(n, operand.U32(uint32(m.lanes())))
		JLT(operand.LabelRef(part))
		step(i, 0, nil)
		advance(1)
		JMP(operand.LabelRef(next))
		Label(part)
		TESTQ(n, n)
		JLE(operand.LabelRef("fold"))
		step(i, 0, m.restMask(n))
		JMP(operand.LabelRef("fold"))
		Label(next)
	}
	Label("fold")
	for w := len(acc) / 2; w > 0; w /= 2 {
		for i := 0; i < w; i++ {
			acc[i] = r.combine(m, acc[i], acc[i+w])
		}
	}
	v, hi := acc[0], m.new()
	if m.wide {
		VEXTRACTF64X4(operand.U8(1), v, hi.AsY())
		v = r.combine(m, v, hi)
		VEXTRACTF64X2(operand.U8(1), v.AsY(), hi.AsX())
	} else {
		VEXTRACTF128(operand.U8(1), v, hi.AsX())
	}
	v = r.combine(m, v, hi)
	VPERMILPD(operand.U8(1), v, hi)
	v = r.combine(m, v, hi)
	VZEROUPPER()
	at, err := ReturnIndex(0).Resolve()
	if err != nil {
		panic(err)
	}
	VMOVSD(v.AsX(), at.Addr)
	RET()
}

// loadFrom reads lanes() elements of from's type as float64.
func (m machine) loadFrom(from machine, at operand.Mem, k mask, n reg.Register) vec {
	x := m.new()
	switch {
	case from.double && k == nil:
		m.do("loadu", at, x)
	case from.double:
		m.maskLoad(at, k, x)
	case k == nil:
		VCVTPS2PD(at, x)
	case m.wide:
		VMOVUPS_Z(at, k, x.AsY())
		VCVTPS2PD(x.AsY(), x)
	default:
		half := XMM()
		t, off := GP64(), GP64()
		LEAQ(m.window(), t)
		MOVQ(n, off)
		NEGQ(off)
		VMOVUPS(operand.Mem{Base: t, Index: off, Scale: 4, Disp: 32}, half)
		VMASKMOVPS(at, half, half)
		VCVTPS2PD(half, x)
	}
	return x
}

// emitFill writes dst[i] = v.
func emitFill(m machine) {
	TEXT("fill"+m.suffix(), noSplit, fmt.Sprintf("func(dst *%s, v %s, n int)", m.goType(), m.goType()))
	Pragma("noescape")
	dst := Load(Param("dst"), GP64())
	n := Load(Param("n"), GP64())
	v := m.new()
	at, err := Param("v").Resolve()
	if err != nil {
		panic(err)
	}
	m.do("broadcast", at.Addr, v)
	Label("loop")
	CMPQ(n, operand.U32(uint32(m.lanes())))
	JLT(operand.LabelRef("rest"))
	m.do("loadu", v, operand.Mem{Base: dst})
	ADDQ(operand.U32(uint32(m.bytes())), dst)
	SUBQ(operand.U32(uint32(m.lanes())), n)
	JMP(operand.LabelRef("loop"))
	Label("rest")
	TESTQ(n, n)
	JLE(operand.LabelRef("done"))
	m.storeRest(v, dst, n)
	Label("done")
	VZEROUPPER()
	RET()
}
