// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"math/bits"

	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// emitGemm writes the micro kernels of the matrix product for every height and width up to the full tile, the inner
// products of matrix-vector products, and the transposing copies.
func emitGemm() {
	for _, m := range machines {
		rows, vectors := m.tileSize()
		for r := 1; r <= rows; r++ {
			for v := 1; v <= vectors; v++ {
				m.tile(r, v, false)
			}
		}
		m.tile(1, 8, false)
		m.inner(1)
		m.inner(4)
	}
	transpose8()
	transpose4()
}

// tileSize is the height and width in vectors of the largest tile: as many sums as there are registers.
func (m machine) tileSize() (rows, vectors int) {
	if m.wide {
		return 8, 3
	}
	return 6, 2
}

// strided addresses row i < 8 of a matrix: rows 0, 1, 2, 4 from base, 3, 5, 7 from base3 = base + 3 rows, 6 by triple.
type strided struct{ base, base3, stride, stride3 reg.Register }

func newStrided(base, stride reg.Register, rows int) strided {
	s := strided{base: base, stride: stride}
	if rows > 3 {
		s.stride3, s.base3 = GP64(), GP64()
		LEAQ(operand.Mem{Base: stride, Index: stride, Scale: 2}, s.stride3)
		LEAQ(operand.Mem{Base: base, Index: s.stride3, Scale: 1}, s.base3)
	}
	return s
}

func (s strided) row(i, disp int) operand.Mem {
	switch i {
	case 0:
		return operand.Mem{Base: s.base, Disp: disp}
	case 1, 2, 4:
		return operand.Mem{Base: s.base, Index: s.stride, Scale: uint8(i), Disp: disp}
	case 3:
		return operand.Mem{Base: s.base3, Disp: disp}
	case 6:
		return operand.Mem{Base: s.base, Index: s.stride3, Scale: 2, Disp: disp}
	}
	return operand.Mem{Base: s.base3, Index: s.stride, Scale: uint8(i - 3), Disp: disp}
}

func (s strided) advance(by operand.Op) {
	ADDQ(by, s.base)
	if s.base3 != nil {
		ADDQ(by, s.base3)
	}
}

// tile writes C = alpha*A*B (+ C if keep is not 0) for rows by vectors of C and any k > 0. Strides are in bytes: element
// (i, p) of A is at a + i*ars + p*acs, row p of B at b + p*bs, row i of C at c + i*cs. With AVX-512 the last vector of
// B and C has the lanes of the mask only; AVX2 takes whole vectors. There are count such tiles above each other in C, whose rows
// of A begin down bytes apart.
//
// A large tile with more steps than lines brings its lines of C into the first-level cache, one in each of its first steps, since
// many at once would hold up the loads of A and B. Then it brings fetch rows as long as its own, which are ns bytes apart, into the
// second-level cache: the first tile those from next on, the others the rows below. That takes k > (rows + fetch) times the lines of
// a row. In all steps it brings A into the first-level cache, eight steps ahead.
//
// A sliding tile takes the elements from b to each row of B from a table. It is alone, and fetches nothing but C.
func (m machine) tile(rows, vectors int, sliding bool) {
	t, name, bRows, more := m.goType(), "tile", "bs int", ", count, down int, next *"+m.goType()+", ns, fetch int"
	if sliding {
		name, bRows, more = "slide", "rows *int", ""
	}
	TEXT(fmt.Sprintf("%s%dx%d%s", name, rows, vectors, m.suffix()), noSplit,
		fmt.Sprintf("func(k int, a *%s, ars, acs int, b *%s, %s, c *%s, cs int, alpha *%s, keep, mask int%s)", t, t, bRows, t, t, more))
	Pragma("noescape")
	var lanes reg.Register
	if m.wide {
		lanes = K()
		w := GP64()
		Load(Param("mask"), w)
		KMOVW(w.As32(), lanes)
	}
	Label("tile")
	acc := make([][]vec, rows)
	for i := range acc {
		acc[i] = make([]vec, vectors)
		for j := range acc[i] {
			acc[i][j] = m.new()
			m.zero(acc[i][j])
		}
	}
	m.tileSum(acc, lanes, sliding)

	c, cs := Load(Param("c"), GP64()), Load(Param("cs"), GP64())
	alpha := m.new()
	m.do("broadcast", operand.Mem{Base: Load(Param("alpha"), GP64())}, alpha)
	keep := Load(Param("keep"), GP64())
	TESTQ(keep, keep)
	JZ(operand.LabelRef("overwrite"))
	for i := range acc {
		for j := range acc[i] {
			at := operand.Mem{Base: c, Disp: j * m.bytes()}
			old := m.new()
			m.tileLoad(at, old, lanes, j == vectors-1)
			m.do("fma231", acc[i][j], alpha, old)
			m.tileStore(old, at, lanes, j == vectors-1)
		}
		ADDQ(cs, c)
	}
	JMP(operand.LabelRef("stored"))
	Label("overwrite")
	for i := range acc {
		for j := range acc[i] {
			m.do("mul", acc[i][j], alpha, acc[i][j])
			m.tileStore(acc[i][j], operand.Mem{Base: c, Disp: j * m.bytes()}, lanes, j == vectors-1)
		}
		ADDQ(cs, c)
	}
	Label("stored")
	if !sliding {
		Store(c, Param("c"))
		a, left := Load(Param("a"), GP64()), Load(Param("count"), GP64())
		ADDQ(Load(Param("down"), GP64()), a)
		Store(a, Param("a"))
		DECQ(left)
		Store(left, Param("count"))
		TESTQ(left, left)
		JNZ(operand.LabelRef("tile"))
	}
	VZEROUPPER()
	RET()
}

