// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

const (
	cornerBytes = 4*4 + 4*8 // of a Corners: places, then weights
	laneBytes   = 8 * 8
)

// emitCorners writes addCorners: eight lanes at a time, in one vector or two. Products are rounded before they are
// added, as in Go.
func emitCorners(m machine) {
	TEXT("addCorners"+m.suffix(), noSplit, "func(sum, partial, full, image *float64, c *int32, times float64, n int)")
	Pragma("noescape")
	sum, partial, full, image, c, n := pointer("sum"), pointer("partial"), pointer("full"), pointer("image"), pointer("c"), pointer("n")
	at, err := Param("times").Resolve()
	if err != nil {
		panic(err)
	}
	times, vectors := m.new(), laneBytes/m.bytes()
	m.do("broadcast", at.Addr, times)
	Label("loop")
	place := GP64()
	MOVLQSX(operand.Mem{Base: c}, place)
	TESTQ(place, place)
	JS(operand.LabelRef("next"))
	v := m.corners(image, c, place)
	nan := GP64()
	m.anyNaN(v, nan)
	TESTQ(nan, nan)
	JNZ(operand.LabelRef("some"))
	for i := range vectors {
		m.do("mul", times, v[i], v[i])
		m.do("add", operand.Mem{Base: sum, Disp: i * m.bytes()}, v[i], v[i])
		m.do("loadu", v[i], operand.Mem{Base: sum, Disp: i * m.bytes()})
	}
	one := XMM()
	VMOVSD(operand.Mem{Base: full}, one)
	VADDSD(times.AsX(), one, one)
	VMOVSD(one, operand.Mem{Base: full})
	JMP(operand.LabelRef("next"))
	Label("some")
	for i := range vectors {
		m.addValid(v[i], times, sum, partial, i*m.bytes())
	}
	Label("next")
	ADDQ(operand.U32(laneBytes), sum)
	ADDQ(operand.U32(laneBytes), partial)
	ADDQ(operand.U32(8), full)
	ADDQ(operand.U32(cornerBytes), c)
	DECQ(n)
	JNZ(operand.LabelRef("loop"))
	VZEROUPPER()
	RET()
}

// corners returns the weighted sum of four places, of which the first is known.
func (m machine) corners(image, c, place reg.Register) (v [2]reg.VecVirtual) {
	for k := range 4 {
		if k > 0 {
			MOVLQSX(operand.Mem{Base: c, Disp: 4 * k}, place.(reg.GPVirtual))
		}
		SHLQ(operand.U8(6), place)
		w := m.new()
		m.do("broadcast", operand.Mem{Base: c, Disp: 16 + 8*k}, w)
		for i := range laneBytes / m.bytes() {
			t := m.new()
			m.do("mul", operand.Mem{Base: image, Index: place, Scale: 1, Disp: i * m.bytes()}, w, t)
			if k == 0 {
				v[i] = t
			} else {
				m.do("add", t, v[i], v[i])
			}
		}
	}
	return v
}

// anyNaN sets to to 0 if no lane is NaN.
func (m machine) anyNaN(v [2]reg.VecVirtual, to reg.GPVirtual) {
	if m.wide {
		k := K()
		VCMPPD(operand.U8(3), v[0], v[0], k)
		KMOVB(k, to.As32())
		return
	}
	a, b := YMM(), YMM()
	VCMPPD(operand.U8(3), v[0], v[0], a)
	VCMPPD(operand.U8(3), v[1], v[1], b)
	VORPD(a, b, a)
	VMOVMSKPD(a, to.As32())
}

// addValid adds times v to sum, and times to partial, in the lanes where v is a number.
func (m machine) addValid(v, times reg.VecVirtual, sum, partial reg.Register, disp int) {
	s, p := operand.Mem{Base: sum, Disp: disp}, operand.Mem{Base: partial, Disp: disp}
	x, y := m.new(), m.new()
	m.do("loadu", s, x)
	m.do("loadu", p, y)
	if m.wide {
		k := K()
		VCMPPD(operand.U8(7), v, v, k)
		m.do("mul", times, v, v)
		VADDPD(v, x, k, x)
		VADDPD(times, y, k, y)
	} else {
		valid, t := m.new(), m.new()
		VCMPPD(operand.U8(7), v, v, valid)
		m.do("mul", times, v, v)
		m.do("and", valid, v, v)
		m.do("and", valid, times, t)
		m.do("add", v, x, x)
		m.do("add", t, y, y)
	}
	m.do("loadu", x, s)
	m.do("loadu", y, p)
}
