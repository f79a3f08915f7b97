// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"math"

	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// angles are the cosines and sines that a butterfly multiplies by: registers with AVX-512, memory with AVX2, which
// has few registers.
type angles []value

func (m machine) constants(r int) angles {
	var numbers []float64
	switch r {
	case 3:
		numbers = []float64{0.5, math.Sqrt(3) / 2}
	case 5:
		s5 := math.Sqrt(5)
		numbers = []float64{(s5 - 1) / 4, -(s5 + 1) / 4, math.Sqrt((5 + s5) / 8), math.Sqrt((5 - s5) / 8)}
	case 8:
		numbers = []float64{math.Sqrt2 / 2}
	}
	c := make(angles, len(numbers))
	for i, v := range numbers {
		c[i] = m.num(v)
		if m.wide {
			c[i] = m.load(c[i])
		}
	}
	return c
}

// butterfly is the transform of r numbers.
func (m machine) butterfly(r int, c angles, get func(k int) split, put func(k int, x split)) {
	switch r {
	case 2:
		a, b := get(0), get(1)
		put(0, m.plus(a, b))
		put(1, m.minus(a, b))
	case 3:
		m.butterfly3(c, get, put)
	case 4:
		for k, x := range m.transform4(get(0), get(1), get(2), get(3)) {
			put(k, x)
		}
	case 5:
		m.butterfly5(c, get, put)
	case 8:
		m.butterfly8(c, get, put)
	}
}

func (m machine) plus(a, b split) split  { return split{m.add(a.re, b.re), m.add(a.im, b.im)} }
func (m machine) minus(a, b split) split { return split{m.sub(a.re, b.re), m.sub(a.im, b.im)} }

// quarter is a - i b, and a + i b.
func (m machine) quarter(a, b split) (minus, plus split) {
	return split{m.add(a.re, b.im), m.sub(a.im, b.re)}, split{m.sub(a.re, b.im), m.add(a.im, b.re)}
}

func (m machine) transform4(x0, x1, x2, x3 split) [4]split {
	a, b := m.plus(x0, x2), m.minus(x0, x2)
	c, d := m.plus(x1, x3), m.minus(x1, x3)
	y1, y3 := m.quarter(b, d)
	return [4]split{m.plus(a, c), y1, m.minus(a, c), y3}
}

func (m machine) butterfly3(c angles, get func(k int) split, put func(k int, x split)) {
	x0, x1, x2 := get(0), get(1), get(2)
	t, d := m.plus(x1, x2), m.minus(x1, x2)
	put(0, m.plus(x0, t))
	a := split{m.fnma(t.re, c[0], x0.re), m.fnma(t.im, c[0], x0.im)}
	put(1, split{m.fma(d.im, c[1], a.re), m.fnma(d.re, c[1], a.im)})
	put(2, split{m.fnma(d.im, c[1], a.re), m.fma(d.re, c[1], a.im)})
}

func (m machine) butterfly5(c angles, get func(k int) split, put func(k int, x split)) {
	x1, x4 := get(1), get(4)
	t1, d1 := m.plus(x1, x4), m.minus(x1, x4)
	x2, x3 := get(2), get(3)
	t2, d2 := m.plus(x2, x3), m.minus(x2, x3)
	x0 := get(0)
	put(0, m.plus(x0, m.plus(t1, t2)))
	sum := func(p, q value) split {
		return split{m.fma(t2.re, q, m.fma(t1.re, p, x0.re)), m.fma(t2.im, q, m.fma(t1.im, p, x0.im))}
	}
	a1, a2 := sum(c[0], c[1]), sum(c[1], c[0])
	b := split{m.fma(d2.re, c[3], m.mul(d1.re, c[2])), m.fma(d2.im, c[3], m.mul(d1.im, c[2]))}
	y1, y4 := m.quarter(a1, b)
	put(1, y1)
	put(4, y4)
	b = split{m.fnma(d2.re, c[2], m.mul(d1.re, c[3])), m.fnma(d2.im, c[2], m.mul(d1.im, c[3]))}
	y2, y3 := m.quarter(a2, b)
	put(2, y2)
	put(3, y3)
}

// butterfly8 joins the transforms of four numbers at even and odd places. With AVX2 the even ones wait in memory.
func (m machine) butterfly8(c angles, get func(k int) split, put func(k int, x split)) {
	even := m.transform4(get(0), get(2), get(4), get(6))
	load := func(k int) split { return even[k] }
	if !m.wide {
		stack := AllocLocal(4 * m.element())
		at := func(k int) (re, im operand.Mem) {
			return stack.Offset(k * m.element()), stack.Offset(k*m.element() + m.bytes())
		}
		for k, x := range even {
			re, im := at(k)
			m.put(x, re, im)
		}
		load = func(k int) split { return m.get(at(k)) }
	}
	odd := m.transform4(get(1), get(3), get(5), get(7))
	e := load(0)
	put(0, m.plus(e, odd[0]))
	put(4, m.minus(e, odd[0]))
	e = load(2)
	y2, y6 := m.quarter(e, odd[2])
	put(2, y2)
	put(6, y6)
	e = load(1)
	p, q := m.add(odd[1].re, odd[1].im), m.sub(odd[1].im, odd[1].re)
	put(1, split{m.fma(p, c[0], e.re), m.fma(q, c[0], e.im)})
	put(5, split{m.fnma(p, c[0], e.re), m.fnma(q, c[0], e.im)})
	e = load(3)
	p, q = m.sub(odd[3].im, odd[3].re), m.add(odd[3].re, odd[3].im)
	put(3, split{m.fma(p, c[0], e.re), m.fnma(q, c[0], e.im)})
	put(7, split{m.fnma(p, c[0], e.re), m.fma(q, c[0], e.im)})
}

