// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// Rows are lines whose elements are neighbours. They are transposed in pieces of 16 bytes of each row.

// rows is how many rows have their pieces in one vector, group how many such vectors make a square.
func (m machine) group() int { return 16 / m.size() }

// allRows returns the addresses of as many rows as there are lanes, and what moves eight of them, or all (-1), on.
func (m machine) allRows(base, stride reg.Register) (row func(i int) operand.Mem, advance func(eight int, by operand.Op)) {
	blocks := []strided{newStrided(base, stride, 4)}
	for i := 8; i < m.lanes(); i += 8 {
		b := strided{base: GP64(), base3: GP64(), stride: stride, stride3: blocks[0].stride3}
		LEAQ(operand.Mem{Base: base, Index: stride, Scale: 8}, b.base)
		LEAQ(operand.Mem{Base: b.base, Index: b.stride3, Scale: 1}, b.base3)
		blocks = append(blocks, b)
	}
	row = func(i int) operand.Mem { return blocks[i/8].row(i%8, 0) }
	advance = func(eight int, by operand.Op) {
		for i, b := range blocks {
			if eight < 0 || eight == i {
				b.advance(by)
			}
		}
	}
	return row, advance
}

// rowsIn copies pieces of 16 bytes of all rows to the places pos of the block. Where there are enough it reads whole
// vectors: rows a power of two apart would push each other from the cache between their pieces. Rows of real numbers
// become complex ones.
func (m machine) rowsIn(name string, real bool) {
	m.begin(name, "w, src *T, stride int, pos *int, pieces int")
	w, pos, n := pointer("w"), pointer("pos"), pointer("pieces")
	row, advance := m.allRows(pointer("src"), pointer("stride"))
	g, p := m.group(), m.bytes()/16
	step, zero := 4, m.new() // bytes of places for each vector
	if real {
		step = 8
		m.zero(zero)
	}
	place := func(piece int, columns []vec) {
		for i := 0; i < g; i += 8 / step {
			x := split{columns[i], zero}
			if !real {
				x.im = columns[i+1]
			}
			re, im := m.pair(m.place(w, pos, step*(piece*g+i)), 0)
			m.put(x, re, im)
		}
	}
	Label("whole")
	CMPQ(n, operand.U32(uint32(p)))
	JLT(operand.LabelRef("part"))
	v := make([][]vec, g) // v[t] are the pieces of rows t, g+t, 2g+t, ...
	for t := range v {
		v[t] = make([]vec, p)
		for q := range v[t] {
			v[t][q] = m.new()
			VMOVUPS(row(m.lane(q*g+t)), v[t][q])
		}
		v[t] = m.piecesTransposed(v[t])
	}
	for c := range p {
		place(c, m.transposed(column(v, c)))
	}
	ADDQ(operand.U32(uint32(step*g*p)), pos)
	advance(-1, operand.U32(uint32(m.bytes())))
	SUBQ(operand.U32(uint32(p)), n)
	JMP(operand.LabelRef("whole"))

	Label("part")
	TESTQ(n, n)
	JZ(operand.LabelRef("done"))
	r := make([]vec, g)
	for t := range r {
		r[t] = m.new()
		for q := range p {
			at := row(m.lane(q*g + t))
			switch {
			case q == 0:
				VMOVUPS(at, r[t].AsX())
			case m.wide:
				VINSERTF32X4(operand.U8(uint8(q)), at, r[t], r[t])
			default:
				VINSERTF128(operand.U8(uint8(q)), at, r[t], r[t])
			}
		}
	}
	place(0, m.transposed(r))
	ADDQ(operand.U32(uint32(step*g)), pos)
	advance(-1, operand.U32(16))
	DECQ(n)
	JMP(operand.LabelRef("part"))
	Label("done")
	VZEROUPPER()
	RET()
}

func column(v [][]vec, c int) []vec {
	out := make([]vec, len(v))
	for t := range v {
		out[t] = v[t][c]
	}
	return out
}

