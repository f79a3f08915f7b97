// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// emitImages writes the kernels of convolutions and poolings of images.
func emitImages() {
	for _, m := range machines {
		rows, vectors := m.tileSize()
		for r := 1; r <= rows; r++ {
			for v := 1; v <= vectors; v++ {
				m.tile(r, v, true)
			}
		}
		for r := 1; r <= weightedRows; r++ {
			for v := 1; v <= weightedVectors; v++ {
				m.weighted(r, v)
			}
		}
		if m.wide {
			m.nonzero()
			m.largestOfFour()
			m.copyRows()
		}
	}
}

// The sizes of the largest sum of weighted rows. With 9 sums the latency of their additions is hidden, and what is added is as little at
// a time as goes into the first cache.
const (
	weightedRows    = 3
	weightedVectors = 3
)

// weighted adds weighted rows to rows of dst, for each list in turn: dst[at + i*ds + j] += sum over p of w[p] x[offs[p] + i*xs + j] for rows
// i and vectors j. The list ends before element end of w and offs and begins where the one before ended. Strides are in bytes, offs and at
// in elements.
func (m machine) weighted(rows, vectors int) {
	t := m.goType()
	TEXT(fmt.Sprintf("weighted%dx%d%s", rows, vectors, m.suffix()), noSplit,
		fmt.Sprintf("func(lists int, end *int, w *%s, offs *int, x *%s, xs int, dst *%s, at *int, ds int)", t, t, t))
	Pragma("noescape")
	lists, end, at := Load(Param("lists"), GP64()), Load(Param("end"), GP64()), Load(Param("at"), GP64())
	w, offs := Load(Param("w"), GP64()), Load(Param("offs"), GP64())
	dst, ds, xs := Load(Param("dst"), GP64()), Load(Param("ds"), GP64()), Load(Param("xs"), GP64())
	x := []reg.Register{Load(Param("x"), GP64())}
	acc := make([][]vec, rows)
	p, n, to := GP64(), GP64(), GP64()
	each := func(do func(v vec, at operand.Mem)) {
		MOVQ(operand.Mem{Base: at}, to)
		LEAQ(operand.Mem{Base: dst, Index: to, Scale: uint8(m.size())}, to)
		for i := range acc {
			for j, v := range acc[i] {
				do(v, operand.Mem{Base: to, Disp: j * m.bytes()})
			}
			if i < rows-1 {
				ADDQ(ds, to)
			}
		}
	}
	for i := range acc {
		acc[i] = make([]vec, vectors)
		for j := range acc[i] {
			acc[i][j] = m.new()
		}
		if i > 0 {
			x = append(x, GP64())
			LEAQ(operand.Mem{Base: x[i-1], Index: xs, Scale: 1}, x[i])
		}
	}
	XORQ(p, p)
	Label("list")
	MOVQ(operand.Mem{Base: end}, n)
	CMPQ(p, n)
	JGE(operand.LabelRef("next"))
	each(func(v vec, at operand.Mem) { m.do("loadu", at, v) })
	add := func(sums [][]vec, next int) {
		weight, off := m.new(), GP64()
		m.do("broadcast", operand.Mem{Base: w, Index: p, Scale: uint8(m.size()), Disp: next * m.size()}, weight)
		MOVQ(operand.Mem{Base: offs, Index: p, Scale: 8, Disp: next * 8}, off)
		for i := range sums {
			for j, v := range sums[i] {
				m.do("fma231", operand.Mem{Base: x[i], Index: off, Scale: uint8(m.size()), Disp: j * m.bytes()}, weight, v)
			}
		}
	}
	if rows*vectors <= 4 { // few sums: every other row is added to more of them
		more := make([][]vec, rows)
		for i := range more {
			for range vectors {
				v := m.new()
				m.zero(v)
				more[i] = append(more[i], v)
			}
		}
		DECQ(n)
		Label("two")
		CMPQ(p, n)
		JGE(operand.LabelRef("one"))
		add(acc, 0)
		add(more, 1)
		ADDQ(operand.U8(2), p)
		JMP(operand.LabelRef("two"))
		Label("one")
		INCQ(n)
		for i := range more {
			for j, v := range more[i] {
				m.do("add", v, acc[i][j], acc[i][j])
			}
		}
		CMPQ(p, n)
		JGE(operand.LabelRef("store"))
	}
	Label("loop")
	add(acc, 0)
	INCQ(p)
	CMPQ(p, n)
	JLT(operand.LabelRef("loop"))
	Label("store")
	each(func(v vec, at operand.Mem) { m.do("loadu", v, at) })
	Label("next")
	ADDQ(operand.U8(8), end)
	ADDQ(operand.U8(8), at)
	DECQ(lists)
	JNZ(operand.LabelRef("list"))
	VZEROUPPER()
	RET()
}