// tileSum adds the k products of a tile to acc.
func (m machine) tileSum(acc [][]vec, lanes reg.Register, sliding bool) {
	rows, lines := len(acc), len(acc[0])*m.bytes()/64
	most, _ := m.tileSize()
	large := rows*len(acc[0]) >= 12 && (rows == most || sliding) // those of fewer rows are at the end of a strip
	k := Load(Param("k"), GP64())
	a := newStrided(Load(Param("a"), GP64()), Load(Param("ars"), GP64()), rows)
	acs, b := Load(Param("acs"), GP64()), Load(Param("b"), GP64())
	var step func()
	if sliding {
		first, table := b, Load(Param("rows"), GP64())
		b = GP64()
		step = func() {
			MOVQ(operand.Mem{Base: table}, b)
			LEAQ(operand.Mem{Base: first, Index: b, Scale: uint8(m.size())}, b)
			ADDQ(operand.U8(8), table)
			m.tileStep(acc, a, b, lanes)
			a.advance(acs)
		}
	} else {
		bs := Load(Param("bs"), GP64())
		step = func() {
			m.tileStep(acc, a, b, lanes)
			if large {
				PREFETCHT0(operand.Mem{Base: a.base, Index: acs, Scale: 8})
			}
			a.advance(acs)
			ADDQ(bs, b)
		}
	}
	if large {
		fetch := func(name string, to func(operand.Op), from, apart, left reg.Register) {
			Label(name)
			for j := 0; j < lines; j++ {
				step()
				to(operand.Mem{Base: from, Disp: 64 * j})
			}
			ADDQ(apart, from)
			DECQ(left)
			JNZ(operand.LabelRef(name))
		}
		CMPQ(k, operand.U32(uint32(rows*lines)))
		JLE(operand.LabelRef("loop"))
		SUBQ(operand.U32(uint32(rows*lines)), k)
		left := GP64()
		MOVQ(operand.U32(uint32(rows)), left)
		fetch("old", PREFETCHT0, Load(Param("c"), GP64()), Load(Param("cs"), GP64()), left)
		if !sliding {
			left, used := Load(Param("fetch"), GP64()), GP64()
			TESTQ(left, left)
			JZ(operand.LabelRef("loop"))
			IMUL3Q(operand.U8(uint8(lines)), left, used)
			SUBQ(used, k)
			next := Load(Param("next"), GP64())
			fetch("next", PREFETCHT1, next, Load(Param("ns"), GP64()), left)
			Store(next, Param("next"))
		}
	}
	Label("loop")
	step()
	DECQ(k)
	JNZ(operand.LabelRef("loop"))
}

// tileStep adds the products of a column of A and a row of B.
func (m machine) tileStep(acc [][]vec, a strided, b reg.Register, lanes reg.Register) {
	if len(acc) == 1 {
		m.tileRow(acc[0], a, b, lanes)
		return
	}
	bv := make([]vec, len(acc[0]))
	for j := range bv {
		bv[j] = m.new()
		m.tileLoad(operand.Mem{Base: b, Disp: j * m.bytes()}, bv[j], lanes, j == len(bv)-1)
	}
	for i := range acc {
		av := m.new()
		m.do("broadcast", a.row(i, 0), av)
		for j := range bv {
			m.do("fma231", bv[j], av, acc[i][j])
		}
	}
}

