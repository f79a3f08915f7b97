// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// Counts of photons: whole numbers from 0 to 127 as bytes, and products of panels of them, four bytes a word. Sums are exact, so that all levels have the same bits.

const (
	mostCount  = 127
	panelBytes = 48 * 4 // of a word of each row of a panel
)

func emitCounts() {
	for _, m := range machines {
		if m.double {
			continue
		}
		rows, vectors := 4, 2
		if m.wide {
			rows, vectors = m.tileSize()
			m.countsWide()
		} else {
			m.counts()
		}
		for v := 1; v <= vectors; v++ {
			m.countTile(rows, v, false)
			if !m.wide {
				m.countTile(rows, v, true)
			}
		}
		machine{wide: m.wide, double: true}.scaleCounts()
	}
}

// beginCounts starts a kernel that writes numbers as bytes and joins their bits, until a vector has one that is no count.
func (m machine) beginCounts() (dst, src, n reg.Register, joined vec) {
	TEXT("counts"+m.level(), noSplit, "func(dst *uint8, src *float32, n int) (bits, done int)")
	Pragma("noescape")
	dst, src, n = pointer("dst"), pointer("src"), pointer("n")
	joined = m.new()
	m.zero(joined)
	return dst, src, n, joined
}

// endCounts returns the joined bits and how many numbers were done.
func (m machine) endCounts(n reg.Register, joined vec) {
	Label("done")
	v := joined.AsY()
	half := YMM()
	if m.wide {
		VEXTRACTI64X4(operand.U8(1), joined, half)
		VPOR(half, v, v)
	}
	VEXTRACTI128(operand.U8(1), v, half.AsX())
	x := joined.AsX()
	VPOR(half.AsX(), x, x)
	VPSHUFD(operand.U8(0x4e), x, half.AsX())
	VPOR(half.AsX(), x, x)
	VPSHUFD(operand.U8(0xb1), x, half.AsX())
	VPOR(half.AsX(), x, x)
	bits := GP64()
	VMOVD(x, bits.As32())
	VZEROUPPER()
	Store(bits, Return("bits"))
	all := Load(Param("n"), GP64())
	SUBQ(n, all)
	Store(all, Return("done"))
	RET()
}

func (m machine) countsWide() {
	dst, src, n, joined := m.beginCounts()
	most := ZMM()
	VPBROADCASTD(m.memory(constant{mostCount}), most)
	step := func(v vec, store func(from vec)) {
		i, back, bad, large := ZMM(), ZMM(), K(), K()
		VCVTTPS2DQ(v, i)
		VCVTDQ2PS(i, back)
		VCMPPS(operand.U8(ne), v, back, bad)
		VPCMPUD(operand.U8(6), most, i, large)
		KORTESTW(bad, large)
		JNZ(operand.LabelRef("done"))
		VPORD(i, joined, joined)
		store(i)
	}
	Label("loop")
	CMPQ(n, operand.U32(16))
	JLT(operand.LabelRef("rest"))
	v := ZMM()
	VMOVUPS(operand.Mem{Base: src}, v)
	step(v, func(i vec) { VPMOVDB(i, operand.Mem{Base: dst}) })
	ADDQ(operand.U32(64), src)
	ADDQ(operand.U32(16), dst)
	SUBQ(operand.U32(16), n)
	JMP(operand.LabelRef("loop"))
	Label("rest")
	TESTQ(n, n)
	JZ(operand.LabelRef("done"))
	lanes := m.restMask(n)
	VMOVUPS_Z(operand.Mem{Base: src}, lanes, v)
	step(v, func(i vec) { VPMOVDB(i, lanes, operand.Mem{Base: dst}) })
	XORQ(n, n)
	m.endCounts(n, joined)
}

// counts leaves fewer than 32 numbers at the end.
func (m machine) counts() {
	dst, src, n, joined := m.beginCounts()
	order := GLOBL("countOrder", 8|16)
	for i, v := range []uint32{0, 4, 1, 5, 2, 6, 3, 7} {
		DATA(4*i, operand.U32(v))
	}
	Label("loop")
	CMPQ(n, operand.U32(32))
	JLT(operand.LabelRef("done"))
	var whole [4]vec
	bad, high := YMM(), YMM()
	VPXOR(bad, bad, bad)
	VPXOR(high, high, high)
	for k := range whole {
		v, back := YMM(), YMM()
		whole[k] = YMM()
		VMOVUPS(operand.Mem{Base: src, Disp: 32 * k}, v)
		VCVTTPS2DQ(v, whole[k])
		VCVTDQ2PS(whole[k], back)
		VCMPPS(operand.U8(ne), v, back, back)
		VPOR(back, bad, bad)
		VPOR(whole[k], high, high)
	}
	large := YMM()
	VPAND(m.memory(constant{^uint64(mostCount) & 0xffffffff}), high, large)
	VPOR(large, bad, bad)
	VPTEST(bad, bad)
	JNZ(operand.LabelRef("done"))
	VPOR(high, joined, joined)
	VPACKSSDW(whole[1], whole[0], whole[0])
	VPACKSSDW(whole[3], whole[2], whole[2])
	VPACKUSWB(whole[2], whole[0], whole[0])
	sorted := YMM()
	VMOVDQU(order, sorted)
	VPERMD(whole[0], sorted, whole[0])
	VMOVDQU(whole[0], operand.Mem{Base: dst})
	ADDQ(operand.U32(128), src)
	ADDQ(operand.U32(32), dst)
	SUBQ(operand.U32(32), n)
	JMP(operand.LabelRef("loop"))
	m.endCounts(n, joined)
}