// nonzero writes the elements of x that are not 0 to w, and those of at in the same places to where, for rows of n elements, and to end how
// many it has written by the end of each row. Of at, w and where it reads and writes whole vectors.
func (m machine) nonzero() {
	t := m.goType()
	TEXT("nonzero"+m.suffix(), noSplit, fmt.Sprintf("func(rows, n int, x *%s, at *int, w *%s, where, end *int)", t, t))
	Pragma("noescape")
	rows, n, x, end := Load(Param("rows"), GP64()), Load(Param("n"), GP64()), Load(Param("x"), GP64()), Load(Param("end"), GP64())
	first, w, where := Load(Param("at"), GP64()), Load(Param("w"), GP64()), Load(Param("where"), GP64())
	zero, v, places, found, some := m.new(), m.new(), ZMM(), K(), K()
	count, all, left, rest, at := GP64(), GP64(), GP64(), GP64(), GP64()
	m.zero(zero)
	XORQ(all, all)
	MOVQ(n, rest)
	ANDQ(operand.I32(int32(m.lanes()-1)), rest)
	lanes := m.restMask(rest)
	vector := func() {
		m.do("cmp", operand.U8(4), zero, v, found)
		m.do("compress", v, found, v)
		m.do("loadu", v, operand.Mem{Base: w})
		for half := 0; half < m.lanes(); half += 8 {
			KSHIFTRW(operand.U8(uint8(half)), found, some)
			VMOVDQU64(operand.Mem{Base: at, Disp: 8 * half}, places)
			VPCOMPRESSQ_Z(places, some, places)
			VMOVDQU64(places, operand.Mem{Base: where})
			KMOVB(some, count.As32())
			POPCNTQ(count, count)
			ADDQ(count, all)
			LEAQ(operand.Mem{Base: where, Index: count, Scale: 8}, where)
			LEAQ(operand.Mem{Base: w, Index: count, Scale: uint8(m.size())}, w)
		}
	}
	Label("row")
	MOVQ(first, at)
	MOVQ(n, left)
	SUBQ(rest, left)
	JZ(operand.LabelRef("rest"))
	Label("loop")
	m.do("loadu", operand.Mem{Base: x}, v)
	vector()
	ADDQ(operand.U8(64), x)
	ADDQ(operand.U32(uint32(8*m.lanes())), at)
	SUBQ(operand.U32(uint32(m.lanes())), left)
	JNZ(operand.LabelRef("loop"))
	Label("rest")
	TESTQ(rest, rest)
	JZ(operand.LabelRef("next"))
	m.do("loadz", operand.Mem{Base: x}, lanes, v)
	vector()
	LEAQ(operand.Mem{Base: x, Index: rest, Scale: uint8(m.size())}, x)
	Label("next")
	MOVQ(all, operand.Mem{Base: end})
	ADDQ(operand.U8(8), end)
	DECQ(rows)
	JNZ(operand.LabelRef("row"))
	VZEROUPPER()
	RET()
}