// passOdd is a pass of any odd radix p = 2h + 1. Factors stand in the order of legs 1, p-1, 2, p-2, ...; angles are the
// pairs (cosine, sine) of 2 pi i k / p for k = 1..h, i = 1..h; tmp has room for 2h elements.
func (m machine) passOdd() {
	TEXT("fftOdd"+m.suffix(), noSplit, m.signature("w, tw *T, l, n, p int, angles, tmp *T"))
	Pragma("noescape")
	stride := m.legStride("l")
	w, n := pointer("w"), pointer("n")
	h := pointer("p")
	SHRQ(operand.U8(1), h)
	tw, j, i := GP64(), GP64(), GP64()
	up, down, tmp := GP64(), GP64(), GP64()
	ends := func() { // up is leg 0, down is leg p
		MOVQ(w, up)
		MOVQ(h, down)
		ADDQ(down, down)
		INCQ(down)
		IMULQ(stride, down)
		ADDQ(w, down)
	}
	at := func(p reg.Register) (re, im operand.Mem) {
		return operand.Mem{Base: p}, operand.Mem{Base: p, Disp: m.bytes()}
	}
	Label("block")
	Load(Param("tw"), tw)
	Load(Param("l"), j)
	Label("loop")
	// Sums and differences of opposite legs.
	x0 := m.get(at(w))
	total := split{m.copy(x0.re), m.copy(x0.im)}
	ends()
	Load(Param("tmp"), tmp)
	MOVQ(h, i)
	Label("legs")
	ADDQ(stride, up)
	SUBQ(stride, down)
	a := m.twiddled(m.get(at(up)), tw, 0)
	b := m.twiddled(m.get(at(down)), tw, 2*m.size())
	s, d := m.plus(a, b), m.minus(a, b)
	m.put(s, operand.Mem{Base: tmp}, operand.Mem{Base: tmp, Disp: m.bytes()})
	m.put(d, operand.Mem{Base: tmp, Disp: m.element()}, operand.Mem{Base: tmp, Disp: m.element() + m.bytes()})
	m.do("add", s.re, total.re, total.re)
	m.do("add", s.im, total.im, total.im)
	ADDQ(operand.U32(uint32(4*m.size())), tw)
	ADDQ(operand.U32(uint32(2*m.element())), tmp)
	DECQ(i)
	JNZ(operand.LabelRef("legs"))
	re, im := at(w)
	m.put(total, re, im)
	// Outputs k and p-k.
	angles, k := pointer("angles"), GP64()
	ends()
	MOVQ(h, k)
	Label("outputs")
	Load(Param("tmp"), tmp)
	MOVQ(h, i)
	sum := split{m.copy(x0.re), m.copy(x0.im)}
	dif := split{m.new(), m.new()}
	m.zero(dif.re)
	m.zero(dif.im)
	Label("terms")
	c, sine := m.new(), m.new()
	m.do("broadcast", operand.Mem{Base: angles}, c)
	m.do("broadcast", operand.Mem{Base: angles, Disp: m.size()}, sine)
	m.do("fma231", operand.Mem{Base: tmp}, c, sum.re)
	m.do("fma231", operand.Mem{Base: tmp, Disp: m.bytes()}, c, sum.im)
	m.do("fma231", operand.Mem{Base: tmp, Disp: m.element()}, sine, dif.re)
	m.do("fma231", operand.Mem{Base: tmp, Disp: m.element() + m.bytes()}, sine, dif.im)
	ADDQ(operand.U32(uint32(2*m.size())), angles)
	ADDQ(operand.U32(uint32(2*m.element())), tmp)
	DECQ(i)
	JNZ(operand.LabelRef("terms"))
	ADDQ(stride, up)
	SUBQ(stride, down)
	yk, yp := m.quarter(sum, dif)
	re, im = at(up)
	m.put(yk, re, im)
	re, im = at(down)
	m.put(yp, re, im)
	DECQ(k)
	JNZ(operand.LabelRef("outputs"))

	ADDQ(operand.U32(uint32(m.element())), w)
	DECQ(j)
	JNZ(operand.LabelRef("loop"))
	// The next block begins after the other legs of this one.
	MOVQ(h, i)
	ADDQ(i, i)
	MOVQ(i, k)
	IMULQ(stride, k)
	ADDQ(k, w)
	INCQ(i)
	l := pointer("l")
	IMULQ(l, i)
	SUBQ(i, n)
	JNZ(operand.LabelRef("block"))
	VZEROUPPER()
	RET()
}