// countTile writes C = A*B, or adds to C if keep is not 0, for rows by vectors of C and k > 0 words of each row, which panels of 48 rows hold one after the other.
// A tile for few counts adds pairs of products up in 16 bits, so that k words have to fit there.
func (m machine) countTile(rows, vectors int, few bool) {
	name := "countTile"
	if few {
		name = "fewTile"
	}
	TEXT(fmt.Sprintf("%s%dx%d%s", name, rows, vectors, m.level()), noSplit, "func(k int, a, b *uint32, c *int32, cs, keep int)")
	Pragma("noescape")
	k, a, b := pointer("k"), pointer("a"), pointer("b")
	acc := make([][]vec, rows)
	for i := range acc {
		acc[i] = make([]vec, vectors)
		for j := range acc[i] {
			acc[i][j] = m.new()
			m.zero(acc[i][j])
		}
	}
	ones := vec(nil)
	if !m.wide {
		ones = YMM()
		VMOVDQU(m.memory(constant{0x00010001}), ones)
	}
	Label("loop")
	bv := make([]vec, vectors)
	for j := range bv {
		bv[j] = m.new()
		m.do("loadu", operand.Mem{Base: b, Disp: j * m.bytes()}, bv[j])
	}
	for i := range acc {
		av := m.new()
		m.do("broadcast", operand.Mem{Base: a, Disp: 4 * i}, av)
		for j := range bv {
			if m.wide {
				VPDPBUSD(bv[j], av, acc[i][j])
				continue
			}
			pairs := YMM()
			VPMADDUBSW(bv[j], av, pairs)
			if few {
				VPADDW(pairs, acc[i][j], acc[i][j])
				continue
			}
			VPMADDWD(ones, pairs, pairs)
			VPADDD(pairs, acc[i][j], acc[i][j])
		}
	}
	ADDQ(operand.U32(panelBytes), a)
	ADDQ(operand.U32(panelBytes), b)
	DECQ(k)
	JNZ(operand.LabelRef("loop"))
	c, cs, keep := pointer("c"), pointer("cs"), pointer("keep")
	add := func(with bool) {
		for i := range acc {
			for j := range acc[i] {
				at := operand.Mem{Base: c, Disp: j * m.bytes()}
				if few {
					VPMADDWD(ones, acc[i][j], acc[i][j])
				}
				if with {
					VPADDD(at, acc[i][j], acc[i][j])
				}
				m.do("loadu", acc[i][j], at)
			}
			ADDQ(cs, c)
		}
		VZEROUPPER()
		RET()
	}
	TESTQ(keep, keep)
	JZ(operand.LabelRef("overwrite"))
	add(true)
	Label("overwrite")
	add(false)
}

// scaleCounts writes dst = (x*y)*scale for whole numbers x, or adds that to dst, rounded once, if keep is not 0; it leaves what is less than a vector.
func (m machine) scaleCounts() {
	TEXT("scaleCounts"+m.level(), noSplit, "func(dst *float64, x *int32, y *float64, scale float64, n, keep int) (done int)")
	Pragma("noescape")
	dst, x, y, n, keep := pointer("dst"), pointer("x"), pointer("y"), pointer("n"), pointer("keep")
	scale := m.spread("scale")
	loop := func(name string, with bool) {
		Label(name)
		CMPQ(n, operand.U32(uint32(m.lanes())))
		JLT(operand.LabelRef("done"))
		v := m.new()
		VCVTDQ2PD(operand.Mem{Base: x}, v)
		m.do("mul", operand.Mem{Base: y}, v, v)
		if with {
			old := m.new()
			m.do("loadu", operand.Mem{Base: dst}, old)
			m.do("fma231", v, scale, old)
			v = old
		} else {
			m.do("mul", v, scale, v)
		}
		m.do("loadu", v, operand.Mem{Base: dst})
		ADDQ(operand.U32(uint32(m.bytes())), dst)
		ADDQ(operand.U32(uint32(m.bytes())), y)
		ADDQ(operand.U32(uint32(m.bytes()/2)), x)
		SUBQ(operand.U32(uint32(m.lanes())), n)
		JMP(operand.LabelRef(name))
	}
	TESTQ(keep, keep)
	JZ(operand.LabelRef("overwrite"))
	loop("add", true)
	loop("overwrite", false)
	Label("done")
	VZEROUPPER()
	all := Load(Param("n"), GP64())
	SUBQ(n, all)
	Store(all, Return("done"))
	RET()
}