// largestOfFour writes where the largest elements of windows of 2 x 2 in a plane are: rows of n windows side by side, of which each begins
// down elements after the one above; width is that of a row of the plane. The first of equal ones counts, and a NaN before all others.
func (m machine) largestOfFour() {
	t := m.goType()
	TEXT("largestOfFour"+m.suffix(), noSplit, fmt.Sprintf("func(rows, n int, x *%s, down, width int, at *int64)", t))
	Pragma("noescape")
	rows, n, x, at := Load(Param("rows"), GP64()), Load(Param("n"), GP64()), Load(Param("x"), GP64()), Load(Param("at"), GP64())
	even, odd, one, row, down, width := ZMM(), ZMM(), ZMM(), ZMM(), ZMM(), ZMM()
	numbers := GLOBL(fmt.Sprintf("even%d", m.size()), 8|16) // RODATA|NOPTR
	for i := range m.lanes() {
		if m.double {
			DATA(8*i, operand.U64(2*uint64(i)))
		} else {
			DATA(4*i, operand.U32(2*uint32(i)))
		}
	}
	all := func(x reg.Register, v vec) {
		if m.double {
			VPBROADCASTQ(x, v)
		} else {
			VPBROADCASTD(x.(reg.GP).As32(), v)
		}
	}
	t0, downBytes, widthBytes := GP64(), GP64(), GP64()
	VMOVDQU64(numbers, even)
	MOVQ(operand.U32(1), t0)
	all(t0, one)
	m.do("iadd", one, even, odd)
	VMOVDQA64(even, row)
	all(Load(Param("down"), downBytes), down)
	all(Load(Param("width"), widthBytes), width)
	toFourth, step := ZMM(), ZMM()
	m.do("iadd", one, width, toFourth)
	MOVQ(operand.U32(uint32(2*m.lanes())), t0)
	all(t0, step)
	IMUL3Q(operand.U8(uint8(m.size())), downBytes, downBytes)
	IMUL3Q(operand.U8(uint8(m.size())), widthBytes, widthBytes)

	// The masks of the windows after the last whole vector.
	some, bits := GP64(), GP64()
	halves := func(n reg.Register, lanes int) (k [2]mask) {
		MOVQ(operand.I32(-1), bits)
		BZHIQ(n, bits, bits)
		for half := range k {
			k[half] = K()
			KMOVW(bits.As32(), k[half])
			SHRQ(operand.U8(uint8(lanes)), bits)
		}
		return k
	}
	MOVQ(n, some)
	ANDQ(operand.I32(int32(m.lanes()-1)), some)
	places := halves(some, 8)
	ADDQ(some, some)
	elements := halves(some, m.lanes())

	top, left, place := GP64(), GP64(), ZMM()
	windows := func(load func(half int, at operand.Mem, v vec), store func(half int, v vec)) {
		var u [4]vec
		for i := range 2 {
			l, r := m.new(), m.new()
			for half, v := range []vec{l, r} {
				at := operand.Mem{Base: top, Disp: 64 * half}
				if i == 1 {
					at.Index, at.Scale = widthBytes, 1
				}
				load(half, at, v)
			}
			for j, pick := range []vec{even, odd} {
				u[2*i+j] = m.new()
				VMOVDQA64(pick, u[2*i+j])
				m.do("permute2", r, l, u[2*i+j])
			}
		}
		where := ZMM()
		VMOVDQA64(place, where)
		for i, by := range []vec{one, width, toFourth} {
			greater, found := K(), K()
			m.do("cmp", operand.U8(0x16), u[0], u[i+1], greater)   // not less or equal
			m.do("cmp", operand.U8(7), u[0], u[0], greater, found) // and no NaN before
			m.do("move", u[i+1], found, u[0])
			m.do("iadd", by, place, found, where)
		}
		if m.double {
			store(0, where)
			return
		}
		wide := ZMM()
		VPMOVSXDQ(where.AsY(), wide)
		store(0, wide)
		VEXTRACTI64X4(operand.U8(1), where, where.AsY())
		VPMOVSXDQ(where.AsY(), wide)
		store(1, wide)
	}
	Label("row")
	MOVQ(x, top)
	MOVQ(n, left)
	VMOVDQA64(row, place)
	Label("loop")
	CMPQ(left, operand.U32(uint32(m.lanes())))
	JLT(operand.LabelRef("rest"))
	windows(func(_ int, at operand.Mem, v vec) { m.do("loadu", at, v) }, func(half int, v vec) { VMOVDQU64(v, operand.Mem{Base: at, Disp: 64 * half}) })
	m.do("iadd", step, place, place)
	ADDQ(operand.U32(128), top)
	ADDQ(operand.U32(uint32(8*m.lanes())), at)
	SUBQ(operand.U32(uint32(m.lanes())), left)
	JMP(operand.LabelRef("loop"))
	Label("rest")
	TESTQ(left, left)
	JZ(operand.LabelRef("next"))
	windows(func(half int, at operand.Mem, v vec) { m.do("loadz", at, elements[half], v) },
		func(half int, v vec) { VMOVDQU64(v, places[half], operand.Mem{Base: at, Disp: 64 * half}) })
	LEAQ(operand.Mem{Base: at, Index: left, Scale: 8}, at)
	Label("next")
	m.do("iadd", down, row, row)
	ADDQ(downBytes, x)
	DECQ(rows)
	JNZ(operand.LabelRef("row"))
	VZEROUPPER()
	RET()
}

// copyRows copies rows of n elements, which lie ds and ss bytes apart.
func (m machine) copyRows() {
	t := m.goType()
	TEXT("copyRows"+m.suffix(), noSplit, fmt.Sprintf("func(rows, n int, dst *%s, ds int, src *%s, ss int)", t, t))
	Pragma("noescape")
	rows, n := Load(Param("rows"), GP64()), Load(Param("n"), GP64())
	dst, ds, src, ss := Load(Param("dst"), GP64()), Load(Param("ds"), GP64()), Load(Param("src"), GP64()), Load(Param("ss"), GP64())
	some, whole, at, v := GP64(), GP64(), GP64(), m.new()
	MOVQ(n, some)
	ANDQ(operand.I32(int32(m.lanes()-1)), some)
	lanes := m.restMask(some)
	MOVQ(n, whole)
	SUBQ(some, whole)
	Label("row")
	XORQ(at, at)
	Label("loop")
	CMPQ(at, whole)
	JGE(operand.LabelRef("rest"))
	m.do("loadu", operand.Mem{Base: src, Index: at, Scale: uint8(m.size())}, v)
	m.do("loadu", v, operand.Mem{Base: dst, Index: at, Scale: uint8(m.size())})
	ADDQ(operand.U8(uint8(m.lanes())), at)
	JMP(operand.LabelRef("loop"))
	Label("rest")
	m.do("loadz", operand.Mem{Base: src, Index: at, Scale: uint8(m.size())}, lanes, v)
	m.do("loadu", v, lanes, operand.Mem{Base: dst, Index: at, Scale: uint8(m.size())})
	ADDQ(ds, dst)
	ADDQ(ss, src)
	DECQ(rows)
	JNZ(operand.LabelRef("row"))
	VZEROUPPER()
	RET()
}
