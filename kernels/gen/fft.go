// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"math"

	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// Fourier transforms work on a block of as many lines as a vector has lanes. Element j of all lines lies at j times two
// vectors: the real parts, then the imaginary parts. A pass of radix r makes transforms of r times l elements from r
// neighbouring ones of l elements, in place:
//
//	y[j + k l] = sum over i of exp(-2 pi i (i k)/r) w[j, i] x[j + i l]
//
// Twiddle factors w stand as pairs (cosine, sine) for i = 1..r-1, for j = 0, 1, ...
var radices = []int{2, 3, 4, 5, 8}

func emitFFT() {
	for _, m := range machines {
		for _, r := range radices {
			m.passFirst(r)
			m.passMiddle(r)
			m.passFromLines(r)
			m.passToLines(r)
		}
		m.passOdd()
		m.linesIn()
		m.linesOut()
		m.linesOutTimes("LinesOutTimes", false)
		m.linesOutTimes("LinesOutOver", true)
		m.rowsIn("RowsIn", false)
		m.rowsOut("RowsOut", false)
		m.rowsIn("RealRowsIn", true)
		m.rowsOut("RealRowsOut", true)
		m.mirror()
		m.untangle()
		m.tangle()
		m.scatterProduct()
	}
}

// split is a vector of complex numbers.
type split struct{ re, im vec }

// element is the distance of elements of a block in bytes.
func (m machine) element() int { return 2 * m.bytes() }

// get reads an element of a block, put writes one.
func (m machine) get(re, im operand.Mem) split {
	x := split{m.new(), m.new()}
	m.do("loadu", re, x.re)
	m.do("loadu", im, x.im)
	return x
}

func (m machine) put(x split, re, im operand.Mem) {
	m.do("loadu", x.re, re)
	m.do("loadu", x.im, im)
}

// twiddled is x times the factor at tw.
func (m machine) twiddled(x split, tw reg.Register, disp int) split {
	c, s := m.new(), m.new()
	m.do("broadcast", operand.Mem{Base: tw, Disp: disp}, c)
	m.do("broadcast", operand.Mem{Base: tw, Disp: disp + m.size()}, s)
	return m.product(x, split{c, s})
}

// product is x times w.
func (m machine) product(x, w split) split {
	y := split{m.mul(x.re, w.re), m.mul(x.im, w.re)}
	m.do("fnma231", x.im, w.im, y.re)
	m.do("fma231", x.re, w.im, y.im)
	return y
}

// getLine reads interleaved numbers, one of each line; putLine writes them. Lane i is line lane(i) of the block.
func (m machine) getLine(lo, hi operand.Mem) split {
	a, b := m.new(), m.new()
	m.do("loadu", lo, a)
	m.do("loadu", hi, b)
	x := split{m.new(), m.new()}
	if m.double {
		VUNPCKLPD(b, a, x.re)
		VUNPCKHPD(b, a, x.im)
	} else {
		VSHUFPS(operand.U8(0x88), b, a, x.re)
		VSHUFPS(operand.U8(0xdd), b, a, x.im)
	}
	return x
}

func (m machine) putLine(x split, lo, hi operand.Mem) {
	a, b := m.new(), m.new()
	m.do("unpacklo", x.im, x.re, a)
	m.do("unpackhi", x.im, x.re, b)
	m.do("loadu", a, lo)
	m.do("loadu", b, hi)
}

// lane is the line of lane i of a block, such that complex numbers are split within 128 bits.
func (m machine) lane(i int) int {
	if m.double {
		return i/2 + i%2*m.lanes()/2
	}
	return i/4*2 + i%2 + i%4/2*m.lanes()/2
}

// pointer returns the parameter of that name.
func pointer(name string) reg.Register { return Load(Param(name), GP64()) }

// passFirst is a pass with l = 1 in place.
func (m machine) passFirst(r int) {
	TEXT(fmt.Sprintf("fftFirst%d%s", r, m.suffix()), noSplit, fmt.Sprintf("func(w *%s, n int)", m.goType()))
	Pragma("noescape")
	w, n := pointer("w"), pointer("n")
	c := m.constants(r)
	at := func(k int) (re, im operand.Mem) {
		re = operand.Mem{Base: w, Disp: k * m.element()}
		return re, re.Offset(m.bytes())
	}
	Label("loop")
	m.butterfly(r, c, func(k int) split { return m.get(at(k)) }, func(k int, x split) {
		re, im := at(k)
		m.put(x, re, im)
	})
	ADDQ(operand.U32(uint32(r*m.element())), w)
	SUBQ(operand.U32(uint32(r)), n)
	JNZ(operand.LabelRef("loop"))
	VZEROUPPER()
	RET()
}

