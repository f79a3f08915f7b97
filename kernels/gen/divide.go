// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// divideByOne is the kernel a[i] / b of one divisor b. Four vectors at a time it multiplies with the reciprocal r of b
// and corrects the product by its remainder,
//
//	q = a r,  a/b = q + (a - q b) r
//
// which gives the correctly rounded quotient in a third of the time of the division, where neither the quotient nor the
// remainder leaves the range of normal numbers. Four vectors with any other element, such as 0, are divided.
//
// Reference: Markstein, doi:10.1147/rd.341.0111; tested for all divisors and dividends of up to 12 bits.
func divideByOne() kernel {
	return kernel{name: "div_s", args: []string{"a", "b"}, scalar: 1, cheap: true, unroll: divideFours,
		body: func(m machine, x []vec) vec { return m.div(x[0], x[1]) }}
}

// The sizes of divisor and dividends between which all intermediate results are exact or normal.
func (m machine) divisors() (lo, hi constant) {
	return m.pick(0x1p-500, 0x1p-40), m.pick(0x1p500, 0x1p40)
}
func (m machine) dividends() (lo, hi constant) {
	return m.pick(0x1p-450, 0x1p-60), m.pick(0x1p450, 0x1p60)
}

func divideFours(k kernel, m machine, x []vec, ptr []reg.Register, dst, n reg.Register, advance func(int)) {
	b := x[k.scalar]
	fours := operand.U32(uint32(4 * m.lanes()))
	CMPQ(n, fours)
	JLT(operand.LabelRef("loop"))
	lo, hi := m.divisors()
	size := m.abs(b)
	m.unlessWithin(size, size, lo, hi, "loop")
	r := m.div(m.num(1), b)
	Label("four")
	a := m.loadFour(ptr[0])
	var sizes [4]vec
	for i := range a {
		sizes[i] = m.abs(a[i])
	}
	least := m.min(m.min(sizes[0], sizes[1]), m.min(sizes[2], sizes[3]))
	most := m.max(m.max(sizes[0], sizes[1]), m.max(sizes[2], sizes[3]))
	lo, hi = m.dividends()
	m.unlessWithin(least, most, lo, hi, "divide")
	for i := range a {
		q := m.mul(a[i], r)
		m.do("fnma231", b, q, a[i]) // the remainder
		m.do("fma231", r, a[i], q)
		m.do("loadu", q, operand.Mem{Base: dst, Disp: i * m.bytes()})
	}
	Label("next")
	advance(4)
	CMPQ(n, fours)
	JGE(operand.LabelRef("four"))
	TESTQ(n, n)
	JZ(operand.LabelRef("done"))
	JMP(operand.LabelRef("loop"))
	Label("divide")
	for i, v := range m.loadFour(ptr[0]) {
		m.do("loadu", m.div(v, b), operand.Mem{Base: dst, Disp: i * m.bytes()})
	}
	JMP(operand.LabelRef("next"))
}

func (m machine) loadFour(at reg.Register) (v [4]vec) {
	for i := range v {
		v[i] = m.new()
		m.do("loadu", operand.Mem{Base: at, Disp: i * m.bytes()}, v[i])
	}
	return v
}

// unlessWithin jumps where a lane of least is below lo or one of most above hi. A NaN may or may not be seen.
func (m machine) unlessWithin(least, most vec, lo, hi constant, label string) {
	above, below := m.cmp(least, ge, lo), m.cmp(most, le, hi)
	lanes := GP32()
	switch {
	case m.wide:
		KANDW(above, below, below)
		KMOVW(below, lanes)
	case m.double:
		VANDPD(above, below, below)
		VMOVMSKPD(below, lanes)
	default:
		VANDPS(above, below, below)
		VMOVMSKPS(below, lanes)
	}
	CMPL(lanes, operand.U32(1<<m.lanes()-1))
	JNE(operand.LabelRef(label))
}