// tileRow is the step of a single row: B straight from memory.
func (m machine) tileRow(acc []vec, a strided, b reg.Register, lanes reg.Register) {
	av := m.new()
	m.do("broadcast", a.row(0, 0), av)
	for j := range acc {
		at := operand.Mem{Base: b, Disp: j * m.bytes()}
		if m.wide && j == len(acc)-1 {
			bv := m.new()
			m.do("loadz", at, lanes, bv)
			m.do("fma231", bv, av, acc[j])
			continue
		}
		m.do("fma231", at, av, acc[j])
	}
}

func (m machine) tileLoad(at operand.Mem, v vec, lanes reg.Register, last bool) {
	if m.wide && last {
		m.do("loadz", at, lanes, v)
	} else {
		m.do("loadu", at, v)
	}
}

func (m machine) tileStore(v vec, at operand.Mem, lanes reg.Register, last bool) {
	if m.wide && last {
		m.do("loadu", v, lanes, at)
	} else {
		m.do("loadu", v, at)
	}
}

func (m machine) zero(v vec) {
	if m.wide {
		VPXORQ(v, v, v)
	} else {
		VXORPS(v, v, v)
	}
}

// inner writes dst[i*ds] = sum over p of a[i*as + p] x[p] for rows of A, two accumulators a row; strides in bytes.
func (m machine) inner(rows int) {
	t := m.goType()
	TEXT(fmt.Sprintf("inner%d%s", rows, m.suffix()), noSplit, fmt.Sprintf("func(n int, a *%s, as int, x *%s, dst *%s, ds int)", t, t, t))
	Pragma("noescape")
	n := Load(Param("n"), GP64())
	a := newStrided(Load(Param("a"), GP64()), Load(Param("as"), GP64()), rows)
	x := Load(Param("x"), GP64())
	acc := make([][2]vec, rows)
	for i := range acc {
		for h := range acc[i] {
			acc[i][h] = m.new()
			m.zero(acc[i][h])
		}
	}
	step := func(i, h, disp int, xv vec) { m.do("fma231", a.row(i, disp), xv, acc[i][h]) }
	Label("loop")
	CMPQ(n, operand.U32(uint32(2*m.lanes())))
	JLT(operand.LabelRef("rest"))
	for h := 0; h < 2; h++ {
		xv := m.new()
		m.do("loadu", operand.Mem{Base: x, Disp: h * m.bytes()}, xv)
		for i := range acc {
			step(i, h, h*m.bytes(), xv)
		}
	}
	a.advance(operand.U32(uint32(2 * m.bytes())))
	ADDQ(operand.U32(uint32(2*m.bytes())), x)
	SUBQ(operand.U32(uint32(2*m.lanes())), n)
	JMP(operand.LabelRef("loop"))
	Label("rest")
	CMPQ(n, operand.U32(uint32(m.lanes())))
	JLT(operand.LabelRef("part"))
	xv := m.new()
	m.do("loadu", operand.Mem{Base: x}, xv)
	for i := range acc {
		step(i, 0, 0, xv)
	}
	a.advance(operand.U32(uint32(m.bytes())))
	ADDQ(operand.U32(uint32(m.bytes())), x)
	SUBQ(operand.U32(uint32(m.lanes())), n)
	Label("part")
	TESTQ(n, n)
	JLE(operand.LabelRef("fold"))
	k := m.restMask(n)
	xv = m.new()
	m.maskLoad(operand.Mem{Base: x}, k, xv)
	for i := range acc {
		av := m.new()
		m.maskLoad(a.row(i, 0), k, av)
		m.do("fma231", av, xv, acc[i][1])
	}
	Label("fold")
	dst, ds := Load(Param("dst"), GP64()), Load(Param("ds"), GP64())
	for i := range acc {
		v, hi := m.add(acc[i][0], acc[i][1]), m.new()
		if m.wide {
			VEXTRACTF64X4(operand.U8(1), v, hi.AsY())
			v = m.add(v, hi)
			VEXTRACTF64X2(operand.U8(1), v.AsY(), hi.AsX())
		} else {
			VEXTRACTF128(operand.U8(1), v, hi.AsX())
		}
		v = m.add(v, hi)
		VPERMILPD(operand.U8(1), v, hi)
		v = m.add(v, hi)
		if !m.double {
			VPERMILPS(operand.U8(1), v, hi)
			v = m.add(v, hi)
		}
		m.moveOne(v.AsX(), operand.Mem{Base: dst})
		ADDQ(ds, dst)
	}
	VZEROUPPER()
	RET()
}