// passMiddle is a pass in place over n elements.
func (m machine) passMiddle(r int) {
	TEXT(fmt.Sprintf("fftPass%d%s", r, m.suffix()), noSplit, fmt.Sprintf("func(w, tw *%s, l, n int)", m.goType()))
	Pragma("noescape")
	w := newStrided(pointer("w"), m.legStride("l"), r)
	n := pointer("n")
	c := m.constants(r)
	tw, j := GP64(), GP64()
	Label("block")
	Load(Param("tw"), tw)
	Load(Param("l"), j)
	SUBQ(j, n)
	Label("loop")
	m.butterfly(r, c, m.twiddledLegs(w, tw), func(k int, x split) { m.put(x, w.row(k, 0), w.row(k, m.bytes())) })
	w.advance(operand.U32(uint32(m.element())))
	ADDQ(operand.U32(uint32(2*(r-1)*m.size())), tw)
	DECQ(j)
	JNZ(operand.LabelRef("loop"))
	for range r - 1 {
		w.advance(w.stride)
	}
	Load(Param("l"), j)
	for range r - 1 {
		SUBQ(j, n)
	}
	JNZ(operand.LabelRef("block"))
	VZEROUPPER()
	RET()
}

// legStride is the distance of legs in bytes for the parameter l.
func (m machine) legStride(l string) reg.Register {
	s := pointer(l)
	SHLQ(operand.U8(uint8(math.Log2(float64(m.element())))), s)
	return s
}

// twiddledLegs reads the legs of a butterfly, times their factors.
func (m machine) twiddledLegs(w strided, tw reg.Register) func(k int) split {
	return func(k int) split {
		x := m.get(w.row(k, 0), w.row(k, m.bytes()))
		if k == 0 {
			return x
		}
		return m.twiddled(x, tw, 2*(k-1)*m.size())
	}
}

// passFromLines is passFirst from lines of interleaved numbers in memory, rows of stride bytes. Butterfly b reads its
// first leg at row starts[2b] and leg k > 0 at row starts[2b+1] + k step.
func (m machine) passFromLines(r int) {
	TEXT(fmt.Sprintf("fftFrom%d%s", r, m.suffix()), noSplit, fmt.Sprintf("func(w, src *%s, stride int, starts *int, step, n int)", m.goType()))
	Pragma("noescape")
	w, src, stride, starts := pointer("w"), pointer("src"), pointer("stride"), pointer("starts")
	leg, n := pointer("step"), pointer("n")
	IMULQ(stride, leg)
	leg3 := GP64()
	LEAQ(operand.Mem{Base: leg, Index: leg, Scale: 2}, leg3)
	first, rest, rest3 := GP64(), GP64(), GP64()
	legs := strided{base: rest, base3: rest3, stride: leg, stride3: leg3}
	c := m.constants(r)
	Label("loop")
	MOVQ(operand.Mem{Base: starts}, first)
	IMULQ(stride, first)
	ADDQ(src, first)
	MOVQ(operand.Mem{Base: starts, Disp: 8}, rest)
	IMULQ(stride, rest)
	ADDQ(src, rest)
	LEAQ(operand.Mem{Base: rest, Index: leg3, Scale: 1}, rest3)
	m.butterfly(r, c, func(k int) split {
		if k == 0 {
			return m.getLine(operand.Mem{Base: first}, operand.Mem{Base: first, Disp: m.bytes()})
		}
		return m.getLine(legs.row(k, 0), legs.row(k, m.bytes()))
	}, func(k int, x split) {
		re := operand.Mem{Base: w, Disp: k * m.element()}
		m.put(x, re, re.Offset(m.bytes()))
	})
	ADDQ(operand.U32(16), starts)
	ADDQ(operand.U32(uint32(r*m.element())), w)
	SUBQ(operand.U32(uint32(r)), n)
	JNZ(operand.LabelRef("loop"))
	VZEROUPPER()
	RET()
}

// passToLines is the last pass, into lines of interleaved numbers in memory, rows of stride bytes.
func (m machine) passToLines(r int) {
	TEXT(fmt.Sprintf("fftTo%d%s", r, m.suffix()), noSplit, fmt.Sprintf("func(dst *%s, stride int, w, tw *%s, l int)", m.goType(), m.goType()))
	Pragma("noescape")
	w := newStrided(pointer("w"), m.legStride("l"), r)
	leg, l := pointer("stride"), pointer("l")
	IMULQ(l, leg)
	dst := newStrided(pointer("dst"), leg, r)
	tw := pointer("tw")
	c := m.constants(r)
	Label("loop")
	m.butterfly(r, c, m.twiddledLegs(w, tw), func(k int, x split) { m.putLine(x, dst.row(k, 0), dst.row(k, m.bytes())) })
	w.advance(operand.U32(uint32(m.element())))
	step := GP64()
	Load(Param("stride"), step)
	dst.advance(step)
	ADDQ(operand.U32(uint32(2*(r-1)*m.size())), tw)
	DECQ(l)
	JNZ(operand.LabelRef("loop"))
	VZEROUPPER()
	RET()
}
