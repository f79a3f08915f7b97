// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// emitPairs writes pairSums, which adds multiples of many rows x_j to a pair of rows c and s, or its transpose,
// which adds multiples of the pair to all x_j. A part of c and s stays in registers while all rows pass: four vectors
// at once, one at a time, then the rest under a mask. An element has the same bits wherever it stands.
func emitPairs(m machine, transpose bool) {
	name := "pairSums"
	if transpose {
		name = "spreadPair"
	}
	TEXT(name+m.suffix(), noSplit, m.signature("c, s, x *T, at *int, weights *T, rows, n int"))
	Pragma("noescape")
	c, s, x, at, weights, rows, n := pointer("c"), pointer("s"), pointer("x"), pointer("at"), pointer("weights"), pointer("rows"), pointer("n")
	part := func(count int, label string, k mask) {
		place := func(base reg.Register, v int) operand.Mem { return operand.Mem{Base: base, Disp: v * m.bytes()} }
		load := func(from operand.Mem) vec {
			r := m.new()
			if k == nil {
				m.do("loadu", from, r)
			} else {
				m.maskLoad(from, k, r)
			}
			return r
		}
		store := func(r vec, to operand.Mem) {
			switch {
			case k == nil:
				m.do("loadu", r, to)
			case m.wide:
				m.do("loadu", r, k, to)
			default:
				m.do("maskload", r, k, to)
			}
		}
		var cv, sv [4]vec
		for v := range count {
			cv[v], sv[v] = load(place(c, v)), load(place(s, v))
		}
		offset, weight, left := GP64(), GP64(), GP64()
		MOVQ(at, offset)
		MOVQ(weights, weight)
		MOVQ(rows, left)
		Label(label)
		row, a, b := GP64(), m.new(), m.new()
		MOVQ(operand.Mem{Base: offset}, row)
		LEAQ(operand.Mem{Base: x, Index: row, Scale: uint8(m.size())}, row)
		m.do("broadcast", operand.Mem{Base: weight}, a)
		m.do("broadcast", operand.Mem{Base: weight, Disp: m.size()}, b)
		for v := range count {
			xv := load(place(row, v))
			if transpose {
				m.do("fma231", cv[v], a, xv)
				m.do("fma231", sv[v], b, xv)
				store(xv, place(row, v))
			} else {
				m.do("fma231", xv, a, cv[v])
				m.do("fma231", xv, b, sv[v])
			}
		}
		ADDQ(operand.U32(8), offset)
		ADDQ(operand.U32(uint32(2*m.size())), weight)
		DECQ(left)
		JNZ(operand.LabelRef(label))
		for v := range count {
			if !transpose {
				store(cv[v], place(c, v))
				store(sv[v], place(s, v))
			}
		}
		for _, p := range []reg.Register{c, s, x} {
			ADDQ(operand.U32(uint32(count*m.bytes())), p)
		}
		SUBQ(operand.U32(uint32(count*m.lanes())), n)
	}
	Label("four")
	CMPQ(n, operand.U32(uint32(4*m.lanes())))
	JLT(operand.LabelRef("one"))
	part(4, "rowsOfFour", nil)
	JMP(operand.LabelRef("four"))
	Label("one")
	CMPQ(n, operand.U32(uint32(m.lanes())))
	JLT(operand.LabelRef("rest"))
	part(1, "rowsOfOne", nil)
	JMP(operand.LabelRef("one"))
	Label("rest")
	TESTQ(n, n)
	JLE(operand.LabelRef("done"))
	part(1, "rowsOfRest", m.restMask(n))
	Label("done")
	VZEROUPPER()
	RET()
}