// below is the rows behind the given number of rows.
func below(s strided, rows int) strided {
	base := GP64()
	MOVQ(s.stride, base)
	SHLQ(operand.U8(uint8(bits.Len(uint(rows))-1)), base)
	ADDQ(s.base, base)
	b := strided{base: base, base3: GP64(), stride: s.stride, stride3: s.stride3}
	LEAQ(operand.Mem{Base: base, Index: s.stride3, Scale: 1}, b.base3)
	return b
}

// fetch brings the beginnings of rows into the first-level cache.
func (s strided) fetch(rows int) {
	for i := range rows {
		PREFETCHT0(s.row(i, 0))
	}
}

// transpose8 writes dst[p*ds + i] = src[i*ss + p] for 8 rows i of float32 and n columns p, a multiple of 8; strides in
// bytes.
func transpose8() {
	TEXT("transpose8"+machine{neon: machines[0].neon}.suffix(), noSplit, "func(dst *float32, ds int, src *float32, ss int, n int)")
	Pragma("noescape")
	dst := newStrided(Load(Param("dst"), GP64()), Load(Param("ds"), GP64()), 8)
	src := newStrided(Load(Param("src"), GP64()), Load(Param("ss"), GP64()), 8)
	n := Load(Param("n"), GP64())
	below := below(src, 8)
	Label("loop")
	below.fetch(8)
	for half := 0; half < 2; half++ {
		var r, t [4]vec
		for i := range r {
			r[i], t[i] = YMM(), YMM()
			VMOVUPS(src.row(i, 16*half), r[i].AsX())
			VINSERTF128(operand.U8(1), src.row(i+4, 16*half), r[i], r[i])
		}
		VUNPCKLPS(r[1], r[0], t[0])
		VUNPCKHPS(r[1], r[0], t[1])
		VUNPCKLPS(r[3], r[2], t[2])
		VUNPCKHPS(r[3], r[2], t[3])
		for i := range 4 {
			shuffle := []uint8{0x44, 0xee}[i%2]
			VSHUFPS(operand.U8(shuffle), t[2+i/2], t[i/2], r[i])
			VMOVUPS(r[i], dst.row(4*half+i, 0))
		}
	}
	src.advance(operand.U32(32))
	below.advance(operand.U32(32))
	step := GP64()
	MOVQ(dst.stride, step)
	SHLQ(operand.U8(3), step)
	dst.advance(step)
	SUBQ(operand.U32(8), n)
	JNZ(operand.LabelRef("loop"))
	VZEROUPPER()
	RET()
}

// transpose4 is transpose8 for 4 rows of float64 and a multiple of 4 columns.
func transpose4() {
	TEXT("transpose4"+machine{double: true, neon: machines[0].neon}.suffix(), noSplit, "func(dst *float64, ds int, src *float64, ss int, n int)")
	Pragma("noescape")
	dst := newStrided(Load(Param("dst"), GP64()), Load(Param("ds"), GP64()), 4)
	src := newStrided(Load(Param("src"), GP64()), Load(Param("ss"), GP64()), 4)
	n := Load(Param("n"), GP64())
	below := below(src, 4)
	Label("loop")
	below.fetch(4)
	for half := 0; half < 2; half++ {
		var r, t [2]vec
		for i := range r {
			r[i], t[i] = YMM(), YMM()
			VMOVUPD(src.row(i, 16*half), r[i].AsX())
			VINSERTF128(operand.U8(1), src.row(i+2, 16*half), r[i], r[i])
		}
		VUNPCKLPD(r[1], r[0], t[0])
		VUNPCKHPD(r[1], r[0], t[1])
		for i := range t {
			VMOVUPD(t[i], dst.row(2*half+i, 0))
		}
	}
	src.advance(operand.U32(32))
	below.advance(operand.U32(32))
	step := GP64()
	MOVQ(dst.stride, step)
	SHLQ(operand.U8(2), step)
	dst.advance(step)
	SUBQ(operand.U32(4), n)
	JNZ(operand.LabelRef("loop"))
	VZEROUPPER()
	RET()
}
