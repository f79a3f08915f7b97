// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// scaled is a kernel of whole slices that adds multiples of some to others, or multiplies complex numbers.
type scaled struct {
	name, params string
	slices       []string // outputs first
	outputs      int
	numbers      []string
	body         func(m machine, x, a []vec) // changes the outputs among x
	fresh        bool                        // the outputs are not read
}

func scaledKernels() []scaled {
	return []scaled{
		{"addScaled", "dst, x *T, a T, n int", []string{"dst", "x"}, 1, []string{"a"}, func(m machine, x, a []vec) {
			m.do("fma231", x[1], a[0], x[0])
		}, false},
		complexProduct("complexProduct", false),
		complexProduct("complexProductConj", true),
	}
}

// complexProduct sets dst = x y, or x conj(y), of complex numbers as pairs; n counts real ones.
func complexProduct(name string, conj bool) scaled {
	return scaled{name, "dst, x, y *T, n int", []string{"dst", "x", "y"}, 1, nil, func(m machine, x, _ []vec) {
		re, im, swapped := m.new(), m.new(), m.new()
		if m.double {
			VMOVDDUP(x[2], re)
			VPERMILPD(operand.U8(0xff), x[2], im)
			VPERMILPD(operand.U8(0x55), x[1], swapped)
		} else {
			VMOVSLDUP(x[2], re)
			VMOVSHDUP(x[2], im)
			VPERMILPS(operand.U8(0xb1), x[1], swapped)
		}
		m.do("mul", swapped, im, x[0])
		if conj {
			m.do("fmsubadd231", re, x[1], x[0])
		} else {
			m.do("fmaddsub231", re, x[1], x[0])
		}
	}, true}
}

// emit writes the loop: four vectors at once, one at a time, then the rest under a mask. An element has the same bits
// wherever it stands.
func (k scaled) emit(m machine) {
	TEXT(k.name+m.suffix(), noSplit, m.signature(k.params))
	Pragma("noescape")
	ptr := make([]reg.Register, len(k.slices))
	for i, name := range k.slices {
		ptr[i] = pointer(name)
	}
	n := pointer("n")
	a := make([]vec, len(k.numbers))
	for i, name := range k.numbers {
		at, err := Param(name).Resolve()
		if err != nil {
			panic(err)
		}
		a[i] = m.new()
		m.do("broadcast", at.Addr, a[i])
	}
	vectors := func(count int) {
		for v := range count {
			x := make([]vec, len(ptr))
			for i := range x {
				x[i] = m.new()
				if !k.fresh || i >= k.outputs {
					m.do("loadu", operand.Mem{Base: ptr[i], Disp: v * m.bytes()}, x[i])
				}
			}
			k.body(m, x, a)
			for i := range k.outputs {
				m.do("loadu", x[i], operand.Mem{Base: ptr[i], Disp: v * m.bytes()})
			}
		}
		for _, p := range ptr {
			ADDQ(operand.U32(uint32(count*m.bytes())), p)
		}
		SUBQ(operand.U32(uint32(count*m.lanes())), n)
	}
	Label("four")
	CMPQ(n, operand.U32(uint32(4*m.lanes())))
	JLT(operand.LabelRef("one"))
	vectors(4)
	JMP(operand.LabelRef("four"))
	Label("one")
	CMPQ(n, operand.U32(uint32(m.lanes())))
	JLT(operand.LabelRef("rest"))
	vectors(1)
	JMP(operand.LabelRef("one"))
	Label("rest")
	TESTQ(n, n)
	JLE(operand.LabelRef("done"))
	mask := m.restMask(n)
	x := make([]vec, len(ptr))
	for i := range x {
		x[i] = m.new()
		if !k.fresh || i >= k.outputs {
			m.maskLoad(operand.Mem{Base: ptr[i]}, mask, x[i])
		}
	}
	k.body(m, x, a)
	for i := range k.outputs {
		if m.wide {
			m.do("loadu", x[i], mask, operand.Mem{Base: ptr[i]})
		} else {
			m.storePieces(x[i], ptr[i], n, "of"+k.slices[i])
		}
	}
	Label("done")
	VZEROUPPER()
	RET()
}