// rowsOut copies the block to pieces of 16 bytes of all rows, of real rows the real parts. Where there are enough it
// writes whole vectors, to eight rows at a time: with more, rows about a power of two apart would push each other's
// unfinished lines from the cache.
func (m machine) rowsOut(name string, real bool) {
	m.begin(name, "dst *T, stride int, w *T, pieces int")
	step := m.bytes()
	if real {
		step = m.element()
	}
	g, p := m.group(), m.bytes()/16
	w, n := GP64(), GP64()
	dst, stride := pointer("dst"), pointer("stride")
	row, advance := m.allRows(dst, stride)
	columns := func(piece int) []vec {
		c := make([]vec, g)
		for i := range c {
			c[i] = m.new()
			m.do("loadu", operand.Mem{Base: w, Disp: (piece*g + i) * step}, c[i])
		}
		return c
	}
	for first := 0; first < m.lanes(); first += 8 {
		loop, end := fmt.Sprintf("whole%d", first), fmt.Sprintf("end%d", first)
		Load(Param("w"), w)
		Load(Param("pieces"), n)
		Label(loop)
		CMPQ(n, operand.U32(uint32(p)))
		JLT(operand.LabelRef(end))
		ts := m.groupRows(first)
		v := make([][]vec, p)
		for c := range v {
			v[c] = m.transposedRows(columns(c), ts)
		}
		for i, t := range ts {
			for q, x := range m.piecesTransposed(column(v, i)) {
				VMOVUPS(x, row(m.lane(q*g+t)))
			}
		}
		ADDQ(operand.U32(uint32(p*g*step)), w)
		advance(first/8, operand.U32(uint32(m.bytes())))
		SUBQ(operand.U32(uint32(p)), n)
		JMP(operand.LabelRef(loop))
		Label(end)
	}
	Label("part")
	TESTQ(n, n)
	JZ(operand.LabelRef("done"))
	for t, x := range m.transposed(columns(0)) {
		for q := range p {
			at := row(m.lane(q*g + t))
			switch {
			case q == 0:
				VMOVUPS(x.AsX(), at)
			case m.wide:
				VEXTRACTF32X4(operand.U8(uint8(q)), x, at)
			default:
				VEXTRACTF128(operand.U8(uint8(q)), x, at)
			}
		}
	}
	ADDQ(operand.U32(uint32(g*step)), w)
	advance(-1, operand.U32(16))
	DECQ(n)
	JMP(operand.LabelRef("part"))
	Label("done")
	VZEROUPPER()
	RET()
}

// groupRows lists the places in a group whose rows are first to first+7.
func (m machine) groupRows(first int) []int {
	var ts []int
	for t := range m.group() {
		if m.lane(t)/8*8 == first {
			ts = append(ts, t)
		}
	}
	return ts
}

// transposedRows is transposed, of which only the rows ts are wanted: all, or half of them.
func (m machine) transposedRows(r []vec, ts []int) []vec {
	if len(ts) == len(r) {
		return m.transposed(r)
	}
	half := "unpacklo"
	if ts[0] > 0 {
		half = "unpackhi"
	}
	a, b, out := m.new(), m.new(), []vec{m.new(), m.new()}
	m.do(half, r[1], r[0], a)
	m.do(half, r[3], r[2], b)
	VSHUFPS(operand.U8(0x44), b, a, out[0])
	VSHUFPS(operand.U8(0xee), b, a, out[1])
	return out
}

// piecesTransposed transposes a matrix of pieces of 128 bits, whose rows are vectors.
func (m machine) piecesTransposed(r []vec) []vec {
	shuffle := func(imm uint8, a, b vec) vec {
		x := m.new()
		if m.wide {
			VSHUFF64X2(operand.U8(imm), b, a, x)
		} else {
			VPERM2F128(operand.U8(imm), b, a, x)
		}
		return x
	}
	if !m.wide {
		return []vec{shuffle(0x20, r[0], r[1]), shuffle(0x31, r[0], r[1])}
	}
	a, b := shuffle(0x44, r[0], r[1]), shuffle(0x44, r[2], r[3])
	c, d := shuffle(0xee, r[0], r[1]), shuffle(0xee, r[2], r[3])
	return []vec{shuffle(0x88, a, b), shuffle(0xdd, a, b), shuffle(0x88, c, d), shuffle(0xdd, c, d)}
}

// transposed transposes the squares within 128 bits.
func (m machine) transposed(r []vec) []vec {
	t := make([]vec, len(r))
	for i := range t {
		t[i] = m.new()
	}
	for i := 0; i < len(r); i += 2 {
		m.do("unpacklo", r[i+1], r[i], t[i])
		m.do("unpackhi", r[i+1], r[i], t[i+1])
	}
	if m.double {
		return t
	}
	out := make([]vec, len(r))
	for i := range out {
		out[i] = m.new()
		VSHUFPS(operand.U8([]uint8{0x44, 0xee}[i%2]), t[2+i/2], t[i/2], out[i])
	}
	return out
}
